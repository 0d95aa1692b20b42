//! The record in layout 1, which was one file of JSON with the owner and the hash of each generated file. The next run
//! replaces it.

use super::{Error, FileRecord, GenerationRecord, check_layout, check_version};
use crate::changes::{FileState, Snapshot};
use crate::plan::Ownership;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// The only file of the layout.
pub(super) const MANIFEST: &str = ".krator/manifest.json";

#[derive(Deserialize)]
struct Manifest {
    layout: u64,
    krator: String,
    files: BTreeMap<String, ManifestEntry>,
}

#[derive(Deserialize)]
struct ManifestEntry {
    ownership: Ownership,
    sha256: String,
}

/// Reads [`MANIFEST`]. Files that users edit have no common ancestor then, so that their changes cannot be merged.
pub(super) fn parse(files: &Snapshot) -> Result<GenerationRecord, Error> {
    let FileState::Text(text) = files.get(MANIFEST) else {
        return Err(Error::Damaged {
            file: super::LIST,
            cause: "it is missing".to_owned(),
        });
    };
    let manifest: Manifest = serde_json::from_str(text).map_err(|error| Error::Damaged {
        file: MANIFEST,
        cause: error.to_string(),
    })?;
    check_version(&manifest.krator)?;
    check_layout(manifest.layout, &manifest.krator)?;
    // The layout listed the files of `.krator/`, too.
    let entries = manifest.files.into_iter();
    let entries = entries.filter(|(path, _)| !path.starts_with(".krator/"));
    let entries = entries.map(|(path, entry)| {
        let entry = FileRecord {
            ownership: entry.ownership,
            base: None,
            hashes: BTreeSet::from([entry.sha256]),
        };
        (path, entry)
    });
    Ok(GenerationRecord {
        files: entries.collect(),
        promised: None,
        is_merged: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(manifest: &str) -> Result<GenerationRecord, Error> {
        let files = [(MANIFEST.to_owned(), manifest.as_bytes().to_vec())];
        super::parse(&files.into_iter().collect())
    }

    #[test]
    fn a_record_of_json_is_read() {
        let hash = super::super::hash("a\n");
        let manifest = format!(
            "{{\"layout\": 1, \"krator\": \"0.7.0\", \"files\": {{\"a\": {{\"ownership\": \"seeded\", \"sha256\": \"{hash}\"}}}}}}"
        );
        assert!(parse(&manifest).expect("our own").files["a"].wrote("a", "a\n"));
        let newer = manifest.replace("0.7.0", "99.0.0");
        assert!(matches!(parse(&newer), Err(Error::Newer(_))));
        assert!(matches!(parse("{"), Err(Error::Damaged { file: MANIFEST, .. })));
    }
}
