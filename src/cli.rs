//! The command line. Each verb is one small file, which parses its arguments, makes one call, and returns an exit code.
//! A new verb is a file with `Args` and `run`, and a line in `Verb` and in `run`.

#[cfg(feature = "cluster")]
mod approve;
mod against;
mod artifact;
mod check;
#[cfg(feature = "cluster")]
mod cluster;
#[cfg(feature = "dev")]
mod demo;
#[cfg(feature = "dev")]
mod dev;
mod completions;
mod diff;
#[cfg(feature = "cluster")]
mod doctor;
mod explain;
mod r#gen;
mod graph;
mod import;
mod init;
#[cfg(feature = "dev")]
mod live;
#[cfg(feature = "lsp")]
mod lsp;
mod man;
mod migrate;
mod new;
mod schema;
#[cfg(feature = "cluster")]
mod why;

use std::fmt::Display;
use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::Checked;
use crate::catalog::Severity;
use crate::finding::{Finding, Source, Style, to_text};
use crate::model::Description;
use crate::text::printable;
use crate::workspace::DESCRIPTION;
use anyhow::{Context, bail};
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

/// Writes Kubernetes operators in Rust from one description of a resource and its state graph.
#[derive(Debug, Parser)]
#[command(name = "krator", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Init(init::Args),
    Import(import::Args),
    New(new::Args),
    Check(check::Args),
    Diff(diff::Args),
    Graph(graph::Args),
    Gen(r#gen::Args),
    Migrate(migrate::Args),
    #[cfg(feature = "cluster")]
    Doctor(doctor::Args),
    #[cfg(feature = "cluster")]
    Why(why::Args),
    #[cfg(feature = "cluster")]
    Approve(approve::Args),
    Explain(explain::Args),
    #[cfg(feature = "dev")]
    Demo(demo::Args),
    #[cfg(feature = "dev")]
    Dev(dev::Args),
    Schema(schema::Args),
    Completions(completions::Args),
    Man(man::Args),
    #[cfg(feature = "lsp")]
    Lsp(lsp::Args),
}

/// The exit code when there are findings of severity error.
const FINDINGS: u8 = 1;
/// The exit code of wrong usage, and of errors of the environment. clap uses the same one.
const ENVIRONMENT: u8 = 2;

/// A verb has failed because of findings that it has printed, so only the exit code [`FINDINGS`] remains to be
/// returned.
#[derive(Debug, thiserror::Error)]
#[error("the findings were shown")]
struct AlreadyReported;

/// The file name under which kubectl finds the command as a plugin, and the command's name in this case.
const PLUGIN: (&str, &str) = ("kubectl-krator", "kubectl krator");

/// Parses the arguments. Help and usage contain the name under which the command was called.
fn parse() -> Cli {
    let called = std::env::args_os().next().map(PathBuf::from);
    let is_plugin = called.is_some_and(|path| path.file_stem().is_some_and(|name| name == PLUGIN.0));
    let command = Cli::command();
    let command = if is_plugin {
        command.bin_name(PLUGIN.1)
    } else {
        command
    };
    let matches = command.get_matches();
    Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

/// Parses the arguments and runs the verb.
pub fn run() -> ExitCode {
    let outcome = match parse().verb {
        Verb::Init(args) => init::run(&args),
        Verb::Import(args) => import::run(&args),
        Verb::New(args) => new::run(&args),
        Verb::Check(args) => check::run(&args),
        Verb::Diff(args) => diff::run(&args),
        Verb::Graph(args) => graph::run(&args),
        Verb::Gen(args) => r#gen::run(&args),
        Verb::Migrate(args) => migrate::run(&args),
        #[cfg(feature = "cluster")]
        Verb::Doctor(args) => doctor::run(&args),
        #[cfg(feature = "cluster")]
        Verb::Why(args) => why::run(&args),
        #[cfg(feature = "cluster")]
        Verb::Approve(args) => approve::run(&args),
        Verb::Explain(args) => explain::run(&args),
        #[cfg(feature = "dev")]
        Verb::Demo(args) => demo::run(&args),
        #[cfg(feature = "dev")]
        Verb::Dev(args) => dev::run(&args),
        Verb::Schema(args) => schema::run(&args),
        Verb::Completions(args) => completions::run(&args),
        Verb::Man(args) => man::run(&args),
        #[cfg(feature = "lsp")]
        Verb::Lsp(args) => lsp::run(&args),
    };
    outcome.unwrap_or_else(|error| {
        if error.is::<AlreadyReported>() {
            return ExitCode::from(FINDINGS);
        }
        say(format_args!("error: {error:#}"));
        ExitCode::from(ENVIRONMENT)
    })
}

/// The path of the description that a verb works on: the given one, or `krator.yaml` in the given folder, in the
/// current folder or in a parent.
fn spec_path(given: Option<&Path>) -> anyhow::Result<PathBuf> {
    match given {
        Some(path) => named_path(path),
        None => found_path()?.with_context(|| {
            format!("there is no {DESCRIPTION} in this folder or its parents; name a description, or write one with `krator init`")
        }),
    }
}

/// The path of the description of the crate that a verb works in.
fn crate_path(verb: &str) -> anyhow::Result<PathBuf> {
    found_path()?.with_context(|| {
        format!("there is no {DESCRIPTION} in this folder or its parents; `krator {verb}` works in the folder of an operator, which `krator new` creates")
    })
}

/// The folder of a crate, by the path of its description.
fn folder_of(description: &Path) -> &Path {
    match description.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// The error of verbs that build operators, if cargo cannot be run.
const NO_CARGO: &str = "cannot run cargo, which builds operators; install Rust from https://rustup.rs";

/// The description that an argument names; for a folder, the `krator.yaml` in it.
fn named_path(path: &Path) -> anyhow::Result<PathBuf> {
    if path == Path::new(STDIN) || !path.is_dir() {
        return Ok(path.to_owned());
    }
    let inside = path.join(DESCRIPTION);
    if !is_there(&inside) || inside.is_dir() {
        bail!(
            "the folder `{}` has no {DESCRIPTION}",
            printable(&path.display().to_string())
        );
    }
    // For the current folder, messages show the path without `./`.
    Ok(match path == Path::new(".") {
        true => PathBuf::from(DESCRIPTION),
        false => inside,
    })
}

/// The `krator.yaml` in the current folder or a parent, if there is one.
fn found_path() -> anyhow::Result<Option<PathBuf>> {
    let here = std::env::current_dir().context("cannot determine the current folder")?;
    for (levels, folder) in here.ancestors().enumerate() {
        // An unreadable file ends the search as well, because a file in a parent would belong to another operator.
        if is_there(&folder.join(DESCRIPTION)) {
            let up = std::iter::repeat_n("..", levels).collect::<PathBuf>();
            return Ok(Some(up.join(DESCRIPTION)));
        }
    }
    Ok(None)
}

/// Whether anything is at a path, even something that cannot be read.
fn is_there(path: &Path) -> bool {
    !matches!(path.symlink_metadata(), Err(error) if error.kind() == std::io::ErrorKind::NotFound)
}

/// The argument for standard input.
const STDIN: &str = "-";

/// Reads and checks a description.
fn read(path: &Path) -> anyhow::Result<Checked> {
    let bytes = read_bytes(path)?;
    if path == Path::new(STDIN) {
        return Ok(crate::check("<stdin>", &bytes));
    }
    let name = printable(&path.display().to_string());
    let folder = path.parent().unwrap_or(Path::new(""));
    let files = crate::disk::read_named(folder, crate::spec::named_files(&bytes));
    Ok(crate::check_with(&name, &bytes, &files))
}

/// Reads a file or stdin. At most one byte beyond the limit is read, which is enough to refuse a file that is too
/// large.
fn read_bytes(path: &Path) -> anyhow::Result<Vec<u8>> {
    let read_all = |from: &mut dyn Read| {
        let mut bytes = Vec::new();
        let most = crate::spec::LARGEST_FILE as u64 + 1;
        from.take(most).read_to_end(&mut bytes).map(|_| bytes)
    };
    if path == Path::new(STDIN) {
        return read_all(&mut std::io::stdin().lock()).context("cannot read stdin");
    }
    let bytes = std::fs::File::open(path).and_then(|mut file| read_all(&mut file));
    bytes.with_context(|| format!("cannot read `{}`", printable(&path.display().to_string())))
}

/// Replaces the text of a file by a rename, so that no reader sees a part of it.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    // The file behind a symbolic link is replaced, not the link.
    let path = path.canonicalize()?;
    let folder = path.parent().unwrap_or(Path::new("/"));
    let mut draft = tempfile::NamedTempFile::new_in(folder)?;
    draft.write_all(text.as_bytes())?;
    draft.as_file().set_permissions(path.metadata()?.permissions())?;
    draft.persist(&path)?;
    Ok(())
}

/// Reads the description for a verb that needs one without errors.
fn read_sound(given: Option<&Path>) -> anyhow::Result<(Source, Description)> {
    into_sound(read(&spec_path(given)?)?)
}

/// The text and the model of a description. If it has errors, they are shown instead.
fn into_sound(checked: Checked) -> anyhow::Result<(Source, Description)> {
    sound(&checked)?;
    let Checked {
        source, description, ..
    } = checked;
    Ok((
        source,
        description.context("a description without errors has a model")?,
    ))
}

/// The description. If it has errors, they are shown instead. Warnings are not shown here, but by `krator check`.
fn sound(checked: &Checked) -> anyhow::Result<&Description> {
    if let Some(description) = checked.sound() {
        return Ok(description);
    }
    let errors = checked
        .findings
        .iter()
        .filter(|finding| finding.rule.severity == Severity::Error);
    show(&checked.source, errors, &mut Output(std::io::stderr()))?;
    Err(AlreadyReported.into())
}

/// Prints a line to stderr. A failure is ignored, because the pipe may be closed, as with `krator gen 2>&1 | head`.
fn say(line: impl Display) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// The output of a verb. A closed pipe (`krator check | head`) is not an error: further output is dropped, so that the
/// verb completes with the same exit code as without the pipe.
struct Output<W>(W);

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self.0.write(bytes) {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(bytes.len()),
            written => written,
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self.0.flush() {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            flushed => flushed,
        }
    }
}

/// The standard output, for the results of verbs.
fn stdout() -> Output<std::io::StdoutLock<'static>> {
    Output(std::io::stdout().lock())
}

/// A value as indented JSON.
fn json_text(value: &impl serde::Serialize) -> serde_json::Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

/// Prints findings, coloured on a terminal.
fn show<'a, W: Write + IsTerminal>(
    source: &Source,
    findings: impl IntoIterator<Item = &'a Finding>,
    out: &mut Output<W>,
) -> std::io::Result<()> {
    let style = style_of(&out.0);
    for finding in findings {
        out.write_all(to_text(source, finding, style).as_bytes())?;
    }
    Ok(())
}

/// The style of an output: coloured only on a terminal, and not if `NO_COLOR` is set.
fn style_of(out: &impl IsTerminal) -> Style {
    let is_plain = !out.is_terminal() || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if is_plain { Style::Plain } else { Style::Coloured }
}
