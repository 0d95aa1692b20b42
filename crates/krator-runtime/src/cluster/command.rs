//! The command line of a generated operator.
use super::OperatorRuntime;
use crate::error::Error;
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use std::{io::Write as _, process::ExitCode};
use tracing_subscriber::{EnvFilter, fmt};

/// What an operator says about itself on its command line. The generated `lib.rs` has one as `ABOUT`.
///
/// ```
/// use krator_runtime::About;
///
/// const ABOUT: About = About {
///     name: "moose-operator",
///     version: "0.1.0",
///     about: "Looks after moose",
///     crd: "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n",
/// };
/// ```
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// The name of the program. It is also the field manager of its writes.
    pub name: &'static str,
    /// The version of the program.
    pub version: &'static str,
    /// What the operator does, in a sentence.
    pub about: &'static str,
    /// The CustomResourceDefinition, as YAML.
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
    /// Format of the log; RUST_LOG filters it
    #[arg(long, value_name = "FORMAT", default_value = "pretty")]
    log_format: LogFormat,
}

#[derive(Clone, Copy, ValueEnum)]
enum LogFormat {
    /// One line per event, for people
    Pretty,
    /// One JSON object per event, for programs
    Json,
}

/// The `main` function of a generated operator: parses the command line, passes an [`OperatorRuntime`] to `with`,
/// which adds the operators, and runs it until SIGTERM or SIGINT.
///
/// The exit code is 0 after that, 1 if the operator cannot run, and 2 if the command line is wrong.
///
/// ```no_run
#[doc = include_str!("../doc/moose.txt")]
#[doc = include_str!("../doc/eat.txt")]
#[doc = include_str!("../doc/kinds.txt")]
/// # const ABOUT: About = About { name: "moose-operator", version: "0.1.0", about: "", crd: "" };
/// # fn doc<O: Operator<Machine: Linked> + Default>() -> std::process::ExitCode where ManifestOf<O::Machine>: KubeObject {
/// # type MooseOperator<O> = O;
/// krator_runtime::main(&ABOUT, |runtime| runtime.operator(MooseOperator::<O>::default()))
/// # }
/// ```
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
        // The loop runs on a worker, next to the tasks that it wakes. On this thread every wake-up would cost a
        // context switch.
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
