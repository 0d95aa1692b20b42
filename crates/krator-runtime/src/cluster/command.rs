//! The command line of a generated operator.
use super::OperatorRuntime;
use crate::error::Error;
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use std::{io::Write as _, process::ExitCode};
use tracing_subscriber::{EnvFilter, fmt};

/// What a generated operator says of itself.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Its name: that of the program, and what objects are written as.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
    /// What it does, in a sentence.
    pub about: &'static str,
    /// Its CustomResourceDefinition, as YAML.
    pub crd: &'static str,
}

#[derive(Parser)]
struct Command {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    run: RunArgs,
}

#[derive(Subcommand)]
enum Verb {
    /// Run the operator (the default)
    Run(RunArgs),
    /// Print the CustomResourceDefinition
    Crd,
}

#[derive(Args)]
struct RunArgs {
    /// Only look after objects in this namespace; may be given more than once [default: all namespaces]
    #[arg(long, value_name = "NAME")]
    namespace: Vec<String>,
    /// Only look after objects with these labels, for example `park=glacier,tagged`
    #[arg(long, value_name = "LABELS")]
    selector: Option<String>,
    /// How to write the log; RUST_LOG says what of it
    #[arg(long, value_name = "FORMAT", default_value = "pretty")]
    log_format: LogFormat,
}

#[derive(Clone, Copy, ValueEnum)]
enum LogFormat {
    /// A line an event, for people
    Pretty,
    /// An object an event, for machines
    Json,
}

/// The `main` of a generated operator: reads the command line, and runs what `with` makes of a runtime until
/// SIGTERM. Exit code 0 after that, 1 when the operator cannot run, 2 for a wrong command line.
pub fn main(about: &About, with: impl FnOnce(OperatorRuntime) -> OperatorRuntime) -> ExitCode {
    let command = Command::command()
        .name(about.name)
        .version(about.version)
        .about(about.about);
    let command = match command
        .try_get_matches()
        .and_then(|matches| Command::from_arg_matches(&matches))
    {
        Ok(command) => command,
        Err(error) => error.exit(),
    };
    let run = match command.verb {
        Some(Verb::Crd) => {
            let written = std::io::stdout().lock().write_all(about.crd.as_bytes());
            return if written.is_ok() {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            };
        }
        Some(Verb::Run(run)) => run,
        None => command.run,
    };
    start_log(run.log_format);
    let mut runtime = with(OperatorRuntime::new(about.name)).namespaces(run.namespace);
    if let Some(selector) = run.selector {
        runtime = runtime.labels(selector);
    }
    let ended = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(Error::from)
        // On one of the workers, beside the tasks that it wakes: from this thread each of them would be a switch.
        .and_then(|threads| threads.block_on(async { tokio::spawn(runtime.start()).await? }));
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(%error, "the operator cannot run");
            ExitCode::FAILURE
        }
    }
}

fn start_log(format: LogFormat) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let log = fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match format {
        LogFormat::Pretty => {
            log.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
                .with_target(false)
                .init();
        }
        LogFormat::Json => log.json().init(),
    }
}
