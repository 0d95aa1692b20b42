//! `krator graph`.

use std::path::PathBuf;
use std::process::ExitCode;

use super::read_sound;

/// Draws the state graph
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The description; krator.yaml in this folder or a parent by default
    spec: Option<PathBuf>,
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let (_source, description) = match read_sound(args.spec.as_deref())? {
        Ok(sound) => sound,
        Err(code) => return Ok(code),
    };
    let _ = description;
    Ok(ExitCode::SUCCESS)
}
