//! Conditions of webhooks that do not compile, that refuse requests instead of selecting them, or that are never true.

use std::sync::Arc;

use krator_schema::cel::AccessCheck;
use krator_schema::cel::admission::{Environment, Evaluated, Expression, Rejection, Request, Wanted};
use serde_json::{Value as Json, json};

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;
use crate::model::{MatchCondition, Webhook};

pub(super) static RULE: Rule = Rule {
    name: "invalid-match-condition",
    severity: Severity::Error,
    summary: "a condition of a webhook is invalid, or selects no requests",
    explanation: "A condition is a CEL expression over `object`, `oldObject`, `request` and `authorizer`. If it does not compile, the API
server refuses the whole configuration of the webhook. A condition with `namespaceObject` compiles, but makes the API
server refuse each request. Webhooks are not called for the status, so a condition on the status selects nothing, and
neither does a condition that is false for all of the `operations`.

Bad:

    webhooks: {validate: {matchConditions: [{name: new, expression: \"request.operation == 'create'\"}]}}

Good:

    webhooks: {validate: {matchConditions: [{name: new, expression: \"request.operation == 'CREATE'\"}]}}",
};

pub(super) const CHECK: Check = Check::of_kind(&RULE, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let webhooks = subject.kind.webhooks.all();
    let conditions = webhooks.flat_map(|(_, webhook)| {
        let conditions = webhook.match_conditions.iter();
        conditions.filter_map(move |condition| problem(webhook, condition))
    });
    conditions.map(RuleHit::of_document).collect()
}

fn problem(webhook: &Webhook, condition: &MatchCondition) -> Option<Finding> {
    let text = condition.expression.value.as_str();
    let finding = |message: String, help: &str| {
        Some(Finding::new(&RULE, condition.expression.span, message).help(help))
    };
    let compiled = match Environment::default().compile(text, Wanted::Bool) {
        Err(Rejection::Refused(why)) => {
            let message = format!("the API server would not compile this: {why}");
            return finding(message, "write a CEL expression that is true or false");
        }
        Err(Rejection::Unknown(_)) => None,
        Ok(compiled) => Some(compiled),
    };
    if mentions(text, "namespaceObject") {
        let message =
            "conditions of webhooks have no `namespaceObject`: with it, the API server refuses each request";
        return finding(message.to_owned(), "check the namespace in the handler");
    }
    if mentions(text, "object.status") || mentions(text, "oldObject.status") {
        let message =
            "the webhook is not called for the status, so a condition on the status selects nothing";
        return finding(
            message.to_owned(),
            "use `admission: {status: operator}` to restrict the clients that may write it",
        );
    }
    let is_fixed = [
        "object",
        "oldObject",
        "authorizer",
        "userInfo",
        "name",
        "namespace",
        "dryRun",
        "options",
    ];
    let is_fixed = !is_fixed.iter().any(|name| mentions(text, name));
    let never = |expression: &Expression| {
        let mut operations = webhook.operations.iter();
        operations.all(|operation| holds(expression, operation.value.as_str()) == Some(false))
    };
    if is_fixed && !webhook.operations.is_empty() && compiled.as_ref().is_some_and(never) {
        let message = "this is false for each of the `operations`, so the webhook is not called".to_owned();
        return finding(
            message,
            "compare `request.operation` with one of the `operations`, in upper case",
        );
    }
    None
}

/// The value of a condition that depends on the operation alone.
fn holds(expression: &Expression, operation: &str) -> Option<bool> {
    let nothing = json!({"metadata": {}});
    let request = Request {
        object: &nothing,
        old_object: &nothing,
        request: &json!({"operation": operation}),
        namespace: &Json::Null,
        decide: Arc::new(|_: &AccessCheck| (false, String::new())),
        asked: AccessCheck::default(),
    };
    match expression.evaluate(&Environment::default().scope(request)) {
        Evaluated::Bool(holds) => Some(holds),
        _ => None,
    }
}

/// Whether an expression contains this path, as a whole word and outside of strings.
fn mentions(expression: &str, path: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let code = expression.split(['\'', '"']).step_by(2);
    code.into_iter().any(|code| {
        code.match_indices(path)
            .any(|(at, _)| !code[..at].ends_with(is_part) && !code[at + path.len()..].starts_with(is_part))
    })
}
