//! The command line of a generated operator.
mod log;

#[cfg(feature = "otel")]
use crate::cluster::process::traces::Traces;
use crate::{
    cluster::{OperatorRuntime, migration},
    error::{Error, Result},
    resource::Selector,
};
use clap::{ArgAction, ArgMatches, Args, FromArgMatches as _, ValueEnum};
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use std::{
    ffi::OsString,
    io::Write as _,
    path::{Path, PathBuf},
    process::ExitCode,
};

/// The name, the version and the description of an operator, for its command line. The generated `lib.rs` has one as `ABOUT`.
///
/// ```
/// use krator_runtime::About;
///
/// const ABOUT: About = About {
///     name: "website-operator",
///     version: "0.1.0",
///     about: "Publishes websites",
///     crd: "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n",
/// };
/// ```
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// The name of the program. It is also the field manager of its writes.
    pub name: &'static str,
    /// The version of the program.
    pub version: &'static str,
    /// The purpose of the operator, in a sentence.
    pub about: &'static str,
    /// The CustomResourceDefinition, as YAML.
    pub crd: &'static str,
}

/// The group of arguments that clap makes of a struct is left out, because an author's struct may have the same name.
#[derive(Args, Debug)]
#[group(skip)]
struct RunArgs {
    /// The kubeconfig of the cluster [default: the pod's service account, or $KUBECONFIG, or ~/.kube/config]
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Only look after objects in this namespace; may be given more than once [default: all namespaces]
    #[arg(long, value_name = "NAME")]
    namespace: Vec<String>,
    /// Only look after objects with these labels, for example `park=glacier,reachable`
    #[arg(long, value_name = "LABELS")]
    selector: Option<Selector>,
    /// Answer probes at this address; 0 is off
    #[arg(long, value_name = "ADDRESS", default_value = ":8081")]
    health_probe_bind_address: String,
    /// Only act while holding a Lease named like the operator, so that several replicas can run
    #[arg(long)]
    leader_elect: bool,
    /// The namespace of that Lease [default: that of the pod, or of the kubeconfig's context]
    #[arg(long, value_name = "NAME", requires = "leader_elect")]
    leader_elect_resource_namespace: Option<String>,
    /// Serve metrics, and a page that shows the objects, at this address, for example :8443; 0 is off
    #[arg(long, value_name = "ADDRESS", default_value = "0")]
    metrics_bind_address: String,
    /// Serve them with TLS, to those who may `get` /metrics, /state or /; without, only on the loopback interface
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, action = ArgAction::Set)]
    #[arg(default_value = "true", default_missing_value = "true")]
    metrics_secure: bool,
    /// Serve metrics with the certificate in this folder, tls.crt and tls.key [default: a self-signed one]
    #[arg(long, value_name = "FOLDER")]
    metrics_cert_path: Option<PathBuf>,
    /// Answer the API server's webhooks at this address, for example :9443; 0 is off
    #[arg(long, value_name = "ADDRESS", default_value = "0")]
    webhook_bind_address: String,
    /// Answer webhooks with the certificate in this folder, tls.crt and tls.key [default: certificates of the operator's own]
    #[arg(long, value_name = "FOLDER")]
    webhook_cert_path: Option<PathBuf>,
    /// How long certificates of the operator's own are valid
    #[arg(long, value_name = "DURATION", default_value = "2160h", value_parser = lifetime)]
    webhook_cert_lifetime: std::time::Duration,
    /// Move stored objects to the version in which objects are stored now
    #[arg(long)]
    migrate: bool,
    /// The events to publish about objects
    #[arg(long, value_name = "WHICH", default_value = "all")]
    events: PublishedEvents,
    /// How many objects a limit of the description lets in, for example `rollout=5`; may be given more than once
    #[arg(long, value_name = "NAME=NUMBER", value_parser = limit)]
    limit: Vec<(String, u32)>,
    /// Format of the log; RUST_LOG filters it
    #[arg(long, value_name = "FORMAT", default_value = "pretty")]
    log_format: LogFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PublishedEvents {
    /// One for each transition, and those of handlers
    All,
    /// Only those that ask for attention
    Warnings,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LogFormat {
    /// One line per event, for people
    Pretty,
    /// One JSON object per event, for programs
    Json,
}

/// The parameters of a migration of stored objects.
#[derive(Args, Debug)]
#[group(skip)]
struct MigrateArgs {
    /// The kubeconfig of the cluster [default: the pod's service account, or $KUBECONFIG, or ~/.kube/config]
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// How many objects to write in a second, at most
    #[arg(long, value_name = "NUMBER", default_value_t = migration::RATE, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rate: u32,
}

/// The arguments of an author who has none.
#[derive(Args, Debug)]
#[group(skip)]
struct NoArgs {}

/// The request of the command line.
#[derive(Debug)]
enum Command<A> {
    Run(Box<RunArgs>, A),
    Crd,
    Migrate(MigrateArgs, A),
}

/// Reads the command line: an optional verb, with the arguments of krator and those of the author, `A`.
fn read<A: Args>(
    about: &About,
    arguments: impl IntoIterator<Item = OsString>,
) -> Result<Command<A>, clap::Error> {
    const RUN: &str = "run";
    const CRD: &str = "crd";
    const MIGRATE: &str = "migrate";
    let runs = |command: clap::Command| A::augment_args(RunArgs::augment_args(command));
    let mut command = runs(clap::Command::new(about.name))
        .version(about.version)
        .about(about.about)
        // `crd` does not need what `A` requires.
        .subcommand_negates_reqs(true)
        .subcommand(runs(clap::Command::new(RUN)).about("Run the operator (the default)"))
        .subcommand(clap::Command::new(CRD).about("Print the CustomResourceDefinition"))
        .subcommand(
            A::augment_args(MigrateArgs::augment_args(clap::Command::new(MIGRATE)))
                .about("Move stored objects to the version in which objects are stored now"),
        );
    let matches = command.try_get_matches_from_mut(arguments)?;
    let run = |matches: &ArgMatches| {
        Ok(Command::Run(
            Box::new(RunArgs::from_arg_matches(matches)?),
            A::from_arg_matches(matches)?,
        ))
    };
    let migrate = |matches: &ArgMatches| {
        Ok(Command::Migrate(
            MigrateArgs::from_arg_matches(matches)?,
            A::from_arg_matches(matches)?,
        ))
    };
    match matches.subcommand() {
        Some((CRD, _)) => Ok(Command::Crd),
        Some((MIGRATE, matches)) => migrate(matches),
        Some((_, matches)) => run(matches),
        None => run(&matches),
    }
    .map_err(|error: clap::Error| error.format(&mut command))
}

/// The `main` function of a generated operator: parses the command line, passes an [`OperatorRuntime`] to `with`,
/// which adds the operators, and runs it until SIGTERM or SIGINT. [`main_with`] adds arguments of your own.
///
/// The exit code is 0 after that, 1 if the operator cannot run, and 2 if the command line is wrong.
///
/// ```no_run
#[doc = include_str!("../doc/website.txt")]
#[doc = include_str!("../doc/publish.txt")]
#[doc = include_str!("../doc/kinds.txt")]
/// # const ABOUT: About = About { name: "website-operator", version: "0.1.0", about: "", crd: "" };
/// # fn doc<O: Operator<Machine: Linked> + Default>() -> std::process::ExitCode where ManifestOf<O::Machine>: KubeObject {
/// # type WebsiteOperator<O> = O;
/// krator_runtime::main(&ABOUT, |runtime| runtime.operator(WebsiteOperator::<O>::default()))
/// # }
/// ```
pub fn main(about: &About, with: impl FnOnce(OperatorRuntime) -> OperatorRuntime) -> ExitCode {
    main_with(about, |runtime, NoArgs {}| with(runtime))
}

/// The same as [`main()`], with arguments of your own: a struct that derives [`clap::Args`]. The command line takes them
/// beside `--namespace`, `--selector` and `--log-format`, `--help` lists them, and `with` is given their values, for your
/// [`Operator`](crate::Operator) to make its `shared_state` of.
///
/// In `shared.rs`:
///
/// ```
/// use krator_runtime::clap;
///
/// /// The arguments of this operator, beside those of every operator.
/// #[derive(clap::Args)]
/// pub struct Arguments {
///     /// The weather station to ask
///     #[arg(long, value_name = "URL", default_value = "http://localhost:8080")]
///     station: String,
/// }
///
/// #[derive(Debug, Default)]
/// pub struct SharedState {
///     pub station: String,
/// }
///
/// impl From<Arguments> for SharedState {
///     fn from(arguments: Arguments) -> Self {
///         Self { station: arguments.station }
///     }
/// }
/// ```
///
/// In `main.rs`; you write `WebsiteOperator::new`, which stores the state that `shared_state` returns:
///
/// ```no_run
#[doc = include_str!("../doc/website.txt")]
#[doc = include_str!("../doc/publish.txt")]
#[doc = include_str!("../doc/kinds.txt")]
/// # const ABOUT: About = About { name: "website-operator", version: "0.1.0", about: "", crd: "" };
/// # #[derive(krator_runtime::clap::Args)]
/// # struct Arguments {}
/// # impl From<Arguments> for Sites { fn from(_: Arguments) -> Self { Sites::default() } }
/// # type SharedState = Sites;
/// # use krator_runtime::clap;
/// # trait New { fn new(shared: Arc<Sites>) -> Self; }
/// # fn doc<O: Operator<Machine: Linked> + New>() -> std::process::ExitCode where ManifestOf<O::Machine>: KubeObject {
/// # type WebsiteOperator<O> = O;
/// krator_runtime::main_with(&ABOUT, |runtime, arguments: Arguments| {
///     let shared = Arc::new(SharedState::from(arguments));
///     runtime.operator(WebsiteOperator::<O>::new(shared))
/// })
/// # }
/// ```
///
/// # Panics
///
/// In a debug build, if an argument has the name of one of krator's.
pub fn main_with<A: Args>(
    about: &About,
    with: impl FnOnce(OperatorRuntime, A) -> OperatorRuntime,
) -> ExitCode {
    let (run, own) = match read::<A>(about, std::env::args_os()) {
        Ok(Command::Run(run, own)) => (run, own),
        Ok(Command::Crd) => {
            let written = std::io::stdout().lock().write_all(about.crd.as_bytes());
            return if written.is_ok() {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            };
        }
        Ok(Command::Migrate(arguments, own)) => {
            return migrate(about, arguments, |runtime| with(runtime, own));
        }
        Err(error) => error.exit(),
    };
    let run = *run;
    #[cfg(feature = "otel")]
    let (traces, wrong) = match Traces::from_env(about.name, about.version) {
        Ok(traces) => (traces, None),
        Err(error) => (None, Some(error)),
    };
    log::start(
        run.log_format,
        #[cfg(feature = "otel")]
        traces.as_ref(),
    );
    #[cfg(feature = "otel")]
    if let Some(error) = wrong {
        tracing::error!(%error, "tracing is off");
    }
    let runtime = OperatorRuntime::new(about.name).version(about.version);
    let mut runtime = with(runtime, own)
        .namespaces(run.namespace)
        .health_probe_bind_address(run.health_probe_bind_address)
        .metrics_bind_address(run.metrics_bind_address)
        .metrics_secure(run.metrics_secure)
        .webhook_bind_address(run.webhook_bind_address)
        .webhook_cert_lifetime(run.webhook_cert_lifetime)
        .migrates(run.migrate);
    if let Some(folder) = run.metrics_cert_path {
        runtime = runtime.metrics_cert_path(folder);
    }
    if let Some(folder) = run.webhook_cert_path {
        runtime = runtime.webhook_cert_path(folder);
    }
    if let Some(selector) = run.selector {
        runtime = runtime.labels(selector.as_str());
    }
    for (name, at_most) in run.limit {
        runtime = runtime.limit(name, at_most);
    }
    if run.events == PublishedEvents::Warnings {
        runtime = runtime.only_warnings();
    }
    if run.leader_elect {
        runtime = runtime.leader_election(run.leader_elect_resource_namespace);
    }
    let started = async move {
        if let Some(file) = &run.kubeconfig {
            runtime = runtime.config(read_kubeconfig(file).await?);
        }
        runtime.start().await
    };
    let ended = run_to_end(started);
    #[cfg(feature = "otel")]
    if let Some(traces) = traces {
        traces.end();
    }
    ended
}

/// Runs the process, and says how it has ended.
fn run_to_end(process: impl Future<Output = Result<()>>) -> ExitCode {
    // One thread for all handlers, because they mostly wait for the network: two would wake each other for almost every
    // answer, which costs a fifth of the CPU time. A handler that blocks another thread must not hold up the end.
    let ended = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Error::from)
        .and_then(|thread| {
            let ended = thread.block_on(process);
            thread.shutdown_background();
            ended
        });
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(%error, "the operator failed");
            ExitCode::FAILURE
        }
    }
}

/// Moves stored objects with the rights of whoever runs this.
fn migrate(
    about: &About,
    arguments: MigrateArgs,
    with: impl FnOnce(OperatorRuntime) -> OperatorRuntime,
) -> ExitCode {
    log::start(
        LogFormat::Pretty,
        #[cfg(feature = "otel")]
        None,
    );
    let mut runtime = with(OperatorRuntime::new(about.name).version(about.version));
    run_to_end(async move {
        if let Some(file) = &arguments.kubeconfig {
            runtime = runtime.config(read_kubeconfig(file).await?);
        }
        runtime.migrate(arguments.rate).await
    })
}

/// The name of a limit, and how many objects it lets in.
fn limit(text: &str) -> Result<(String, u32), String> {
    let wrong = || "expected the name of a limit and a number, for example rollout=5".to_owned();
    let (name, number) = text.split_once('=').ok_or_else(wrong)?;
    Ok((name.to_owned(), number.parse().map_err(|_| wrong())?))
}

/// A time such as `2160h` that is long enough for a certificate to be renewed.
fn lifetime(text: &str) -> Result<std::time::Duration, String> {
    let parsed: Result<jiff::SignedDuration, _> = text.parse();
    let lifetime = parsed.map_err(|error| error.to_string())?.try_into();
    match lifetime {
        Ok(lifetime) if lifetime >= std::time::Duration::from_secs(10) => Ok(lifetime),
        _ => Err("the lifetime of a certificate is at least 10s".to_owned()),
    }
}

async fn read_kubeconfig(file: &Path) -> Result<Config> {
    let problem = |error| Error::from(format!("{}: {error}", file.display()));
    let kubeconfig = Kubeconfig::read_from(file).map_err(problem)?;
    let context = KubeConfigOptions::default();
    Config::from_custom_kubeconfig(kubeconfig, &context)
        .await
        .map_err(problem)
}

#[cfg(test)]
mod tests;
