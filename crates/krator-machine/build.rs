//! Tells the build script of `krator-runtime` where these sources are: the runtime that generated crates contain has them as a module.
#![allow(
    clippy::disallowed_macros,
    reason = "a build script prints instructions for cargo"
)]

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::metadata=root={}", env!("CARGO_MANIFEST_DIR"));
}
