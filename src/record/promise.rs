//! The description that `krator gen` accepted last, while `krator dev` has generated from later ones: changes that break
//! stored objects or clients are judged against it. It is a folder with the description and the files that it names, by
//! the paths that they have in the crate, so that it is read like one. Without it, the description that was generated from
//! last is the promised one.

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
    /// A description, as a record has the files that it names.
    pub fn of(description: &str, record: &GenerationRecord) -> Self {
        let named = named_files(description.as_bytes()).into_iter();
        let named = named.filter_map(|path| Some((path.clone(), record.files.get(&path)?.base.clone()?)));
        Promise {
            description: normalized(description),
            named: named.collect(),
        }
    }

    /// The promise in the files of `.krator/`, unless the last description is the promised one. Where a merge has left
    /// conflicts, the side that was merged into counts.
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

    /// Its files in `.krator/`.
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
