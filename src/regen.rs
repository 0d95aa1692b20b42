//! Compares the crate that a description generates with the one on disk: which files krator changes, which it keeps
//! because a user wrote them, and what it reports. The comparison is pure: it takes a [`Snapshot`] and returns
//! [`Changes`].
//!
//! The treatment of a file depends on its [`Ownership`](crate::plan::Ownership). A *generated* file is overwritten, unless a user edited it. A
//! *seeded* file is written once; if its template changes later, the change is merged on request. Changes to the
//! template of a *merged* file are always merged into the user's version.

mod cargo;
mod file_finding;
mod merge;
mod modules;
mod renames;
mod restore;
mod run;

pub use file_finding::FileFinding;

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::{EDITED_FILE, Severity};
use crate::changes::{Changes, FileState, Snapshot, Unreadable, UnreadableFiles};
use crate::code::{Code, InFile};
use crate::compare::{self, Broken};
use crate::finding::{Finding, Source};
use crate::model::Description;
use crate::plan::Plan;
use crate::record::{self, GenerationRecord, Promise};
use crate::render::Runtime;
use crate::text::normalized;
use run::Run;

pub use crate::record::PRUNED;

/// The manifest of a crate, which belongs to krator and the user.
pub(crate) const MANIFEST: &str = "Cargo.toml";

/// The options of `krator gen` that affect the comparison.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Whether generated files are overwritten even if a user edited them.
    pub force: bool,
    /// Whether the user's files that the description no longer needs are moved to [`PRUNED`].
    pub prune: bool,
    /// Whether the user's files that the description needs again are moved back from [`PRUNED`].
    pub restore: bool,
    /// Whether the description becomes the promised one. If so, changes are judged by comparison with the description
    /// that was promised before; otherwise, with that of the last run.
    pub promises: bool,
    /// Which changes are refused because they break stored objects or clients.
    pub breaking: Breaking,
    /// How changed templates are merged into files that belong to the user.
    pub merge: Merge,
}

/// The treatment of changes that break stored objects or clients.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Breaking {
    /// These changes are refused.
    #[default]
    Refused,
    /// Edits that break stored objects are refused, but not those that only break clients.
    ClientsAllowed,
    /// Only changes that may be one half of a rename are refused, because handlers would be left behind: a description
    /// may be saved before its author has written the `renamedFrom`.
    HalfRenamesRefused,
    /// These changes are made.
    Allowed,
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
pub struct Regen {
    /// The changes to write. Empty if `is_refused`.
    pub changes: Changes,
    /// The action on each file, by its path. krator's own files in `.krator/` are not listed.
    pub actions: BTreeMap<String, FileAction>,
    /// The findings, each with its file.
    pub found: Vec<FileFinding>,
    /// Whether an error prevents all changes.
    pub is_refused: bool,
    /// Whether stored objects or clients would break, and nothing else prevents the changes.
    pub is_only_breaking: bool,
    /// The breaking changes of the description.
    pub broken: Broken,
    /// The files in [`PRUNED`] that the description needs again.
    pub restorable: BTreeSet<String>,
    /// The files of the handlers that are not written.
    pub not_written: BTreeSet<String>,
}

/// The action on one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileAction {
    /// The file is new.
    Created,
    /// The contents of the file change.
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

/// Compares the crate on disk with the one that `now` generates. `former` is the description of the last run and
/// `promised` the one that must not be broken, if they differ from `now` and are valid; `record` is the record of the
/// last run. `disk` has to contain the files named by [`paths`] and all Rust files.
///
/// # Errors
///
/// Fails if a file whose contents are needed exists but cannot be read.
pub(crate) fn compare(
    now: Version<'_>,
    former: Option<Version<'_>>,
    promised: Option<&Description>,
    record: &GenerationRecord,
    disk: &Snapshot,
    options: Options,
) -> Result<Regen, UnreadableFiles> {
    let mut regen = Regen::default();
    let kept = former.map(|former| former.description);
    if let Some(old) = if options.promises { promised } else { kept } {
        let comparison = compare::compare(old, now.description);
        regen.broken = comparison.broken();
        let breaking = compare::findings_of(&comparison, now.description, now.source, |change| match options
            .breaking
        {
            Breaking::Refused => true,
            Breaking::ClientsAllowed => change.breaks_stored() || !change.is_breaking(),
            Breaking::HalfRenamesRefused => change.may_be_renamed,
            Breaking::Allowed => false,
        });
        regen.is_refused = crate::finding::has_errors(&breaking);
        regen.found.extend(
            breaking
                .into_iter()
                .map(|finding| FileFinding::new(now.source, finding)),
        );
    }
    let is_breaking = regen.is_refused;
    let named = renames::follow(now, former, record, disk, options.force);
    let mut run = Run::settle(&named, now, former, options, regen);
    run.regen.is_only_breaking = is_breaking && !named.is_refused;
    run.record.promised = match options.promises {
        true => None,
        false => record.kept_promise(disk, &Promise::of(now.source.text(), &run.record)),
    };
    let files = run.record.render(&normalized(now.source.text()));
    run.put_record(files);
    let (found, not_written) = run.read_code(now)?;
    run.regen.not_written = not_written;
    if !run.regen.is_refused {
        // Only `krator check` shows the warnings.
        let is_error = |finding: &Finding| finding.rule.severity == Severity::Error;
        let errors = found.into_iter().flat_map(|in_file| {
            let InFile { source, findings } = in_file;
            let errors = findings.into_iter().filter(is_error);
            errors.map(move |finding| FileFinding::new(&source, finding))
        });
        run.regen.found.extend(errors);
        let unlisted = run.unlisted(now, run.tree());
        run.regen.found.extend(unlisted);
    }
    Ok(run.end(disk))
}

/// The findings in the user's code, as it will be after `krator gen`: an addition or a rename by that run is not
/// reported, but an edit of a generated file is, because that run refuses it. The arguments are those of [`compare`].
///
/// # Errors
///
/// Fails if a file of Rust code that the crate compiles cannot be read.
pub(crate) fn code_findings(
    now: Version<'_>,
    former: Option<Version<'_>>,
    record: &GenerationRecord,
    disk: &Snapshot,
) -> Result<Vec<InFile>, UnreadableFiles> {
    let named = renames::follow(now, former, record, disk, false);
    let mut run = Run::settle(&named, now, former, Options::default(), Regen::default());
    run.unreadable.retain(|path| path.ends_with(".rs"));
    let (mut found, _) = run.read_code(now)?;
    let edited = run
        .regen
        .found
        .iter()
        .filter(|found| *found.finding.rule == EDITED_FILE);
    // A manifest that only the next run writes is not reported.
    let unlisted = run.unlisted(now, disk);
    found.extend(edited.cloned().chain(unlisted).map(|found| InFile {
        source: found.source,
        findings: vec![found.finding],
    }));
    // A file that does not exist cannot be inspected by the user.
    let is_created = |path: &str| run.regen.actions.get(path) == Some(&FileAction::Created);
    found.retain(|in_file| !is_created(in_file.source.name()));
    Ok(found)
}

/// The paths that a comparison reads.
pub(crate) fn paths<'a>(plan: &'a Plan, former: &'a GenerationRecord) -> impl Iterator<Item = String> + 'a {
    let paths = || {
        plan.files()
            .map(|(path, _)| path)
            .chain(former.files.keys().map(String::as_str))
    };
    let twins = paths().filter_map(modules::twin);
    let pruned = paths().map(|path| format!("{PRUNED}/{path}"));
    let record = record::FILES.map(str::to_owned);
    paths()
        .map(str::to_owned)
        .chain(twins)
        .chain(pruned)
        .chain(record)
}

/// Moves a file into [`PRUNED`] and returns its new path, which never overwrites a different file there.
fn set_aside(tree: &mut Snapshot, path: &str) -> Result<Option<String>, Unreadable> {
    let Some(taken) = tree.take(path)? else {
        return Ok(None);
    };
    let hash = record::hash_bytes(taken.bytes());
    let plain = format!("{PRUNED}/{path}");
    let hashed = format!("{plain}.{}", hash.get(..8).unwrap_or(&hash));
    let numbered = (2..).map(|number| format!("{hashed}.{number}"));
    let mut places = [plain, hashed.clone()].into_iter().chain(numbered);
    let to = places.find(|to| tree.is_free_for(to, &taken));
    // There are as many candidates as needed, so one of them is free.
    let to = to.unwrap_or(hashed);
    tree.put(to.clone(), taken);
    Ok(Some(to))
}

/// How a crate depends on the runtime: vendored if the last run recorded it so, otherwise as in its Cargo.toml, or as
/// in the recorded one if the user has deleted it.
///
/// # Errors
///
/// Fails if a Cargo.toml that is needed for this cannot be read.
pub(crate) fn runtime(former: &GenerationRecord, disk: &Snapshot) -> Result<Runtime, UnreadableFiles> {
    if former.files.keys().any(|path| path.starts_with("vendor/")) {
        return Ok(Runtime::Vendored);
    }
    let manifest = match disk.get(MANIFEST) {
        FileState::Text(text) => Some(text),
        FileState::Absent => former.files.get(MANIFEST).and_then(|entry| entry.base.as_deref()),
        FileState::Unreadable(why) => return Err(UnreadableFiles::of(MANIFEST, why)),
    };
    Ok(manifest.and_then(cargo::runtime).unwrap_or(Runtime::Vendored))
}
