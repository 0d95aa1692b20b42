//! `krator diff`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::ValueEnum;
use krator::Checked;
use krator::compare::{self, Comparison, Texts};

use super::{FINDINGS, read, read_all, sound, style_of};

/// Says what an edit means for stored objects, for clients, and for the state graph
///
/// In a crate that git knows: git show HEAD:krator.yaml | krator diff - krator.yaml
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The description as it was; `-` reads it from stdin
    old: PathBuf,
    /// The description as it is; `-` reads it from stdin
    new: PathBuf,
    /// How the comparison is printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let stdin = Path::new("-");
    if args.old == stdin && args.new == stdin {
        bail!("only one of the descriptions can come from stdin");
    }
    let read = |path: &Path| -> anyhow::Result<Checked> {
        if path != stdin {
            return read(path);
        }
        let bytes = read_all(std::io::stdin().lock()).context("cannot read stdin")?;
        Ok(krator::check("<stdin>", &bytes))
    };
    // Both are read before either is refused: errors of both come in one run.
    let (old, new) = (sound(read(&args.old)?)?, sound(read(&args.new)?)?);
    let ((old_source, old), (new_source, new)) = match (old, new) {
        (Ok(old), Ok(new)) => (old, new),
        (Err(code), _) | (_, Err(code)) => return Ok(code),
    };
    let comparison = compare::compare(&old, &new);
    let texts = Texts {
        old: &old_source,
        new: &new_source,
    };
    let mut out = std::io::stdout().lock();
    match args.format {
        Format::Json => writeln!(out, "{:#}", compare::to_json(&comparison, texts))?,
        Format::Text => {
            let style = style_of(&out);
            out.write_all(compare::to_text(&comparison, texts, style).as_bytes())?;
            out.flush()?;
            eprintln!("{}", summary(&comparison));
        }
    }
    Ok(match comparison.is_breaking() {
        true => ExitCode::from(FINDINGS),
        false => ExitCode::SUCCESS,
    })
}

fn summary(comparison: &Comparison) -> String {
    let changes = comparison.changes.len();
    let count =
        |is: fn(&compare::Change) -> bool| comparison.changes.iter().filter(|change| is(change)).count();
    let stored = count(compare::Change::breaks_stored);
    let clients = count(|change| change.clients.is_some());
    match changes {
        0 => "nothing changes".to_owned(),
        1 => format!("1 change: {stored} for stored objects to break on, {clients} for clients"),
        _ => format!("{changes} changes: {stored} for stored objects to break on, {clients} for clients"),
    }
}
