//! The errors of the compiler for a transition that the graph lacks name the states and the line to change.
//!
//! The machine is that of the moose operator, as `krator new` generates it. Each case adds one handler.
//! `TRYBUILD=overwrite` rewrites the expected messages.

#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "a test says what it skips"
)]

/// The compiler whose messages are expected. Another version words its part of the messages differently.
const RUSTC: &str = "rustc 1.95.";

#[test]
fn the_compiler_names_the_edges_of_the_graph() {
    let rustc = std::process::Command::new("rustc").arg("--version").output();
    let rustc = rustc
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        .unwrap_or_default();
    if !rustc.starts_with(RUSTC) {
        println!("skipped: the messages expected are those of {RUSTC}*, this is {rustc}");
        return;
    }
    let cases = trybuild::TestCases::new();
    // A case that passes makes trybuild build all cases instead of only checking them. Without that, an edge that is
    // implemented by hand gives no error.
    cases.pass("tests/ui/as_the_graph_says.rs");
    cases.compile_fail("tests/ui/a_*.rs");
    cases.compile_fail("tests/ui/an_*.rs");
}
