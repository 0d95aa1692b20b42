//! `krator completions`.

use std::io::Write;
use std::process::ExitCode;

use clap::CommandFactory as _;
use clap_complete::Shell;

/// Prints the completions of this command for a shell
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut super::Cli::command(), "krator", &mut script);
    super::stdout().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}
