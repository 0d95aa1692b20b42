//! The cluster: runs machines for the objects of an API server.
mod access;
mod apis;
mod caches;
mod children;
mod clock;
mod command;
mod dispatch;
#[cfg(feature = "faults")]
mod faults;
mod health;
mod in_tests;
mod lease;
mod links;
mod mandate;
mod metrics;
mod namespaces;
mod raw;
mod recorder;
mod remote;
mod selector;
mod serve;
mod watch_backoff;
mod watch_index;

pub use access::{Grants, Owns, Watches};
pub use apis::{ApiCaching, ApiHandles};
pub use command::{About, main, main_with};
pub use links::{Concerns, Link, Linked, LookIn};

use crate::{
    error::Result,
    machine::{Machine, ManifestOf, Object as _},
    operator::Operator,
    resource::{Child, KubeObject, Place},
};
use clock::Clock;
use dispatch::Dispatcher;
use futures::future::BoxFuture;
use health::{Health, Wait};
use kube::{Api, Client, Config, Resource, ResourceExt as _, client::ClientBuilder, runtime::watcher};
use lease::Elector;
use mandate::Mandate;
use metrics::{CountRequests, Metrics, MetricsServer};
use raw::Raw;
use recorder::Recorder;
use remote::Remote;
use std::{
    any::{Any, TypeId},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};
use tokio::{signal, sync::watch, task::JoinSet};
use tower::{limit::ConcurrencyLimitLayer, util::MapResponseLayer};

/// The most requests in flight at once, not counting watches. More of them do not make anything faster, but take
/// memory.
const REQUESTS: usize = 32;
/// The longest that a request of the runtime may take. A connection that no longer responds becomes an error.
const LONGEST_REQUEST: Duration = Duration::from_secs(30);
/// How long the process may take after its last handler to publish the events that wait.
const LAST_EVENTS: Duration = Duration::from_secs(2);
/// How long running handlers may take to end after SIGTERM. Kubernetes kills a pod after 30 s by default.
const GRACE: Duration = Duration::from_secs(25);

/// The part of the cluster that the handlers of one machine can reach.
pub(crate) struct Cluster<M: Machine> {
    pub client: Client,
    /// The handles that [`Context::api`](crate::Context::api) has made.
    pub apis: apis::Apis,
    /// The field manager.
    pub manager: &'static str,
    pub api_version: String,
    pub kind: String,
    pub links: Vec<Link<M>>,
    /// The caches of each link's kind: an `Arc` of `Caches<K>`.
    pub caches: Vec<Arc<dyn Any + Send + Sync>>,
}

impl<M: Machine> Cluster<M> {
    /// The caches of a kind that is owned (or watched), and the name of the kind in the description.
    fn caches<K: Child>(&self, owned: bool) -> Option<(Arc<caches::Caches<K>>, &'static str)> {
        let of = TypeId::of::<K>();
        let mut links = self.links.iter().zip(&self.caches);
        let (link, caches) = links.find(|(link, _)| link.of == of && link.is_owned() == owned)?;
        Some((Arc::clone(caches).downcast().ok()?, link.kind))
    }

    /// The cached objects of a watched kind that concern an object of the operator.
    fn concerning<K: Child>(&self, object: &ManifestOf<M>) -> Vec<Arc<K>> {
        let of = TypeId::of::<K>();
        let mut found: Vec<Arc<K>> = Vec::new();
        for (link, caches) in self
            .links
            .iter()
            .zip(&self.caches)
            .filter(|(link, _)| link.of == of && !link.is_owned())
        {
            let Ok(caches) = Arc::clone(caches).downcast::<caches::Caches<K>>() else {
                continue;
            };
            match &link.concerns {
                Concerns::Owner => {}
                Concerns::Named(..) => {
                    let named = link.named_by(object);
                    found.extend(
                        named
                            .iter()
                            .filter_map(|(namespace, name)| caches.get(namespace, name)),
                    );
                }
                Concerns::Label(key) => {
                    let labelled =
                        |other: &Arc<K>| other.labels().get(*key).is_some_and(|v| v == object.name());
                    found.extend(caches.all().filter(labelled));
                }
                Concerns::All => found.extend(caches.all()),
            }
        }
        found
    }
}

/// Runs the operators of one process. [`main`] makes one from the command line and passes it to your `main.rs`.
///
/// ```no_run
#[doc = include_str!("doc/moose.txt")]
#[doc = include_str!("doc/eat.txt")]
/// # async fn doc<O: Operator<Machine: Linked>>(moose: O) -> Result<()> where ManifestOf<O::Machine>: KubeObject {
/// OperatorRuntime::new("moose-operator")
///     .operator(moose)
///     .namespaces(["tundra"])
///     .labels("park=glacier")
///     .start()
///     .await
/// # }
/// ```
pub struct OperatorRuntime {
    name: &'static str,
    config: Option<Config>,
    namespaces: Vec<String>,
    selector: Option<String>,
    health_probe_bind_address: String,
    election: Option<Election>,
    metrics: MetricsServer,
    version: &'static str,
    only_warnings: bool,
    kinds: Vec<Start>,
}

/// Where the Lease is that the replicas of an operator elect their leader by.
struct Election {
    /// The namespace; without one, that of the pod.
    namespace: Option<String>,
}

/// Starts the loop of one kind, with what the loops of all kinds have in common.
type Start = Box<dyn FnOnce(Common) -> BoxFuture<'static, ()> + Send>;

#[derive(Clone)]
struct Common {
    name: &'static str,
    /// For everything that acts on objects.
    client: Client,
    /// For watches, which go on while another replica leads.
    watching: Client,
    mandate: Mandate,
    leads: watch::Receiver<bool>,
    clock: Arc<Clock>,
    events: Arc<Recorder>,
    namespaces: Vec<String>,
    config: watcher::Config,
    health: Health,
    metrics: Metrics,
    stop: watch::Receiver<bool>,
}

impl OperatorRuntime {
    /// A runtime without operators. `name` is the field manager of its writes.
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            config: None,
            namespaces: Vec::new(),
            selector: None,
            health_probe_bind_address: "0".to_owned(),
            election: None,
            metrics: MetricsServer::default(),
            version: "",
            only_warnings: false,
            kinds: Vec::new(),
        }
    }

    /// Adds the operator of one kind.
    #[must_use]
    pub fn operator<O: Operator<Machine: Linked>>(mut self, operator: O) -> Self
    where
        ManifestOf<O::Machine>: KubeObject,
    {
        self.kinds.push(Box::new(|common| run_kind(operator, common)));
        self
    }
    /// Connects to this cluster instead of the one that the pod's service account or the kubeconfig names.
    #[must_use]
    pub fn config(mut self, config: Config) -> Self {
        self.config = Some(config);
        self
    }
    /// Restricts the operators to objects in these namespaces. Without any name they look after all namespaces.
    #[must_use]
    pub fn namespaces(mut self, names: impl IntoIterator<Item: Into<String>>) -> Self {
        self.namespaces.extend(names.into_iter().map(Into::into));
        self.namespaces.sort_unstable();
        self.namespaces.dedup();
        self
    }
    /// Restricts the operators to objects that a label selector matches, for example `park=glacier,tagged`.
    #[must_use]
    pub fn labels(mut self, selector: impl Into<String>) -> Self {
        self.selector = Some(selector.into());
        self
    }

    /// Answers probes over HTTP at this address, in the form of Go: `:8081` is this port on all addresses, and `0`, the
    /// default, answers none.
    ///
    /// `/livez` fails when the loop of a kind has not turned for 30 seconds. `/readyz` and `/healthz` fail until the
    /// objects of each kind are listed and, with [`leader_election`](Self::leader_election), the Lease is seen; the body of
    /// the answer says what is missing: a permission, a CustomResourceDefinition, or a namespace. What fails later is
    /// retried and does not count.
    #[must_use]
    pub fn health_probe_bind_address(mut self, address: impl Into<String>) -> Self {
        self.health_probe_bind_address = address.into();
        self
    }
    /// Lets several replicas of this process run beside each other: of all of them, only the one acts that holds the Lease
    /// `name` of [`new`](Self::new). The Lease is in `namespace`, or in that of the pod (without a pod, in that of the
    /// kubeconfig's context).
    #[must_use]
    pub fn leader_election(mut self, namespace: Option<String>) -> Self {
        self.election = Some(Election { namespace });
        self
    }

    /// Serves metrics for Prometheus at this address under `/metrics`, in the same form; `0`, the default, serves none.
    #[must_use]
    pub fn metrics_bind_address(mut self, address: impl Into<String>) -> Self {
        self.metrics.address = address.into();
        self
    }
    /// Whether the metrics are served with TLS, which is the default. Then a request needs the token of somebody who has
    /// the right to `get` the path `/metrics`. Without TLS they are served on the loopback interface only, to anybody.
    #[must_use]
    pub fn metrics_secure(mut self, secure: bool) -> Self {
        self.metrics.secure = secure;
        self
    }
    /// The folder of the certificate for the metrics: `tls.crt` and `tls.key`, which may be replaced at any time. Without
    /// one, the operator makes a certificate that it signs itself.
    #[must_use]
    pub fn metrics_cert_path(mut self, folder: impl Into<PathBuf>) -> Self {
        self.metrics.certificate = Some(folder.into());
        self
    }

    /// The version of the program, which the log tells at the start.
    #[must_use]
    pub fn version(mut self, version: &'static str) -> Self {
        self.version = version;
        self
    }
    /// Publishes only the events that ask for attention, those of the type `Warning`. Without this, all are published: one
    /// for each transition, and those of handlers.
    #[must_use]
    pub fn only_warnings(mut self) -> Self {
        self.only_warnings = true;
        self
    }

    /// Runs the operators until SIGTERM or SIGINT. Handlers that are running then have 25 seconds to end.
    ///
    /// # Errors
    ///
    /// If there is no configuration of a cluster, or it is invalid, or nothing can listen at an address, or the metrics
    /// would be served without TLS to other machines, or their certificate is unusable. A cluster that does not answer is
    /// no error: its watches are retried. With [`leader_election`](Self::leader_election), if this replica has led and no
    /// longer may: the process has to end then, because another replica may act already.
    pub async fn start(self) -> Result<()> {
        let probes = serve::bind(&self.health_probe_bind_address)?;
        let config = match self.config {
            Some(config) => config,
            None => Config::infer().await?,
        };
        let metrics = Metrics::new();
        let metrics_server = self.metrics.server(&metrics, &config)?;
        let count = CountRequests::new(metrics.clone(), &config.cluster_url);
        let clock = Arc::new(Clock::new());
        let namespace = config.default_namespace.clone();
        let (client, watching, mandate) = match self.election {
            None => {
                let mandate = Mandate::unlimited();
                let client = connect(config, &clock, &count, Some(&mandate))?;
                (client.clone(), client, mandate)
            }
            // Renewals of the lease must not wait for the requests of handlers, so they have a connection of their own.
            Some(_) => {
                let mandate = Mandate::none();
                let watching = connect(config.clone(), &clock, &count, None)?;
                (
                    connect(config, &clock, &count, Some(&mandate))?,
                    watching,
                    mandate,
                )
            }
        };
        let health = Health::default();
        let mut elector = self.election.map(|election| {
            let namespace = election.namespace.unwrap_or(namespace);
            let sighted = health.waits_for(format!("lease {} in {namespace}", self.name));
            let api = Api::namespaced(watching.clone(), &namespace);
            Elector::new(api, self.name, mandate.clone(), Arc::clone(&clock), sighted)
        });
        let events = Arc::new(Recorder::new(self.only_warnings, metrics.events_dropped()));
        let publishing = tokio::spawn({
            let (events, client) = (Arc::clone(&events), client.clone());
            async move { events.run(client, self.name).await }
        });
        let (leading, leads) = watch::channel(elector.is_none());
        let mut checks = JoinSet::new();
        if elector.is_some() {
            let (gauge, mut leads) = (metrics.leads(self.name), leads.clone());
            // A process that no longer leads ends, so the gauge never falls.
            checks.spawn(async move {
                if leads.wait_for(|leads| *leads).await.is_ok() {
                    gauge.set(1);
                }
            });
        }
        let (stopping, stop) = watch::channel(false);
        let common = Common {
            name: self.name,
            client,
            watching,
            mandate,
            leads,
            clock,
            events: Arc::clone(&events),
            namespaces: self.namespaces,
            config: watcher::Config {
                label_selector: self.selector,
                ..watcher::Config::default()
            },
            health,
            metrics,
            stop,
        };
        for name in &common.namespaces {
            let wait = common.health.waits_for(format!("namespace {name}"));
            checks.spawn(namespaces::wait_for(common.watching.clone(), name.clone(), wait));
        }
        let kinds = futures::future::join_all(self.kinds.into_iter().map(|start| start(common.clone())));
        let mut kinds = std::pin::pin!(kinds);
        // The servers start when everything that the process waits for is known, so that it is not ready before.
        let mut servers: Vec<serve::Server> = metrics_server.into_iter().collect();
        if let Some(listener) = probes {
            tracing::info!(address = %listener.local_addr()?, "serving probes");
            servers.push(Box::pin(serve::serve(
                listener,
                None,
                Arc::new(common.health.clone()),
            )));
        }
        let _serving = serve::start(servers)?;
        tracing::info!(
            operator = self.name,
            version = self.version,
            runtime = env!("CARGO_PKG_VERSION"),
            "started"
        );
        {
            let lost = async {
                match &mut elector {
                    Some(elector) => elector.run(&leading).await,
                    None => std::future::pending().await,
                }
            };
            let mut lost = std::pin::pin!(lost);
            tokio::select! {
                _ = &mut kinds => {}
                error = &mut lost => return Err(error),
                signal = asked_to_stop() => {
                    signal?;
                    tracing::info!("stopping");
                    stopping.send_replace(true);
                    let ends = async {
                        kinds.await;
                        events.close();
                        // What is not published by then is lost: events are best effort.
                        let _ = tokio::time::timeout(LAST_EVENTS, publishing).await;
                    };
                    // The lease is renewed until everything has ended that acts.
                    tokio::select! {
                        () = ends => {}
                        error = lost => return Err(error),
                    }
                }
            }
        }
        if let Some(elector) = &mut elector
            && let Err(error) = elector.release().await
        {
            tracing::warn!(%error, "the lease could not be released, so another replica waits until it expires");
        }
        Ok(())
    }
}

/// A client that teaches the clock and counts its requests. With a mandate it is for everything that acts: it sends nothing without the mandate,
/// and only so many requests at once.
fn connect(
    config: Config,
    clock: &Arc<Clock>,
    count: &CountRequests,
    acting: Option<&Mandate>,
) -> Result<Client> {
    let learning = Arc::clone(clock);
    let client = ClientBuilder::try_from(config)?;
    #[cfg(feature = "faults")]
    let client = client.with_layer(&faults::Faults::from_env()?);
    let client =
        client
            .with_layer(count)
            .with_layer(&MapResponseLayer::new(move |answer: http::Response<_>| {
                learning.learn(answer.headers());
                answer
            }));
    Ok(match acting {
        None => client.build(),
        Some(mandate) => client
            .with_layer(&mandate.layer())
            .with_layer(&ConcurrencyLimitLayer::new(REQUESTS))
            .build(),
    })
}

/// The loop of one kind. Everything that the process waits for is known when this returns.
fn run_kind<O: Operator<Machine: Linked>>(operator: O, common: Common) -> BoxFuture<'static, ()>
where
    ManifestOf<O::Machine>: KubeObject,
{
    let Common {
        name,
        client,
        watching,
        mandate,
        leads,
        clock,
        events,
        namespaces,
        config,
        health,
        metrics,
        stop,
    } = common;
    let raw = |namespace: &str| -> (Api<Raw<ManifestOf<O::Machine>>>, Wait) {
        let api = <<ManifestOf<O::Machine> as Resource>::Scope as Place>::api(watching.clone(), namespace);
        (api, health.waits_for_listing::<ManifestOf<O::Machine>>(namespace))
    };
    let apis = match &namespaces[..] {
        [] => vec![raw("")],
        some => some.iter().map(|namespace| raw(namespace)).collect(),
    };
    let links = O::Machine::links();
    let started: Vec<links::LinkWatch> = links
        .iter()
        .map(|link| link.start(watching.clone(), &namespaces, &health))
        .collect();
    let (seen, caches) = started
        .into_iter()
        .map(|started| (started.seen, started.caches))
        .unzip();
    let cluster = Cluster {
        apis: apis::Apis::default(),
        client,
        manager: name,
        api_version: ManifestOf::<O::Machine>::api_version(&()).into_owned(),
        kind: ManifestOf::<O::Machine>::kind(&()).into_owned(),
        links,
        caches,
    };
    Box::pin(async move {
        let world = Remote::new(operator, cluster, clock, mandate, events, &metrics).await;
        let turning = health.watches_loop(health::resource_name::<ManifestOf<O::Machine>>());
        let dispatcher = Dispatcher::new(world, apis, config, turning);
        dispatcher.run(seen, leads, stop, GRACE).await;
    })
}

/// Waits until the process is asked to end.
async fn asked_to_stop() -> std::io::Result<()> {
    #[cfg(unix)]
    {
        let mut terminate = signal::unix::signal(signal::unix::SignalKind::terminate())?;
        tokio::select! {
            _ = terminate.recv() => Ok(()),
            interrupted = signal::ctrl_c() => interrupted,
        }
    }
    #[cfg(not(unix))]
    signal::ctrl_c().await
}
