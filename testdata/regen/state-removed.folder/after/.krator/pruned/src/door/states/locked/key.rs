//! The key is in the other coat.
