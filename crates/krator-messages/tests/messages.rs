//! The errors of the compiler for a transition that the graph lacks name the states and the line to change.
//!
//! The machine is that of the moose operator, as `krator new` generates it. Each case adds one handler.
//! `TRYBUILD=overwrite` rewrites the expected messages.

#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "a test says what it skips"
)]

/// Cases whose errors are in a constant. The compiler quotes a line of its own library there, if it finds its source.
const IN_CONSTANTS: [&str; 2] = ["a_deletion_by_hand_that_begins_anew.rs", "an_edge_by_hand.rs"];

/// Whether the source of the library is installed, as editors ask for it.
fn has_source() -> bool {
    let sysroot = std::process::Command::new("rustc")
        .args(["--print", "sysroot"])
        .output();
    let sysroot = sysroot.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    sysroot.is_ok_and(|sysroot| {
        std::path::Path::new(&sysroot)
            .join("lib/rustlib/src/rust")
            .exists()
    })
}

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
    let has_source = has_source();
    for case in std::fs::read_dir("tests/ui").expect("a folder of this crate") {
        let name = case.expect("a file of this crate").file_name();
        let name = name.to_str().expect("a plain name");
        if !name.starts_with("a_") && !name.starts_with("an_") || !name.ends_with(".rs") {
            continue;
        }
        if has_source && IN_CONSTANTS.contains(&name) {
            println!(
                "{name}: skipped: the source of Rust's library is installed, and the compiler quotes it"
            );
            continue;
        }
        cases.compile_fail(format!("tests/ui/{name}"));
    }
}
