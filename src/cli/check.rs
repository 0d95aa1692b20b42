//! `krator check`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use krator::Checked;
use krator::finding::{Finding, Severity, Source, to_json, to_sarif};

use super::{FINDINGS, read, read_file, show, shown_path, spec_path};

/// Says what is wrong with descriptions
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Descriptions; krator.yaml in this folder or a parent by default
    spec: Vec<PathBuf>,
    /// How findings are printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Fail on warnings too
    #[arg(long, value_enum)]
    deny: Option<Deny>,
    /// Show what is merely worth knowing, too
    #[arg(long, short)]
    verbose: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
    Sarif,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Deny {
    Warnings,
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let paths = if args.spec.is_empty() {
        vec![spec_path(None)?]
    } else {
        args.spec.clone()
    };
    let checked = paths
        .iter()
        .map(|path| read_in_crate(path))
        .collect::<anyhow::Result<Vec<Checked>>>()?;
    let is_shown = |finding: &Finding| args.verbose || finding.rule.severity != Severity::Info;
    let all: Vec<(&Source, &Finding)> = checked
        .iter()
        .flat_map(|checked| checked.findings.iter().map(|finding| (&checked.source, finding)))
        .filter(|(_, finding)| is_shown(finding))
        .collect();
    let mut out = std::io::stdout().lock();
    match args.format {
        Format::Json => writeln!(out, "{:#}", to_json(all.iter().copied()))?,
        Format::Sarif => writeln!(out, "{:#}", to_sarif(all.iter().copied()))?,
        Format::Text => {
            for (source, finding) in &all {
                show(source, [*finding], &mut out)?;
            }
            out.flush()?;
            eprintln!("{}", summary(paths.len(), &all));
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

/// Reads and judges a description; that of a crate also against itself as last generated.
fn read_in_crate(path: &Path) -> anyhow::Result<Checked> {
    let former = path.with_file_name(krator::disk::HOME).join("krator.yaml");
    if !path.ends_with("krator.yaml") || !former.is_file() {
        return read(path);
    }
    Ok(krator::check_against(
        &read_file(&former)?,
        &shown_path(path),
        &read_file(path)?,
    ))
}

fn summary(files: usize, findings: &[(&Source, &Finding)]) -> String {
    let count = |severity| {
        findings
            .iter()
            .filter(|(_, finding)| finding.rule.severity == severity)
            .count()
    };
    let plural = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let files = plural(files, "description");
    match (count(Severity::Error), count(Severity::Warning)) {
        (0, 0) => format!("{files} checked, nothing to say"),
        (errors, 0) => format!("{files} checked: {}", plural(errors, "error")),
        (0, warnings) => format!("{files} checked: {}", plural(warnings, "warning")),
        (errors, warnings) => format!(
            "{files} checked: {}, {}",
            plural(errors, "error"),
            plural(warnings, "warning")
        ),
    }
}
