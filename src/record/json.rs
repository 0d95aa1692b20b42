//! The record in the layouts 1 and 2, which were two files of JSON. The next run replaces them.

use super::{Error, FileRecord, GenerationRecord, check_layout, check_version, hash};
use crate::changes::{FileState, Snapshot};
use crate::plan::Ownership;
use crate::text::conflict::conflicts;
use serde::{Deserialize, de::DeserializeOwned};
use std::collections::{BTreeMap, BTreeSet};

/// The generated files, with the owner and the hash of each.
pub(super) const MANIFEST: &str = ".krator/manifest.json";
/// The contents of files that users edit. Layout 1 had none.
pub(super) const BASE: &str = ".krator/base.json";

/// The part of the manifest that all layouts have.
#[derive(Deserialize)]
struct Header {
    layout: u64,
    krator: String,
}

#[derive(Deserialize)]
struct Manifest {
    files: BTreeMap<String, ManifestEntry>,
}

#[derive(Deserialize)]
struct ManifestEntry {
    ownership: Ownership,
    sha256: String,
}

/// Reads [`MANIFEST`] and [`BASE`]. A base that is missing, or does not match the hash of its file, is ignored: that file
/// then has no common ancestor, and its changes cannot be merged.
pub(super) fn parse(files: &Snapshot) -> Result<GenerationRecord, Error> {
    let Some((manifest, is_merged)) = side(files, MANIFEST) else {
        return Err(Error::Damaged {
            file: super::LIST,
            cause: "it is missing".to_owned(),
        });
    };
    let header: Header = read(MANIFEST, &manifest)?;
    check_version(&header.krator)?;
    check_layout(header.layout, &header.krator)?;
    let manifest: Manifest = read(MANIFEST, &manifest)?;
    let mut bases: BTreeMap<String, String> = match side(files, BASE) {
        Some((base, _)) => read(BASE, &base)?,
        None => BTreeMap::new(),
    };
    // Layout 1 listed the files of `.krator/`, too.
    let entries = manifest
        .files
        .into_iter()
        .filter(|(path, _)| !path.starts_with(".krator/"));
    let entries = entries.map(|(path, ManifestEntry { ownership, sha256 })| {
        let entry = FileRecord {
            ownership,
            base: bases.remove(&path).filter(|base| hash(base) == sha256),
            hashes: BTreeSet::from([sha256]),
        };
        (path, entry)
    });
    Ok(GenerationRecord {
        files: entries.collect(),
        is_merged,
    })
}

/// The text of a file, or of the branch that was merged into; and whether there was a merge.
fn side(files: &Snapshot, path: &str) -> Option<(String, bool)> {
    let FileState::Text(text) = files.get(path) else {
        return None;
    };
    Some(conflicts(text).map_or_else(|| (text.to_owned(), false), |sides| (sides.ours, true)))
}

fn read<T: DeserializeOwned>(file: &'static str, text: &str) -> Result<T, Error> {
    serde_json::from_str(text).map_err(|error| Error::Damaged {
        file,
        cause: error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(manifest: &str, base: &str) -> Result<GenerationRecord, Error> {
        let files = [(MANIFEST, manifest), (BASE, base)];
        super::parse(
            &files
                .map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()))
                .into_iter()
                .collect(),
        )
    }

    #[test]
    fn a_record_of_json_is_read() {
        let manifest = format!(
            "{{\"layout\": 2, \"krator\": \"0.7.0\", \"files\": {{\"a\": {{\"ownership\": \"seeded\", \"sha256\": \"{}\"}}}}}}",
            hash("a\n")
        );
        let record = parse(&manifest, "{\"a\": \"a\\n\"}").expect("our own");
        assert_eq!(record.files["a"].base.as_deref(), Some("a\n"));
        assert_eq!(
            parse(&manifest, "{\"a\": \"else\"}").expect("a manifest").files["a"].base,
            None
        );
        let newer = manifest.replace("0.7.0", "99.0.0");
        assert!(matches!(parse(&newer, "{}"), Err(Error::Newer(_))));
        assert!(matches!(
            parse(&manifest, "{"),
            Err(Error::Damaged { file: BASE, .. })
        ));
        let merged = manifest.replacen(
            "\"0.7.0\"",
            "\n<<<<<<< HEAD\n\"0.6.0\"\n=======\n\"0.7.0\"\n>>>>>>> theirs\n",
            1,
        );
        assert!(parse(&merged, "{}").expect("one side").is_merged);
    }
}
