//! The code in the documents. A block is run, checked or compiled, or a comment before it gives the reason why it is
//! not.
//!
//! The words after the language of a block select its test; code hosts and mdBook do not show them:
//!
//! | block | test |
//! |---|---|
//! | `yaml` | a description: it has no warnings and no errors, or the finding in its first line: `# finding: no-exit` |
//! | `yaml crate` | the same; it is one of the kinds of the crate `cookbook` |
//! | `rust file=PATH` | a file of that crate, which is compiled and tested as a whole |
//! | `sh` of README.md | `.ci/run` runs it |
//! | `yaml crate=NAME`, `rust crate=NAME file=PATH`, `diff crate=NAME file=PATH` | the same of another crate; a change of a generated file of it |
//! | `sh`, `KIND file=PATH`, `diff file=PATH`, `text output` | only in pages whose steps `e2e` follows |
//! | `text from=PATH` | lines of a file of this repository |
//! | after `<!-- not run: REASON -->` | nothing; the test lists the block with its reason, which names the test or the file that does the same as a command |

use crate::documents::{blocks_out_of_order, read};
use krator::catalog::Severity;
use krator::finding::{Style, to_text};

#[test]
fn every_block_is_run_or_says_why_not() {
    let mut wrong = Vec::new();
    for block in blocks_out_of_order() {
        let is_known = match block.language() {
            "yaml" => block.file().is_none(),
            "rust" => block.file().is_some(),
            "sh" => block.place.starts_with("README.md:"),
            "diff" => block.word("crate=").is_some() && block.file().is_some(),
            // Blocks in other languages are not tested.
            _ => true,
        };
        // A command, and its output.
        let is_command = block.language() == "sh" || block.text.starts_with("$ ");
        match &block.not_run {
            Some(reason) if is_command && !names_a_file(reason) => {
                wrong.push(format!("{}: {reason}: who runs it instead?", block.place));
            }
            Some(reason) => println!("{}: not run: {reason}", block.place),
            None if !is_known => wrong.push(format!("{}: {}", block.place, block.info)),
            None => (),
        }
    }
    assert!(
        wrong.is_empty(),
        "nothing runs these blocks; say why with <!-- not run: REASON -->, and which file does the same: {wrong:#?}"
    );
}

/// Whether a word of the text is the path of a file of this repository.
fn names_a_file(text: &str) -> bool {
    let mut words = text.split([' ', ',', ';']);
    words.any(|word| word.contains('/') && krator_tests::root().join(word).is_file())
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
            // Readers copy these descriptions. The warning about broad access to Secrets is left out, because pages
            // mention it where it matters.
            None => assert!(
                checked.findings.iter().all(|finding| {
                    finding.rule.severity == Severity::Info || finding.rule.name == "broad-access"
                }),
                "{}\n{texts}",
                block.place
            ),
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
