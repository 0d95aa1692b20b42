//! `krator import`.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::text::printable;
use anyhow::{Context, bail};

use super::{read_bytes, say};

/// Writes a description from an existing CustomResourceDefinition
///
/// The description goes to standard output, and the parts of the CRD that it leaves out to standard error, each with its
/// path. The state graph in it is a proposal.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A file with the CRD, as `kubectl get crd NAME -o yaml` prints it; `-` reads it from stdin
    crd: PathBuf,
    /// The kind, if the file defines several
    #[arg(long)]
    kind: Option<String>,
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let name = printable(&args.crd.display().to_string());
    let bytes = read_bytes(&args.crd)?;
    if bytes.len() > crate::spec::LARGEST_FILE {
        bail!("`{name}` is larger than {} MiB", crate::spec::LARGEST_FILE >> 20);
    }
    let text = String::from_utf8(bytes).with_context(|| format!("`{name}` is not text in UTF-8"))?;
    let imported = crate::import::import(&text, args.kind.as_deref())
        .with_context(|| format!("cannot import `{name}`"))?;
    super::stdout().write_all(imported.description.as_bytes())?;
    for part in &imported.not_imported {
        let severity = if part.is_loss { "warning" } else { "note" };
        say(format_args!("{severity}: {part}"));
    }
    match imported.not_imported.len() {
        0 => say("imported the whole CRD"),
        1 => say("one part of the CRD was not imported"),
        count => say(format_args!("{count} parts of the CRD were not imported")),
    }
    Ok(ExitCode::SUCCESS)
}
