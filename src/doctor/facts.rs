//! The facts that a diagnosis is based on.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value as Json;

use crate::model::Description;
use crate::observed::Lookup;
use crate::observed::development::Development;

/// The place where an operator should run.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    /// The name of the operator, its Deployment, its ServiceAccount, its roles and its Lease.
    pub operator: String,
    /// The namespace that it should run in.
    pub namespace: String,
    /// Whether krator.yaml has changed since the manifests were generated.
    pub is_ahead: bool,
    /// The description that the manifests were generated from, if krator.yaml has changed since and it has no errors.
    pub former: Option<Description>,
}

impl Site {
    /// The command that installs one manifest of the crate.
    pub(super) fn apply(&self, manifest: &str) -> String {
        let generate = if self.is_ahead { "krator gen && " } else { "" };
        // Another client may own the fields that have to be restored, so the apply is forced.
        format!("{generate}kubectl apply --server-side --force-conflicts -f {manifest}")
    }

    /// The command that installs the operator.
    pub(super) fn install(&self) -> String {
        let generate = if self.is_ahead { "krator gen && " } else { "" };
        format!("{generate}kubectl apply --server-side -k deploy")
    }
}

/// The facts of a cluster, and of this machine.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    /// The reason why cargo cannot be run, if it cannot.
    pub cargo: Option<String>,
    pub reached: Reached,
    /// The `krator dev` that runs this API server, if any.
    pub development: Option<Development>,
    /// The operator's namespace.
    pub namespace: Lookup,
    /// The CustomResourceDefinitions, in the order of the kinds.
    pub definitions: Vec<Lookup>,
    /// The operator's ServiceAccount.
    pub account: Lookup,
    /// Its rights, by the roles that grant them.
    pub grants: Vec<Grant>,
    pub deployment: Lookup,
    /// The Deployments with this name in all namespaces.
    pub deployments: Lookup,
    /// The pods that the Deployment selects.
    pub pods: Lookup,
    pub lease: Lookup,
    /// The Lease a moment later, if the first read was not sufficient.
    pub lease_later: Option<Json>,
    /// The responses of pods at `/readyz`, by their names.
    pub readiness: BTreeMap<String, Probe>,
    /// The configurations of webhooks, by their kinds.
    pub configurations: Vec<(&'static str, Lookup)>,
    /// The EndpointSlices of Services that the API server calls, by the namespaces and names of the Services, or the
    /// reason why a Service is missing.
    pub endpoints: BTreeMap<(String, String), Endpoints>,
    /// The Secret with the certificates of the webhooks.
    pub secret: Lookup,
}

/// Whether the API server responds.
#[derive(Debug, Clone)]
pub(crate) enum Reached {
    /// It responds, at this time of its own clock.
    At(Timestamp),
    /// It does not respond, for this reason.
    No(String),
    /// No kubeconfig names it, for this reason.
    Unconfigured(String),
}

/// The rights of an operator that one role grants, and whether the operator has them.
#[derive(Debug, Clone)]
pub(crate) struct Grant {
    /// The namespace of the role; `None` for a ClusterRole.
    pub namespace: Option<String>,
    pub role: Lookup,
    pub binding: Lookup,
    /// Each right, and whether the API server allows it; an error is the reason why that is unknown.
    pub rights: Vec<(Right, Result<bool, String>)>,
}

/// One verb on the objects of one resource.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Right {
    pub group: String,
    /// The plural, with its subresource if any.
    pub resource: String,
    /// The name of the object, if the right is limited to one object.
    pub name: Option<String>,
    pub verb: String,
}

/// The response of a pod at `/readyz`.
#[derive(Debug, Clone)]
pub(crate) enum Probe {
    Ready,
    /// Not ready, for these reasons.
    Unready(String),
    /// The API server cannot reach the pod.
    Unreachable(String),
    /// The user has no right to read the response.
    Unknown(String),
}

/// The endpoints of a Service.
#[derive(Debug, Clone)]
pub(crate) struct Endpoints {
    pub service: Lookup,
    pub slices: Lookup,
}

impl Facts {
    /// The time by the API server's clock, if the server responds.
    pub(super) fn server_time(&self) -> Option<Timestamp> {
        match self.reached {
            Reached::At(time) => Some(time),
            Reached::No(_) | Reached::Unconfigured(_) => None,
        }
    }

    /// The facts before any request.
    pub(crate) fn unasked(reached: Reached) -> Self {
        let unasked = || Lookup::Unknown("nobody has asked".to_owned());
        Facts {
            cargo: None,
            reached,
            development: None,
            namespace: unasked(),
            definitions: Vec::new(),
            account: unasked(),
            grants: Vec::new(),
            deployment: unasked(),
            deployments: unasked(),
            pods: unasked(),
            lease: unasked(),
            lease_later: None,
            readiness: BTreeMap::new(),
            configurations: Vec::new(),
            endpoints: BTreeMap::new(),
            secret: unasked(),
        }
    }
}
