//! Nothing: see `tests/messages.rs`.
