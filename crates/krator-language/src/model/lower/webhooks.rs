//! Reads `webhooks`.

use std::collections::BTreeSet;
use std::time::Duration;

use super::keys::Keys;
use super::nodes::{Input, duration, limited_list, list, name_of, text, word};
use crate::catalog::keys::{MatchConditionKey, WebhookKey, WebhooksKey};
use crate::catalog::{NAME_COLLISION, WRONG_TYPE};
use crate::finding::{Finding, Spanned};
use crate::model::{FailurePolicy, MatchCondition, Operation, Webhook, Webhooks};
use crate::names::ResourceName;

/// Reads `webhooks`.
pub(super) fn webhooks(node: Input<'_>) -> Option<Webhooks> {
    Keys::mapping(node, |keys| {
        Some(Webhooks {
            validate: keys.read(WebhooksKey::Validate, |node| webhook(node, true)),
            mutate: keys.read(WebhooksKey::Mutate, |node| webhook(node, false)),
        })
    })
}

fn webhook(node: Input<'_>, validates: bool) -> Option<Webhook> {
    let switch = node.scalar().map(|scalar| scalar.text.as_str());
    if let Some(switch @ ("true" | "false")) = switch {
        let message = format!("expected a mapping, found `{switch}`");
        let key = if validates { "validate" } else { "mutate" };
        let help = match switch {
            "true" => {
                format!("write `{key}: {{}}`, or put settings between the braces")
            }
            _ => format!("leave `{key}` out"),
        };
        node.report(Finding::new(&WRONG_TYPE, node.span, message).help(help));
        return None;
    }
    Keys::mapping(node, |keys| {
        let failure_policy = keys.word(
            WebhookKey::FailurePolicy,
            &[("Fail", FailurePolicy::Fail), ("Ignore", FailurePolicy::Ignore)],
        );
        let failure_policy = failure_policy.unwrap_or(Spanned::new(FailurePolicy::Fail, node.span));
        let operations = keys.get(WebhookKey::Operations).map(operations);
        let operations = operations.unwrap_or_else(|| {
            let both = [Operation::Create, Operation::Update];
            both.map(|operation| Spanned::new(operation, node.span)).into()
        });
        let mut deletes = operations
            .iter()
            .filter(|operation| operation.value == Operation::Delete);
        if let Some(delete) = deletes.next().filter(|_| !validates) {
            let message = "a deletion has no object that `mutate` could change";
            let finding = Finding::new(&WRONG_TYPE, delete.span, message);
            node.report(finding.help("use `validate`, which is called for deletions, too"));
        }
        let timeout = keys.read(WebhookKey::Timeout, timeout);
        let match_conditions = keys.read_all(WebhookKey::MatchConditions, |node| {
            let items = limited_list(node, WebhookKey::MatchConditions, "a list of conditions");
            let conditions = items.into_iter().filter_map(match_condition).collect();
            without_repeated(conditions, node)
        });
        Some(Webhook {
            span: node.span,
            operations,
            failure_policy,
            timeout: timeout.unwrap_or(Spanned::new(Duration::from_secs(10), node.span)),
            match_conditions,
        })
    })
}

fn match_condition(node: Input<'_>) -> Option<MatchCondition> {
    Keys::mapping(node, |keys| {
        let condition = keys.read(
            MatchConditionKey::Name,
            name_of("match condition", ResourceName::parse),
        );
        let expression = keys.read(MatchConditionKey::Expression, text);
        Some(MatchCondition {
            name: condition.map(|name| Spanned::new(name.value.to_string(), name.span))?,
            expression: expression?,
        })
    })
}

/// The conditions with unique names. Names that begin with `krator-` are reserved for krator.
fn without_repeated(mut conditions: Vec<MatchCondition>, node: Input<'_>) -> Vec<MatchCondition> {
    let mut seen = BTreeSet::new();
    conditions.retain(|condition| {
        let name = &condition.name;
        let is_ours = name.value.starts_with("krator-");
        if !is_ours && seen.insert(name.value.clone()) {
            return true;
        }
        let message = format!("the match condition `{}` already exists", name.value);
        node.report(Finding::new(&NAME_COLLISION, name.span, message).help("choose another name"));
        false
    });
    conditions
}

fn operations(node: Input<'_>) -> Vec<Spanned<Operation>> {
    let words = [
        ("create", Operation::Create),
        ("update", Operation::Update),
        ("delete", Operation::Delete),
        ("CREATE", Operation::Create),
        ("UPDATE", Operation::Update),
        ("DELETE", Operation::Delete),
    ];
    let items = list(node, "a list of operations");
    if items.is_empty() {
        node.error(&WRONG_TYPE, "a webhook needs at least one operation");
    }
    let mut operations: Vec<Spanned<Operation>> = Vec::new();
    for item in items {
        let Some(operation) = word(item, WebhookKey::Operations, &words) else {
            continue;
        };
        if operations.iter().all(|before| before.value != operation.value) {
            operations.push(operation);
        }
    }
    operations.sort_by_key(|operation| operation.value);
    operations
}

fn timeout(node: Input<'_>) -> Option<Spanned<Duration>> {
    let timeout = duration(node)?;
    let is_whole = timeout.value.subsec_nanos() == 0;
    if is_whole && (1..=30).contains(&timeout.value.as_secs()) {
        return Some(timeout);
    }
    node.error(&WRONG_TYPE, "the timeout has to be whole seconds, from 1 to 30");
    None
}

#[cfg(test)]
mod tests {
    use crate::model::Operation;

    fn checked(webhooks: &str) -> crate::Checked {
        let text = format!(
            "krator: 1\nresource: {{group: example.com, version: v1, kind: Thing}}\nspec: {{}}\nwebhooks: {webhooks}\n\
             machine: {{initial: Up}}\nstates: {{Up: {{kind: ready}}}}\n"
        );
        crate::check("krator.yaml", text.as_bytes())
    }

    #[test]
    fn a_switch_says_what_to_write_instead() {
        for (webhooks, help) in [
            ("{validate: true}", "write `validate: {}`"),
            ("{mutate: true}", "write `mutate: {}`"),
            ("{validate: false}", "leave `validate` out"),
        ] {
            let found = checked(webhooks).findings;
            let help_of = |finding: &crate::finding::Finding| finding.help.clone().unwrap_or_default();
            assert!(
                found.iter().any(|finding| help_of(finding).starts_with(help)),
                "{webhooks}: {found:#?}"
            );
        }
    }

    #[test]
    fn operations_may_be_written_as_the_api_has_them() {
        let checked = checked("{validate: {operations: [UPDATE, create, CREATE]}}");
        let description = checked.sound().expect("a good description");
        let webhook = description.kinds[0]
            .webhooks
            .validate
            .as_ref()
            .expect("it is there");
        let operations: Vec<Operation> = webhook
            .operations
            .iter()
            .map(|operation| operation.value)
            .collect();
        assert_eq!(operations, [Operation::Create, Operation::Update]);
    }
}
