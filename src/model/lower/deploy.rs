//! How the operator is run and called: `webhooks`, `deploy`, and the findings that are allowed.

use std::collections::BTreeSet;
use std::time::Duration;

use super::bounds::is_quantity;
use super::keys::{Keys, Sink, boolean, duration, entries, list, name, named, text, whole, word};
use crate::catalog::{INVALID_SCHEMA, MISSING_KEY, UNKNOWN_KEY, WRONG_TYPE};
use crate::finding::{Finding, Span, Spanned};
use crate::model::{
    Allow, Deploy, FailurePolicy, MatchCondition, Operation, PodResources, Webhook, Webhooks,
};
use crate::names::{LabelKey, NamespaceName};
use crate::spec::Node;
use crate::text::shown;

/// Reads `webhooks`.
pub(super) fn webhooks(node: &Node, sink: &mut Sink<'_>) -> Webhooks {
    let Some(mut keys) = Keys::of(node, "`webhooks`", sink) else {
        return Webhooks::default();
    };
    let validate = keys.get("validate", sink).and_then(|node| webhook(node, sink));
    let mutate = keys.get("mutate", sink).and_then(|node| webhook(node, sink));
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
    let mut keys = Keys::of(node, "a webhook", sink)?;
    if let Some(node) = keys.get("operations", sink) {
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
            let Some(operation) = word(item, &OPERATIONS, sink) else {
                continue;
            };
            if !operations.iter().any(|other| other.value == operation.value) {
                operations.push(operation);
            }
        }
        if operations.is_empty() {
            sink.error(
                &WRONG_TYPE,
                node.span,
                "a webhook is called for at least one operation",
            );
        } else {
            webhook.operations = operations;
        }
    }
    let policies = [("Fail", FailurePolicy::Fail), ("Ignore", FailurePolicy::Ignore)];
    if let Some(policy) = keys
        .get("failurePolicy", sink)
        .and_then(|node| word(node, &policies, sink))
    {
        webhook.failure_policy = policy.value;
    }
    if let Some(timeout) = keys.get("timeout", sink).and_then(|node| duration(node, sink)) {
        if timeout.subsec_nanos() != 0 || !(1..=30).contains(&timeout.as_secs()) {
            sink.error(
                &WRONG_TYPE,
                timeout.span,
                "the API server waits for 1 to 30 whole seconds",
            );
        } else {
            webhook.timeout = timeout.value;
        }
    }
    if let Some(node) = keys.get("matchConditions", sink) {
        for item in list(node, "a list of conditions", sink) {
            let Some(mut keys) = Keys::of(item, "a match condition", sink) else {
                continue;
            };
            let name = keys
                .need("name", sink)
                .and_then(|node| name(node, "match condition", LabelKey::parse, sink));
            let expression = keys.need("expression", sink).and_then(|node| text(node, sink));
            keys.finish(sink);
            if let Some((written, slip)) = expression
                .as_ref()
                .and_then(|text| Some((text, super::cel::slip(text)?)))
            {
                sink.report(Finding::new(&INVALID_SCHEMA, written.span, "this is no CEL").label(slip));
            }
            if let (Some(name), Some(expression)) = (name, expression) {
                webhook.match_conditions.push(MatchCondition { name, expression });
            }
        }
    }
    keys.finish(sink);
    Some(webhook)
}

/// What holds without `deploy`.
pub(super) fn default_deploy(span: Span) -> Deploy {
    Deploy {
        replicas: Spanned::new(1, span),
        leader_election: None,
        shards: None,
        namespaces: Vec::new(),
        resources: PodResources::default(),
    }
}

/// One replica leads and the others stand by, or each takes some shards: more would only watch the API server.
const MOST_REPLICAS: u32 = 100;
/// Each shard is a lease of its own, which the operator's role names.
const MOST_SHARDS: u32 = 100;

/// A number from 1.
fn few(node: &Node, most: u32, sink: &mut Sink<'_>) -> Option<Spanned<u32>> {
    let number = whole(node, 1, i64::from(most), sink)?;
    // It was in range.
    Some(number.map(|number| u32::try_from(number).unwrap_or(most)))
}

/// Reads `deploy`.
pub(super) fn deploy(node: &Node, sink: &mut Sink<'_>) -> Deploy {
    let mut deploy = default_deploy(node.span);
    let Some(mut keys) = Keys::of(node, "`deploy`", sink) else {
        return deploy;
    };
    if let Some(replicas) = keys
        .get("replicas", sink)
        .and_then(|node| few(node, MOST_REPLICAS, sink))
    {
        deploy.replicas = replicas;
    }
    deploy.leader_election = keys
        .get("leaderElection", sink)
        .and_then(|node| boolean(node, sink));
    deploy.shards = keys
        .get("shards", sink)
        .and_then(|node| few(node, MOST_SHARDS, sink));
    if let Some(node) = keys.get("namespaces", sink) {
        let mut seen = BTreeSet::new();
        for item in list(node, "a list of namespaces", sink) {
            let Some(namespace) = name(item, "namespace", NamespaceName::parse, sink) else {
                continue;
            };
            if seen.insert(namespace.value.clone()) {
                deploy.namespaces.push(namespace);
            }
        }
    }
    if let Some(node) = keys.get("resources", sink)
        && let Some(mut keys) = Keys::of(node, "`resources`", sink)
    {
        deploy.resources.requests = keys
            .get("requests", sink)
            .map(|node| quantities(node, sink))
            .unwrap_or_default();
        deploy.resources.limits = keys
            .get("limits", sink)
            .map(|node| quantities(node, sink))
            .unwrap_or_default();
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
                let message = format!("`{}` is no quantity", shown(&quantity.value));
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
