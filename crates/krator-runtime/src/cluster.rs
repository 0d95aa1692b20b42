//! The cluster: runs machines for the objects of an API server.

// In the order of the layers, lowest first: a module imports only from those above it in this list.
#[cfg(feature = "simulation")]
pub mod simulation;
mod host;
mod packed;
mod api;
#[cfg(feature = "faults")]
mod faults;
mod process;
mod related;
mod children;
mod access;
mod observability;
mod objects;
#[cfg(feature = "dev")]
mod dev;
mod admission;
mod metrics_server;
mod migration;
mod start;
mod command;

pub use admission::Admission;
pub use api::apis::{ApiCaching, ApiHandles};
pub use command::{About, main, main_with};
pub use related::links::{Concerns, Grants, Link, Linked, LookIn, Owns, Watches};

use self::admission::WebhookServer;
use crate::{
    machine::{Machine as _, ManifestOf},
    operator::Operator,
    resource::KubeObject,
};
use kube::Config;
use metrics_server::MetricsServer;
use start::{Start, run_kind};
use std::{collections::BTreeMap, path::PathBuf, time::Duration};

/// Runs the operators of one process. [`main`] makes one from the command line and passes it to your `main.rs`.
///
/// ```no_run
#[doc = include_str!("doc/website.txt")]
#[doc = include_str!("doc/publish.txt")]
/// # async fn doc<O: Operator<Machine: Linked>>(website: O) -> Result<()> where ManifestOf<O::Machine>: KubeObject {
/// OperatorRuntime::new("website-operator")
///     .operator(website)
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
    handlers: Handlers,
    limits: BTreeMap<String, u32>,
    /// The names of all limits, and whether each one counts the values of a field separately.
    known_limits: BTreeMap<&'static str, bool>,
    kinds: Vec<Start>,
    stored: Vec<migration::Kind>,
    migrates: bool,
    webhooks: WebhookServer,
}

/// The threads on which handlers run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Handlers {
    /// One thread runs all handlers that only wait, which takes the least CPU time. The handlers of a state first run
    /// on other threads: until 64 polls in a row took less than 200 µs, and again after a poll of more than 2 ms. Each
    /// such state may use as many threads at once as there are processors, at a cost of some 20 µs a poll. A handler
    /// that computes or blocks therefore delays only objects in its state, except with its first slow poll.
    #[default]
    Pool,
    /// One thread runs all handlers, whatever they do. One that computes or blocks delays all objects of the process.
    OneThread,
}

/// The Lease by which the replicas of an operator elect their leader.
struct Election {
    /// The namespace; without one, that of the pod.
    namespace: Option<String>,
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
            handlers: Handlers::default(),
            limits: BTreeMap::new(),
            known_limits: BTreeMap::new(),
            kinds: Vec::new(),
            stored: Vec::new(),
            migrates: false,
            webhooks: WebhookServer::default(),
        }
    }

    /// Adds the operator of one kind.
    #[must_use]
    pub fn operator<O: Operator<Machine: Linked>>(mut self, operator: O) -> Self
    where
        ManifestOf<O::Machine>: KubeObject,
    {
        self.stored.push(migration::Kind::of::<O::Machine>());
        let limits = O::Machine::GRAPH.limits.iter();
        self.known_limits
            .extend(limits.map(|limit| (limit.name, limit.per.is_some())));
        self.kinds
            .push(Box::new(|common, shared| run_kind(operator, common, shared)));
        self
    }
    /// Migrates stored objects to the current storage version while this replica leads.
    #[must_use]
    pub fn migrates(mut self, migrates: bool) -> Self {
        self.migrates = migrates;
        self
    }
    /// Overrides the number of objects that a limit of the description admits.
    #[must_use]
    pub fn limit(mut self, name: impl Into<String>, at_most: u32) -> Self {
        self.limits.insert(name.into(), at_most);
        self
    }
    /// The threads on which handlers run; [`Handlers::Pool`] by default.
    #[must_use]
    pub fn handlers(mut self, handlers: Handlers) -> Self {
        self.handlers = handlers;
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
    /// Restricts the operators to objects that a label selector matches, for example `park=glacier,reachable`.
    #[must_use]
    pub fn labels(mut self, selector: impl Into<String>) -> Self {
        self.selector = Some(selector.into());
        self
    }

    /// Answers probes over HTTP at this address, in the form of Go: `:8081` is this port on all addresses, and `0`, the
    /// default, answers none.
    ///
    /// `/livez` fails when the event loop of a kind has not run for 30 seconds. `/readyz` and `/healthz` fail until the
    /// objects of each kind are listed and, with [`leader_election`](Self::leader_election), the Lease is seen; the body of
    /// the answer says what is missing: a permission, a CustomResourceDefinition, or a namespace. What fails later is
    /// retried and does not count. `/readyz?verbose` also says what a CustomResourceDefinition in the cluster lacks.
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

    /// Serves metrics for Prometheus at this address under `/metrics`, in the same form; `0`, the default, serves none. Beside
    /// them are a page for people under `/`, with the objects in each state, and its data as JSON under `/state`.
    #[must_use]
    pub fn metrics_bind_address(mut self, address: impl Into<String>) -> Self {
        self.metrics.address = address.into();
        self
    }
    /// Whether the metrics are served with TLS, which is the default. Then a request needs the token of somebody who has
    /// the right to `get` its path: `/metrics`, `/state` or `/`. Without TLS they are served on the loopback interface only,
    /// to the programs of the machine.
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

    /// Answers webhooks over TLS at this address, in the same form; `0`, the default, answers none. Every replica does, whether it
    /// leads or not.
    #[must_use]
    pub fn webhook_bind_address(mut self, address: impl Into<String>) -> Self {
        self.webhooks.address = address.into();
        self
    }
    /// The folder of the certificate for webhooks: `tls.crt` and `tls.key`, which may be replaced at any time. If you mount one,
    /// you have to set the `caBundle` as well. Without one, the replicas generate certificates in the Secret `<operator>-webhook`
    /// in the namespace of the Lease, renew them, and write the `caBundle` of the configurations named like the operator.
    #[must_use]
    pub fn webhook_cert_path(mut self, folder: impl Into<PathBuf>) -> Self {
        self.webhooks.certificate = Some(folder.into());
        self
    }
    /// The lifetime of generated certificates; 90 days by default. They are renewed after two thirds of it.
    #[must_use]
    pub fn webhook_cert_lifetime(mut self, lifetime: Duration) -> Self {
        self.webhooks.lifetime = lifetime;
        self
    }

    /// The version of the program, which is logged at the start.
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
}
