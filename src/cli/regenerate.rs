//! `krator gen` inside a crate.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::ValueEnum;
use krator::changes::{Snapshot, unified};
use krator::disk::{self, Folder, Hold};
use krator::drift::{self, Drift, Fate, Options, Version};
use krator::finding::{Source, Style, has_errors};
use krator::model::Description;
use krator::record::{self, GenerationRecord};
use krator::render;

use super::against::{self, Against};
use super::{FINDINGS, read_sound, show, spec_path, style_of};

#[derive(Debug, Clone, Default, clap::Args)]
pub struct Flags {
    /// Only say what is out of step: exit code 1 when something is
    #[arg(long)]
    check: bool,
    /// Only show what would be changed, as a unified diff
    #[arg(long)]
    diff: bool,
    /// Move files that belong to nothing any more to .krator/pruned/
    #[arg(long)]
    prune: bool,
    /// Go on where stored objects or clients would break
    #[arg(long)]
    allow_breaking: bool,
    /// Also count the stored objects that the edit breaks
    #[arg(long, value_enum)]
    against: Option<Against>,
    /// Write generated files even where somebody edited them
    #[arg(long)]
    force: bool,
    /// Take into your files what krator would write there now
    #[arg(long, value_enum, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "clean")]
    merge: Option<Merge>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Merge {
    /// Where it meets no change of yours
    Clean,
    /// Everywhere, with conflict markers where it does
    Conflicts,
    /// Nowhere where it does: yours stay, and this is not offered again
    Mine,
}

impl Flags {
    /// Whether something was asked for that only regeneration has.
    pub fn is_any(&self) -> bool {
        self.check
            || self.diff
            || self.prune
            || self.force
            || self.allow_breaking
            || self.against.is_some()
            || self.merge.is_some()
    }

    fn options(&self) -> Options {
        Options {
            force: self.force,
            prune: self.prune,
            allow_breaking: self.allow_breaking,
            merge: match self.merge {
                None => drift::Merge::Offer,
                Some(Merge::Clean) => drift::Merge::Clean,
                Some(Merge::Conflicts) => drift::Merge::Conflicts,
                Some(Merge::Mine) => drift::Merge::Mine,
            },
        }
    }
}

pub fn run(flags: &Flags) -> anyhow::Result<ExitCode> {
    let spec = spec_path(None)?;
    let folder = Folder::open(spec.parent().unwrap_or(Path::new(".")))?;
    let (source, description) = match read_sound(Some(&spec))? {
        Ok(sound) => sound,
        Err(code) => return Ok(code),
    };
    if let Some(Against::Cluster) = flags.against {
        count(&folder, &source, &description)?;
    }
    let compare = || compare(&folder, &source, &description, flags.options());
    if flags.check || flags.diff {
        if folder.is_interrupted() {
            return Err(disk::Error::Interrupted.into());
        }
        let drift = compare()?;
        if flags.diff {
            print_diff(&drift)?;
        }
        return report(&drift, if flags.check { Tense::Should } else { Tense::Would });
    }
    // A crate that is in step is not written to, not even for a lock.
    let is_interrupted = folder.is_interrupted();
    if is_interrupted {
        eprintln!("note: a run of krator was cut short here: ending what it began");
    } else {
        let drift = compare()?;
        if drift.changes.is_empty() {
            return report(&drift, Tense::Did);
        }
    }
    let hold: Hold<'_> =
        folder.hold(|| eprintln!("note: waiting for another krator to end its work here"))?;
    // What was true before the folder was ours alone may not be any more.
    let drift = compare()?;
    hold.apply(&drift.changes)?;
    report(&drift, Tense::Did)
}

fn compare(
    folder: &Folder,
    source: &Source,
    description: &Description,
    options: Options,
) -> anyhow::Result<Drift> {
    let notes = folder.read([record::MANIFEST, record::BASE, record::DESCRIPTION, "Cargo.toml"])?;
    let home = GenerationRecord::parse(
        notes.text(record::MANIFEST).unwrap_or_default(),
        notes.text(record::BASE),
    )?;
    let runtime = drift::runtime(&home, notes.text("Cargo.toml"));
    let plan_of = |description: &Description, source: &Source| render::plan(description, source, &runtime);
    let plan = plan_of(description, source);
    let paths: Vec<String> = drift::paths(&plan, &home).chain(folder.rust_files()?).collect();
    let snapshot = folder.read(paths.iter().map(String::as_str))?;

    let former = former(&notes, source).map(|(source, description)| {
        let plan = plan_of(&description, &source);
        (source, description, plan)
    });
    let former = former.as_ref().map(|(source, description, plan)| Version {
        description,
        source,
        plan,
    });
    let now = Version {
        description,
        source,
        plan: &plan,
    };
    Ok(drift::compare(now, former, &home, &snapshot, options))
}

/// The description as last generated, where it is another one. One that this krator cannot read says nothing.
fn former(notes: &Snapshot, source: &Source) -> Option<(Source, Description)> {
    let text = notes.bytes(record::DESCRIPTION).unwrap_or_default();
    let is_former = text != render::normalized(source.text()).as_bytes();
    let checked = is_former.then(|| krator::check(record::DESCRIPTION, text))?;
    let description = checked.description.filter(|_| !has_errors(&checked.findings))?;
    Some((checked.source, description))
}

/// Says how many objects of a cluster the edit breaks.
fn count(folder: &Folder, source: &Source, description: &Description) -> anyhow::Result<()> {
    let Some((_, former)) = former(&folder.read([record::DESCRIPTION])?, source) else {
        return Ok(());
    };
    let comparison = krator::compare::compare(&former, description);
    let counted = against::count(&comparison, &former, description)?;
    eprint!("{}", krator::compare::census_to_text(&comparison, &counted));
    Ok(())
}

/// How what happens to files is told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tense {
    Did,
    Would,
    Should,
}

/// Says what was, or would be, done, and what is left to do by hand.
fn report(drift: &Drift, tense: Tense) -> anyhow::Result<ExitCode> {
    let mut err = io::stderr();
    for (name, fates) in told(drift) {
        eprintln!("{name:<8} {fates}");
    }
    for found in &drift.found {
        show(&found.source, [&found.finding], &mut err)?;
        if let Some((from, to)) = &found.wanted {
            let to = to.as_deref().map(str::as_bytes);
            let diff = unified(found.source.name(), Some(from.as_bytes()), to, style_of(&err));
            writeln!(err, "{diff}")?;
        }
    }
    if drift.fates.values().any(|fate| *fate == Fate::Unused) {
        eprintln!(
            "note: unused is what nothing in krator.yaml needs any more; no handler of it is compiled; `krator gen \
             --prune` moves it to {}/",
            drift::PRUNED
        );
    }
    let offered = drift.fates.iter().filter(|(_, fate)| **fate == Fate::Offered);
    let offered: Vec<&str> = offered.map(|(path, _)| path.as_str()).collect();
    if !offered.is_empty() {
        eprintln!(
            "note: yours, and as krator would not write them any more: {}; `krator gen --merge` takes its changes in",
            offered.join(", ")
        );
    }
    let is_out_of_step = !drift.changes.is_empty();
    let count = match drift
        .changes
        .iter()
        .filter(|(path, _)| !path.starts_with(record::STATE_DIR))
        .count()
    {
        1 => "1 file".to_owned(),
        count => format!("{count} files"),
    };
    let has_errors = drift.found.iter().any(drift::Found::is_error);
    match tense {
        _ if drift.is_refused => eprintln!("nothing was written"),
        Tense::Did if has_errors => eprintln!("{count} changed; the rest is yours to do, as said above"),
        Tense::Did if is_out_of_step => eprintln!("in step with krator.yaml: {count} changed"),
        Tense::Should if is_out_of_step => {
            eprintln!("out of step with krator.yaml: `krator gen` would change {count}")
        }
        Tense::Would if is_out_of_step => {}
        _ => eprintln!("in step with krator.yaml"),
    }
    let fails = has_errors || tense == Tense::Should && is_out_of_step;
    Ok(if fails {
        ExitCode::from(FINDINGS)
    } else {
        ExitCode::SUCCESS
    })
}

/// What happens to files, in words; those of the vendored runtime together.
fn told(drift: &Drift) -> Vec<(&'static str, String)> {
    let mut vendored: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut lines = Vec::new();
    for (path, fate) in &drift.fates {
        let name = match fate {
            Fate::Created => "created",
            Fate::Updated => "updated",
            Fate::Removed => "removed",
            Fate::Merged => "merged",
            Fate::Moved(_) => "moved",
            Fate::Renamed => "renamed",
            Fate::Unused => "unused",
            Fate::Offered => continue,
        };
        match fate {
            Fate::Moved(to) => lines.push((name, format!("{path} -> {to}"))),
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

/// The changes but for krator's own notes, as `git apply` takes them.
fn print_diff(drift: &Drift) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let style: Style = style_of(&out);
    for (path, change) in drift
        .changes
        .iter()
        .filter(|(path, _)| !path.starts_with(record::STATE_DIR))
    {
        write!(out, "{}", change.diff(path, style))?;
    }
    out.flush()
}
