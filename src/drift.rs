//! The crate that a description comes to, held against the one on the disk: what krator would change, what stays
//! because somebody else wrote it, and what they should know. Pure: files come in as a [`Snapshot`] and go out as
//! [`Changes`].
//!
//! Whose a file is decides (see [`Ownership`]). *Generated*: written anew, but for one that somebody edited. *Seeded*:
//! written once; a version of it that krator would write differently now is merged on request. *Merged*: what krator
//! changes is taken into what the user has.

mod cargo;
mod found;
mod merge;
mod renames;

pub use found::FileFinding;

use std::collections::BTreeMap;

use crate::catalog::Severity;
use crate::changes::{Changes, Snapshot};
use crate::code::{self, Code};
use crate::finding::{Finding, Source};
use crate::model::Description;
use crate::plan::{File, Ownership, Plan};
use crate::record::{self, FileRecord, GenerationRecord};
use crate::render::{Runtime, first_wording, normalized};
use found::first_line;
use merge::Merged;

/// Where what is moved out of the way goes.
pub const PRUNED: &str = ".krator/pruned";

/// What the user asked for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Generated files are written even where somebody edited them.
    pub force: bool,
    /// Files that belong to nothing any more are moved out of the way.
    pub prune: bool,
    /// What breaks stored objects or clients is done all the same.
    pub allow_breaking: bool,
    /// What happens to files of the user that krator would write differently now.
    pub merge: Merge,
}

/// What happens to files of the user that krator would write differently now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Merge {
    /// They stay, and are named.
    #[default]
    Offer,
    /// Changes are taken in where they meet none of the user's.
    Clean,
    /// The same, and where they do, both versions are written between markers.
    Conflicts,
    /// Where they do, the user's stay, and krator's changes are not offered again; nor are those of seeded files.
    Mine,
}

/// What a run comes to.
#[derive(Debug, Default)]
pub struct Drift {
    /// What would be written. Nothing, where a finding forbids it.
    pub changes: Changes,
    /// What happens to single files, in the order of their paths. Those of `.krator/` are not named.
    pub actions: BTreeMap<String, FileAction>,
    /// What is to be said, each with the text that it is about.
    pub found: Vec<FileFinding>,
    /// Whether a finding forbids to write anything.
    pub is_refused: bool,
}

/// What happens to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileAction {
    /// It is new.
    Created,
    /// It gets other contents.
    Updated,
    /// It goes: nobody wrote anything into it.
    Removed,
    /// It takes in what krator would write differently now.
    Merged,
    /// It becomes this one.
    Moved(String),
    /// What it names has another name.
    Renamed,
    /// It stays, though krator would write it differently now.
    Offered,
    /// It stays, though nothing in the description needs it any more.
    Unused,
}

/// A description and what it comes to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Version<'a> {
    /// What is meant.
    pub description: &'a Description,
    /// Its text.
    pub source: &'a Source,
    /// Its files.
    pub plan: &'a Plan,
}

impl<'a> Version<'a> {
    /// With the files that users wrote.
    pub(crate) fn code(self, written: &'a BTreeMap<String, String>) -> Code<'a> {
        Code::new(self.description, self.source, self.plan, written)
    }
}

/// Compares. `now` is the description to be in step with, `former` the one of the last run where it was another one and
/// can be read; `record` is what that run left behind, and `disk` what is there: [`paths`], and all Rust files.
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
            // What this run was started for.
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

/// The paths that a comparison looks at.
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

/// Moves a file to where it is in the way of no other one, nor overwrites what was moved there before; its new path.
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

/// Where a crate takes its runtime from: what the last run knew, or else its Cargo.toml.
pub(crate) fn runtime(former: &GenerationRecord, manifest: Option<&str>) -> Runtime {
    let is_vendored = former.files.keys().any(|path| path.starts_with("vendor/"));
    let named = manifest.and_then(cargo::runtime).filter(|_| !is_vendored);
    named.map_or(Runtime::Vendored, Runtime::Path)
}

/// One comparison on its way.
struct Run<'a> {
    former: &'a GenerationRecord,
    disk: &'a Snapshot,
    options: Options,
    /// The crate as it will be.
    tree: BTreeMap<String, Vec<u8>>,
    /// What this run leaves behind.
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

    /// A file of the user, and what krator would write there.
    fn kept(&mut self, path: &str, file: &File) -> FileRecord {
        let planned = FileRecord::of(path, file);
        let former = self.former.files.get(path);
        if self.disk.bytes(path).is_none() {
            // What generated code names has to be there; what else was there once, somebody did not want.
            if former.is_none() || path.starts_with("src/") {
                self.write(path, &file.contents, FileAction::Created);
            }
            return planned;
        }
        // Theirs from before, or nothing that could be merged.
        let (Some(former), Some(text)) = (former, self.disk.text(path)) else {
            return planned;
        };
        if normalized(text) == file.contents || former.sha256 == planned.sha256 {
            return planned;
        }
        let untouched = former.wrote(text).then(|| normalized(text));
        // The first krator recorded no text, only its hash.
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

    /// `Cargo.lock`, as tested, until cargo has written another one: then it is cargo's.
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

    /// A file that the plan has no more.
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

    /// Notes what happens to a file, unless the file that was at its path has moved: then that is what people look for.
    fn act(&mut self, path: &str, action: FileAction) {
        let former = self.drift.actions.get(path);
        if !matches!(former, Some(FileAction::Moved(_))) {
            self.drift.actions.insert(path.to_owned(), action);
        }
    }

    /// Writes a file, unless it says that already, line ends apart.
    fn put(&mut self, path: &str, contents: &str) {
        if self
            .disk
            .text(path)
            .is_none_or(|there| normalized(there) != contents)
        {
            self.tree.insert(path.to_owned(), contents.into());
        }
    }

    /// Moves a file out of the way.
    fn set_aside(&mut self, path: &str) {
        if let Some(to) = set_aside(&mut self.tree, path) {
            self.drift.actions.insert(path.to_owned(), FileAction::Moved(to));
        }
    }

    /// Adds the errors of the user's code as it will be after this run. Its warnings are left to `krator check`.
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

    /// The changes of a crate that is now as on the disk.
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
