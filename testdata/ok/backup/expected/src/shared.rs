//! What all objects share in memory. A restart begins with a new one.

/// Bring your own locks: handlers of many objects use it at once.
#[derive(Debug, Default)]
pub struct SharedState {}
