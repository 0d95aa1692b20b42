//! Applies the renames of a description to the user's files and to the record, before they are compared. The comparison
//! then sees the crate as if it had always had the new names.

use std::collections::{BTreeMap, BTreeSet};

use super::file_finding::occupied;
use super::{FileAction, FileFinding, Version, modules, set_aside};
use crate::changes::{FileState, Snapshot, UnreadableFiles};
use crate::code::{self, Renames};
use crate::plan::{Ownership, as_written};
use crate::record::{self, FileRecord, GenerationRecord};
use crate::text::normalized;

/// The files and the record of a crate after renaming.
pub(super) struct Named {
    pub disk: Snapshot,
    pub record: GenerationRecord,
    pub actions: BTreeMap<String, FileAction>,
    pub found: Vec<FileFinding>,
    pub is_refused: bool,
    /// Whether any name has changed.
    pub has_renames: bool,
    /// Files in which names would have to be replaced, or that would have to move.
    pub unreadable: UnreadableFiles,
}

/// Applies the renames since the former description to the files that users wrote, and to the recorded templates that
/// these are merged with.
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
        has_renames: false,
        unreadable: UnreadableFiles::default(),
    };
    let Some(former) = former else { return named };
    let renames = Renames::between(former.description, now.description);
    if renames.is_empty() {
        return named;
    }
    named.has_renames = true;
    let rename = |written: &BTreeMap<String, String>| code::rename(&former.code(written), &renames);
    named.record = record_under(&renames, record, disk, |bases| rename(bases).files);

    let is_generated = |path: &str| {
        let entry = record.files.get(path);
        entry.is_some_and(|entry| entry.ownership == Ownership::Generated)
    };
    let written = code::written(disk, is_generated);
    named.unreadable = written.unread(|texts| code::compiled(&former.code(texts)));
    let renamed = rename(&written.texts);
    // The handler of a removed state is moved away if a renamed one takes its path. Only recorded files are moved: any
    // other file at such a path is the user's own.
    let replaced = record.files.keys().filter(|path| renames.is_replaced(path));
    for path in replaced.flat_map(|path| modules::files_of(disk, path)) {
        named.set_aside(&path);
    }
    // Files that are not code, or that are not compiled, move with the folder of their kind or state.
    let is_theirs =
        |path: &&str| path.starts_with("src/") && !is_generated(path) && !renames.is_replaced(path);
    let others: Vec<(String, String)> = disk
        .paths()
        .filter(is_theirs)
        .filter(|path| !renamed.files.contains_key(*path) && !named.unreadable.contains(path))
        .map(|path| (path.to_owned(), renames.path(path)))
        .filter(|(path, to)| path != to)
        .collect();
    // Remove all renamed files before inserting any, because a new path may be the former path of another file, as when
    // two states swap names.
    for path in renamed.files.keys() {
        named.disk.remove(path);
    }
    let mut moved = Vec::new();
    for (path, to) in others {
        match named.disk.take(&path) {
            Ok(taken) => moved.extend(taken.map(|taken| (path, to, taken))),
            Err(why) => named.unreadable.add(&path, &why),
        }
    }
    let targets: BTreeSet<&str> = renamed
        .files
        .values()
        .map(|(to, _)| to.as_str())
        .chain(moved.iter().map(|(_, to, _)| to.as_str()))
        .collect();
    for to in &targets {
        named.make_room(to, force);
        // Two files for one module do not compile.
        if let Some(twin) = modules::twin(to).filter(|twin| !targets.contains(twin.as_str())) {
            named.make_room(&twin, force);
        }
    }
    for (path, (to, text)) in renamed.files {
        let action = if path == to {
            FileAction::Renamed
        } else {
            FileAction::Moved(to.clone())
        };
        named.actions.insert(path, action);
        named.disk.write(to, text);
    }
    for (path, to, taken) in moved {
        named.actions.insert(path, FileAction::Moved(to.clone()));
        named.disk.put(to, taken);
    }
    let texts = disk.paths().filter_map(|path| match disk.get(path) {
        FileState::Text(text) if path.starts_with("src/") && !path.ends_with(".rs") => Some((path, text)),
        _ => None,
    });
    let mentioned = code::mentioned(texts, &renames);
    for in_file in renamed.reports.into_iter().chain(mentioned) {
        let found = in_file
            .findings
            .into_iter()
            .map(|finding| FileFinding::new(&in_file.source, finding));
        named.found.extend(found);
    }
    named
}

impl Named {
    /// Moves a file into the folder of pruned files.
    fn set_aside(&mut self, path: &str) {
        match set_aside(&mut self.disk, path) {
            Ok(Some(pruned)) => drop(self.actions.insert(path.to_owned(), FileAction::Moved(pruned))),
            Ok(None) => {}
            Err(why) => self.unreadable.add(path, &why),
        }
    }

    /// Reports a file at the new path of a renamed file, or moves it away with `--force`.
    fn make_room(&mut self, path: &str, force: bool) {
        match self.disk.get(path) {
            FileState::Absent => {}
            FileState::Unreadable(why) => self.unreadable.add(path, why),
            FileState::Text(_) if force => self.set_aside(path),
            FileState::Text(there) => {
                self.found.push(occupied(path, there));
                self.is_refused = true;
            }
        }
    }
}

/// The record of the last run, as if that run had used the new names.
fn record_under(
    renames: &Renames,
    record: &GenerationRecord,
    disk: &Snapshot,
    rename: impl FnOnce(&BTreeMap<String, String>) -> BTreeMap<String, (String, String)>,
) -> GenerationRecord {
    let base = |path: &str, entry: &FileRecord| {
        let untouched = match disk.get(&modules::home(disk, path)) {
            FileState::Text(text) if entry.wrote(path, text) => {
                Some(as_written(&normalized(text)).into_owned())
            }
            _ => None,
        };
        entry.base.clone().or(untouched)
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
                    hashes: BTreeSet::from([record::hash(text)]),
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
        promised: record.promised.clone(),
        is_merged: record.is_merged,
        unasked: record.unasked.clone(),
    }
}
