//! The documents of this repository, and the code blocks in them.

use crate::block::{Block, blocks};
use crate::root;
use std::fs;
use std::path::Path;

/// The pages whose blocks are run in sequence, as a reader runs them.
pub const TOLD_IN_ORDER: [&str; 1] = ["docs/tutorial.md"];

/// The blocks of all documents except those that are run in sequence.
pub fn blocks_out_of_order() -> Vec<Block> {
    let pages = documents()
        .into_iter()
        .filter(|page| !TOLD_IN_ORDER.contains(&page.as_str()));
    pages.flat_map(|page| blocks(&page, &read(&page))).collect()
}

/// Reads a file of the repository.
pub fn read(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The crates that are published besides the command, by their folders.
pub const CRATES: [&str; 7] = [
    "crates/krator-apiserver",
    "crates/krator-cel",
    "crates/krator-derive",
    "crates/krator-language",
    "crates/krator-machine",
    "crates/krator-runtime",
    "crates/krator-schema",
];

/// The Markdown files of the repository, without the templates and the expected output of krator.
pub fn documents() -> Vec<String> {
    let mut found = Vec::new();
    let folders = ["", "docs", "docs/concepts", "e2e/benches/converge"];
    for folder in folders.into_iter().chain(CRATES) {
        let entries = fs::read_dir(root().join(folder)).expect("a folder of the repository");
        for entry in entries {
            let path = entry.expect("a folder of the repository").path();
            if path.extension().is_some_and(|extension| extension == "md") {
                let path = path.strip_prefix(root()).expect("found there");
                found.push(path.to_str().expect("a plain name").to_owned());
            }
        }
    }
    assert!(found.len() >= 6, "{found:?}");
    found.sort();
    found
}
