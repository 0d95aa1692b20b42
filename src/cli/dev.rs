//! `krator dev`.

mod findings;

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::{Read as _, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::regen::{Breaking, Options};
use crate::text::printable;
use crate::versions;
use crate::workspace::Workspace;
use anyhow::{Context, bail};
use tokio::time::Instant;

use super::cluster::{Connection, acts, operator_namespace};
use super::r#gen::{AllowArg, Reported, Request, Tense, bring_in_step};
use super::live::{
    self,
    cargo::Cargo,
    cluster::{Cluster, Embedded},
    inputs::{Input, Inputs, SAMPLE},
    operator::{Operator, Start},
    policies, webhooks,
};
use super::{AlreadyReported, crate_path, folder_of, say};
use findings::Findings;

/// Runs the operator of this crate while you work on it: each edit is generated, built and restarted at once
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run in the cluster that kubectl is configured for, instead of on an API server inside this command
    #[arg(long)]
    cluster: bool,
    /// Begin without the objects of the last session
    #[arg(long, conflicts_with = "cluster")]
    fresh: bool,
    /// Continue even if stored objects or clients of the cluster would break
    #[arg(long, requires = "cluster", value_enum, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    allow_breaking: Option<AllowArg>,
    /// Choose a random edge for objects whose handler is not written, to see the graph at work before there is code
    #[arg(long, conflicts_with = "cluster")]
    walk: bool,
    /// Arguments of the operator
    #[arg(last = true, value_name = "ARGUMENT")]
    args: Vec<String>,
}

/// The folder of a session's kubeconfig and objects, from the folder of the crate. git ignores it.
const SESSION: &str = "target/krator";

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    live::wait_for(dev(args))
}

async fn dev(args: &Args) -> anyhow::Result<ExitCode> {
    let description = crate_path("dev")?;
    let folder = folder_of(&description);
    // The folder must be a crate of krator's before anything is started.
    Workspace::open(folder)?;
    let _held = hold(&folder.join(SESSION))?;
    let mut inputs = Inputs::watch(folder)?;
    let mut session = Session {
        cargo: Cargo::find(folder).await?,
        cluster: cluster(args, folder).await?,
        folder: folder.to_owned(),
        description: description.clone(),
        page: None,
        args: args.args.clone(),
        walks: args.walk,
        pending: BTreeSet::new(),
        breaking: match args.cluster {
            true => AllowArg::breaking(args.allow_breaking),
            // The objects of an embedded server may break, but handlers must not be left behind by half a rename.
            false => Breaking::HalfRenamesRefused,
        },
        findings: Findings::default(),
        definitions: None,
        program: None,
        operator: None,
        needs_sample: false,
    };
    session.mark(false).await?;
    let ended = session.run(&mut inputs).await;
    if let Some(operator) = session.operator.take() {
        operator.stop().await;
    }
    session.cluster.save()?;
    ended.map(|()| ExitCode::SUCCESS)
}

/// Locks a crate for the session, because two sessions would share a kubeconfig, and one would overwrite the objects of
/// the other.
fn hold(folder: &Path) -> anyhow::Result<File> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make `{}`", folder.display()))?;
    let path = folder.join("session");
    let open = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path);
    let mut file = open.with_context(|| format!("cannot write `{}`", path.display()))?;
    match file.try_lock() {
        Ok(()) => {
            file.set_len(0)?;
            write!(file, "{}", std::process::id())?;
            Ok(file)
        }
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            // The process id only helps to find the other session.
            let _ = file.read_to_string(&mut holder);
            bail!(
                "another `krator dev` (process {}) runs the operator of this crate; stop it first",
                printable(&holder)
            )
        }
        Err(TryLockError::Error(error)) => {
            Err(error).with_context(|| format!("cannot lock `{}`", path.display()))
        }
    }
}

async fn cluster(args: &Args, folder: &Path) -> anyhow::Result<Cluster> {
    if args.cluster {
        return Ok(Cluster::Configured);
    }
    let folder = folder.join(SESSION);
    let embedded = if args.fresh {
        Embedded::fresh(&folder).await
    } else {
        Embedded::resume(&folder).await
    };
    Ok(Cluster::Embedded(Box::new(embedded?)))
}

/// An operator, with its sources and its cluster.
struct Session {
    folder: PathBuf,
    /// The path of the description, as messages show it.
    description: PathBuf,
    cargo: Cargo,
    cluster: Cluster,
    /// The address of the page, once it was printed.
    page: Option<SocketAddr>,
    args: Vec<String>,
    /// Whether objects without a written handler take random edges.
    walks: bool,
    /// Which edits are refused because they break something.
    breaking: Breaking,
    /// The findings of the crate that were shown.
    findings: Findings,
    /// Edits that are still to be applied, for example because of a mistake in another file.
    pending: BTreeSet<Input>,
    /// The definitions that the API server has.
    definitions: Option<Vec<u8>>,
    /// The program that runs, as it was built.
    program: Option<Program>,
    operator: Option<Operator>,
    /// Whether the sample is still to be applied.
    needs_sample: bool,
}

/// Prints why an edit could not be applied, unless that was printed before.
fn report(error: &anyhow::Error) {
    if !error.is::<AlreadyReported>() {
        say(format_args!("error: {error:#}"));
    }
}

/// A program, and the time at which it was written.
#[derive(PartialEq)]
struct Program {
    path: PathBuf,
    written: Option<std::time::SystemTime>,
}

impl Session {
    /// Applies edits until the user ends the session.
    async fn run(&mut self, inputs: &mut Inputs) -> anyhow::Result<()> {
        let mut interrupted = std::pin::pin!(live::interrupted());
        let mut edited = vec![Input::Description, Input::Manifest, Input::Code];
        let mut is_first = true;
        loop {
            let since = Instant::now();
            self.pending.extend(&edited);
            let regenerated = self.regenerate();
            let is_in_step = matches!(regenerated, Ok(true));
            if is_in_step {
                inputs.settle();
            }
            // If the description has errors, the crate still matches the last valid one, so that edits of other files
            // can be applied.
            let is_followed = is_in_step || !is_first && edited != [Input::Description];
            let mut turn = regenerated.map(drop);
            if is_followed {
                if let Err(error) = turn {
                    report(&error);
                }
                turn = tokio::select! {
                    done = self.follow(since) => done,
                    // The build reads files that have changed meanwhile, so it starts again.
                    more = inputs.edited() => {
                        edited = more;
                        continue;
                    }
                    () = &mut interrupted => return Ok(()),
                };
            }
            match turn {
                // If cargo, its crates or a cluster are missing, an edit cannot help.
                Err(error) if is_first && !error.is::<AlreadyReported>() => return Err(error),
                Err(error) => report(&error),
                Ok(()) => {}
            }
            if !is_followed && self.operator.is_some() {
                say("nothing was built; the previous operator keeps running");
            }
            if self.operator.is_none() {
                say("waiting for an edit");
            }
            is_first = false;
            edited = loop {
                tokio::select! {
                    edited = inputs.edited() => break edited,
                    again = self.ended() => {
                        if again? {
                            break Vec::new();
                        }
                    }
                    () = &mut interrupted => return Ok(()),
                }
            };
        }
    }

    /// Regenerates the crate if its description was edited. `false` if that is impossible, after the reason was
    /// printed.
    fn regenerate(&mut self) -> anyhow::Result<bool> {
        if !self.pending.contains(&Input::Description) {
            self.findings.show(&self.description, &[])?;
            return Ok(true);
        }
        let request = Request {
            options: Options {
                breaking: self.breaking,
                ..Options::default()
            },
            tense: Tense::Did,
            diff: false,
            stored: Some(&|resource, sees| self.cluster.stored(resource, sees)),
            adds: BTreeSet::new(),
            spares_only_stored: true,
            allowing: match self.breaking {
                Breaking::Refused | Breaking::ClientsAllowed => "krator dev --cluster --allow-breaking",
                _ => "krator gen --allow-breaking",
            },
        };
        let outcome = bring_in_step(&self.description, request)?;
        if outcome.reported == Reported::Refused {
            return Ok(false);
        }
        self.findings.show(&self.description, &outcome.found)?;
        self.pending.remove(&Input::Description);
        Ok(true)
    }

    /// Builds the operator and starts it.
    async fn follow(&mut self, since: Instant) -> anyhow::Result<()> {
        if self.pending.contains(&Input::Manifest) {
            self.cargo.fetch().await?;
            self.pending.remove(&Input::Manifest);
        }
        let Some(path) = self.cargo.build().await? else {
            if self.operator.is_some() {
                say("the operator does not compile; the previous one keeps running");
            }
            return Ok(());
        };
        policies::apply(&self.cluster, &self.folder).await?;
        let written = fs::metadata(&path).and_then(|file| file.modified()).ok();
        let program = Program { path, written };
        if self.operator.is_none() || self.program.as_ref() != Some(&program) {
            self.restart(program, since).await?;
        }
        if self.pending.contains(&Input::Sample) {
            self.cluster.apply(&self.folder.join(SAMPLE)).await?;
            self.pending.remove(&Input::Sample);
            say(format_args!("applied {SAMPLE}"));
        }
        Ok(())
    }

    async fn restart(&mut self, program: Program, since: Instant) -> anyhow::Result<()> {
        if let Some(operator) = self.operator.take() {
            operator.stop().await;
            self.mark(false).await?;
        }
        webhooks::close(&self.cluster).await?;
        self.define().await?;
        let (page, asked_at) = loop {
            // Another process may have taken the address while no operator served it.
            let page = live::page_address(self.page)?;
            let asked_at = self.webhooks().map(|_| live::free_address()).transpose()?;
            let operator = Operator::start(Start {
                program: &program.path,
                kubeconfig: self.cluster.kubeconfig(),
                page,
                webhooks: asked_at,
                args: &self.args,
                walks: self.walks,
                log: None,
            })?;
            if self.operator.insert(operator).ready().await {
                break (page, asked_at);
            }
            // Another session may have chosen the same address at the same moment.
            if live::is_free(page) {
                // `ended` reports the reason.
                return Ok(());
            }
        };
        self.program = Some(program);
        self.mark(true).await?;
        if let (Some(cluster), Some(address)) = (self.webhooks(), asked_at) {
            webhooks::open(cluster, &self.folder, address).await?;
        }
        self.try_sample().await?;
        say(format_args!("ready after {:.1} s", since.elapsed().as_secs_f64()));
        if self.page.replace(page) != Some(page) {
            self.introduce(page);
        }
        Ok(())
    }

    /// Applies the definitions to the API server, and the samples to a new one.
    async fn define(&mut self) -> anyhow::Result<()> {
        let path = self.folder.join(webhooks::DEFINITIONS);
        let definitions = fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
        if let Cluster::Embedded(embedded) = &self.cluster
            && let Some(description) = Workspace::open(&self.folder)?.description().sound()
        {
            embedded.convert(versions::all(description));
        }
        if self.definitions.as_ref() == Some(&definitions) {
            return Ok(());
        }
        if self.definitions.is_none() {
            self.alone()?;
        }
        self.cluster.apply(&path).await?;
        let is_first = self.definitions.replace(definitions).is_none();
        self.needs_sample = is_first && self.cluster.is_new();
        // If the operator has webhooks, the sample is applied later, so that they are called for it.
        match self.webhooks() {
            Some(_) => Ok(()),
            None => self.try_sample().await,
        }
    }

    /// Refuses a cluster in which the operator of this crate is running: two would write to the same objects, and this
    /// one would replace the definitions and policies of the other.
    fn alone(&self) -> anyhow::Result<()> {
        let workspace = Workspace::open(&self.folder)?;
        let (Cluster::Configured, Some(description)) = (&self.cluster, workspace.description().sound())
        else {
            return Ok(());
        };
        let namespace = operator_namespace(None, &self.folder, description);
        let operator = description.operator.as_str();
        // The client blocks, which is not allowed on a thread of tokio.
        let look = || acts(&Connection::default(), &namespace, operator);
        let holder = std::thread::scope(|scope| scope.spawn(look).join())
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        match holder {
            None => Ok(()),
            Some(holder) => bail!(
                "this operator is already running in the cluster: {} holds the Lease `{operator}` in the namespace `{namespace}` \
                 ; stop it first, for example with `kubectl scale deployment {operator} -n {namespace} --replicas 0`",
                printable(&holder)
            ),
        }
    }

    /// Applies the sample to a new API server.
    async fn try_sample(&mut self) -> anyhow::Result<()> {
        let sample = self.folder.join(SAMPLE);
        if std::mem::take(&mut self.needs_sample) && sample.is_file() {
            self.cluster.apply(&sample).await?;
        }
        Ok(())
    }

    /// Publishes to clients of an embedded API server whether the operator runs.
    async fn mark(&self, acts: bool) -> anyhow::Result<()> {
        match &self.cluster {
            Cluster::Embedded(embedded) => embedded.mark(acts).await,
            Cluster::Configured => Ok(()),
        }
    }

    /// The embedded API server, if the operator has webhooks: only this server can call an operator on this machine.
    fn webhooks(&self) -> Option<&Embedded> {
        match &self.cluster {
            Cluster::Embedded(embedded) if self.folder.join(webhooks::MANIFEST).is_file() => Some(embedded),
            _ => None,
        }
    }

    /// Prints the address of the operator's page, and the kubeconfig.
    fn introduce(&self, page: SocketAddr) {
        say(format_args!("page:    http://{page}"));
        if let Some(kubeconfig) = self.cluster.kubeconfig() {
            say(format_args!(
                "kubectl: export KUBECONFIG={}",
                kubeconfig.display()
            ));
        }
    }

    /// Waits until the operator has ended by itself, and returns whether it has to be started again at once.
    async fn ended(&mut self) -> anyhow::Result<bool> {
        let Some(operator) = &mut self.operator else {
            return std::future::pending().await;
        };
        let status = operator.ended().await?;
        self.operator = None;
        self.mark(false).await?;
        let is_killed = status.code().is_none();
        let next = match is_killed {
            true => "it starts again",
            false => "it starts again after the next edit",
        };
        say(format_args!("the operator has ended ({status}); {next}"));
        Ok(is_killed)
    }
}
