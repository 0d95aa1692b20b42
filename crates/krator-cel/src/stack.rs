//! A stack for the longest accepted expressions. Parsing, checking and evaluating them is recursive, and callers may
//! have small stacks.

use std::panic::resume_unwind;
use std::thread;

/// The size in bytes. Its pages are allocated when they are used.
const SIZE: usize = 256 << 20;

/// Calls a function on a stack of 256 MiB, and waits for its result. Returns `otherwise` if the system cannot provide
/// the stack.
///
/// The stack is large enough to parse, check, estimate and evaluate each expression that [`compile`](crate::compile())
/// accepts. Its memory is allocated only as far as it is used. A panic of the function is propagated.
pub fn on_large_stack<T: Send>(call: impl FnOnce() -> T + Send, otherwise: T) -> T {
    thread::scope(
        |scope| match thread::Builder::new().stack_size(SIZE).spawn_scoped(scope, call) {
            Ok(handle) => handle.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(_) => otherwise,
        },
    )
}
