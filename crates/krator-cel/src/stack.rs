//! A stack that is large enough for the longest expressions that are read here: parsing, checking and evaluating them
//! is recursive, and callers may have small stacks.

use std::panic::resume_unwind;
use std::thread;

/// Pages of it are only taken when they are needed.
const SIZE: usize = 256 << 20;

/// Calls a function on a stack of 256 MiB, and waits for its result; `otherwise` is the result if the system gives no such stack.
///
/// That is large enough to parse, check, estimate and evaluate each expression that [`compile`](crate::compile()) reads. The memory is
/// only taken as far as it is needed. If the function panics, so does this.
pub fn on_large_stack<T: Send>(call: impl FnOnce() -> T + Send, otherwise: T) -> T {
    thread::scope(
        |scope| match thread::Builder::new().stack_size(SIZE).spawn_scoped(scope, call) {
            Ok(handle) => handle.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(_) => otherwise,
        },
    )
}
