//! The files that people read first, held to what is there.

use crate::cluster::say;
use crate::operator::{krator, run};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// What stands in backticks in a text and looks like a path of this repository.
fn paths(text: &str) -> BTreeSet<&str> {
    let quoted = text.split('`').skip(1).step_by(2);
    let is_path = |word: &&str| {
        let extension = Path::new(word)
            .extension()
            .and_then(|e| e.to_str())
            .unwrap_or_default();
        !word.contains([' ', '<', '*'])
            && (word.contains('/') || ["rs", "md", "toml", "yaml"].contains(&extension))
    };
    quoted.filter(is_path).collect()
}

#[test]
fn the_map_shows_what_is_there() {
    let map = read("ARCHITECTURE.md");
    let shown = paths(&map);
    let gone: Vec<_> = shown.iter().filter(|path| !root().join(path).exists()).collect();
    assert!(
        gone.is_empty(),
        "ARCHITECTURE.md shows what is not there: {gone:?}"
    );

    // And all rooms are on it: what stands directly in one of these folders.
    for folder in ["src", "crates/krator-runtime/src", "tests/it"] {
        for entry in fs::read_dir(root().join(folder)).expect("a folder of the repository") {
            let path = entry.expect("a folder of the repository").path();
            if path.extension().is_some_and(|e| e == "rs") {
                let name = path.file_name().and_then(|n| n.to_str()).expect("a plain name");
                let path = format!("{folder}/{name}");
                assert!(
                    shown.contains(path.as_str()),
                    "ARCHITECTURE.md does not show `{path}`"
                );
            }
        }
    }
}

#[test]
fn every_dependency_has_its_reason_on_the_map() {
    let map = read("ARCHITECTURE.md");
    for manifest in ["Cargo.toml", "crates/krator-runtime/Cargo.toml"] {
        let manifest = cargo_toml::Manifest::from_path(root().join(manifest)).expect("a manifest");
        for name in manifest
            .dependencies
            .keys()
            .chain(manifest.dev_dependencies.keys())
        {
            assert!(
                map.contains(&format!("`{name}`")),
                "ARCHITECTURE.md does not say what `{name}` is for"
            );
        }
    }
}

#[test]
fn links_of_the_readme_lead_somewhere() {
    let readme = read("README.md");
    let targets = readme
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    for target in targets.filter(|target| !target.starts_with("https://")) {
        assert!(root().join(target).exists(), "README.md links to {target}");
    }
}

/// The last code block of the README is how tests are run. There is one way.
#[test]
fn ci_runs_the_tests_as_the_readme_says() {
    let readme = read("README.md");
    let command = readme
        .rsplit("```sh\n")
        .next()
        .and_then(|rest| rest.lines().next())
        .expect("a code block");
    assert!(command.starts_with("cargo test"), "{command}");
    let ci = read(".ci/run");
    assert!(
        ci.lines().any(|line| line == format!("step tests {command}")),
        ".ci/run does not run `{command}`"
    );
}

#[test]
fn the_changelog_has_this_version() {
    let version = env!("CARGO_PKG_VERSION");
    assert!(
        read("CHANGELOG.md")
            .lines()
            .any(|line| line.starts_with("## [") && line.contains(version))
    );
}

/// The benchmark itself takes minutes and is run by hand. That it still compiles, clippy sees to.
#[test]
fn the_description_of_the_benchmark_is_sound() {
    let output = krator(&[Path::new("check"), Path::new("benches/converge/spec.yaml")]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}

/// `KRATOR_UPDATE=1` draws it anew.
#[test]
fn the_picture_of_the_readme_is_the_graph_of_its_description() {
    let graph = [
        Path::new("graph"),
        Path::new("--dot"),
        Path::new("testdata/ok/moose/spec.yaml"),
    ];
    let output = krator(&graph);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let source = String::from_utf8(output.stdout).expect("DOT is text");
    let drawing = tempfile::tempdir().expect("a temporary folder");
    let drawn: PathBuf = drawing.path().join("moose.svg");
    if std::env::var_os("KRATOR_UPDATE").is_some() {
        fs::write(root().join("docs/moose.dot"), &source).expect("the repository can be written");
        let svg = root().join("docs/moose.svg");
        run(Command::new("dot")
            .current_dir(root())
            .args(["-Tsvg", "docs/moose.dot", "-o"])
            .arg(svg));
    }
    assert_eq!(
        read("docs/moose.dot"),
        source,
        "KRATOR_UPDATE=1 cargo test the_picture"
    );

    if Command::new("dot").arg("-V").output().is_err() {
        say("the picture of the README: skipped: graphviz is not installed");
        return;
    }
    run(Command::new("dot")
        .current_dir(root())
        .args(["-Tsvg", "docs/moose.dot", "-o"])
        .arg(&drawn));
    let drawn = fs::read_to_string(drawn).expect("dot has written it");
    assert_eq!(
        words(&read("docs/moose.svg")),
        words(&drawn),
        "KRATOR_UPDATE=1 cargo test the_picture"
    );
}

/// The texts of a drawing, in order: where they are differs between versions of graphviz.
fn words(svg: &str) -> Vec<&str> {
    svg.split('>')
        .filter_map(|part| part.split('<').next())
        .map(str::trim)
        .filter(|word| !word.is_empty())
        .collect()
}
