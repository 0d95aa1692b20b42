//! The sources of this crate as constants. The command `krator` copies them into every crate that it generates, so
//! that the crate builds anywhere, with the runtime that it was generated for.

/// The manifest. The command reads from it what generated crates depend on.
pub const MANIFEST: &str = include_str!("../Cargo.toml");

/// The files that operators are built of: their paths in the package and their contents. `build.rs` lists them.
pub const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/files.rs"));
/// Those that operators with webhooks have beside them, or in place of one of them.
pub const ADMISSION_FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/admission.rs"));
/// Those that operators of kinds with several versions have beside all of them, or in place of one of them.
pub const VERSIONS_FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/versions.rs"));
