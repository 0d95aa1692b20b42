//! Reads `deploy`, `webhooks` and `allow`.

use std::collections::BTreeSet;
use std::time::Duration;

use super::bounds::is_quantity;
use super::keys::Keys;
use super::nodes::{boolean, duration, entries, is_empty_list, list, name, name_of, named, text, word};
use super::sink::Sink;
use crate::catalog::keys::{DeployKey, MatchConditionKey, ResourcesKey, WebhookKey, WebhooksKey};
use crate::catalog::{MISSING_KEY, UNKNOWN_KEY, WRONG_TYPE};
use crate::finding::{Finding, Span, Spanned};
use crate::model::{
    Allow, Deploy, FailurePolicy, MatchCondition, Operation, PodResources, PublishedEvents, Webhook, Webhooks,
};
use crate::names::{LabelKey, NamespaceName};
use crate::spec::Node;
use crate::text::shown;

/// Reads `webhooks`.
pub(super) fn webhooks(node: &Node, sink: &mut Sink<'_>) -> Webhooks {
    let Some(mut keys) = Keys::of(node, sink) else {
        return Webhooks::default();
    };
    let validate = keys.read(WebhooksKey::Validate, sink, webhook);
    let mutate = keys.read(WebhooksKey::Mutate, sink, webhook);
    keys.finish(sink);
    Webhooks { validate, mutate }
}

fn webhook(node: &Node, sink: &mut Sink<'_>) -> Option<Webhook> {
    let by_default = |operation| Spanned::new(operation, node.span);
    let mut webhook = Webhook {
        span: node.span,
        operations: vec![by_default(Operation::Create), by_default(Operation::Update)],
        failure_policy: FailurePolicy::Fail,
        timeout: Duration::from_secs(10),
        match_conditions: Vec::new(),
    };
    if node.scalar().is_some() {
        return boolean(node, sink)?.value.then_some(webhook);
    }
    let mut keys = Keys::of(node, sink)?;
    if let Some(node) = keys.get(WebhookKey::Operations, sink) {
        const OPERATIONS: [(&str, Operation); 6] = [
            ("CREATE", Operation::Create),
            ("UPDATE", Operation::Update),
            ("DELETE", Operation::Delete),
            ("create", Operation::Create),
            ("update", Operation::Update),
            ("delete", Operation::Delete),
        ];
        let mut operations: Vec<Spanned<Operation>> = Vec::new();
        for item in list(node, "a list of operations", sink) {
            let Some(operation) = word(item, WebhookKey::Operations, &OPERATIONS, sink) else {
                continue;
            };
            if !operations.iter().any(|other| other.value == operation.value) {
                operations.push(operation);
            }
        }
        if operations.is_empty() {
            sink.error(&WRONG_TYPE, node.span, "a webhook needs at least one operation");
        } else {
            webhook.operations = operations;
        }
    }
    let policies = [("Fail", FailurePolicy::Fail), ("Ignore", FailurePolicy::Ignore)];
    if let Some(policy) = keys.word(WebhookKey::FailurePolicy, &policies, sink) {
        webhook.failure_policy = policy.value;
    }
    if let Some(timeout) = keys.read(WebhookKey::Timeout, sink, duration) {
        if timeout.subsec_nanos() != 0 || !(1..=30).contains(&timeout.as_secs()) {
            sink.error(&WRONG_TYPE, timeout.span, "`timeout` is 1 to 30 whole seconds");
        } else {
            webhook.timeout = timeout.value;
        }
    }
    if let Some(node) = keys.get(WebhookKey::MatchConditions, sink) {
        for item in list(node, "a list of conditions", sink) {
            let Some(mut keys) = Keys::of(item, sink) else {
                continue;
            };
            let name = keys.read(
                MatchConditionKey::Name,
                sink,
                name_of("match condition", LabelKey::parse),
            );
            let expression = keys.read(MatchConditionKey::Expression, sink, text);
            keys.finish(sink);
            if let (Some(name), Some(expression)) = (name, expression) {
                webhook.match_conditions.push(MatchCondition { name, expression });
            }
        }
    }
    keys.finish(sink);
    Some(webhook)
}

/// The defaults of `deploy`.
pub(super) fn default_deploy(span: Span) -> Deploy {
    Deploy {
        replicas: Spanned::new(1, span),
        leader_election: Spanned::new(true, span),
        shards: None,
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
    deploy.shards = keys.integer(DeployKey::Shards, sink);
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
