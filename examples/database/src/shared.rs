//! What all objects of a kind share in memory, such as clients of other services. It is created anew
//! when the operator starts. [`krator_runtime::main_with`] shows how to make it from options of
//! the command line.

/// Handlers read this as `cx.shared`. Those of different objects run at the same time, so whatever
/// changes needs a lock.
#[derive(Debug, Default)]
pub struct SharedState {}
