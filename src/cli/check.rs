//! `krator check`.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::Checked;
use crate::catalog::Severity;
use crate::code::InFile;
use crate::finding::{Finding, Source, reports, to_sarif};
use crate::record;
use crate::text::printable;
use crate::workspace::{self, Workspace};
use anyhow::{Context as _, bail};
use clap::ValueEnum;

use super::{FINDINGS, STDIN, is_there, json_text, read, read_bytes, replace, say, show, spec_path, stdout};

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
    /// Apply the fixes that are certain, such as those of misspelled names, to the descriptions first
    #[arg(long)]
    fix: bool,
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
        let named = args.spec.iter().map(|path| spec_path(Some(path)));
        named.collect::<anyhow::Result<_>>()?
    };
    // A description that is named twice, as by `*.yaml moose.yaml`, is checked once.
    let mut seen = BTreeSet::new();
    paths.retain(|path| seen.insert(path.clone()));
    if args.fix {
        paths.iter().try_for_each(|path| fix(path))?;
    }
    let found = paths
        .iter()
        .map(|path| findings(path))
        .collect::<anyhow::Result<Vec<Findings>>>()?;
    let is_shown = |finding: &Finding| args.verbose || finding.rule.severity != Severity::Info;
    let all: Vec<(&Source, &Finding)> = found
        .iter()
        .flat_map(|found| &found.files)
        .flat_map(|file| file.findings.iter().map(|finding| (&file.source, finding)))
        .filter(|(_, finding)| is_shown(finding))
        .collect();
    let mut out = stdout();
    match args.format {
        FindingsFormat::Json => out.write_all(json_text(&reports(all.iter().copied()))?.as_bytes())?,
        FindingsFormat::Sarif => writeln!(out, "{:#}", to_sarif(all.iter().copied()))?,
        FindingsFormat::Text => {
            for (source, finding) in &all {
                show(source, [*finding], &mut out)?;
            }
            out.flush()?;
            let kinds = found.iter().map(|found| found.kinds).sum();
            say(summary(paths.len(), kinds, &all));
            for name in found.iter().filter_map(|found| found.ahead.as_deref()) {
                say(format_args!(
                    "note: {name} has changed since the last `krator gen`"
                ));
            }
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

/// Applies the fixes of a description to its file.
fn fix(path: &Path) -> anyhow::Result<()> {
    if path == Path::new(STDIN) {
        bail!("`--fix` cannot change standard input (`-`)");
    }
    let name = printable(&path.display().to_string());
    // A file that is too large or not UTF-8 is not changed, and `findings` reports it.
    let Ok(text) = String::from_utf8(read_bytes(path)?) else {
        return Ok(());
    };
    if text.len() > crate::spec::LARGEST_FILE {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let files = crate::disk::read_named(folder, crate::spec::named_files(text.as_bytes()));
    let promised = match is_of_crate(path) {
        true => Workspace::open(folder)?.into_promise(),
        false => None,
    };
    let fixed = crate::fixes::fix(&name, &text, &files, promised.as_ref());
    if fixed.count > 0 {
        replace(path, fixed.checked.source.text()).with_context(|| format!("cannot write `{name}`"))?;
        say(format_args!("{name}: {}", plural(fixed.count, "fix", "fixes")));
    }
    Ok(())
}

/// Whether a crate was generated from a description.
fn is_of_crate(path: &Path) -> bool {
    let folder = path.parent().unwrap_or(Path::new(""));
    path.ends_with(workspace::DESCRIPTION) && is_there(&folder.join(record::DESCRIPTION))
}

fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// The findings of a description.
struct Findings {
    files: Vec<InFile>,
    /// The number of kinds in the description; one if they could not be read.
    kinds: usize,
    /// The name of the description, if it was edited after its crate was generated.
    ahead: Option<String>,
}

/// The findings of a description and, if a crate was generated from it, of that crate.
fn findings(path: &Path) -> anyhow::Result<Findings> {
    let dir = path.parent().unwrap_or(Path::new("."));
    if is_of_crate(path) {
        let workspace = Workspace::open(dir)?;
        return Ok(Findings {
            kinds: kinds_of(workspace.description()),
            files: workspace.findings()?,
            ahead: workspace
                .promise()
                .is_some()
                .then(|| workspace.description().source.name().to_owned()),
        });
    }
    let checked = read(path)?;
    Ok(Findings {
        kinds: kinds_of(&checked),
        files: vec![InFile {
            source: checked.source,
            findings: checked.findings,
        }],
        ahead: None,
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
    let mut files_and_kinds = plural(files, "description", "descriptions");
    if kinds > files {
        files_and_kinds = format!("{files_and_kinds} of {kinds} kinds");
    }
    let files = files_and_kinds;
    match (count(Severity::Error), count(Severity::Warning)) {
        (0, 0) => format!("{files} checked: no findings"),
        (errors, 0) => format!("{files} checked: {}", plural(errors, "error", "errors")),
        (0, warnings) => format!("{files} checked: {}", plural(warnings, "warning", "warnings")),
        (errors, warnings) => format!(
            "{files} checked: {}, {}",
            plural(errors, "error", "errors"),
            plural(warnings, "warning", "warnings")
        ),
    }
}
