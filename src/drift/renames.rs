//! Applies the renames of a description to the user's files and to the record, before they are compared. The comparison
//! then sees the crate as if it had always had the new names.

use std::collections::BTreeMap;

use super::file_finding::occupied;
use super::{FileAction, FileFinding, Version, set_aside};
use crate::changes::Snapshot;
use crate::code::{self, Renames};
use crate::plan::Ownership;
use crate::record::{self, FileRecord, GenerationRecord};

/// The files and the record of a crate after renaming.
pub(super) struct Named {
    pub disk: Snapshot,
    pub record: GenerationRecord,
    pub actions: BTreeMap<String, FileAction>,
    pub found: Vec<FileFinding>,
    pub is_refused: bool,
}

/// Renames what changed its name since the former description, in the files that users wrote and in the recorded
/// templates that they are merged with.
pub(super) fn follow(
    now: Version<'_>,
    former: Option<Version<'_>>,
    record: &GenerationRecord,
    disk: &Snapshot,
    force: bool,
) -> Named {
    let mut named = Named {
        disk: disk.clone(),
        record: record.clone(),
        actions: BTreeMap::new(),
        found: Vec::new(),
        is_refused: false,
    };
    let Some(former) = former else { return named };
    let renames = Renames::between(former.description, now.description);
    if renames.is_empty() {
        return named;
    }
    let rename = |written: &BTreeMap<String, String>| code::rename(&former.code(written), &renames);
    named.record = record_under(&renames, record, disk, |bases| rename(bases).files);

    let is_generated = |path: &str| {
        let entry = record.files.get(path);
        entry.is_some_and(|entry| entry.ownership == Ownership::Generated)
    };
    let renamed = rename(&code::written(disk.files(), is_generated));
    let mut files: BTreeMap<String, Vec<u8>> = disk
        .files()
        .map(|(path, contents)| (path.to_owned(), contents.to_vec()))
        .collect();
    // The handler of a removed state makes room for that of a renamed one. Only recorded files move: any other file at
    // such a path is the user's own.
    let replaced = record.files.keys().filter(|path| renames.is_replaced(path));
    for path in replaced {
        if let Some(pruned) = set_aside(&mut files, path) {
            named.actions.insert(path.clone(), FileAction::Moved(pruned));
        }
    }
    // Remove all renamed files before inserting any, because a new path may be the former path of another file, as when
    // two states swap names.
    for path in renamed.files.keys() {
        files.remove(path);
    }
    for (path, (to, text)) in renamed.files {
        let action = if path == to {
            FileAction::Renamed
        } else {
            FileAction::Moved(to.clone())
        };
        if files.contains_key(&to) {
            match disk.text(&to) {
                Some(there) if !force => {
                    named.found.push(occupied(&to, there));
                    named.is_refused = true;
                }
                _ => {
                    if let Some(pruned) = set_aside(&mut files, &to) {
                        named.actions.insert(to.clone(), FileAction::Moved(pruned));
                    }
                }
            }
        }
        named.actions.insert(path, action);
        files.insert(to, text.into_bytes());
    }
    named.disk = files.into_iter().collect();
    for in_file in renamed.reports {
        let found = in_file
            .findings
            .into_iter()
            .map(|finding| FileFinding::new(&in_file.source, finding));
        named.found.extend(found);
    }
    named
}

/// The record of the last run, as if that run had used the new names.
fn record_under(
    renames: &Renames,
    record: &GenerationRecord,
    disk: &Snapshot,
    rename: impl FnOnce(&BTreeMap<String, String>) -> BTreeMap<String, (String, String)>,
) -> GenerationRecord {
    let base = |path: &str, entry: &FileRecord| {
        let untouched = disk.text(path).filter(|text| entry.wrote(text));
        entry.base.clone().or(untouched.map(crate::render::normalized))
    };
    let is_code =
        |path: &str, entry: &FileRecord| path.ends_with(".rs") && entry.ownership != Ownership::Generated;
    let code = record.files.iter().filter(|(path, entry)| is_code(path, entry));
    let bases: BTreeMap<String, String> = code
        .filter_map(|(path, entry)| Some((path.clone(), base(path, entry)?)))
        .collect();
    let renamed = rename(&bases);
    let files = record
        .files
        .iter()
        .filter_map(|(path, entry)| match renamed.get(path) {
            Some((to, text)) => {
                let entry = FileRecord {
                    ownership: entry.ownership,
                    sha256: record::hash(text),
                    base: Some(text.clone()),
                };
                Some((to.clone(), entry))
            }
            // The file is moved to the pruned files and no longer recorded.
            None if renames.is_replaced(path) => None,
            None if is_code(path, entry) => Some((renames.path(path), entry.clone())),
            None => Some((path.clone(), entry.clone())),
        });
    GenerationRecord {
        files: files.collect(),
    }
}
