//! The pages of the documentation, tested as readers use them: the commands of the tutorial, and the crate of all
//! pages. `tests/it/pages.rs` explains the words after the language of a block.

mod session;

use crate::block::Block;
use crate::documents::{TOLD_IN_ORDER, blocks_out_of_order};
use crate::operator::{Crate, cargo, run};
use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

#[test]
fn the_tutorial_works_as_it_is_told() {
    for page in TOLD_IN_ORDER {
        session::follow(page);
    }
}

/// The kinds and the handlers of all pages are one crate, so that it is built once. A recipe that changes code shared
/// by all kinds has a crate of its own.
#[test]
fn the_crates_of_the_pages_pass_their_tests() {
    let blocks = blocks_out_of_order();
    let blocks = blocks.iter().filter(|block| block.not_run.is_none());
    let mut crates: BTreeMap<&str, Vec<&Block>> = BTreeMap::new();
    for block in blocks {
        match (block.word("crate="), block.language()) {
            (Some(name), _) => crates.entry(name).or_default().push(block),
            (None, "rust") => crates.entry(COOKBOOK).or_default().push(block),
            (None, "yaml") if block.has("crate") => crates.entry(COOKBOOK).or_default().push(block),
            _ => {}
        }
    }
    assert!(crates.len() > 1);
    for (name, blocks) in crates {
        let of = |language| blocks.iter().filter(move |block| block.language() == language);
        let kinds: Vec<&str> = of("yaml").map(|block| block.text.as_str()).collect();
        let mut description = kinds.join("---\n");
        if name == COOKBOOK {
            description = description.replacen("krator: 1\n", "krator: 1\noperator: cookbook\n", 1);
        }
        let krate = Crate::generate(&description, |dir| {
            for block in of("rust").chain(of("diff")) {
                let path = dir.join(block.file().expect("every block has a path"));
                let before = fs::read_to_string(&path);
                let before = before.unwrap_or_else(|_| panic!("{}: the crate has no such file", block.place));
                let text = match block.language() {
                    "diff" => session::changed(&before, block),
                    _ => block.text.clone(),
                };
                fs::write(path, text).expect("a folder of our own");
            }
            // Adds a dependency that only this crate has to the lock file. Its version is locked already as a
            // dependency of another package.
            run(cargo()
                .args(["metadata", "--offline", "--format-version=1"])
                .current_dir(dir));
        });
        run(Command::new(krator_tests::program())
            .arg("check")
            .current_dir(krate.dir()));
        krate.cargo(&[&["fmt", "--check"], &["test", "--locked", "--quiet"]]);
    }
}

const COOKBOOK: &str = "cookbook";
