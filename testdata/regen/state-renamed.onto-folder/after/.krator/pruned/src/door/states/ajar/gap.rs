//! How wide.
