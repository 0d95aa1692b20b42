//! The process of an operator from its start to its end: what its kinds have in common, and in which order they begin and
//! end.
use crate::{
    cluster::{
        Election, OperatorRuntime,
        api::{REQUESTS, apis::Apis, raw::Endpoint},
        objects::{Skew, dispatch::Dispatcher, remote::Remote},
        others::{
            links::Linked,
            reach::Cluster,
            watches::{self, SharedWatches},
        },
        process::{
            clock::Clock,
            control,
            health::Health,
            leadership::Leadership,
            lease::{self, Elector},
            namespaces, serve,
        },
        shown::{
            inspect::{Inspected, Inspection},
            metrics::{CountRequests, Metrics},
            recorder::Recorder,
        },
    },
    error::{Error, Result},
    machine::{Machine, ManifestOf},
    operator::Operator,
    resource::{KubeObject, Selector},
};
use futures::future::{BoxFuture, join_all};
use http::{HeaderValue, header::USER_AGENT};
use kube::{Api, Client, Config, Resource, client::ClientBuilder};
use std::{sync::Arc, time::Duration};
use tokio::{
    signal,
    sync::watch,
    task::{JoinHandle, JoinSet},
};
use tower::{limit::ConcurrencyLimitLayer, util::MapResponseLayer};

/// How long the process may take after its last handler to publish the events that wait.
const LAST_EVENTS: Duration = Duration::from_secs(2);
/// How long running handlers may take to end after SIGTERM. Kubernetes kills a pod after 30 s by default.
const GRACE: Duration = Duration::from_secs(25);

/// Starts the loop of one kind, with what the loops of all kinds have in common.
pub(in crate::cluster) type Start =
    Box<dyn FnOnce(Common, &mut SharedWatches) -> BoxFuture<'static, ()> + Send>;

/// What the loops of all kinds have in common.
#[derive(Clone)]
pub(in crate::cluster) struct Common {
    name: &'static str,
    client: Client,
    /// Another one, which works while another replica leads.
    watching: Client,
    /// The CustomResourceDefinitions that the operator was built with.
    definitions: &'static str,
    leadership: Leadership,
    leads: watch::Receiver<bool>,
    clock: Arc<Clock>,
    events: Arc<Recorder>,
    namespaces: Vec<String>,
    health: Health,
    metrics: Metrics,
    /// What the server of the metrics shows of the objects, if there is one.
    inspection: Option<Inspection>,
    stop: watch::Receiver<bool>,
}

/// The connections of the loops to the API server.
struct Connections {
    /// For everything that acts on objects.
    acting: Client,
    /// For watches, which go on while another replica leads.
    watching: Client,
    leadership: Leadership,
}

impl OperatorRuntime {
    /// Runs the operators until SIGTERM or SIGINT. Handlers that are running then have 25 seconds to end.
    ///
    /// Watches, handlers and writes run on the runtime of tokio that polls this future; generated crates have one with a single
    /// thread. Probes, metrics and the Lease are on another thread, so a handler that blocks holds up other handlers only.
    ///
    /// # Errors
    ///
    /// If there is no configuration of a cluster, or it is invalid, or the label selector is, or nothing can listen at an
    /// address, or the metrics would be served without TLS to other machines, or their certificate is unusable. A cluster
    /// that does not answer is no error: its watches are retried. With [`leader_election`](Self::leader_election), if this
    /// replica has led and no longer may: the process has to end then, because another replica may act already.
    pub async fn start(self) -> Result<()> {
        let selector = self.selector.as_deref().map(str::parse::<Selector>).transpose();
        let selector = selector.map_err(Error::permanent)?;
        let probes = serve::bind(&self.health_probe_bind_address)?;
        let mut config = match self.config {
            Some(config) => config,
            None => Config::infer().await?,
        };
        let identity = lease::identity(self.name);
        identify(&mut config, self.name, self.version, &identity);
        let namespace = config.default_namespace.clone();
        let (metrics, clock, health) = (Metrics::new(), Arc::new(Clock::new()), Health::default());
        let (leading, leads) = watch::channel(self.election.is_none());
        let inspection = Inspection::new(
            self.name,
            self.version,
            Arc::clone(&clock),
            health.clone(),
            leads.clone(),
        );
        let metrics_server = self.metrics.server(&metrics, &inspection, &config)?;
        let inspection = metrics_server.is_some().then_some(inspection);
        let Connections {
            acting,
            watching,
            leadership,
        } = connections(config.clone(), self.election.is_some(), &clock, &metrics)?;
        let election = self.election.map(|Election { namespace: given }| {
            let namespace = given.unwrap_or(namespace);
            let sighted = health.waits_for(format!("lease {} in {namespace}", self.name));
            let (clock, leadership, metrics) = (Arc::clone(&clock), leadership.clone(), metrics.clone());
            lease::elect(leading, move || {
                let client = connect(config, &clock, &metrics, None)?;
                let api = Api::namespaced(client, &namespace);
                Ok(Elector::new(api, self.name, identity, leadership, clock, sighted))
            })
        });
        #[cfg(feature = "dev")]
        if let Some(inspection) = inspection.clone() {
            tokio::spawn(super::dev::walk(inspection));
        }
        let (stopping, stop) = watch::channel(false);
        let events = Arc::new(Recorder::new(self.only_warnings, metrics.events_dropped()));
        let publishing = publish(&events, acting.clone(), self.name);
        let mut checks = JoinSet::new();
        if election.is_some() {
            let (gauge, mut leads) = (metrics.leads(self.name), leads.clone());
            // A process that no longer leads ends, so the gauge never falls.
            checks.spawn(async move {
                if leads.wait_for(|leads| *leads).await.is_ok() {
                    gauge.set(1);
                }
            });
        }
        for name in &self.namespaces {
            let wait = health.waits_for(format!("namespace {name}"));
            checks.spawn(namespaces::wait_for(watching.clone(), name.clone(), wait));
        }
        let common = Common {
            name: self.name,
            client: acting,
            watching: watching.clone(),
            definitions: self.definitions,
            leadership,
            leads: leads.clone(),
            clock,
            events: Arc::clone(&events),
            namespaces: self.namespaces,
            health: health.clone(),
            metrics,
            inspection,
            stop,
        };
        let mut shared = SharedWatches::default();
        let kinds = self.kinds.into_iter();
        let kinds: Vec<_> = kinds.map(|start| start(common.clone(), &mut shared)).collect();
        let mut kinds = std::pin::pin!(join_all(kinds));
        let _watching = shared.start(&watches::Common {
            client: watching,
            selector,
            leads,
            health: health.clone(),
        });
        // The servers start when everything that the process waits for is known, so that it is not ready before.
        let (mut candidacy, election) = election.unzip();
        let mut apart: Vec<control::Task> = metrics_server.into_iter().chain(election).collect();
        if let Some(listener) = probes {
            tracing::info!(address = %listener.local_addr()?, "serving probes");
            apart.push(Box::pin(serve::serve(listener, None, Arc::new(health))));
        }
        let _apart = control::start(apart)?;
        tracing::info!(
            operator = self.name,
            version = self.version,
            runtime = env!("CARGO_PKG_VERSION"),
            "started"
        );
        {
            let lost = async {
                match &mut candidacy {
                    Some(candidacy) => candidacy.lost().await,
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
        if let Some(candidacy) = candidacy {
            candidacy.withdraw().await;
        }
        Ok(())
    }
}

/// Tells the API server in each request which replica of which operator makes it, as its audit log shows.
fn identify(config: &mut Config, name: &str, version: &str, identity: &str) {
    let version = if version.is_empty() { "unknown" } else { version };
    let agent = HeaderValue::from_str(&format!("{name}/{version} ({identity})"));
    if let Ok(agent) = agent
        && config.headers.iter().all(|(header, _)| header != USER_AGENT)
    {
        config.headers.push((USER_AGENT, agent));
    }
}

/// Connects to the cluster: with leader election, to act only while this replica leads.
fn connections(config: Config, elects: bool, clock: &Arc<Clock>, metrics: &Metrics) -> Result<Connections> {
    if !elects {
        let leadership = Leadership::unlimited();
        let client = connect(config, clock, metrics, Some(&leadership))?;
        return Ok(Connections {
            acting: client.clone(),
            watching: client,
            leadership,
        });
    }
    let leadership = Leadership::none();
    Ok(Connections {
        watching: connect(config.clone(), clock, metrics, None)?,
        acting: connect(config, clock, metrics, Some(&leadership))?,
        leadership,
    })
}

/// A client that teaches the clock and counts its requests. With a leadership it is for everything that acts: it sends
/// nothing without the leadership, and only so many requests at once. Its connections belong to the thread that calls this.
fn connect(
    config: Config,
    clock: &Arc<Clock>,
    metrics: &Metrics,
    acting: Option<&Leadership>,
) -> Result<Client> {
    let (count, learning) = (
        CountRequests::new(metrics.clone(), &config.cluster_url),
        Arc::clone(clock),
    );
    let client = ClientBuilder::try_from(config)?;
    #[cfg(feature = "faults")]
    let client = client.with_layer(&super::faults::Faults::from_env()?);
    let client =
        client
            .with_layer(&count)
            .with_layer(&MapResponseLayer::new(move |answer: http::Response<_>| {
                learning.learn(answer.headers());
                answer
            }));
    Ok(match acting {
        None => client.build(),
        Some(leadership) => client
            .with_layer(&leadership.layer())
            .with_layer(&ConcurrencyLimitLayer::new(REQUESTS))
            .build(),
    })
}

/// Publishes events until the recorder is closed.
fn publish(events: &Arc<Recorder>, client: Client, name: &'static str) -> JoinHandle<()> {
    let events = Arc::clone(events);
    tokio::spawn(async move { events.run(client, name).await })
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
    let Common {
        name,
        client,
        watching,
        definitions,
        leadership,
        leads,
        clock,
        events,
        namespaces,
        health,
        metrics,
        inspection,
        stop,
    } = common;
    let objects = shared.own::<ManifestOf<O::Machine>>(&namespaces);
    let links = O::Machine::links();
    let (others, caches) = links
        .iter()
        .map(|link| link.subscribe(shared, &namespaces))
        .map(|link| (link.events, link.cache))
        .unzip();
    let cluster = Cluster {
        apis: Apis::default(),
        client,
        manager: name,
        api_version: ManifestOf::<O::Machine>::api_version(&()).into_owned(),
        kind: ManifestOf::<O::Machine>::kind(&()).into_owned(),
        namespaces,
        links,
        caches,
    };
    let group = ManifestOf::<O::Machine>::group(&());
    let kind = ManifestOf::<O::Machine>::kind(&());
    let graph = O::Machine::GRAPH;
    let not_written: Vec<String> = graph
        .states()
        .iter()
        .filter_map(|state| state.not_written())
        .collect();
    if !not_written.is_empty() {
        let (handlers, kind) = (not_written.join("; "), &*kind);
        tracing::warn!(%group, kind, handlers, "objects stay in states whose handlers are not written");
        let about = format!("handlers of {}", Endpoint::of::<ManifestOf<O::Machine>>().name());
        health.note(about, Some(handlers));
    }
    let metrics = metrics.of_kind(group.clone(), kind.clone(), graph);
    let skew = Arc::new(Skew::new(
        Endpoint::of::<ManifestOf<O::Machine>>(),
        definitions,
        watching,
        health.clone(),
        metrics.missing(),
    ));
    #[cfg(feature = "dev")]
    let failures = inspection.as_ref().map(|inspection| {
        let endpoint = Endpoint::of::<ManifestOf<O::Machine>>();
        inspection
            .development()
            .serve(endpoint, O::Machine::SAMPLE, &cluster.namespaces)
    });
    let Inspected { history, questions } = Inspected::new(inspection.as_ref(), &metrics, group, kind, graph);
    Box::pin(async move {
        // It ends with this future.
        let mut comparing = JoinSet::new();
        comparing.spawn({
            let skew = Arc::clone(&skew);
            async move { skew.watch().await }
        });
        let world = Remote::new(
            operator, cluster, clock, leadership, events, metrics, history, skew,
        )
        .await;
        #[cfg(feature = "dev")]
        let world = world.with_failures(failures);
        let turning = health.watches_loop(Endpoint::of::<ManifestOf<O::Machine>>().name());
        let dispatcher = Dispatcher::new(world, turning, questions);
        dispatcher.run(objects, others, leads, stop, GRACE).await;
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
