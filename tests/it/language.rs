//! The table of keys, the parser and the reference of the language, compared with each other.

mod examples;
mod json_schema;
mod reference;

use std::path::Path;

/// Reads a file of the repository.
fn file(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
