//! `krator check`.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use krator::Checked;
use krator::catalog::Severity;
use krator::code::InFile;
use krator::finding::{Finding, Source, to_json, to_sarif};
use krator::record;
use krator::workspace::{self, Workspace};

use super::{FINDINGS, is_there, read, say, show, spec_path};

/// Checks descriptions, and the crates that were generated from them
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Descriptions; `-` reads one from stdin; by default krator.yaml in this folder or a parent
    spec: Vec<PathBuf>,
    /// The format of the findings
    #[arg(long, value_enum, default_value_t = FindingsFormat::Text)]
    format: FindingsFormat,
    /// Fail on warnings too
    #[arg(long, value_enum)]
    deny: Option<Deny>,
    /// Also show findings of severity info
    #[arg(long, short)]
    verbose: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FindingsFormat {
    Text,
    Json,
    Sarif,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Deny {
    Warnings,
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut paths = if args.spec.is_empty() {
        vec![spec_path(None)?]
    } else {
        args.spec.clone()
    };
    // A description that is named twice, as by `*.yaml moose.yaml`, is checked once.
    let mut seen = BTreeSet::new();
    paths.retain(|path| seen.insert(path.clone()));
    let found = paths
        .iter()
        .map(|path| findings(path))
        .collect::<anyhow::Result<Vec<Found>>>()?;
    let is_shown = |finding: &Finding| args.verbose || finding.rule.severity != Severity::Info;
    let all: Vec<(&Source, &Finding)> = found
        .iter()
        .flat_map(|found| &found.files)
        .flat_map(|file| file.findings.iter().map(|finding| (&file.source, finding)))
        .filter(|(_, finding)| is_shown(finding))
        .collect();
    let mut out = std::io::stdout().lock();
    match args.format {
        FindingsFormat::Json => writeln!(out, "{:#}", to_json(all.iter().copied()))?,
        FindingsFormat::Sarif => writeln!(out, "{:#}", to_sarif(all.iter().copied()))?,
        FindingsFormat::Text => {
            for (source, finding) in &all {
                show(source, [*finding], &mut out)?;
            }
            out.flush()?;
            let kinds = found.iter().map(|found| found.kinds).sum();
            say(summary(paths.len(), kinds, &all));
        }
    }
    let worst = match args.deny {
        Some(Deny::Warnings) => Severity::Warning,
        None => Severity::Error,
    };
    let fails = all.iter().any(|(_, finding)| finding.rule.severity <= worst);
    Ok(if fails {
        ExitCode::from(FINDINGS)
    } else {
        ExitCode::SUCCESS
    })
}

/// What was found in a description.
struct Found {
    files: Vec<InFile>,
    /// How many kinds it describes; one if it could not be read so far.
    kinds: usize,
}

/// The findings of a description and, if a crate was generated from it, of that crate.
fn findings(path: &Path) -> anyhow::Result<Found> {
    let dir = path.parent().unwrap_or(Path::new("."));
    let is_crate = || is_there(&dir.join(record::DESCRIPTION));
    if path.ends_with(workspace::DESCRIPTION) && is_crate() {
        let workspace = Workspace::open(dir)?;
        return Ok(Found {
            kinds: kinds_of(workspace.description()),
            files: workspace.findings()?,
        });
    }
    let checked = read(path)?;
    Ok(Found {
        kinds: kinds_of(&checked),
        files: vec![InFile {
            source: checked.source,
            findings: checked.findings,
        }],
    })
}

fn kinds_of(checked: &Checked) -> usize {
    let description = checked.description.as_ref();
    description.map_or(1, |description| description.kinds.len())
}

fn summary(files: usize, kinds: usize, findings: &[(&Source, &Finding)]) -> String {
    let count = |severity| {
        findings
            .iter()
            .filter(|(_, finding)| finding.rule.severity == severity)
            .count()
    };
    let plural = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let mut files_and_kinds = plural(files, "description");
    if kinds > files {
        files_and_kinds = format!("{files_and_kinds} of {kinds} kinds");
    }
    let files = files_and_kinds;
    match (count(Severity::Error), count(Severity::Warning)) {
        (0, 0) => format!("{files} checked: no findings"),
        (errors, 0) => format!("{files} checked: {}", plural(errors, "error")),
        (0, warnings) => format!("{files} checked: {}", plural(warnings, "warning")),
        (errors, warnings) => format!(
            "{files} checked: {}, {}",
            plural(errors, "error"),
            plural(warnings, "warning")
        ),
    }
}
