//! The handlers of the scripted operator: each generated one is replaced by one that follows the script of its object.

use super::scripted::{SCRIPT, scripted};
use crate::operator::files;
use krator::model::{Description, Kind, State};
use std::fs;
use std::path::Path;

/// Replaces each generated handler by one that runs `first`, which is Rust code, and then follows the script of its
/// object.
pub fn replace(dir: &Path, description: &Description, first: fn(&Kind, &State) -> String) {
    let write = |path: &Path, text: &str| fs::write(path, text).expect("a generated folder");
    let replace = |path: &str, from: &str, to: &str| {
        let path = dir.join(path);
        let text = fs::read_to_string(&path).expect("generated");
        assert!(text.contains(from), "no {from:?} in {path:?} any more");
        write(&path, &text.replace(from, to));
    };
    write(&dir.join("src/script.rs"), SCRIPT);
    replace(
        "src/lib.rs",
        "pub mod shared;",
        "pub mod script;\npub mod shared;",
    );
    // The dependencies of the crate's tests become dependencies of its handlers.
    replace("Cargo.toml", "[dev-dependencies]\n", "");
    let mut replaced = 0;
    for (path, text) in files(&dir.join("src")) {
        let text = String::from_utf8(text).expect("generated");
        if let Some(source) = scripted(&path, &text, description, first) {
            write(&dir.join("src").join(&path), &source);
            replaced += 1;
        }
    }
    let states: usize = description.kinds.iter().map(|kind| kind.states.len()).sum();
    assert_eq!(replaced, states, "each state has one handler");
}
