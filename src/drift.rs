//! Compares the crate that a description generates with the one on disk: which files krator changes, which it keeps
//! because a user wrote them, and what it reports. The comparison is pure: it takes a [`Snapshot`] and returns
//! [`Changes`].
//!
//! What happens to a file depends on its [`Ownership`]. A *generated* file is overwritten, unless a user edited it. A
//! *seeded* file is written once; if its template changes later, the change is merged on request. Changes to the
//! template of a *merged* file are always merged into the user's version.

mod cargo;
mod file_finding;
mod merge;
mod renames;

pub use file_finding::FileFinding;

use std::collections::BTreeMap;

use crate::catalog::Severity;
use crate::changes::{Changes, Snapshot};
use crate::code::{self, Code};
use crate::finding::{Finding, Source};
use crate::model::Description;
use crate::plan::{File, Ownership, Plan};
use crate::record::{self, FileRecord, GenerationRecord};
use crate::render::{Runtime, first_wording, normalized};
use file_finding::first_line;
use merge::Merged;

/// The folder that files are moved to when krator must not delete them.
pub const PRUNED: &str = ".krator/pruned";

/// The options of `krator gen` that affect the comparison.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Whether generated files are overwritten even if a user edited them.
    pub force: bool,
    /// Whether the user's files that the description no longer needs are moved to [`PRUNED`].
    pub prune: bool,
    /// Whether changes that break stored objects or clients are allowed.
    pub allow_breaking: bool,
    /// How changed templates are merged into files that belong to the user.
    pub merge: Merge,
}

/// How changed templates are merged into files that belong to the user.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Merge {
    /// Keep the seeded files and list them, so that the user can ask for a merge. Merged files take the changes as with
    /// `Clean`.
    #[default]
    Offer,
    /// Merge the changes that do not conflict with the user's.
    Clean,
    /// Like `Clean`, but write both versions of a conflict between markers.
    Conflicts,
    /// Resolve conflicts in favour of the user and do not offer krator's changes again. Seeded files are kept entirely.
    Mine,
}

/// The result of a comparison.
#[derive(Debug, Default)]
pub struct Drift {
    /// The changes to write. Empty if `is_refused`.
    pub changes: Changes,
    /// What happens to each file, by its path. krator's own files in `.krator/` are not listed.
    pub actions: BTreeMap<String, FileAction>,
    /// The findings, each with the file that it is about.
    pub found: Vec<FileFinding>,
    /// Whether an error prevents all changes.
    pub is_refused: bool,
}

/// What happens to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileAction {
    /// The file is new.
    Created,
    /// The file gets other contents.
    Updated,
    /// The file is removed, because krator no longer generates it and no user edited it.
    Removed,
    /// The changes of krator's template are merged into the user's file.
    Merged,
    /// The file moves to this path.
    Moved(String),
    /// Names that the file uses are replaced by their new names.
    Renamed,
    /// The template has changed, but the file is kept until the user asks for a merge.
    Offered,
    /// The description no longer needs the file, but it belongs to the user and is kept.
    Unused,
}

/// A description and the plan that it renders to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Version<'a> {
    /// The description.
    pub description: &'a Description,
    /// The text that the description was read from.
    pub source: &'a Source,
    /// The files that the description renders to.
    pub plan: &'a Plan,
}

impl<'a> Version<'a> {
    /// The Rust code of this version: its generated files, and those that users wrote.
    pub(crate) fn code(self, written: &'a BTreeMap<String, String>) -> Code<'a> {
        Code::new(self.description, self.source, self.plan, written)
    }
}

/// Compares the crate on disk with the one that `now` generates. `former` is the description of the last run, if it
/// differs and can still be read, and `record` is the record of that run. `disk` has to contain the files named by
/// [`paths`] and all Rust files.
pub(crate) fn compare(
    now: Version<'_>,
    former: Option<Version<'_>>,
    record: &GenerationRecord,
    disk: &Snapshot,
    options: Options,
) -> Drift {
    let mut drift = Drift::default();
    if let Some(former) = former.filter(|_| !options.allow_breaking) {
        let breaking = crate::compare::findings(former.description, now.description);
        drift.is_refused = crate::finding::has_errors(&breaking);
        drift.found.extend(
            breaking
                .into_iter()
                .map(|finding| FileFinding::new(now.source, finding)),
        );
    }
    let named = renames::follow(now, former, record, disk, options.force);
    let mut run = Run {
        former: &named.record,
        tree: named
            .disk
            .files()
            .map(|(path, contents)| (path.to_owned(), contents.to_vec()))
            .collect(),
        disk: &named.disk,
        options,
        record: GenerationRecord::default(),
        drift,
    };
    run.drift.actions = named.actions;
    run.drift.is_refused |= named.is_refused;
    run.drift.found.extend(named.found);
    for (path, file) in now.plan.files() {
        let entry = match (path, file.ownership) {
            // The user has just edited the description, so it is recorded and never overwritten.
            ("krator.yaml", _) => FileRecord::of(path, file),
            ("Cargo.toml", _) => run.cargo_manifest(path, file),
            ("Cargo.lock", _) => run.lock(path, file),
            (_, Ownership::Generated) => run.generated(path, file),
            (_, Ownership::Seeded | Ownership::Merged) => run.kept(path, file),
        };
        run.record.files.insert(path.to_owned(), entry);
    }
    for (path, entry) in &named.record.files {
        if now.plan.get(path).is_none() {
            run.gone(path, entry);
        }
    }
    for (path, contents) in run.record.render(&normalized(now.source.text())) {
        run.put(path, &contents);
    }
    if !run.drift.is_refused {
        run.read_code(now, former);
    }
    run.end(disk)
}

/// The paths that a comparison reads.
pub(crate) fn paths<'a>(plan: &'a Plan, former: &'a GenerationRecord) -> impl Iterator<Item = String> + 'a {
    let paths = || {
        plan.files()
            .map(|(path, _)| path)
            .chain(former.files.keys().map(String::as_str))
    };
    let pruned = paths().map(|path| format!("{PRUNED}/{path}"));
    let record = record::FILES.map(str::to_owned);
    paths().map(str::to_owned).chain(pruned).chain(record)
}

/// Moves a file into [`PRUNED`] and returns its new path, which never overwrites a different file there.
fn set_aside(tree: &mut BTreeMap<String, Vec<u8>>, path: &str) -> Option<String> {
    let bytes = tree.remove(path)?;
    let mut to = format!("{PRUNED}/{path}");
    if tree.get(&to).is_some_and(|there| *there != bytes) {
        let hash = record::hash_bytes(&bytes);
        to = format!("{to}.{}", hash.get(..8).unwrap_or(&hash));
    }
    tree.insert(to.clone(), bytes);
    Some(to)
}

/// How a crate depends on the runtime: vendored if the last run recorded it so, otherwise as its Cargo.toml says.
pub(crate) fn runtime(former: &GenerationRecord, manifest: Option<&str>) -> Runtime {
    let is_vendored = former.files.keys().any(|path| path.starts_with("vendor/"));
    let named = manifest.and_then(cargo::runtime).filter(|_| !is_vendored);
    named.map_or(Runtime::Vendored, Runtime::Path)
}

/// The state of a comparison in progress.
struct Run<'a> {
    former: &'a GenerationRecord,
    disk: &'a Snapshot,
    options: Options,
    /// The files of the crate as they will be after the run.
    tree: BTreeMap<String, Vec<u8>>,
    /// The record of this run.
    record: GenerationRecord,
    drift: Drift,
}

impl Run<'_> {
    fn generated(&mut self, path: &str, file: &File) -> FileRecord {
        let there = self
            .disk
            .bytes(path)
            .map(|_| self.disk.text(path).unwrap_or_default());
        match there {
            None => self.write(path, &file.contents, FileAction::Created),
            Some(text) if normalized(text) == file.contents => {}
            Some(text) => match self.former.files.get(path) {
                Some(entry) if entry.wrote(text) => self.write(path, &file.contents, FileAction::Updated),
                Some(entry) if entry.ownership == Ownership::Generated => {
                    if self.options.force {
                        self.write(path, &file.contents, FileAction::Updated);
                    } else {
                        self.edited(path, text, Some(&file.contents));
                    }
                }
                _ if self.options.force => {
                    self.set_aside(path);
                    self.write(path, &file.contents, FileAction::Created);
                }
                _ => self.occupied(path, text),
            },
        }
        FileRecord::of(path, file)
    }

    /// Compares a file that belongs to the user with its template.
    fn kept(&mut self, path: &str, file: &File) -> FileRecord {
        let planned = FileRecord::of(path, file);
        let former = self.former.files.get(path);
        if self.disk.bytes(path).is_none() {
            // Recreate the files that generated code refers to; any other file that the user has deleted stays deleted.
            if former.is_none() || path.starts_with("src/") {
                self.write(path, &file.contents, FileAction::Created);
            }
            return planned;
        }
        // A file that was never recorded is the user's own, and one that is not UTF-8 cannot be merged.
        let (Some(former), Some(text)) = (former, self.disk.text(path)) else {
            return planned;
        };
        if normalized(text) == file.contents || former.sha256 == planned.sha256 {
            return planned;
        }
        let untouched = former.wrote(text).then(|| normalized(text));
        // The first version of krator recorded only a hash of the template, whose text was the first wording.
        let restored = || {
            let text = first_wording(&file.contents);
            former.wrote(&text).then_some(text)
        };
        let base = former.base.clone().or(untouched).or_else(restored);
        let pending = FileRecord {
            base: base.clone(),
            ownership: file.ownership,
            ..former.clone()
        };
        match (self.options.merge, file.ownership) {
            (Merge::Offer, Ownership::Seeded) => {
                self.act(path, FileAction::Offered);
                return pending;
            }
            (Merge::Mine, Ownership::Seeded) => return planned,
            _ => {}
        }
        let span = match base
            .as_deref()
            .map(|base| merge::merge(base, text, &file.contents))
        {
            Some(Merged::Clean(merged)) => {
                self.write(path, &merged, FileAction::Merged);
                return planned;
            }
            _ if self.options.merge == Merge::Mine => return planned,
            Some(Merged::Conflict { marked, .. }) if self.options.merge == Merge::Conflicts => {
                self.write(path, &marked, FileAction::Merged);
                return planned;
            }
            Some(Merged::Conflict { span, .. }) => span,
            None => first_line(text),
        };
        self.conflict(
            path,
            text,
            span,
            (base.as_deref().unwrap_or(text), &file.contents),
        );
        pending
    }

    fn cargo_manifest(&mut self, path: &str, file: &File) -> FileRecord {
        let former = self.former.files.get(path);
        match self.disk.text(path) {
            None => self.write(path, &file.contents, FileAction::Created),
            Some(text) => {
                let untouched = former.filter(|entry| entry.wrote(text)).map(|_| text);
                let base = former.and_then(|entry| entry.base.as_deref()).or(untouched);
                match cargo::merge(base, text, &file.contents) {
                    Ok(merged) if merged == text => {}
                    Ok(merged) => self.write(path, &merged, FileAction::Updated),
                    Err(error) => self.unreadable(path, text, &error),
                }
            }
        }
        FileRecord::of(path, file)
    }

    /// Keeps `Cargo.lock` at the tested versions until cargo has changed it; from then on it is left unchanged.
    fn lock(&mut self, path: &str, file: &File) -> FileRecord {
        let planned = FileRecord::of(path, file);
        let former = self.former.files.get(path);
        match self.disk.text(path) {
            None if former.is_none() => self.write(path, &file.contents, FileAction::Created),
            Some(text) if former.is_some_and(|entry| entry.wrote(text)) && !planned.wrote(text) => {
                self.write(path, &file.contents, FileAction::Updated);
            }
            _ => {}
        }
        planned
    }

    /// Handles a file that the last run recorded and that the plan no longer contains.
    fn gone(&mut self, path: &str, entry: &FileRecord) {
        if self.disk.bytes(path).is_none() {
            return;
        }
        let text = self.disk.text(path).unwrap_or_default();
        if entry.ownership == Ownership::Generated {
            if entry.wrote(text) {
                self.tree.remove(path);
                self.drift.actions.insert(path.to_owned(), FileAction::Removed);
            } else if self.options.force {
                self.set_aside(path);
            } else {
                self.edited(path, text, None);
            }
        } else if self.options.prune {
            self.set_aside(path);
        } else {
            self.drift.actions.insert(path.to_owned(), FileAction::Unused);
            self.record.files.insert(path.to_owned(), entry.clone());
        }
    }

    fn write(&mut self, path: &str, contents: &str, action: FileAction) {
        self.put(path, contents);
        self.act(path, action);
    }

    /// Records what happens to a file. If the file that was at this path has moved, that is kept instead, because users
    /// look for the moved file.
    fn act(&mut self, path: &str, action: FileAction) {
        let former = self.drift.actions.get(path);
        if !matches!(former, Some(FileAction::Moved(_))) {
            self.drift.actions.insert(path.to_owned(), action);
        }
    }

    /// Writes a file, unless the existing one differs in line endings only.
    fn put(&mut self, path: &str, contents: &str) {
        if self
            .disk
            .text(path)
            .is_none_or(|there| normalized(there) != contents)
        {
            self.tree.insert(path.to_owned(), contents.into());
        }
    }

    /// Moves a file into [`PRUNED`] and records the move.
    fn set_aside(&mut self, path: &str) {
        if let Some(to) = set_aside(&mut self.tree, path) {
            self.drift.actions.insert(path.to_owned(), FileAction::Moved(to));
        }
    }

    /// Adds the errors found in the user's code as it will be after this run. `krator check` reports the warnings.
    fn read_code(&mut self, now: Version<'_>, former: Option<Version<'_>>) {
        let files = self
            .tree
            .iter()
            .map(|(path, contents)| (path.as_str(), contents.as_slice()));
        let written = code::written(files, |path| {
            now.plan
                .get(path)
                .is_some_and(|file| file.ownership == Ownership::Generated)
        });
        let former = former.map(|former| former.code(&written));
        for in_file in code::findings(&now.code(&written), former.as_ref()) {
            let findings = in_file.findings.into_iter();
            let is_error = |finding: &Finding| finding.rule.severity == Severity::Error;
            let found = findings
                .filter(is_error)
                .map(|finding| FileFinding::new(&in_file.source, finding));
            self.drift.found.extend(found);
        }
    }

    /// Turns the final files into changes relative to the disk. A refused run has no changes.
    fn end(self, disk: &Snapshot) -> Drift {
        let mut drift = self.drift;
        if drift.is_refused {
            drift.actions.clear();
            return drift;
        }
        let there = disk.files().map(|(path, _)| path);
        for path in there.chain(self.tree.keys().map(String::as_str)) {
            let after = self.tree.get(path).map(Vec::as_slice);
            drift.changes.set(path, disk.bytes(path), after);
        }
        drift
    }
}
