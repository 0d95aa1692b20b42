//! Renders the operator of the contract tests against the runtime of this repository, so that an edit of the runtime
//! costs one build. Its handlers follow the scripts of their objects.

#[path = "../tests/e2e/scripted_operator/recipe.rs"]
mod recipe;
#[path = "../tests/e2e/scripted_operator/scripted.rs"]
mod scripted;

use krator::render::{self, Runtime};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The description with a gate that is open for twenty seconds of each minute, one that needs an approval, a schedule,
/// and a limit. On a real server they would only add waiting time. All are in releases, because the objects of other
/// kinds must have the same history on both servers.
fn with_gates(text: &str) -> String {
    let (mut text, mut changed) = (text.to_owned(), 0);
    for (state, key) in [
        (
            "  Testing: {next:",
            "  Testing: {gate: {during: {schedule: '* * * * *', duration: 20s}}, next:",
        ),
        (
            "  Ready:\n    kind: ready\n    next: [{to: Preparing, when: interval passed",
            "  Ready:\n    kind: ready\n    timeout: {at: {schedule: '*/2 * * * *', startingDeadline: 50s}, to: Preparing}\n    next: [{to: Preparing, when: interval passed",
        ),
        (
            "  Unlocking: {next:",
            "  Unlocking: {gate: {approval: required}, next:",
        ),
        (
            "states:\n  Preparing:",
            "limits: [{name: repairs, states: [CorrectingDrift], atMost: 2}]\nstates:\n  Preparing:",
        ),
    ] {
        changed += text.matches(state).count();
        text = text.replacen(state, key, 1);
    }
    assert_eq!(changed, 4, "each of them stands in one place");
    text
}

fn main() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../tests/e2e/scripted_operator");
    println!("cargo::rerun-if-changed=../../testdata/ok");
    let text = with_gates(&recipe::CONTRACT.joined(&repository));
    let checked = krator::check("krator.yaml", text.as_bytes());
    let description = checked.sound().expect("good descriptions are good together");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let write = |path: &str, contents: &str| {
        let path = out.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder of our own");
        fs::write(path, contents).expect("a folder of our own");
    };
    let plan = render::plan(description, &checked.source, &Runtime::Path(String::new()));
    for (path, file) in plan.files() {
        let source = path.strip_prefix("src/");
        let handler = source.and_then(|source| {
            scripted::scripted(
                Path::new(source),
                &file.contents,
                description,
                scripted::says_which_run,
            )
        });
        write(path, &handler.unwrap_or_else(|| file.contents.clone()));
    }
    write("src/script.rs", scripted::SCRIPT);
    // An included file cannot have inner attributes.
    let library = &plan.get("src/lib.rs").expect("a crate has a library").contents;
    let lines = library
        .lines()
        .filter(|line| !line.starts_with("//!") && !line.starts_with("#!"));
    let library: String = lines.map(|line| format!("{line}\n")).collect();
    write("src/lib.rs", &format!("pub mod script;\n{library}"));
    write("krator.yaml", &text);
}
