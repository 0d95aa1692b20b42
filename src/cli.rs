//! The command line: one thin file a verb. Each takes its arguments, makes one call, and gives an exit code.
//! A new verb is a file with `Args` and `run`, and a line in [`Verb`] and in [`run`].

mod against;
mod artifact;
mod check;
mod diff;
mod explain;
mod graph;
mod new;
mod regenerate;

use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::{Parser, Subcommand};
use krator::Checked;
use krator::catalog::Severity;
use krator::finding::{Finding, Source, Style, has_errors, to_text};
use krator::model::Description;
use krator::text::printable;

/// Writes Kubernetes operators in Rust from one description of a resource and its state graph.
#[derive(Debug, Parser)]
#[command(name = "krator", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    New(new::Args),
    Check(check::Args),
    Diff(diff::Args),
    Graph(graph::Args),
    Gen(artifact::Args),
    Explain(explain::Args),
}

/// Exit code of a finding of severity error.
const FINDINGS: u8 = 1;
/// Exit code of wrong usage, or of an environment that does not allow the work. clap uses the same.
const ENVIRONMENT: u8 = 2;

/// Parses the arguments and runs the verb.
pub fn run() -> ExitCode {
    let outcome = match Cli::parse().verb {
        Verb::New(args) => new::run(&args),
        Verb::Check(args) => check::run(&args),
        Verb::Diff(args) => diff::run(&args),
        Verb::Graph(args) => graph::run(&args),
        Verb::Gen(args) => artifact::run(&args),
        Verb::Explain(args) => explain::run(&args),
    };
    outcome.unwrap_or_else(|error| {
        // A reader that went away, as `krator … | head`, is no failure of ours.
        let is_broken_pipe = |cause: &std::io::Error| cause.kind() == std::io::ErrorKind::BrokenPipe;
        if error
            .chain()
            .filter_map(|cause| cause.downcast_ref())
            .any(is_broken_pipe)
        {
            return ExitCode::SUCCESS;
        }
        eprintln!("error: {error:#}");
        ExitCode::from(ENVIRONMENT)
    })
}

/// The description that a verb works on: the one given, or `krator.yaml` in the current folder or a parent.
fn spec_path(given: Option<&Path>) -> anyhow::Result<PathBuf> {
    const NAME: &str = "krator.yaml";
    if let Some(path) = given {
        return Ok(path.to_owned());
    }
    let here = std::env::current_dir().context("the current folder cannot be told")?;
    for (levels, folder) in here.ancestors().enumerate() {
        if folder.join(NAME).is_file() {
            return Ok(std::iter::repeat_n("..", levels).collect::<PathBuf>().join(NAME));
        }
    }
    bail!("there is no {NAME} in this folder or a parent; name a description, or write one with `krator new`")
}

/// Reads and judges a description.
fn read(path: &Path) -> anyhow::Result<Checked> {
    Ok(krator::check(&shown_path(path), &read_file(path)?))
}

/// What findings call a file.
fn shown_path(path: &Path) -> String {
    printable(&path.display().to_string())
}

fn read_file(path: &Path) -> anyhow::Result<Vec<u8>> {
    let file = std::fs::File::open(path);
    file.and_then(read_all)
        .with_context(|| format!("cannot read {}", path.display()))
}

/// The bytes of a description. One that is too large is refused before all of it is read.
fn read_all(from: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(krator::spec::LARGEST_FILE as u64 + 1)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The description of a verb that needs one without errors.
fn read_sound(given: Option<&Path>) -> anyhow::Result<Result<(Source, Description), ExitCode>> {
    sound(read(&spec_path(given)?)?)
}

/// What was read, if it has no errors; otherwise they are shown. Warnings are `check`'s matter.
fn sound(checked: Checked) -> anyhow::Result<Result<(Source, Description), ExitCode>> {
    let Checked {
        source,
        description,
        findings,
    } = checked;
    match description {
        Some(description) if !has_errors(&findings) => Ok(Ok((source, description))),
        _ => {
            let errors = findings
                .iter()
                .filter(|finding| finding.rule.severity == Severity::Error);
            show(&source, errors, &mut std::io::stderr())?;
            Ok(Err(ExitCode::from(FINDINGS)))
        }
    }
}

/// Draws findings, coloured where a terminal reads them.
fn show<'a>(
    source: &Source,
    findings: impl IntoIterator<Item = &'a Finding>,
    out: &mut (impl Write + IsTerminal),
) -> std::io::Result<()> {
    let style = style_of(out);
    for finding in findings {
        out.write_all(to_text(source, finding, style).as_bytes())?;
    }
    Ok(())
}

/// Coloured where a terminal reads and nobody minds.
fn style_of(out: &impl IsTerminal) -> Style {
    let is_plain = !out.is_terminal() || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if is_plain { Style::Plain } else { Style::Coloured }
}
