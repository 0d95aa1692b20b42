//! Reads `deploy` and `allow`.

use std::collections::BTreeSet;

use super::bounds::is_quantity;
use super::keys::Keys;
use super::nodes::{boolean, entries, is_empty_list, list, name, named, text};
use super::sink::Sink;
use crate::catalog::keys::{DeployKey, ResourcesKey};
use crate::catalog::{MISSING_KEY, UNKNOWN_KEY, WRONG_TYPE};
use crate::finding::{Finding, Span, Spanned};
use crate::model::{Allow, Deploy, PodResources, PublishedEvents};
use crate::names::{LabelKey, NamespaceName};
use crate::spec::Node;
use crate::text::shown;

/// The defaults of `deploy`.
pub(super) fn default_deploy(span: Span) -> Deploy {
    Deploy {
        replicas: Spanned::new(1, span),
        leader_election: Spanned::new(true, span),
        namespaces: Vec::new(),
        events: PublishedEvents::default(),
        resources: PodResources::default(),
    }
}

/// Reads `deploy`.
pub(super) fn deploy(node: &Node, sink: &mut Sink<'_>) -> Deploy {
    let mut deploy = default_deploy(node.span);
    let Some(mut keys) = Keys::of(node, sink) else {
        return deploy;
    };
    if let Some(replicas) = keys.integer(DeployKey::Replicas, sink) {
        deploy.replicas = replicas;
    }
    if let Some(elected) = keys.read(DeployKey::LeaderElection, sink, boolean) {
        deploy.leader_election = elected;
    }
    if let Some(node) = keys.get(DeployKey::Namespaces, sink) {
        let mut seen = BTreeSet::new();
        let items = list(node, "a list of namespaces", sink);
        if is_empty_list(node) {
            sink.report(
                Finding::new(&WRONG_TYPE, node.span, "an operator needs at least one namespace")
                    .help("remove `namespaces` for an operator that works in all of them"),
            );
        }
        for item in items {
            let Some(namespace) = name(item, "namespace", NamespaceName::parse, sink) else {
                continue;
            };
            if seen.insert(namespace.value.clone()) {
                deploy.namespaces.push(namespace);
            }
        }
    }
    let events = [
        ("all", PublishedEvents::All),
        ("warnings", PublishedEvents::Warnings),
    ];
    if let Some(events) = keys.word(DeployKey::Events, &events, sink) {
        deploy.events = events.value;
    }
    if let Some(node) = keys.get(DeployKey::Resources, sink)
        && let Some(mut keys) = Keys::of(node, sink)
    {
        deploy.resources.requests = keys.read_all(ResourcesKey::Requests, sink, quantities);
        deploy.resources.limits = keys.read_all(ResourcesKey::Limits, sink, quantities);
        keys.finish(sink);
    }
    keys.finish(sink);
    deploy
}

fn quantities(node: &Node, sink: &mut Sink<'_>) -> Vec<(LabelKey, Spanned<String>)> {
    entries(node, "quantities by resource", sink)
        .iter()
        .filter_map(|entry| {
            let resource = named(&entry.key, entry.key_span, "resource", LabelKey::parse, sink)?;
            let quantity = text(&entry.value, sink)?;
            if !is_quantity(&quantity.value) {
                let message = format!("`{}` is not a quantity", shown(&quantity.value));
                sink.error(&WRONG_TYPE, quantity.span, message);
                return None;
            }
            Some((resource.value, quantity))
        })
        .collect()
}

/// Reads `allow`, of a document or a state.
pub(super) fn allow(node: &Node, sink: &mut Sink<'_>) -> Vec<Allow> {
    let mut allowed = Vec::new();
    for entry in entries(node, "reasons by rule", sink) {
        let Some(rule) = crate::catalog::named(&entry.key) else {
            let message = format!("there is no rule `{}`", shown(&entry.key));
            let suggestion = sink.suggest(&entry.key, crate::catalog::all().map(|rule| rule.name));
            sink.report(Finding::new(&UNKNOWN_KEY, entry.key_span, message).did_you_mean(suggestion));
            continue;
        };
        if rule.severity == crate::catalog::Severity::Error {
            let message = format!("`{}` is an error, which `allow` does not silence", rule.name);
            sink.error(&WRONG_TYPE, entry.key_span, message);
            continue;
        }
        let reason = if entry.value.is_null() {
            None
        } else {
            text(&entry.value, sink)
        };
        match reason.filter(|reason| !reason.trim().is_empty()) {
            Some(reason) => allowed.push(Allow {
                rule: Spanned::new(entry.key.clone(), entry.key_span),
                reason,
            }),
            None => sink.error(
                &MISSING_KEY,
                entry.key_span,
                format!("`{}` is allowed without a reason", rule.name),
            ),
        }
    }
    allowed
}
