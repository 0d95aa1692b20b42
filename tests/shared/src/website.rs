//! A description with a foreign kind whose CustomResourceDefinition is in a file: `testdata/schemas/`.

use crate::operator::krator;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub const SPEC: &str = include_str!("../../../testdata/schemas/spec.yaml");
pub const CRD: &str = include_str!("../../../testdata/schemas/crds/certificate.yaml");
pub const CRD_PATH: &str = "crds/certificate.yaml";

/// A folder with the description and its file, and the generated crate.
pub fn project() -> (TempDir, PathBuf) {
    let home = tempfile::tempdir().expect("a temporary folder");
    let at = |path: &str| home.path().join(path);
    fs::create_dir(at("crds")).expect("our own");
    fs::write(at(CRD_PATH), CRD).expect("our own");
    fs::write(at("spec.yaml"), SPEC).expect("our own");
    let made = at("made");
    let output = krator(&[Path::new("new"), &at("spec.yaml"), Path::new("--out"), &made]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    (home, made)
}
