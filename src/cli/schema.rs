//! `krator schema`.

use std::io::Write;
use std::process::ExitCode;

/// Prints the JSON Schema of descriptions, for editors
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_: &Args) -> anyhow::Result<ExitCode> {
    let schema = crate::language_schema::of_language();
    writeln!(super::stdout(), "{schema:#}")?;
    Ok(ExitCode::SUCCESS)
}
