//! `krator import`.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::text::printable;
use anyhow::{Context, bail};

use super::{STDIN, read_all, say};

/// Writes a description from an existing CustomResourceDefinition
///
/// The description goes to standard output, and what it cannot say of the CRD to standard error, each with its path. The
/// state graph in it is a proposal.
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
    let bytes = if args.crd == Path::new(STDIN) {
        read_all(std::io::stdin().lock()).context("cannot read stdin")?
    } else {
        let bytes = std::fs::File::open(&args.crd).and_then(read_all);
        bytes.with_context(|| format!("cannot read `{name}`"))?
    };
    if bytes.len() > crate::spec::LARGEST_FILE {
        bail!("`{name}` is larger than {} MiB", crate::spec::LARGEST_FILE >> 20);
    }
    let text = String::from_utf8(bytes).with_context(|| format!("`{name}` is not text in UTF-8"))?;
    let imported = crate::import::import(&text, args.kind.as_deref())
        .with_context(|| format!("cannot import `{name}`"))?;
    super::stdout().write_all(imported.description.as_bytes())?;
    for unsaid in &imported.unsaid {
        say(format_args!("note: {unsaid}"));
    }
    match imported.unsaid.len() {
        0 => say("all of the CRD is in the description"),
        1 => say("one thing of the CRD is not in the description"),
        count => say(format_args!(
            "{count} things of the CRD are not in the description"
        )),
    }
    Ok(ExitCode::SUCCESS)
}
