//! A stack that is large enough for the longest expressions that are read here: parsing, checking and evaluating them
//! is recursive, and callers may have small stacks.

use std::panic::resume_unwind;
use std::thread;

/// Pages of it are only taken when they are needed.
const SIZE: usize = 256 << 20;

/// Calls a function on a large stack; without one, `otherwise` is the result.
pub(super) fn on_large_stack<T: Send>(call: impl FnOnce() -> T + Send, otherwise: T) -> T {
    thread::scope(
        |scope| match thread::Builder::new().stack_size(SIZE).spawn_scoped(scope, call) {
            Ok(handle) => handle.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(_) => otherwise,
        },
    )
}
