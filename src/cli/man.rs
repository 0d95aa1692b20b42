//! `krator man`.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::text::printable;
use anyhow::Context as _;
use clap::CommandFactory as _;

/// Writes the man pages of this command, one for each verb
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder, which is created if it is missing; `man -M` and packages expect them in `share/man/man1`
    dir: PathBuf,
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let name = printable(&args.dir.display().to_string());
    std::fs::create_dir_all(&args.dir)
        .and_then(|()| clap_mangen::generate_to(super::Cli::command(), &args.dir))
        .with_context(|| format!("cannot write man pages to `{name}`"))?;
    Ok(ExitCode::SUCCESS)
}
