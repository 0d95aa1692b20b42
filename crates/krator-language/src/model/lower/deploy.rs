//! Reads `deploy` and `allow`.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::{Affinity, EnvVar, Toleration};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value as Json;

use super::bounds::is_quantity;
use super::json::json_of;
use super::keys::Keys;
use super::nodes::{Input, boolean, entries, is_empty_list, list, name, name_of, text};
use crate::catalog::keys::{DeployKey, ResourcesKey};
use crate::catalog::{MISSING_KEY, UNKNOWN_KEY, WRONG_TYPE, former_names};
use crate::finding::{Finding, Span, Spanned};
use crate::model::{Allow, Certificates, Deploy, Extra, PodResources, PublishedEvents};
use crate::names::{ImageName, LabelKey, NamespaceName, PageAddress};
use crate::spec::NodeKind;
use crate::text::{printable, shown};

/// The defaults of `deploy`.
pub(super) fn default_deploy(span: Span) -> Deploy {
    Deploy {
        replicas: Spanned::new(1, span),
        leader_election: Spanned::new(true, span),
        namespaces: Vec::new(),
        events: PublishedEvents::default(),
        certificates: Certificates::default(),
        migrate: false,
        extras: BTreeSet::new(),
        runbook: None,
        image: None,
        args: Vec::new(),
        env: Vec::new(),
        resources: PodResources::default(),
        node_selector: Vec::new(),
        tolerations: Vec::new(),
        affinity: None,
    }
}

/// Reads `deploy`.
pub(super) fn deploy(node: Input<'_>) -> Deploy {
    let mut deploy = default_deploy(node.span);
    let Some(mut keys) = Keys::of(node) else {
        return deploy;
    };
    if let Some(replicas) = keys.integer(DeployKey::Replicas) {
        deploy.replicas = replicas;
    }
    if let Some(elected) = keys.read(DeployKey::LeaderElection, boolean) {
        deploy.leader_election = elected;
    }
    deploy.namespaces = keys.read_all(DeployKey::Namespaces, |node| {
        let items = list(node, "a list of namespaces");
        if is_empty_list(node) {
            node.report(
                Finding::new(&WRONG_TYPE, node.span, "an operator needs at least one namespace")
                    .help("remove `namespaces` if the operator manages all namespaces"),
            );
        }
        let mut seen = BTreeSet::new();
        let names = items
            .into_iter()
            .filter_map(|item| name(item, "namespace", NamespaceName::parse));
        names
            .filter(|namespace| seen.insert(namespace.value.clone()))
            .collect()
    });
    let events = [
        ("all", PublishedEvents::All),
        ("warnings", PublishedEvents::Warnings),
    ];
    if let Some(events) = keys.word(DeployKey::Events, &events) {
        deploy.events = events.value;
    }
    let certificates = [("own", Certificates::Own), ("mounted", Certificates::Mounted)];
    if let Some(certificates) = keys.word(DeployKey::Certificates, &certificates) {
        deploy.certificates = certificates.value;
    }
    if let Some(migrate) = keys.read(DeployKey::Migrate, boolean) {
        deploy.migrate = migrate.value;
    }
    for extra in Extra::ALL {
        if keys
            .read(extra.deploy_key(), boolean)
            .is_some_and(|asked| asked.value)
        {
            deploy.extras.insert(extra);
        }
    }
    if let Some(node) = keys.get(DeployKey::Resources)
        && let Some(mut keys) = Keys::of(node)
    {
        deploy.resources.requests = keys.read_all(ResourcesKey::Requests, quantities);
        deploy.resources.limits = keys.read_all(ResourcesKey::Limits, quantities);
        keys.finish();
    }
    deploy.runbook = keys.read(DeployKey::Runbook, name_of("page", PageAddress::parse));
    deploy.image = keys.read(DeployKey::Image, name_of("image", ImageName::parse));
    deploy.args = keys.read_all(DeployKey::Args, |node| {
        let items = list(node, "a list of arguments").into_iter();
        items.filter_map(|item| Some(text(item)?.value)).collect()
    });
    deploy.env = keys.read_all(DeployKey::Env, |node| {
        let items = list(node, "a list of variables").into_iter();
        items.filter_map(of_pod::<EnvVar>).collect()
    });
    deploy.node_selector = keys.read_all(DeployKey::NodeSelector, |node| {
        let labels = entries(node, "values by label").into_iter();
        labels
            .filter_map(|entry| {
                let label = entry.name("label", LabelKey::parse)?;
                Some((label.value, text(entry.value)?.value))
            })
            .collect()
    });
    deploy.tolerations = keys.read_all(DeployKey::Tolerations, |node| {
        let items = list(node, "a list of tolerations").into_iter();
        items.filter_map(of_pod::<Toleration>).collect()
    });
    deploy.affinity = keys.read(DeployKey::Affinity, of_pod::<Affinity>);
    keys.finish();
    deploy
}

/// A part of a Pod, as it is written. Only fields of the Kubernetes types are accepted, because the API server would
/// report unknown ones only when the operator is deployed.
fn of_pod<T: DeserializeOwned + Serialize>(node: Input<'_>) -> Option<Json> {
    let written = json_of(node.node);
    let known = serde_json::from_value::<T>(written.clone()).and_then(serde_json::to_value);
    let known = match known {
        Ok(known) => known,
        Err(error) => {
            let message = format!(
                "Kubernetes cannot read this value: {}",
                printable(&error.to_string())
            );
            return node.refuse(Finding::new(&WRONG_TYPE, node.span, message));
        }
    };
    let is_known = refuse_unknown(node, &known);
    is_known.then_some(written)
}

/// Reports the written fields that a Kubernetes type does not have.
fn refuse_unknown(node: Input<'_>, known: &Json) -> bool {
    if matches!(node.kind, NodeKind::Sequence(_)) {
        let known = known.as_array().into_iter().flatten();
        let items = list(node, "a list").into_iter().zip(known);
        return items.fold(true, |all, (item, known)| refuse_unknown(item, known) && all);
    }
    let kept = node
        .entries()
        .into_iter()
        .map(|entry| match known.get(entry.key) {
            Some(known) => refuse_unknown(entry.value, known),
            None if entry.value.is_null() => true,
            None => {
                let message = format!("Kubernetes has no field `{}` here", shown(entry.key));
                node.sink.error(&UNKNOWN_KEY, entry.key_span, message);
                false
            }
        });
    // Collected, so that all unknown fields are reported and not only the first.
    kept.collect::<Vec<_>>().into_iter().all(|kept| kept)
}

fn quantities(node: Input<'_>) -> Vec<(LabelKey, Spanned<String>)> {
    let entries = entries(node, "quantities by resource").into_iter();
    entries
        .filter_map(|entry| {
            let resource = entry.name("resource", LabelKey::parse)?;
            let quantity = text(entry.value)?;
            if !is_quantity(&quantity.value) {
                let message = format!("`{}` is not a quantity", shown(&quantity.value));
                return node
                    .sink
                    .refuse(Finding::new(&WRONG_TYPE, quantity.span, message));
            }
            Some((resource.value, quantity))
        })
        .collect()
}

/// Reads `allow`, of a document or a state. It replaces former names; `crate::rules` checks the others.
pub(super) fn allow(node: Input<'_>) -> Vec<Allow> {
    let mut allowed = Vec::new();
    for entry in entries(node, "reasons by rule") {
        let reason = if entry.value.is_null() {
            None
        } else {
            text(entry.value)
        };
        match reason.filter(|reason| !reason.trim().is_empty()) {
            Some(reason) => {
                let now = former_names::rule(entry.key);
                if let Some(now) = now {
                    node.report(super::keys::former_name(entry.key_span, entry.key, now));
                }
                let name = now.unwrap_or(entry.key).to_owned();
                allowed.push(Allow {
                    rule: Spanned::new(name, entry.key_span),
                    reason,
                });
            }
            None => node.sink.error(
                &MISSING_KEY,
                entry.key_span,
                format!("`{}` is allowed without a reason", shown(entry.key)),
            ),
        }
    }
    allowed
}
