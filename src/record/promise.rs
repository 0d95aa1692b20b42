//! The description that `krator gen` accepted last, while `krator dev` has generated from later ones: breaking changes
//! for stored objects or clients are judged by comparison with it. It is a folder with the description and the files
//! that it names, at their paths in the crate, so that it is read like a crate. Without it, the description of the last
//! generation is the promised one.

use std::collections::BTreeMap;

use super::GenerationRecord;
use crate::changes::{FileState, Snapshot};
use crate::spec::{Files, named_files};
use crate::text::conflict::conflicts;
use crate::text::normalized;

/// The folder of the promised description.
pub(crate) const PROMISED: &str = ".krator/promised";

/// The promised description.
pub(crate) const PROMISED_DESCRIPTION: &str = ".krator/promised/krator.yaml";

/// The name of the description in the folder.
const DESCRIPTION: &str = "krator.yaml";

/// A description and the files that it names, as texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Promise {
    pub description: String,
    named: BTreeMap<String, String>,
}

/// Whether a file of `.krator/` belongs to the promised description.
pub(super) fn is_part(path: &str) -> bool {
    path.strip_prefix(PROMISED)
        .is_some_and(|rest| rest.starts_with('/'))
}

impl Promise {
    /// The promise of a description, with the files that it names from a record.
    pub fn of(description: &str, record: &GenerationRecord) -> Self {
        let named = named_files(description.as_bytes()).into_iter();
        let named = named.filter_map(|path| Some((path.clone(), record.files.get(&path)?.base.clone()?)));
        Promise {
            description: normalized(description),
            named: named.collect(),
        }
    }

    /// The promise in the files of `.krator/`; `None` if the description of the last generation is the promised one.
    /// From a merge with conflicts, the side of the current branch is taken.
    pub(super) fn parse(files: &Snapshot) -> Option<Self> {
        let texts = files.iter().filter_map(|(path, file)| match file {
            FileState::Text(text) if is_part(path) => {
                let path = path.strip_prefix(PROMISED)?.strip_prefix('/')?;
                let text = conflicts(text).map_or_else(|| normalized(text), |sides| sides.ours);
                Some((path.to_owned(), text))
            }
            _ => None,
        });
        let mut named: BTreeMap<String, String> = texts.collect();
        let description = named.remove(DESCRIPTION)?;
        Some(Promise { description, named })
    }

    /// The files of the promise in `.krator/`.
    pub(super) fn render(&self) -> impl Iterator<Item = (String, String)> {
        let named = self
            .named
            .iter()
            .map(|(path, text)| (format!("{PROMISED}/{path}"), text.clone()));
        named.chain([(PROMISED_DESCRIPTION.to_owned(), self.description.clone())])
    }

    /// The files that the description names.
    pub fn files(&self) -> Files {
        let mut files = Files::default();
        for path in named_files(self.description.as_bytes()) {
            let text = self.named.get(&path).cloned();
            files.add(
                path,
                text.ok_or_else(|| "it was not recorded with the description".to_owned()),
            );
        }
        files
    }
}
