//! Reads `deploy` and `allow`.

use std::collections::BTreeSet;

use super::bounds::is_quantity;
use super::keys::Keys;
use super::nodes::{Input, boolean, entries, is_empty_list, list, name, text};
use crate::catalog::keys::{DeployKey, ResourcesKey};
use crate::catalog::{MISSING_KEY, UNKNOWN_KEY, WRONG_TYPE};
use crate::finding::{Finding, Span, Spanned};
use crate::model::{Allow, Certificates, Deploy, PodResources, PublishedEvents};
use crate::names::{LabelKey, NamespaceName};
use crate::text::shown;

/// The defaults of `deploy`.
pub(super) fn default_deploy(span: Span) -> Deploy {
    Deploy {
        replicas: Spanned::new(1, span),
        leader_election: Spanned::new(true, span),
        namespaces: Vec::new(),
        events: PublishedEvents::default(),
        certificates: Certificates::default(),
        migrate: false,
        resources: PodResources::default(),
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
                    .help("remove `namespaces` for an operator that works in all of them"),
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
    if let Some(node) = keys.get(DeployKey::Resources)
        && let Some(mut keys) = Keys::of(node)
    {
        deploy.resources.requests = keys.read_all(ResourcesKey::Requests, quantities);
        deploy.resources.limits = keys.read_all(ResourcesKey::Limits, quantities);
        keys.finish();
    }
    keys.finish();
    deploy
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

/// Reads `allow`, of a document or a state.
pub(super) fn allow(node: Input<'_>) -> Vec<Allow> {
    let mut allowed = Vec::new();
    for entry in entries(node, "reasons by rule") {
        let Some(rule) = crate::catalog::named(entry.key) else {
            let message = format!("there is no rule `{}`", shown(entry.key));
            let suggestion = node
                .sink
                .suggest(entry.key, crate::catalog::all().map(|rule| rule.name));
            node.report(Finding::new(&UNKNOWN_KEY, entry.key_span, message).did_you_mean(suggestion));
            continue;
        };
        if rule.severity == crate::catalog::Severity::Error {
            let message = format!("`{}` is an error, which `allow` does not silence", rule.name);
            node.sink.error(&WRONG_TYPE, entry.key_span, message);
            continue;
        }
        let reason = if entry.value.is_null() {
            None
        } else {
            text(entry.value)
        };
        match reason.filter(|reason| !reason.trim().is_empty()) {
            Some(reason) => allowed.push(Allow {
                rule: Spanned::new(entry.key.to_owned(), entry.key_span),
                reason,
            }),
            None => node.sink.error(
                &MISSING_KEY,
                entry.key_span,
                format!("`{}` is allowed without a reason", rule.name),
            ),
        }
    }
    allowed
}
