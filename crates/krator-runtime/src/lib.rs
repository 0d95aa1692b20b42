//! What generated operators stand on.
