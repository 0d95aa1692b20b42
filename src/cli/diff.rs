//! `krator diff`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::Checked;
use crate::compare::{self, CensusReport, Comparison, ComparisonReport, Next, Texts};
use crate::model::Description;
use crate::render::rbac::rights::Permissions;
use crate::workspace::Workspace;
use anyhow::bail;
use clap::ValueEnum;
use schemars::JsonSchema;
use serde::Serialize;

use super::against;
use super::{FINDINGS, STDIN, crate_path, json_text, read, say, sound, spec_path, stdout, style_of};

/// The exit code for an edit that breaks nothing, but changes how an operator handles stored objects.
const MOVES: u8 = 3;

/// Shows what an edit changes for stored objects, for clients, and in the state graph
///
/// Without arguments, the description of this crate is compared with the one that `krator gen` accepted last. To compare it with
/// another branch: git show main:krator.yaml | krator diff - krator.yaml
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The former description; `-` reads it from stdin
    #[arg(requires = "new")]
    old: Option<PathBuf>,
    /// The new description; `-` reads it from stdin
    new: Option<PathBuf>,
    /// The format of the comparison
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    format: ReportFormat,
    /// Also say what the edit does to the stored objects, and which of them break
    #[cfg(feature = "cluster")]
    #[arg(long, value_enum)]
    against: Option<against::Against>,
    /// With --against: name all objects, and not only some
    #[cfg(feature = "cluster")]
    #[arg(long, requires = "against")]
    list: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ReportFormat {
    Text,
    Json,
}

/// How the rights of the operator change.
#[derive(Debug, Serialize, JsonSchema)]
struct RightsChange {
    /// The additional rights: verbs, and what they are for.
    added: Vec<String>,
    /// The rights that it no longer needs.
    removed: Vec<String>,
}

impl RightsChange {
    fn between(old: &Description, new: &Description) -> Self {
        let [old, new] = [old, new].map(Permissions::of);
        RightsChange {
            added: new.beyond(&old),
            removed: old.beyond(&new),
        }
    }

    fn to_text(&self) -> String {
        let added = self
            .added
            .iter()
            .map(|right| format!("  needed in addition: {right}\n"));
        let removed = self
            .removed
            .iter()
            .map(|right| format!("  needed no longer: {right}\n"));
        let lines: String = added.chain(removed).collect();
        match lines.as_str() {
            "" => lines,
            _ => format!("rights of the operator:\n\n{lines}\n"),
        }
    }
}

/// The comparison as `--format json` prints it.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Report<'a> {
    #[serde(flatten)]
    comparison: ComparisonReport<'a>,
    /// How the rights of the operator change.
    rights: RightsChange,
    /// With `--against cluster`: the stored objects of each resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<Vec<CensusReport<'a>>>,
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match (&args.old, &args.new) {
        (Some(old), Some(new)) => {
            if [old, new].iter().all(|path| path.as_path() == Path::new(STDIN)) {
                bail!("only one of the descriptions can come from stdin");
            }
            let (old, new) = (spec_path(Some(old))?, spec_path(Some(new))?);
            compare(args, &read(&old)?, &read(&new)?)
        }
        _ => {
            let description = crate_path("diff")?;
            let workspace = Workspace::open(description.parent().unwrap_or(Path::new("")))?;
            let now = workspace.description();
            let promised = workspace.promise().unwrap_or(now);
            compare(args, promised, now)
        }
    }
}

fn compare(args: &Args, old: &Checked, new: &Checked) -> anyhow::Result<ExitCode> {
    let texts = Texts {
        old: &old.source,
        new: &new.source,
    };
    // The errors of both descriptions are shown in one run.
    let (old, new) = (sound(old), sound(new));
    let (old, new) = (old?, new?);
    let comparison = compare::compare(old, new);
    let rights = RightsChange::between(old, new);
    let stored: Option<against::Stored<'_>> = match () {
        #[cfg(feature = "cluster")]
        () => args
            .against
            .map(|against::Against::Cluster| -> against::Stored<'_> { &against::stored }),
        #[cfg(not(feature = "cluster"))]
        () => None,
    };
    let counted = match stored {
        Some(stored) => Some(against::count(&comparison, old, new, stored)?),
        None => None,
    };
    let lists_all = match () {
        #[cfg(feature = "cluster")]
        () => args.list,
        #[cfg(not(feature = "cluster"))]
        () => false,
    };
    let mut out = stdout();
    match args.format {
        ReportFormat::Json => {
            let counted = counted.as_deref().map(|counted| counted.iter());
            let report = Report {
                comparison: ComparisonReport::of(&comparison, texts),
                rights,
                cluster: counted.map(|counted| counted.map(|census| census.report(&comparison)).collect()),
            };
            out.write_all(json_text(&report)?.as_bytes())?;
        }
        ReportFormat::Text => {
            let style = style_of(&out.0);
            out.write_all(compare::to_text(&comparison, texts, style).as_bytes())?;
            out.write_all(rights.to_text().as_bytes())?;
            if let Some(counted) = &counted {
                out.write_all(compare::census_to_text(&comparison, counted, lists_all).as_bytes())?;
            }
            out.flush()?;
            say(summary(&comparison));
        }
    }
    let moved = counted.iter().flatten().filter_map(|census| census.next.as_ref());
    Ok(match comparison.is_breaking() {
        true => ExitCode::from(FINDINGS),
        false if moved.map(Next::moves).sum::<usize>() > 0 => ExitCode::from(MOVES),
        false => ExitCode::SUCCESS,
    })
}

fn summary(comparison: &Comparison) -> String {
    match comparison.changes.len() {
        0 => "nothing changes".to_owned(),
        1 => format!("1 change: {}", comparison.broken()),
        all => format!("{all} changes: {}", comparison.broken()),
    }
}
