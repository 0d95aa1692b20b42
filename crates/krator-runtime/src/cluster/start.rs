//! The process of an operator from its start to its end: what its kinds have in common, and in which order they begin and
//! end.
mod connect;

use crate::{
    cluster::{
        Election, Handlers, OperatorRuntime,
        admission::{Process, WebhookRoutes, routes},
        api::{apis::Apis, raw::Endpoint},
        host, migration,
        objects::{
            CrdMismatch,
            dispatch::Dispatcher,
            places::{self, Places},
            remote::{RUN, Remote},
        },
        observability::{
            inspect::{Inspected, Inspection},
            metrics::Metrics,
            recorder::Recorder,
        },
        process::{
            clock::Clock,
            control,
            health::Health,
            leadership::Leadership,
            lease::{self, Candidacy, Elector, LastSeen},
            namespaces, serve,
        },
        related::{
            links::Linked,
            scope::Cluster,
            watches::{self, SharedWatches},
        },
    },
    error::{Error, Result},
    machine::{Machine, ManifestOf},
    operator::Operator,
    resource::{KubeObject, Selector},
};
use connect::{connect, identify};
use futures::future::{BoxFuture, join_all};
use kube::{Api, Client, Config, Resource};
use std::{collections::BTreeMap, pin::pin, sync::Arc, time::Duration};
use tokio::{sync::watch, task::JoinSet};

/// How long the process may take after its last handler to publish the events that wait.
const LAST_EVENTS: Duration = Duration::from_secs(2);
/// How long running handlers may take to end after SIGTERM. Kubernetes kills a pod after 30 s by default.
const GRACE: Duration = Duration::from_secs(25);

/// Starts the loop of one kind, with what the loops of all kinds have in common.
pub(in crate::cluster) type Start =
    Box<dyn FnOnce(Common, &mut SharedWatches) -> BoxFuture<'static, ()> + Send>;

/// The parts that the dispatchers of all kinds share.
#[derive(Clone)]
pub(in crate::cluster) struct Common {
    name: &'static str,
    client: Client,
    /// Another client, which also works while another replica leads.
    watching: Client,
    leadership: Leadership,
    leads: watch::Receiver<bool>,
    clock: Arc<Clock>,
    events: Arc<Recorder>,
    namespaces: Vec<String>,
    handlers: Handlers,
    /// The random number of this process.
    number: u64,
    limits: Arc<BTreeMap<String, u32>>,
    health: Health,
    metrics: Metrics,
    /// The view of the objects that the server of the metrics shows, if there is such a server.
    inspection: Option<Inspection>,
    stop: watch::Receiver<bool>,
    routes: WebhookRoutes,
}

impl OperatorRuntime {
    /// Runs the operators until SIGTERM or SIGINT. Handlers that are running then have 25 seconds to end.
    ///
    /// Watches, handlers and writes run on the runtime of tokio that polls this future; generated crates have one with a single
    /// thread. Handlers that compute or block are taken to other threads, as [`Handlers`] says. Probes, metrics and the Lease are
    /// on a thread of their own.
    ///
    /// # Errors
    ///
    /// If there is no configuration of a cluster, or it is invalid, or the label selector is, or nothing can listen at an
    /// address, or no kind has a limit of a name that [`limit`](Self::limit) gives, or the metrics would be served without TLS to other machines, or their certificate is unusable. A cluster
    /// that does not answer is no error: its watches are retried. With [`leader_election`](Self::leader_election), if this
    /// replica has led and no longer may: the process has to end then, because another replica may act already.
    pub async fn start(self) -> Result<()> {
        #[cfg(feature = "dev")]
        crate::cluster::dev::report_panics();
        let selector = self.selector.as_deref().map(str::parse::<Selector>).transpose();
        let selector = selector.map_err(Error::permanent)?;
        let probes = serve::bind(&self.health_probe_bind_address)?;
        let mut config = configured(self.config).await?;
        let number = host::random();
        let identity = lease::identity(number);
        identify(&mut config, self.name, self.version, &identity);
        places::check(&self.limits, &self.known_limits)?;
        let (metrics, clock, health) = (Metrics::new(), Arc::new(Clock::new()), Health::default());
        let (leading, leads) = watch::channel(self.election.is_none());
        let (stopping, stop) = watch::channel(false);
        let inspection = Inspection::new(
            self.name,
            self.version,
            Arc::clone(&clock),
            health.clone(),
            leads.clone(),
        );
        let metrics_server = self.metrics.server(&metrics, &inspection, &config)?;
        // With leader election, watches go on while another replica leads.
        let (watching, leadership) = if self.election.is_some() {
            let watching = connect(config.clone(), &clock, &metrics, None)?;
            (Some(watching), Leadership::none())
        } else {
            (None, Leadership::unlimited())
        };
        let client = connect(config.clone(), &clock, &metrics, Some(&leadership))?;
        let common = Common {
            name: self.name,
            watching: watching.unwrap_or_else(|| client.clone()),
            client,
            leadership,
            leads,
            clock,
            events: Arc::new(Recorder::new(self.only_warnings, metrics.events_dropped())),
            namespaces: self.namespaces,
            handlers: self.handlers,
            number,
            limits: Arc::new(self.limits),
            health,
            metrics,
            inspection: metrics_server.is_some().then_some(inspection),
            stop,
            routes: WebhookRoutes::default(),
        };
        let for_webhooks = {
            let elects_in = self
                .election
                .as_ref()
                .and_then(|election| election.namespace.clone());
            let namespace = elects_in.unwrap_or_else(|| config.default_namespace.clone());
            (config.clone(), identity.clone(), namespace)
        };
        let election = self
            .election
            .map(|election| common.elect(election, config, identity, leading));
        let _checks = common.checks(election.is_some());
        let _migrating = self.migrates.then(|| {
            let migrating =
                migration::keep_migrating(common.client.clone(), self.stored, common.leads.clone());
            JoinSet::from_iter([host::own(migrating)])
        });
        let (events, client) = (Arc::clone(&common.events), common.client.clone());
        let publishing = tokio::spawn(host::own(async move { events.run(client, self.name).await }));
        let mut shared = SharedWatches::default();
        let kinds = self.kinds.into_iter();
        let kinds: Vec<_> = kinds.map(|start| start(common.clone(), &mut shared)).collect();
        let _watching = shared.start(&watches::Common {
            client: common.watching.clone(),
            selector,
            leads: common.leads.clone(),
            health: common.health.clone(),
        });
        // The servers start after all conditions of readiness are registered, so that the process is not ready too early.
        let (candidacy, election) = election.unzip();
        let mut apart: Vec<control::Task> = metrics_server.into_iter().chain(election).collect();
        if let Some(listener) = probes {
            tracing::info!(address = %listener.local_addr()?, "serving probes");
            apart.push(Box::pin(serve::serve_until_dropped(
                listener,
                None,
                common.health.clone(),
            )));
        }
        let _apart = control::start("control", apart)?;
        let webhooks = {
            let (config, identity, namespace) = for_webhooks;
            self.webhooks
                .start(common.admission(config, identity, namespace))?
        };
        tracing::info!(
            operator = self.name,
            version = self.version,
            runtime = env!("CARGO_PKG_VERSION"),
            "started"
        );
        let ends = async {
            if let Some(webhooks) = webhooks {
                webhooks.drained().await;
            }
            common.events.close();
            // Events that are not published by then are lost: they are best effort.
            let _ = tokio::time::timeout(LAST_EVENTS, publishing).await;
        };
        run_until_stopped(join_all(kinds), ends, stopping, candidacy).await
    }
}

/// The configuration of the cluster: this one, or that of the process.
async fn configured(config: Option<Config>) -> Result<Config> {
    match config {
        Some(config) => Ok(config),
        None => Ok(Config::infer().await?),
    }
}

impl OperatorRuntime {
    /// Moves the stored objects of all kinds to the version in which objects are stored now, so many in a second at most, and
    /// returns. A run that was interrupted is continued by the next one.
    ///
    /// # Errors
    ///
    /// If there is no configuration of a cluster, or the API server does not answer, or refuses to write some objects. All
    /// others are written then.
    pub async fn migrate(self, rate: u32) -> Result<()> {
        let mut config = configured(self.config).await?;
        identify(&mut config, self.name, self.version, "migrate");
        let client = connect(config, &Arc::new(Clock::new()), &Metrics::new(), None)?;
        migration::migrate(&client, self.stored, rate).await
    }
}

impl Common {
    /// Starts the participation in the leader election, which is a task of the control thread.
    fn elect(
        &self,
        election: Election,
        config: Config,
        identity: String,
        leading: watch::Sender<bool>,
    ) -> (Candidacy, control::Task) {
        let namespace = election
            .namespace
            .unwrap_or_else(|| config.default_namespace.clone());
        let first_read = self
            .health
            .waits_for(format!("lease {} in {namespace}", self.name));
        let common = self.clone();
        lease::elect(leading, move || {
            let client = connect(config, &common.clock, &common.metrics, None)?;
            let api = Api::namespaced(client, &namespace);
            Ok(Elector {
                api,
                name: common.name,
                identity,
                leadership: common.leadership,
                clock: common.clock,
                first_read: Some(first_read),
                last_seen: LastSeen::default(),
            })
        })
    }

    /// The parts that the webhook server needs.
    fn admission(&self, config: Config, identity: String, namespace: String) -> Process {
        let (clock, metrics) = (Arc::clone(&self.clock), self.metrics.clone());
        Process {
            operator: self.name,
            identity,
            namespace,
            connect: Box::new(move || connect(config, &clock, &metrics, None)),
            routes: self.routes.clone(),
            clock: Arc::clone(&self.clock),
            health: self.health.clone(),
            metrics: self.metrics.clone(),
            stop: self.stop.clone(),
        }
    }

    /// Starts the background checks: whether this replica leads, and whether the namespaces exist.
    fn checks(&self, elects: bool) -> JoinSet<()> {
        let mut checks = JoinSet::new();
        if elects {
            let (gauge, mut leads) = (self.metrics.leads(self.name), self.leads.clone());
            // A process that no longer leads ends, so the gauge never falls.
            checks.spawn(host::own(async move {
                if leads.wait_for(|leads| *leads).await.is_ok() {
                    gauge.set(1);
                }
            }));
        }
        for name in &self.namespaces {
            let wait = self.health.waits_for(format!("namespace {name}"));
            checks.spawn(host::own(namespaces::wait_for(
                self.watching.clone(),
                name.clone(),
                wait,
            )));
        }
        #[cfg(feature = "dev")]
        if let Some(inspection) = self.inspection.clone() {
            checks.spawn(super::dev::walk(inspection));
        }
        checks
    }
}

/// Runs the loops of all kinds until the process is asked to end and they have `ended`, or until this replica no longer leads.
async fn run_until_stopped(
    kinds: impl Future,
    ended: impl Future,
    stopping: watch::Sender<bool>,
    mut candidacy: Option<Candidacy>,
) -> Result<()> {
    {
        let mut kinds = pin!(kinds);
        let mut lost = pin!(async {
            match &mut candidacy {
                Some(candidacy) => candidacy.lost().await,
                None => std::future::pending().await,
            }
        });
        tokio::select! {
            biased;
            _ = &mut kinds => {}
            error = &mut lost => return Err(error),
            signal = host::asked_to_stop() => {
                signal?;
                tracing::info!("stopping");
                stopping.send_replace(true);
                // The Lease is renewed until everything that acts has ended.
                tokio::select! {
                    biased;
                    _ = async { kinds.await; ended.await } => {}
                    error = lost => return Err(error),
                }
            }
        }
    }
    if let Some(candidacy) = candidacy {
        candidacy.withdraw().await;
    }
    Ok(())
}

/// The loop of one kind. Everything that the process waits for is known when this returns.
pub(in crate::cluster) fn run_kind<O: Operator<Machine: Linked>>(
    operator: O,
    common: Common,
    shared: &mut SharedWatches,
) -> BoxFuture<'static, ()>
where
    ManifestOf<O::Machine>: KubeObject,
{
    let endpoint = Endpoint::of::<ManifestOf<O::Machine>>();
    if O::Machine::webhooks().versions.is_some() {
        common.health.spares(&endpoint);
    }
    let objects = shared.own::<ManifestOf<O::Machine>>(&common.namespaces);
    let links = O::Machine::links();
    let (others, caches) = links
        .iter()
        .map(|link| link.subscribe(shared, &common.namespaces, common.name))
        .unzip();
    let (events, clock) = (Arc::clone(&common.events), Arc::clone(&common.clock));
    let cluster = Cluster {
        report: Arc::new(move |about, event| events.record(about, RUN, event, clock.time())),
        apis: Apis::default(),
        limiter: Arc::default(),
        client: common.client,
        manager: common.name,
        api_version: ManifestOf::<O::Machine>::api_version(&()).into_owned(),
        kind: ManifestOf::<O::Machine>::kind(&()).into_owned(),
        namespaces: common.namespaces,
        links,
        caches,
    };
    let group = ManifestOf::<O::Machine>::group(&());
    let kind = ManifestOf::<O::Machine>::kind(&());
    let graph = O::Machine::GRAPH;
    let not_written = graph.states.iter().filter_map(|state| state.not_written());
    let not_written: Vec<String> = not_written.collect();
    if !not_written.is_empty() {
        let (handlers, kind) = (not_written.join("; "), &*kind);
        tracing::warn!(%group, kind, handlers, "some handlers are not written, so objects stay in their states");
        let about = format!("handlers of {}", endpoint.name());
        common.health.note(about, Some(handlers));
    }
    let (sharing, shared_state) = watch::channel(None);
    if let Some(routes) = routes(shared_state, &cluster) {
        common.routes.register(routes);
    }
    let metrics = common.metrics.of_kind(group.clone(), kind.clone(), graph);
    let crd_mismatch = CrdMismatch::new(endpoint.clone(), common.health.clone(), metrics.missing());
    #[cfg(feature = "dev")]
    let failures = common.inspection.as_ref().map(|inspection| {
        inspection
            .development()
            .serve(endpoint.clone(), O::Machine::SAMPLE, &cluster.namespaces)
    });
    let Inspected { history, requests } =
        Inspected::new(common.inspection.as_ref(), &metrics, group, kind, graph);
    Box::pin(async move {
        let heartbeat = common.health.watches_loop(endpoint.name());
        let shared = operator.shared_state().await;
        sharing.send_replace(Some(Arc::clone(&shared)));
        let world = Remote {
            shared,
            operator,
            cluster,
            clock: common.clock,
            poll_times: match common.handlers {
                Handlers::Pool => graph.states.iter().map(|_| Arc::default()).collect(),
                Handlers::OneThread => Vec::new(),
            },
            leadership: common.leadership,
            events: common.events,
            leader: common.number,
            places: Places::of(graph, &common.limits),
            older: super::objects::conversion::older::<O::Machine>(&endpoint),
            endpoint,
            metrics,
            crd_mismatch,
            watching: common.watching,
            history,
            #[cfg(feature = "dev")]
            failures,
        };
        let dispatcher = Dispatcher::new(world, heartbeat, requests);
        dispatcher.run(objects, others, common.stop, GRACE).await;
    })
}
