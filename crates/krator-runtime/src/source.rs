//! The sources of this crate as constants. The command `krator` writes them into every crate that it generates, so
//! that the crate builds anywhere, with the runtime that it was generated for.

/// The manifest. The command reads from it what generated crates depend on.
pub const MANIFEST: &str = include_str!("../Cargo.toml");

/// The license.
pub const LICENSE: &str = include_str!("../LICENSE");

/// All modules in one file, which `build.rs` makes.
pub const LIBRARY: &str = include_str!(concat!(env!("OUT_DIR"), "/lib.rs"));
