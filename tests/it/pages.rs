//! The code in the documents. A block is run, checked or compiled, or a comment before it says why it is not.
//!
//! The words after the language of a block say what is done with it; code hosts and mdBook do not show them:
//!
//! | block | what is done |
//! |---|---|
//! | `yaml` | a description: it has no errors, or the finding that its first line names: `# finding: no-exit` |
//! | `yaml crate` | the same; it is one of the kinds of the crate `cookbook` |
//! | `rust file=PATH` | a file of that crate, which is compiled and tested as a whole |
//! | `sh`, `KIND file=PATH`, `diff file=PATH`, `text output` | only in [`TOLD_IN_ORDER`]: see [`session`] |
//! | `text from=PATH` | lines of a file of this repository |
//! | after `<!-- not run: REASON -->` | nothing; the test lists the block with its reason |

mod block;
mod session;

use crate::cluster::say;
use crate::operator::{Crate, run};
use crate::repo_docs::{documents, read};
use block::{Block, blocks};
use krator::finding::{Style, has_errors, to_text};
use std::fs;
use std::process::Command;

/// The pages whose blocks are run one after the other, as a reader does.
const TOLD_IN_ORDER: [&str; 1] = ["docs/tutorial.md"];

/// The blocks of all documents but those that are told in order.
fn blocks_out_of_order() -> Vec<Block> {
    let pages = documents()
        .into_iter()
        .filter(|page| !TOLD_IN_ORDER.contains(&page.as_str()));
    pages.flat_map(|page| blocks(&page, &read(&page))).collect()
}

#[test]
fn the_tutorial_works_as_it_is_told() {
    for page in TOLD_IN_ORDER {
        session::follow(page);
    }
}

#[test]
fn every_block_is_run_or_says_why_not() {
    let mut wrong = Vec::new();
    for block in blocks_out_of_order() {
        let is_known = match block.language() {
            "yaml" => block.file().is_none(),
            "rust" => block.file().is_some(),
            "sh" | "diff" => false,
            // Other languages are not ours, or are not run anywhere.
            _ => true,
        };
        match &block.not_run {
            Some(reason) => say(&format!("{}: not run: {reason}", block.place)),
            None if !is_known => wrong.push(format!("{}: {}", block.place, block.info)),
            None => (),
        }
    }
    assert!(
        wrong.is_empty(),
        "nothing runs these blocks; say why with <!-- not run: REASON -->: {wrong:#?}"
    );
}

#[test]
fn descriptions_have_the_findings_that_they_say() {
    let blocks = blocks_out_of_order();
    let descriptions = blocks.iter().filter(|block| block.is_run("yaml"));
    let mut count = 0;
    for block in descriptions {
        count += 1;
        let mut lines = block.text.lines();
        let expected = lines.next().and_then(|line| line.strip_prefix("# finding: "));
        let checked = krator::check("krator.yaml", block.text.as_bytes());
        let findings = checked.findings.iter();
        let texts: String = findings
            .map(|finding| to_text(&checked.source, finding, Style::Plain))
            .collect();
        match expected {
            None => assert!(!has_errors(&checked.findings), "{}\n{texts}", block.place),
            Some(rule) => assert!(
                checked.findings.iter().any(|finding| finding.rule.name == rule),
                "{} is not {rule}, but\n{texts}",
                block.place
            ),
        }
    }
    assert!(count > 5, "only {count} descriptions");
}

#[test]
fn quotations_are_in_the_files_that_they_are_from() {
    for block in blocks_out_of_order() {
        if let Some(path) = block.word("from=") {
            let source = read(path);
            for line in block.text.lines().filter(|line| !line.trim().is_empty()) {
                assert!(
                    source.contains(line.trim()),
                    "{}: {path} lacks {line:?}",
                    block.place
                );
            }
        }
    }
}

/// The kinds and the handlers of all pages are one crate, so that it is built once.
#[test]
fn the_crate_of_the_pages_passes_its_tests() {
    let blocks = blocks_out_of_order();
    let kinds: Vec<&str> = blocks
        .iter()
        .filter(|block| block.is_run("yaml") && block.has("crate"))
        .map(|block| block.text.as_str())
        .collect();
    let description = kinds
        .join("---\n")
        .replacen("krator: 1\n", "krator: 1\noperator: cookbook\n", 1);
    let krate = Crate::generate(&description, |dir| {
        for block in blocks.iter().filter(|block| block.is_run("rust")) {
            let path = dir.join(block.file().expect("every block of Rust has a path"));
            assert!(path.exists(), "{}: the crate has no such file", block.place);
            fs::write(path, &block.text).expect("a folder of our own");
        }
    });
    run(Command::new(env!("CARGO_BIN_EXE_krator"))
        .arg("check")
        .current_dir(krate.dir()));
    krate.cargo(&[&["fmt", "--check"], &["test", "--locked", "--quiet"]]);
}
