//! A comparison in progress, which decides about each file in turn.

use std::collections::BTreeSet;

use super::file_finding::{
    FileFinding, conflict, conflicted, edited, first_line, occupied, unlisted, unusable_manifest,
};
use super::merge::{self, Merged};
use super::renames::Named;
use super::{FileAction, MANIFEST, Merge, Options, Regen, Version, cargo, modules, restore, set_aside};
use std::collections::BTreeMap;

use crate::changes::{Changes, FileState, Snapshot, UnreadableFiles};
use crate::code::{self, InFile};
use crate::plan::{File, Ownership, Plan, as_written};
use crate::record::layout::is_formatted;
use crate::record::{self, FileRecord, GenerationRecord};
use crate::text::conflict::conflicts;
use crate::text::{normalized, with_line_ends_of};

/// Whether the owner of a file has replaced the generated contents: fewer than a third of the generated lines are left,
/// so that a change of the others has no place in the file.
fn is_replaced(base: &str, ours: &str) -> bool {
    let is_said = |line: &&str| line.chars().any(char::is_alphanumeric);
    let there: BTreeSet<&str> = ours.lines().map(str::trim).collect();
    let of_base: Vec<&str> = base.lines().map(str::trim).filter(is_said).collect();
    let left = of_base.iter().filter(|line| there.contains(*line)).count();
    3 * left < of_base.len()
}

/// The state of a comparison in progress.
pub(super) struct Run<'a> {
    former: &'a GenerationRecord,
    /// The files that the former description renders to, if it differs.
    former_plan: Option<&'a Plan>,
    disk: &'a Snapshot,
    options: Options,
    /// Whether the description renames a name.
    has_renames: bool,
    /// The files of the crate as they will be after the run.
    tree: Snapshot,
    /// The record of this run.
    pub record: GenerationRecord,
    pub regen: Regen,
    /// Files whose contents are needed but cannot be read.
    pub unreadable: UnreadableFiles,
}

impl<'a> Run<'a> {
    /// Decides about all files except those of `.krator/`.
    pub fn settle(
        named: &'a Named,
        now: Version<'_>,
        former: Option<Version<'a>>,
        options: Options,
        regen: Regen,
    ) -> Self {
        let mut run = Run {
            former: &named.record,
            former_plan: former.map(|former| former.plan),
            tree: named.disk.clone(),
            disk: &named.disk,
            options,
            has_renames: named.has_renames,
            record: GenerationRecord::default(),
            regen,
            unreadable: named.unreadable.clone(),
        };
        run.regen.actions.clone_from(&named.actions);
        run.regen.is_refused |= named.is_refused;
        run.regen.found.extend(named.found.iter().cloned());
        for (path, file) in now.plan.files() {
            let entry = match (path, file.ownership) {
                // The user has just edited the description, so it is recorded and never overwritten.
                ("krator.yaml", _) => FileRecord::of(path, file),
                (MANIFEST, _) => run.cargo_manifest(path, file),
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
        run
    }

    fn generated(&mut self, path: &str, file: &File) -> FileRecord {
        let disk = self.disk;
        match disk.get(path) {
            FileState::Absent => self.write(path, &file.contents, FileAction::Created),
            FileState::Unreadable(why) => self.unreadable.add(path, why),
            FileState::Text(text) if normalized(text) == file.contents => {}
            // The formatting of a file is kept.
            FileState::Text(text) if path.ends_with(".rs") && is_formatted(text, &file.contents) => {}
            FileState::Text(text) => match self.former.files.get(path) {
                Some(entry) if self.is_written(entry, path, text) => {
                    self.write(path, &file.contents, FileAction::Updated);
                }
                Some(entry) if entry.ownership == Ownership::Generated => {
                    if self.options.force {
                        self.write(path, &file.contents, FileAction::Updated);
                    } else if self.former.is_merged {
                        // Git may have moved the changes of one branch into a file that the other one has renamed.
                        self.set_aside(path);
                        self.write(path, &file.contents, FileAction::Created);
                    } else {
                        self.refuse(edited(path, text, Some(&file.contents)));
                    }
                }
                _ if self.options.force => {
                    self.set_aside(path);
                    self.write(path, &file.contents, FileAction::Created);
                }
                _ => self.refuse(occupied(path, text)),
            },
        }
        FileRecord::of(path, file)
    }

    /// Whether a generated file is as krator or git has left it. The record of an older krator does not cover
    /// formatting.
    fn is_written(&self, entry: &FileRecord, path: &str, text: &str) -> bool {
        let former = self.former_plan.and_then(|plan| plan.get(path));
        let is_rust = path.ends_with(".rs");
        entry.wrote(path, text)
            || self.is_merged(entry, text)
            || is_rust && former.is_some_and(|file| is_formatted(text, &file.contents))
    }

    /// Whether a generated file results from a merge by git, rather than from an edit by hand.
    fn is_merged(&self, entry: &FileRecord, text: &str) -> bool {
        entry.ownership == Ownership::Generated
            && (conflicts(text).is_some() || self.former.is_merged && entry.hashes.len() > 1)
    }

    /// Compares a file that belongs to the user with its template.
    fn kept(&mut self, path: &str, file: &File) -> FileRecord {
        let planned = FileRecord::of(path, file);
        let disk = self.disk;
        let fitting = restore::fitting(disk, path, file);
        if !fitting.is_empty() && self.options.restore {
            self.restore(path, fitting);
            return planned;
        }
        self.regen
            .restorable
            .extend(fitting.into_iter().map(|(from, _)| from));
        let at = modules::home(disk, path);
        let former = self.former.files.get(path);
        let state = disk.get(&at);
        if state == FileState::Absent {
            // Recreate the files that generated code refers to; any other file that the user has deleted stays deleted.
            if former.is_none() || path.starts_with("src/") {
                self.write(path, &file.contents, FileAction::Created);
            }
            return planned;
        }
        // A file that was never recorded is the user's own, and there is nothing to merge while the template is the same.
        let Some(former) = former.filter(|former| former.hashes != planned.hashes) else {
            return planned;
        };
        let text = match state {
            FileState::Text(text) => text,
            FileState::Unreadable(why) => {
                self.unreadable.add(&at, why);
                return planned;
            }
            FileState::Absent => return planned,
        };
        let contents = as_written(&file.contents);
        let ours = normalized(text);
        if as_written(&ours) == contents {
            return planned;
        }
        if conflicts(text).is_some() {
            // The user has to resolve the conflict first.
            return FileRecord {
                ownership: file.ownership,
                ..former.clone()
            };
        }
        let untouched = former.wrote(path, text).then(|| as_written(&ours).into_owned());
        let base = former.base.clone().or(untouched);
        if file.ownership == Ownership::Seeded && base.as_deref().is_some_and(|base| is_replaced(base, &ours))
        {
            return planned;
        }
        let pending = FileRecord {
            base: base.clone(),
            ownership: file.ownership,
            ..former.clone()
        };
        // A file without edits by the user follows a rename as a whole.
        let is_untouched = former.wrote(path, text);
        match (self.options.merge, file.ownership) {
            (Merge::Offer, Ownership::Seeded) if self.has_renames && is_untouched => {
                // The new text contains no former names, so reports of them are withdrawn.
                self.regen.found.retain(|found| found.source.name() != at);
                let is_moved_here = |action: &FileAction| *action == FileAction::Moved(at.clone());
                let is_listed = self.regen.actions.values().any(is_moved_here);
                let is_written = as_written(&ours) == ours;
                let text = if is_written { &*contents } else { &file.contents };
                if self.put(&at, text) && !is_listed {
                    self.act(&at, FileAction::Updated);
                }
                return planned;
            }
            (Merge::Offer, Ownership::Seeded) => {
                self.act(&at, FileAction::Offered);
                return pending;
            }
            (Merge::Mine, Ownership::Seeded) => return planned,
            _ => {}
        }
        let span = match base.as_deref().map(|base| merge::merge(base, text, &contents)) {
            Some(Merged::Clean(merged)) => {
                self.write(&at, &merged, FileAction::Merged);
                return planned;
            }
            _ if self.options.merge == Merge::Mine => return planned,
            Some(Merged::Conflict { marked, .. }) if self.options.merge == Merge::Conflicts => {
                self.write(&at, &marked, FileAction::Merged);
                return planned;
            }
            Some(Merged::Conflict { span, .. }) => span,
            None => first_line(text),
        };
        let change = (base.as_deref().unwrap_or(text), &*contents);
        self.regen.found.push(conflict(&at, text, span, change));
        pending
    }

    fn cargo_manifest(&mut self, path: &str, file: &File) -> FileRecord {
        let disk = self.disk;
        let former = self.former.files.get(path);
        match disk.get(path) {
            FileState::Absent => self.write(path, &file.contents, FileAction::Created),
            FileState::Unreadable(why) => self.unreadable.add(path, why),
            FileState::Text(text) => {
                let ours = normalized(text);
                let untouched = former
                    .filter(|entry| entry.wrote(path, text))
                    .map(|_| ours.as_str());
                let base = former.and_then(|entry| entry.base.as_deref()).or(untouched);
                match cargo::merge(base, &ours, &file.contents) {
                    Ok(merged) => self.write(path, &merged, FileAction::Updated),
                    Err(error) => self.refuse(unusable_manifest(path, text, &error)),
                }
            }
        }
        FileRecord::of(path, file)
    }

    /// Keeps `Cargo.lock` at the tested versions until cargo changes it. After that, it is left unchanged.
    fn lock(&mut self, path: &str, file: &File) -> FileRecord {
        let planned = FileRecord::of(path, file);
        let disk = self.disk;
        let former = self.former.files.get(path);
        let Some(former) = former else {
            if disk.get(path) == FileState::Absent {
                self.write(path, &file.contents, FileAction::Created);
            }
            return planned;
        };
        match disk.get(path) {
            _ if former.hashes == planned.hashes => {}
            FileState::Text(text) if former.wrote(path, text) => {
                self.write(path, &file.contents, FileAction::Updated);
            }
            FileState::Unreadable(why) => self.unreadable.add(path, why),
            FileState::Text(_) | FileState::Absent => {}
        }
        planned
    }

    /// Handles a file that the last run recorded and that the plan no longer contains.
    fn gone(&mut self, path: &str, entry: &FileRecord) {
        let disk = self.disk;
        if entry.ownership == Ownership::Generated {
            match disk.get(path) {
                FileState::Absent => {}
                FileState::Unreadable(why) => self.unreadable.add(path, why),
                FileState::Text(text) if self.is_written(entry, path, text) => {
                    self.tree.remove(path);
                    self.regen.actions.insert(path.to_owned(), FileAction::Removed);
                }
                FileState::Text(_) if self.options.force || self.former.is_merged => self.set_aside(path),
                FileState::Text(text) => self.refuse(edited(path, text, None)),
            }
            return;
        }
        let at = modules::home(disk, path);
        if !disk.has(&at) {
            return;
        }
        if self.options.prune {
            modules::files_of(disk, path)
                .iter()
                .for_each(|file| self.set_aside(file));
        } else {
            self.regen.actions.insert(at, FileAction::Unused);
            self.record.files.insert(path.to_owned(), entry.clone());
        }
    }

    fn write(&mut self, path: &str, contents: &str, action: FileAction) {
        if self.put(path, contents) {
            self.act(path, action);
        }
    }

    /// Records the action on a file. If a file was moved from this path, that action is kept, because users look for
    /// the moved file.
    fn act(&mut self, path: &str, action: FileAction) {
        let former = self.regen.actions.get(path);
        if !matches!(former, Some(FileAction::Moved(_))) {
            self.regen.actions.insert(path.to_owned(), action);
        }
    }

    /// Writes a file with the line endings of the existing one, unless they differ only in line endings. Returns
    /// whether they differ.
    pub fn put(&mut self, path: &str, contents: &str) -> bool {
        match self.tree.get(path) {
            FileState::Unreadable(why) => self.unreadable.add(path, why),
            FileState::Text(there) if normalized(there) == normalized(contents) => {}
            FileState::Text(there) => {
                let contents = with_line_ends_of(there, contents);
                self.tree.write(path, contents);
                return true;
            }
            FileState::Absent => {
                self.tree.write(path, contents);
                return true;
            }
        }
        false
    }

    /// Writes these files of `.krator/`, and removes other files that an earlier run has recorded there.
    pub fn put_record(&mut self, files: BTreeMap<String, String>) {
        let is_gone = |path: &&str| record::is_part(path) && !files.contains_key(*path);
        let gone: Vec<String> = self.tree.paths().filter(is_gone).map(str::to_owned).collect();
        gone.iter().for_each(|path| self.tree.remove(path));
        for (path, contents) in &files {
            self.put(path, contents);
        }
    }

    /// Moves pruned files back, in place of the generated file at the path.
    fn restore(&mut self, path: &str, fitting: Vec<(String, String)>) {
        self.tree.remove(path);
        for (from, to) in fitting {
            match self.tree.take(&from) {
                Ok(Some(taken)) => {
                    self.tree.put(to.clone(), taken);
                    self.regen.actions.insert(from, FileAction::Moved(to));
                }
                Ok(None) => {}
                Err(why) => self.unreadable.add(&from, &why),
            }
        }
    }

    /// Reports a finding that prevents all changes.
    fn refuse(&mut self, found: FileFinding) {
        self.regen.is_refused = true;
        self.regen.found.push(found);
    }

    /// Moves a file into [`PRUNED`] and records the move.
    fn set_aside(&mut self, path: &str) {
        match set_aside(&mut self.tree, path) {
            Ok(Some(to)) => drop(self.regen.actions.insert(path.to_owned(), FileAction::Moved(to))),
            Ok(None) => {}
            Err(why) => self.unreadable.add(path, &why),
        }
    }

    /// The findings in the user's code as it will be after this run, and the files of the handlers that are not
    /// written.
    ///
    /// # Errors
    ///
    /// Fails if any file whose contents are needed could not be read, code or not.
    pub fn read_code(&self, now: Version<'_>) -> Result<(Vec<InFile>, BTreeSet<String>), UnreadableFiles> {
        let written = code::written(&self.tree, |path| {
            now.plan
                .get(path)
                .is_some_and(|file| file.ownership == Ownership::Generated)
        });
        let mut unreadable = self.unreadable.clone();
        unreadable.extend(written.unread(|texts| code::compiled(&now.code(texts))));
        unreadable.none_or_fail()?;
        let code = now.code(&written.texts);
        let mut found = conflicted(&self.tree, now);
        found.extend(code::findings(&code));
        Ok((found, code::not_written(&code)))
    }

    /// The files of the crate as they will be after the run.
    pub fn tree(&self) -> &Snapshot {
        &self.tree
    }

    /// The manifests among these files that the kustomization of the crate does not list.
    pub fn unlisted(&self, now: Version<'_>, files: &Snapshot) -> Vec<FileFinding> {
        const FOLDER: &str = "deploy/";
        let path = format!("{FOLDER}kustomization.yaml");
        let FileState::Text(text) = self.tree.get(&path) else {
            return Vec::new();
        };
        let manifests = now.plan.files().filter_map(|(path, _)| {
            let name = path.strip_prefix(FOLDER)?;
            let is_applied = !name.contains('/') && !["kustomization.yaml", "sample.yaml"].contains(&name);
            (is_applied && files.has(path)).then_some(name)
        });
        unlisted(&path, text, manifests)
    }

    /// Turns the final files into changes relative to the disk. A refused run has no changes.
    pub fn end(self, disk: &Snapshot) -> Regen {
        let mut regen = self.regen;
        if regen.is_refused {
            regen.actions.clear();
            return regen;
        }
        regen.changes = Changes::between(disk, &self.tree);
        regen
    }
}
