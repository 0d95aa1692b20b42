//! Sleeps.
