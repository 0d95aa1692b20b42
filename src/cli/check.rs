//! `krator check`.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use krator::Checked;
use krator::catalog::Severity;
use krator::code::{self, InFile};
use krator::disk::Folder;
use krator::finding::{Finding, Source, to_json, to_sarif};
use krator::plan::Ownership;
use krator::record::{self, GenerationRecord};

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
    let found = paths
        .iter()
        .map(|path| read_in_crate(path))
        .collect::<anyhow::Result<Vec<Vec<InFile>>>>()?;
    let is_shown = |finding: &Finding| args.verbose || finding.rule.severity != Severity::Info;
    let all: Vec<(&Source, &Finding)> = found
        .iter()
        .flatten()
        .flat_map(|file| file.findings.iter().map(|finding| (&file.source, finding)))
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

/// Reads and judges a description; that of a crate also against itself as last generated, and against the code.
fn read_in_crate(path: &Path) -> anyhow::Result<Vec<InFile>> {
    let former = path.with_file_name(krator::record::STATE_DIR).join("krator.yaml");
    if !path.ends_with("krator.yaml") || !former.is_file() {
        return Ok(vec![in_file(read(path)?)]);
    }
    let (name, former, text) = (shown_path(path), read_file(&former)?, read_file(path)?);
    let folder = path.parent().unwrap_or(Path::new("."));
    let code = match written(&Folder::open(folder)?)? {
        Some(written) => code::of_crate(
            &krator::check(&name, &text),
            &krator::check(record::DESCRIPTION, &former),
            written,
        ),
        None => Vec::new(),
    };
    let mut found = vec![in_file(krator::check_against(&former, &name, &text))];
    // Files are named as the description is: from here.
    found.extend(code.into_iter().map(|file| InFile {
        source: Source::new(
            match file.source.name() {
                of_description if of_description == name => name.clone(),
                file => shown_path(&folder.join(file)),
            },
            file.source.text(),
        ),
        ..file
    }));
    Ok(found)
}

fn in_file(checked: Checked) -> InFile {
    InFile {
        source: checked.source,
        findings: checked.findings,
    }
}

/// The Rust files of a crate that krator does not write; `None` where nobody knows which these are.
fn written(folder: &Folder) -> anyhow::Result<Option<BTreeMap<String, String>>> {
    let notes = folder.read([record::MANIFEST])?;
    let Some(manifest) = notes.text(record::MANIFEST) else {
        return Ok(None);
    };
    let home = GenerationRecord::parse(manifest, None)?;
    let paths = folder.rust_files()?;
    let is_generated = |path: &String| {
        let entry = home.files.get(path);
        entry.is_some_and(|entry| entry.ownership == Ownership::Generated)
    };
    let paths: Vec<&String> = paths.iter().filter(|path| !is_generated(path)).collect();
    let files = folder.read(paths.into_iter().map(String::as_str))?;
    let texts = files.files().filter_map(|(path, contents)| {
        let text = std::str::from_utf8(contents).ok()?;
        Some((path.to_owned(), text.to_owned()))
    });
    Ok(Some(texts.collect()))
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
