//! What the tests of `tests/it` and of `e2e` share: cases, random descriptions, generated crates. Both binaries compile it, so
//! it names neither `env!` variables of cargo that differ nor anything that needs a server.

pub mod block;
pub mod case_file;
pub mod code_case;
pub mod descriptions;
pub mod dice;
pub mod documents;
pub mod edit_case;
pub mod graph_edges;
pub mod hostile_names;
pub mod hostile_texts;
pub mod operator;
pub mod outputs;
pub mod random_crd;
pub mod random_description;
pub mod random_value;
pub mod random_versions;
pub mod regenerate;
pub mod unreadable;
pub mod version_pair;
pub mod website;
pub mod yaml;

use std::path::Path;

/// The folder of this repository.
pub fn root() -> &'static Path {
    Path::new(crate::REPOSITORY)
}
