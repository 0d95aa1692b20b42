//! The documents as their readers follow them: the commands of the tutorial, and the crate of all pages. What the words
//! after the language of a block mean is in `tests/it/pages.rs`.

mod session;

use crate::documents::{TOLD_IN_ORDER, blocks_out_of_order};
use crate::operator::{Crate, run};
use std::fs;
use std::process::Command;

#[test]
fn the_tutorial_works_as_it_is_told() {
    for page in TOLD_IN_ORDER {
        session::follow(page);
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
    run(Command::new(crate::KRATOR).arg("check").current_dir(krate.dir()));
    krate.cargo(&[&["fmt", "--check"], &["test", "--locked", "--quiet"]]);
}
