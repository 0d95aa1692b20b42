//! The common parts of the tests of the command (`tests/it`) and of `e2e`: cases, random descriptions, generated
//! crates.
//!
//! Nothing here needs a server. Cargo passes the path of a command to the tests of its package, but not to libraries
//! that they use, so [`program`] searches for it beside the binary of the tests.

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

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The folder of this repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("this crate is in `tests/shared`")
}

/// The command under test, which cargo builds with the tests. The command for `e2e` has another name, because the
/// commands of all packages are in one folder.
pub fn program() -> &'static Path {
    static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
        let (folder, tests) = (profile_folder(), tests_binary());
        let of_e2e = tests
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with("e2e-"));
        let name = if of_e2e { "krator-e2e" } else { "krator" };
        folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
    });
    &PROGRAM
}

/// The folder of cargo's output for one profile, such as `target/debug`.
fn profile_folder() -> PathBuf {
    let tests = tests_binary();
    let folder = tests.ancestors().nth(2);
    folder.expect("cargo keeps tests in `deps`").to_owned()
}

fn tests_binary() -> PathBuf {
    std::env::current_exe().expect("the system knows what runs")
}
