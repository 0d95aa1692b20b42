//! The files that a description names. They are part of the input: they are read before the description is checked, and
//! a read error is stored like a text.

use std::collections::{BTreeMap, BTreeSet};

use super::{Node, NodeKind, parse, source_of};

/// The largest file of `schemas`, in bytes. All definitions of cert-manager together take a quarter of that.
pub const LARGEST_SCHEMA: usize = 4 * 1024 * 1024;

/// The key of a description that names files.
const KEY: &str = "schemas";

/// The folders of a crate that krator or cargo writes into, in which files of a description are not allowed.
const OCCUPIED: [&str; 9] = [
    "benches",
    "deploy",
    "docs",
    "examples",
    "src",
    "target",
    "templates",
    "tests",
    "vendor",
];

/// The form of a path of `schemas`, as a phrase that can follow "expected".
pub const PATH_EXPECTED: &str = "a path such as `crds/certificate.yaml`: in a folder beside the description that \
     krator does not write to, with names of letters, digits, `-`, `_` and `.`, and with the extension `.yaml`, `.yml` or \
     `.json`";

/// The files that a description names, by their paths in its folder: the text of each, or the reason why it cannot be
/// read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Files(BTreeMap<String, Result<String, String>>);

impl Files {
    /// Adds a file: its text, or the reason why it cannot be read.
    pub fn add(&mut self, path: impl Into<String>, text: Result<String, String>) {
        self.0.insert(path.into(), text);
    }

    /// The text of a file, or the reason why it cannot be read.
    pub(crate) fn get(&self, path: &str) -> Result<&str, &str> {
        match self.0.get(path) {
            Some(Ok(text)) => Ok(text),
            Some(Err(why)) => Err(why),
            None => Err("the description has no folder that could contain the file"),
        }
    }
}

/// Whether a description may name a file by this path, which is also the file's path in the crate.
pub fn is_schema_path(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let is_plain = |part: &&str| {
        !part.is_empty()
            && part.len() <= 100
            && !part.starts_with('.')
            && !part.ends_with('.')
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
    };
    let is_occupied = OCCUPIED.contains(&parts[0].to_ascii_lowercase().as_str());
    let has_ending = [".yaml", ".yml", ".json"]
        .iter()
        .any(|ending| path.ends_with(ending));
    (2..=8).contains(&parts.len()) && parts.iter().all(is_plain) && !is_occupied && has_ending
}

/// The paths of the files that a description names, in order. Those that krator refuses are left out.
pub fn named_files(text: &[u8]) -> Vec<String> {
    // Most descriptions name no files, so a search for the key avoids parsing a large text.
    if !text.windows(KEY.len()).any(|part| part == KEY.as_bytes()) {
        return Vec::new();
    }
    let (source, findings) = source_of("", text);
    if !findings.is_empty() {
        return Vec::new();
    }
    let (documents, _) = parse(&source);
    let entries = |node: &Node| match &node.kind {
        NodeKind::Mapping(mapping) => mapping.entries.clone(),
        _ => Vec::new(),
    };
    let named = documents.iter().flat_map(entries);
    let named = named
        .filter(|entry| entry.key == KEY)
        .flat_map(|entry| entries(&entry.value));
    let paths: BTreeSet<String> = named
        .filter_map(|entry| Some(entry.value.scalar()?.text.clone()))
        .filter(|path| is_schema_path(path))
        .collect();
    paths.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_paths_beside_the_description_are_read() {
        for path in ["crds/certificate.yaml", "a/b/C-1.yml", "schemas/all.v1.json"] {
            assert!(is_schema_path(path), "{path}");
        }
        for path in [
            "certificate.yaml",
            "krator.yaml",
            "/etc/passwd.yaml",
            "../crds/x.yaml",
            "crds/../../x.yaml",
            "crds//x.yaml",
            "crds/.x.yaml",
            ".krator/x.yaml",
            "crds\\x.yaml",
            "C:/x.yaml",
            "deploy/crd.yaml",
            "Deploy/crd.yaml",
            "src/x.yaml",
            "crds/x",
            "crds/x.txt",
            "crds/x.yaml\n",
            "",
        ] {
            assert!(!is_schema_path(path), "{path:?}");
        }
    }

    #[test]
    fn the_paths_of_all_documents_are_found() {
        let text = "krator: 1\nschemas: {a.b/v1.C: crds/c.yaml, a.b/v1.D: ../d.yaml}\n---\nschemas:\n  a.b/v1.E: crds/b.yaml\n";
        assert_eq!(named_files(text.as_bytes()), ["crds/b.yaml", "crds/c.yaml"]);
        assert!(named_files(b"krator: 1\n").is_empty());
        assert!(named_files(b"schemas: [").is_empty());
    }
}
