//! The documents of this repository: the files and items that they name exist, and their lists are complete.

use crate::documents::{CRATES, documents, read};
use crate::operator::{krator, run};
use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The words in backticks that look like paths of this repository.
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
fn the_map_names_no_path_that_is_not_there() {
    let map = read("ARCHITECTURE.md");
    let shown = paths(&map).into_iter();
    let gone: Vec<_> = shown
        .filter(|path| !krator_tests::root().join(path).exists())
        .collect();
    assert!(
        gone.is_empty(),
        "ARCHITECTURE.md names paths that do not exist: {gone:?}"
    );
}

#[test]
fn each_room_says_first_what_it_is_for() {
    for folder in CRATES.into_iter().chain(["."]) {
        let folder = krator_tests::root().join(folder).join("src");
        for entry in fs::read_dir(folder).expect("a folder of the repository") {
            let path = entry.expect("a folder of the repository").path();
            if path.extension().is_some_and(|e| e == "rs") {
                let text = fs::read_to_string(&path).expect("Rust is UTF-8");
                let says = text.starts_with("//! ") || text.starts_with("#![doc = include_str!");
                assert!(says, "{}", path.display());
            }
        }
    }
}

/// Each dependency is explained by a comment above it or above its neighbours.
#[test]
fn each_manifest_has_a_reason_for_every_dependency() {
    for folder in CRATES.into_iter().chain(["."]) {
        let path = format!("{folder}/Cargo.toml");
        let mut explained = false;
        let mut is_dependency = false;
        for line in read(&path).lines() {
            match line.chars().next() {
                None => explained = false,
                Some('[') => {
                    explained = false;
                    is_dependency = ["[dependencies]", "[dev-dependencies]"].contains(&line);
                }
                Some('#') => explained = true,
                Some(_) => assert!(explained || !is_dependency, "{path}: what for? {line}"),
            }
        }
    }
}

#[test]
fn links_lead_somewhere_in_the_repository() {
    let mut broken = Vec::new();
    for document in documents() {
        for (_, target) in links(&read(&document)) {
            if target.starts_with("https://") {
                continue;
            }
            let (path, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let folder = Path::new(&document).parent().expect("a file is in a folder");
            let file = if path.is_empty() {
                PathBuf::from(&document)
            } else {
                folder.join(path)
            };
            let is_inside = krator_tests::root()
                .join(&file)
                .canonicalize()
                .is_ok_and(|file| file.starts_with(krator_tests::root()));
            let has_anchor = anchor.is_empty() || is_inside && anchors(&read(&file)).contains(anchor);
            if !is_inside || !has_anchor {
                broken.push(format!("{document}: {target}"));
            }
        }
    }
    assert!(broken.is_empty(), "links that lead nowhere: {broken:#?}");
}

/// mdBook shows only the pages of the summary.
#[test]
fn the_summary_of_the_book_has_every_page() {
    let summary = read("docs/SUMMARY.md");
    let listed: BTreeSet<String> = links(&summary)
        .into_iter()
        .map(|(_, target)| format!("docs/{target}"))
        .collect();
    let pages = documents().into_iter();
    let pages: BTreeSet<String> = pages
        .filter(|page| page.starts_with("docs/") && page != "docs/SUMMARY.md")
        .collect();
    assert_eq!(listed, pages);
}

/// Each promise names a test: a link whose text is the name of a test and whose target is its file.
#[test]
fn every_promise_of_the_contract_names_its_tests() {
    let contract = read("docs/contract.md");
    let (promises, _) = contract
        .split_once("## Not promised yet")
        .expect("its last section");
    let mut missing = Vec::new();
    for promise in promises.split("\n**").skip(1) {
        let title = promise.lines().next().expect("a promise has a line");
        let tests: Vec<_> = links(promise)
            .into_iter()
            .filter(|(text, _)| text.starts_with('`'))
            .collect();
        assert!(!tests.is_empty(), "no test is named for: {title}");
        for (name, target) in tests {
            let source = read(Path::new("docs").join(&target));
            if !is_test(&source, name.trim_matches('`')) {
                missing.push(format!("{target} has no test {name}"));
            }
        }
    }
    assert!(missing.is_empty(), "docs/contract.md: {missing:#?}");
}

/// Whether a source file has a test function of this name.
fn is_test(source: &str, name: &str) -> bool {
    let lines: Vec<&str> = source.lines().map(str::trim_start).collect();
    lines.iter().enumerate().any(|(at, line)| {
        let is_attribute = at > 0 && lines[at - 1].starts_with("#[") && lines[at - 1].contains("test");
        is_attribute && line.contains(&format!("fn {name}("))
    })
}

/// The text and the target of each link outside of code.
fn links(text: &str) -> Vec<(String, String)> {
    let prose = outside_of_fences(text);
    let ends = prose.match_indices("](").map(|(at, _)| at);
    ends.filter_map(|end| {
        let start = prose[..end].rfind('[')?;
        let target = prose[end + 2..].split(')').next()?;
        Some((prose[start + 1..end].to_owned(), target.to_owned()))
    })
    .collect()
}

/// The anchors of a document's headings on GitHub.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for line in outside_of_fences(text)
        .lines()
        .filter(|line| line.starts_with('#'))
    {
        let heading = line.trim_start_matches('#').trim().to_lowercase();
        let kept = heading
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        let anchor: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
        let repeated = (1..).map(|number| format!("{anchor}-{number}"));
        let mut names = std::iter::once(anchor.clone()).chain(repeated);
        let free = names.find(|name| !anchors.contains(name));
        anchors.extend(free);
    }
    anchors
}

fn outside_of_fences(text: &str) -> String {
    let mut is_code = false;
    let lines = text.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// `.ci/run` runs the commands in the README by the numbers of their blocks: the demo, then the tests.
#[test]
fn ci_types_the_blocks_of_the_readme() {
    let page = read("README.md");
    let blocks = crate::block::blocks("README.md", &page);
    let commands: Vec<&str> = blocks
        .iter()
        .filter(|block| block.is_run("sh"))
        .map(|block| block.text.trim())
        .collect();
    let [demo, tests] = &commands[..] else {
        panic!("{commands:#?}");
    };
    assert!(demo.starts_with("cargo run -- demo ") && demo.contains("moose-tracker"));
    assert!(tests.starts_with("cargo test"));
    let ci = read(".ci/run");
    for number in 1..=commands.len() {
        assert!(ci.contains(&format!("$(readme {number})")), "block {number}");
    }
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

/// The benchmark itself takes minutes and is run by hand; clippy compiles it.
#[test]
fn the_description_of_the_benchmark_has_no_findings() {
    let output = krator(&[Path::new("check"), Path::new("e2e/benches/converge/spec.yaml")]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}

/// `KRATOR_UPDATE=1` redraws the picture.
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
    let picture = krator_tests::root().join("docs/moose.dot");
    if crate::case_file::is_update(&picture) {
        fs::write(picture, &source).expect("the repository can be written");
        let svg = krator_tests::root().join("docs/moose.svg");
        run(Command::new("dot")
            .current_dir(krator_tests::root())
            .args(["-Tsvg", "docs/moose.dot", "-o"])
            .arg(svg));
    }
    assert_eq!(
        read("docs/moose.dot"),
        source,
        "KRATOR_UPDATE=1 cargo test the_picture"
    );

    if Command::new("dot").arg("-V").output().is_err() {
        // The test runner hides the output of `eprintln!` when the test passes.
        let _ = writeln!(
            std::io::stderr(),
            "the picture of the README: skipped: graphviz is not installed"
        );
        return;
    }
    run(Command::new("dot")
        .current_dir(krator_tests::root())
        .args(["-Tsvg", "docs/moose.dot", "-o"])
        .arg(&drawn));
    let drawn = fs::read_to_string(drawn).expect("dot has written it");
    assert_eq!(
        words(&read("docs/moose.svg")),
        words(&drawn),
        "KRATOR_UPDATE=1 cargo test the_picture"
    );
}

/// The labels of a drawing, in order. Their coordinates differ between versions of graphviz.
fn words(svg: &str) -> Vec<&str> {
    svg.split('>')
        .filter_map(|part| part.split('<').next())
        .map(str::trim)
        .filter(|word| !word.is_empty())
        .collect()
}

/// The list is derived from the sources of the API server in the tests.
#[test]
fn the_places_of_errors_are_of_the_pinned_versions() {
    let (sites, modules) = (
        read("crates/krator-schema/testdata/error-sites.txt"),
        read("tools/go.mod"),
    );
    for line in sites.lines().filter(|line| line.starts_with('#')) {
        let module = line.trim_start_matches("# ");
        assert!(
            modules.contains(module),
            "tools/go.mod does not pin {module}: run crates/krator-schema/tools/error-sites"
        );
    }
}
