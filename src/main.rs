//! The command `krator`.

fn main() {}
