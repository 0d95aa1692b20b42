//! `krator gen`, which brings a crate in step with its description.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use crate::changes::unified;
use crate::checked::Checked;
use crate::compare::Broken;
use crate::disk::{self, Folder};
use crate::finding::Style;
use crate::model::{Description, Extra};
use crate::record;
use crate::regen::{self, Breaking, FileAction, FileFinding, Options, Regen};
use crate::text::{printable, shown};
use crate::workspace::Workspace;
use anyhow::Context as _;
use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::against::{self, Stored};
use super::artifact::{self, Artifact};
use super::{FINDINGS, Output, crate_path, read, replace, say, show, sound, stdout, style_of};

/// Regenerates the crate that contains the current folder from its krator.yaml, or prints one generated artifact
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub struct Args {
    #[command(subcommand)]
    artifact: Option<Artifact>,
    #[command(flatten)]
    flags: Flags,
}

#[derive(Debug, clap::Args)]
struct Flags {
    /// Only report files that are out of date; the exit code is 1 if there are any
    #[arg(long)]
    check: bool,
    /// Only show what would change, as a unified diff
    #[arg(long)]
    diff: bool,
    /// Move files that are no longer needed to .krator/pruned/
    #[arg(long)]
    prune: bool,
    /// Move files that are needed again back from .krator/pruned/
    #[arg(long, conflicts_with = "prune")]
    restore: bool,
    /// Continue even if what `krator gen` accepted before would break
    #[arg(long, value_enum, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    allow_breaking: Option<AllowArg>,
    /// Also say what the edit does to the stored objects, and which it breaks
    #[cfg(feature = "cluster")]
    #[arg(long, value_enum)]
    against: Option<against::Against>,
    /// Overwrite generated files even if they were edited
    #[arg(long)]
    force: bool,
    /// Ask for more files in `deploy` of krator.yaml, and generate them
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = extra_parser(), conflicts_with_all = ["check", "diff"])]
    add: Vec<Extra>,
    /// Merge what krator would generate now into your files
    #[arg(long, value_enum, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "clean")]
    merge: Option<MergeArg>,
}

/// Which breaking edits are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum AllowArg {
    /// Stored objects, and clients of the API
    All,
    /// Clients of the API, as long as every stored object goes on
    Clients,
}

impl AllowArg {
    /// The edits that are refused with this argument, or without any.
    pub fn breaking(argument: Option<Self>) -> Breaking {
        match argument {
            None => Breaking::Refused,
            Some(AllowArg::Clients) => Breaking::ClientsAllowed,
            Some(AllowArg::All) => Breaking::Allowed,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MergeArg {
    /// Only where it does not conflict with your changes
    Clean,
    /// Everywhere, with conflict markers where it conflicts
    Conflicts,
    /// Keep your version where it conflicts, and do not offer that change again
    Mine,
}

impl Flags {
    #[cfg(feature = "cluster")]
    fn stored(&self) -> Option<Stored<'_>> {
        self.against
            .map(|against::Against::Cluster| -> Stored<'_> { &against::stored })
    }

    #[cfg(not(feature = "cluster"))]
    fn stored(&self) -> Option<Stored<'_>> {
        None
    }

    fn options(&self) -> Options {
        Options {
            force: self.force,
            prune: self.prune,
            restore: self.restore,
            promises: true,
            breaking: AllowArg::breaking(self.allow_breaking),
            merge: match self.merge {
                None => regen::Merge::Offer,
                Some(MergeArg::Clean) => regen::Merge::Clean,
                Some(MergeArg::Conflicts) => regen::Merge::Conflicts,
                Some(MergeArg::Mine) => regen::Merge::Mine,
            },
        }
    }
}

/// Reads the name of a key of `deploy`.
fn extra_parser() -> impl TypedValueParser<Value = Extra> {
    PossibleValuesParser::new(Extra::ALL.map(Extra::key)).map(|key| {
        let named = Extra::ALL.into_iter().find(|extra| extra.key() == key);
        named.expect("the parser accepts no other names")
    })
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.artifact {
        Some(artifact) => artifact::run(artifact),
        None => regenerate(&args.flags),
    }
}

fn regenerate(flags: &Flags) -> anyhow::Result<ExitCode> {
    let tense = match (flags.check, flags.diff) {
        (true, _) => Tense::Should,
        (_, true) => Tense::Would,
        (false, false) => Tense::Did,
    };
    let request = Request {
        options: flags.options(),
        tense,
        diff: flags.diff,
        stored: flags.stored(),
        adds: flags.add.iter().copied().collect(),
        spares_only_stored: false,
        allowing: "krator gen --allow-breaking",
    };
    Ok(match bring_in_step(&crate_path("gen")?, request)?.reported {
        Reported::Fine => ExitCode::SUCCESS,
        Reported::Findings | Reported::Refused => ExitCode::from(FINDINGS),
    })
}

/// The options for regenerating a crate.
pub(super) struct Request<'a> {
    pub options: Options,
    pub tense: Tense,
    /// Whether the changes are shown as a diff.
    pub diff: bool,
    /// Lists stored objects, if those that the edit breaks have to be counted.
    pub stored: Option<Stored<'a>>,
    /// The optional files to add to `deploy` of the description.
    pub adds: BTreeSet<Extra>,
    /// Whether an edit may break anything but handlers if there are no stored objects.
    pub spares_only_stored: bool,
    /// The command that accepts a breaking change.
    pub allowing: &'static str,
}

/// The outcome of a run, and the findings that were shown.
pub(super) struct Outcome {
    pub reported: Reported,
    #[cfg_attr(
        not(feature = "dev"),
        allow(dead_code, reason = "only `krator dev` shows them again")
    )]
    pub found: Vec<FileFinding>,
}

/// The result of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reported {
    /// No errors; with `--check`, also no outdated files.
    Fine,
    /// Something has to be changed by hand; with `--check`, also outdated files.
    Findings,
    /// Nothing was written.
    Refused,
}

/// Regenerates the crate of a description, or reports what that would change.
pub(super) fn bring_in_step(path: &Path, request: Request<'_>) -> anyhow::Result<Outcome> {
    let Request {
        mut options,
        tense,
        allowing,
        ..
    } = request;
    const PRESENT_NAMES: &str = "present names of the language instead of former ones";
    let mut has_former_names = false;
    let dir = path.parent().unwrap_or(Path::new("."));
    let folder = Folder::open(dir)?;
    if folder.is_interrupted() {
        // An interrupted run has not written the description, so it can be checked before the run is completed.
        sound(&read(path)?)?;
        if tense != Tense::Did {
            return Err(disk::Error::Interrupted.into());
        }
        say("note: completing a run of krator that was interrupted here");
    } else {
        let mut workspace = Workspace::open(dir)?;
        sound(workspace.description())?;
        let name = printable(&path.display().to_string());
        let edit = |text: &str, what: &str| {
            replace(path, text).with_context(|| format!("cannot write `{name}`"))?;
            say(format_args!("edited   {name}: {what}"));
            Workspace::open(dir).map_err(anyhow::Error::from)
        };
        match (workspace.with_present_names(), tense) {
            (Some(text), Tense::Did) => workspace = edit(&text, PRESENT_NAMES)?,
            (Some(_), _) => {
                say(format_args!("would be edited   {name}: {PRESENT_NAMES}"));
                has_former_names = true;
            }
            (None, _) => {}
        }
        if tense == Tense::Did
            && let Some((keys, text)) = workspace.asking_for(&request.adds)?
        {
            workspace = edit(&text, &format!("deploy: {{{keys}}}"))?;
        }
        let description = sound(workspace.description())?;
        let former = match options.promises {
            true => workspace.promise().and_then(Checked::sound),
            false => workspace.former(),
        };
        if let (Some(stored), Some(former)) = (request.stored, former) {
            let is_empty = count(former, description, stored)? == 0;
            if is_empty && request.spares_only_stored && options.breaking == Breaking::Refused {
                options.breaking = Breaking::HalfRenamesRefused;
            }
        }
        let regen = workspace.regen(options)?;
        if request.diff {
            print_diff(&regen)?;
        }
        // Nothing is written to an up-to-date crate, not even a lock file.
        if tense != Tense::Did || regen.changes.is_empty() {
            return report(regen, tense, has_former_names, &options, allowing);
        }
    }
    let hold = folder.hold(|| say("note: waiting for another krator process in this folder"))?;
    // The crate may have changed while this run waited for the lock.
    let workspace = Workspace::open(dir)?;
    sound(workspace.description())?;
    let regen = workspace.regen(options)?;
    hold.apply(&regen.changes)?;
    report(regen, Tense::Did, false, &options, allowing)
}

/// Prints how many stored objects the edit breaks, and returns the number of all stored objects.
fn count(former: &Description, now: &Description, stored: Stored<'_>) -> anyhow::Result<usize> {
    let comparison = crate::compare::compare(former, now);
    let counted = against::count(&comparison, former, now, stored)?;
    say(crate::compare::census_to_text(&comparison, &counted, false).trim_end());
    Ok(counted.iter().map(|census| census.objects).sum())
}

/// Whether changes were made, are shown as a diff, or are only reported by `--check`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tense {
    Did,
    Would,
    Should,
}

/// Reports which files were, or would be, changed, and the changes that are left to do by hand. A description with former
/// names is out of date as well.
fn report(
    regen: Regen,
    tense: Tense,
    has_former_names: bool,
    options: &Options,
    allowing: &str,
) -> anyhow::Result<Outcome> {
    let mut err = Output(io::stderr());
    for (name, files) in actions(&regen) {
        // `unused` describes the present state of a file, so it needs no `would be`.
        let would = if tense == Tense::Did || name == UNUSED {
            ""
        } else {
            "would be "
        };
        say(format_args!("{would}{name:<8} {files}"));
    }
    for found in &regen.found {
        show(&found.source, [&found.finding], &mut err)?;
        if let Some((from, to)) = &found.wanted {
            let to = to.as_deref().map(str::as_bytes);
            let diff = unified(found.source.name(), Some(from.as_bytes()), to, style_of(&err.0));
            writeln!(err, "{diff}")?;
        }
    }
    if regen.actions.values().any(|action| *action == FileAction::Unused) {
        say(format_args!(
            "note: krator.yaml does not use these files, and handlers in them are not compiled; `krator gen --prune` \
             moves them to {}/",
            regen::PRUNED
        ));
    }
    if !regen.restorable.is_empty() {
        let files: Vec<String> = regen.restorable.iter().map(|path| shown(path)).collect();
        say(format_args!(
            "note: krator.yaml uses the handlers in these pruned files again: {}; `krator gen --restore` moves them back",
            files.join(", ")
        ));
    }
    let offered = regen
        .actions
        .iter()
        .filter(|(_, action)| **action == FileAction::Offered);
    let offered: Vec<&str> = offered.map(|(path, _)| path.as_str()).collect();
    if !offered.is_empty() {
        say(format_args!(
            "note: krator now generates these files differently, but they are yours: {}; `krator gen --merge` merges the changes, and `krator gen --merge=mine` keeps yours without asking again",
            offered.join(", ")
        ));
    }
    if tense == Tense::Did && !regen.not_written.is_empty() {
        say("note: these handlers are not written, so objects stay in their states:");
        for path in &regen.not_written {
            say(format_args!("  {}", shown(path)));
        }
    }
    if !regen.is_refused && options.promises && regen.broken != Broken::default() {
        say(format_args!("allowed: {}", regen.broken));
    }
    let is_out_of_step = !regen.changes.is_empty() || has_former_names;
    let files = regen.changes.iter().filter(|(path, _)| !is_record(path));
    let count = match files.count() {
        0 => format!("only {}/", record::STATE_DIR),
        1 => "1 file".to_owned(),
        count => format!("{count} files"),
    };
    let has_errors = regen.found.iter().any(regen::FileFinding::is_error);
    match tense {
        _ if regen.is_only_breaking && regen.broken.stored == 0 => say(format_args!(
            "nothing was written: {}; to accept the effect on clients, run `{allowing}=clients`",
            regen.broken
        )),
        _ if regen.is_only_breaking => say(format_args!(
            "nothing was written: {}; to accept the effect on stored objects, run `{allowing}`",
            regen.broken
        )),
        _ if regen.is_refused => say("nothing was written"),
        Tense::Did if has_errors => say(format_args!(
            "{count} changed; change the rest by hand, as reported above"
        )),
        Tense::Did if is_out_of_step => say(format_args!("up to date: {count} changed")),
        Tense::Should if is_out_of_step => {
            say(format_args!("out of date: `krator gen` would change {count}"))
        }
        Tense::Would if is_out_of_step => {}
        _ => say("up to date"),
    }
    let fails = has_errors || tense == Tense::Should && is_out_of_step;
    Ok(Outcome {
        reported: match fails {
            _ if regen.is_refused => Reported::Refused,
            true => Reported::Findings,
            false => Reported::Fine,
        },
        found: regen.found,
    })
}

/// The word for files that the description no longer needs.
const UNUSED: &str = "unused";

/// The action on each file and its path. The files of the vendored runtime are counted instead of listed.
fn actions(regen: &Regen) -> Vec<(&'static str, String)> {
    let mut vendored: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut lines = Vec::new();
    for (path, action) in &regen.actions {
        let name = match action {
            FileAction::Created => "created",
            FileAction::Updated => "updated",
            FileAction::Removed => "removed",
            FileAction::Merged => "merged",
            FileAction::Moved(_) => "moved",
            FileAction::Renamed => "renamed",
            FileAction::Unused => UNUSED,
            FileAction::Offered => continue,
        };
        match action {
            FileAction::Moved(to) => lines.push((name, format!("{path} -> {to}"))),
            _ if path.starts_with("vendor/") => *vendored.entry(name).or_default() += 1,
            _ => lines.push((name, path.clone())),
        }
    }
    lines.extend(
        vendored
            .into_iter()
            .map(|(name, count)| (name, format!("vendor/ ({count} files)"))),
    );
    lines
}

/// Whether a file is one of krator's own records.
fn is_record(path: &str) -> bool {
    path.starts_with(record::STATE_DIR)
}

/// Prints the changes as a diff for `git apply`, without those to krator's own records.
fn print_diff(regen: &Regen) -> io::Result<()> {
    let mut out = stdout();
    let style: Style = style_of(&out.0);
    for (path, change) in regen.changes.iter().filter(|(path, _)| !is_record(path)) {
        write!(out, "{}", change.diff(path, style))?;
    }
    out.flush()
}
