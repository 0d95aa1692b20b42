//! This package has no code, only tests: see `tests/messages.rs`.
