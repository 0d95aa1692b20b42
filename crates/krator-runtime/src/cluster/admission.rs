//! The webhook server, which the API server calls before it stores an object.
//!
//! It has a thread of its own, so that handlers of states do not delay the API server, and handlers of
//! webhooks do not delay the objects.
mod certificates;
mod conversion;
mod review_access;
mod reviews;
mod rotator;

pub use review_access::Admission;

use super::{
    observability::metrics::Metrics,
    process::{
        clock::Clock,
        control::{self, Running},
        health::Health,
        serve::{self, Limits, Tls},
    },
};
use crate::{error::Result, lock::Lock as _};
use certificates::Names;
use futures::FutureExt as _;
use kube::Client;
use reviews::{KindRoutes, WebhookHandler};
use rotator::{CaBundleTarget, CertificateRotator};
use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::sync::{oneshot, watch};

pub(in crate::cluster) use reviews::routes;

/// The limits on concurrent requests of the API server.
const LIMITS: Limits = Limits {
    connections: 256,
    // The API server closes connections that were idle for 90 s. This server has to wait longer: a request
    // that arrives while the server closes its connection is lost.
    idle: Some(Duration::from_secs(120)),
};
/// How long requests may take to end after SIGTERM.
const GRACE: Duration = Duration::from_secs(10);

/// The configuration of the webhook server.
pub(in crate::cluster) struct WebhookServer {
    /// In the form of [`serve::bind`].
    pub address: String,
    /// The folder of a mounted certificate. Without one, the operator makes certificates.
    pub certificate: Option<PathBuf>,
    /// How long a certificate that the operator makes is valid.
    pub lifetime: Duration,
}

impl Default for WebhookServer {
    fn default() -> Self {
        Self {
            address: "0".to_owned(),
            certificate: None,
            lifetime: Duration::from_secs(90 * 24 * 3600),
        }
    }
}

/// The kinds of the process that have webhooks. Clones share them.
#[derive(Clone, Default)]
pub(in crate::cluster) struct WebhookRoutes(Arc<Mutex<Vec<MakeRoutes>>>);

/// Makes the routes of a kind, with a client for the thread that serves them.
type MakeRoutes = Box<dyn FnOnce(&Client) -> KindRoutes + Send>;

impl WebhookRoutes {
    pub fn register(&self, routes: MakeRoutes) {
        self.0.locked().push(routes);
    }
}

/// The server, running until this is dropped.
pub(in crate::cluster) struct Serving {
    drained: oneshot::Receiver<()>,
    _thread: Running,
}

impl Serving {
    /// Waits until all requests are answered that arrived before the process was asked to stop.
    pub async fn drained(self) {
        drop(tokio::time::timeout(GRACE, self.drained).await);
    }
}

impl WebhookServer {
    /// Starts the server, if it has an address and any of these kinds has webhooks.
    ///
    /// # Errors
    ///
    /// If nothing can listen at the address, or a mounted certificate is unusable.
    pub fn start(self, process: Process) -> Result<Option<Serving>> {
        let routes = std::mem::take(&mut *process.routes.0.locked());
        if routes.is_empty() {
            return Ok(None);
        }
        let Some(listener) = serve::bind(&self.address)? else {
            tracing::warn!("not serving webhooks: --webhook-bind-address is not set");
            return Ok(None);
        };
        let (served, current) = watch::channel(None);
        let tls = match &self.certificate {
            Some(folder) => Tls::mounted(folder)?,
            None => Tls::rotated(current),
        };
        process.metrics.serves("webhooks", &tls);
        let is_rotated = self.certificate.is_none();
        let wait = is_rotated.then(|| process.health.waits_for("the certificate of the webhooks"));
        tracing::info!(address = %listener.local_addr()?, "serving webhooks");
        let (ended, drained) = oneshot::channel();
        let task = async move {
            let client = match (process.connect)() {
                Ok(client) => client,
                Err(error) => return tracing::error!(%error, "cannot serve webhooks"),
            };
            let kinds: Vec<KindRoutes> = routes.into_iter().map(|make| make(&client)).collect();
            let targets = CaBundleTarget::of(&kinds, process.operator);
            let handler = match WebhookHandler::new(kinds, process.metrics) {
                Ok(handler) => Arc::new(handler),
                Err(error) => return tracing::error!(%error, "cannot serve webhooks"),
            };
            let mut stop = process.stop;
            let stopped = async move { drop(stop.wait_for(|stop| *stop).await) };
            let serving = serve::serve(listener, Some(tls), handler, LIMITS, stopped.boxed().shared());
            match wait {
                None => serving.await,
                Some(wait) => {
                    let rotator = CertificateRotator {
                        client,
                        operator: process.operator,
                        identity: process.identity,
                        names: Names::of(process.operator, &process.namespace),
                        namespace: process.namespace,
                        lifetime: self.lifetime,
                        targets,
                        clock: process.clock,
                        health: process.health,
                        served,
                    };
                    tokio::select! {
                        () = serving => {}
                        () = rotator.run(wait) => {}
                    }
                }
            }
            let _ = ended.send(());
        };
        Ok(Some(Serving {
            drained,
            _thread: control::start("admission", vec![Box::pin(task)])?,
        }))
    }
}

/// The parts of the process that the server uses.
pub(in crate::cluster) struct Process {
    pub operator: &'static str,
    /// The name of this process.
    pub identity: String,
    pub namespace: String,
    /// Makes a client of the thread that calls it.
    pub connect: Box<dyn FnOnce() -> Result<Client> + Send>,
    pub routes: WebhookRoutes,
    pub clock: Arc<Clock>,
    pub health: Health,
    pub metrics: Metrics,
    pub stop: watch::Receiver<bool>,
}
