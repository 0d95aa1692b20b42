//! Hinges.
