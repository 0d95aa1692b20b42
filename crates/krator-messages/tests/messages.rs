//! What the compiler says of a transition that the graph lacks: the words of the graph, and the line to change.
//!
//! The machine is that of the Moose, as `krator new` writes it: each case brings one more handler.
//! `TRYBUILD=overwrite` rewrites what is expected.

#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "a test says what it skips"
)]

/// Its messages are the ones that are expected; another rustc frames the same words in other ones.
const RUSTC: &str = "rustc 1.95.";

#[test]
fn the_compiler_speaks_of_the_graph() {
    let rustc = std::process::Command::new("rustc").arg("--version").output();
    let rustc = rustc
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        .unwrap_or_default();
    if !rustc.starts_with(RUSTC) {
        println!("skipped: the messages expected are those of {RUSTC}*, this is {rustc}");
        return;
    }
    let cases = trybuild::TestCases::new();
    // One that passes makes it build, not only check: an edge implemented by hand shows no sooner.
    cases.pass("tests/ui/as_the_graph_says.rs");
    cases.compile_fail("tests/ui/a_*.rs");
    cases.compile_fail("tests/ui/an_*.rs");
}
