//! Explanations of keys, states, kinds and rules.

use super::types::{key_at, types_at};
use super::{at, states, value, value_of};
use crate::catalog::Rule;
use crate::catalog::keys::{Absent, Key, NameOf, Type};
use crate::finding::Span;
use crate::model::{Scope, kubernetes};
use crate::rules;
use crate::tolerant_tree::{Step, TolerantTree};

/// An explanation of a piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hover {
    /// The text that is explained.
    pub span: Span,
    /// The explanation, in Markdown.
    pub markdown: String,
}

/// Explains the key, state, kind or rule at an offset.
pub fn hover(text: &str, offset: usize) -> Option<Hover> {
    let tree = TolerantTree::of(text);
    let (part, in_value) = tree.at(offset)?;
    let path = tree.path(part);
    if let Some(state) = super::state_at(text, offset) {
        let document = tree.document(part);
        let defined = states::state(&tree, document, &state.name)?;
        return Some(Hover {
            span: state.span,
            markdown: of_state(&tree, text, defined, &state.name),
        });
    }
    let span = if in_value {
        tree.parts[part].value?
    } else {
        tree.parts[part].name
    };
    let markdown = if in_value {
        of_value(at(text, span), &path).or_else(|| key_at(&path).map(of_key))?
    } else {
        let (Step::Key(name), above) = path.split_last()? else {
            return None;
        };
        key_at(&path).map(of_key).or_else(|| of_name(name, above))?
    };
    Some(Hover { span, markdown })
}

fn of_key(key: &Key) -> String {
    let mut text = format!("**`{}`**: {}\n\n{}", key.name, key.value, key.doc);
    match key.absent {
        Absent::Required => text += " It is required.",
        Absent::Default(default) => text += &format!("\n\nDefault: {default}."),
        Absent::Nothing => {}
    }
    text
}

fn of_rule(rule: &Rule) -> String {
    let severity = rule.severity.as_str();
    format!(
        "**`{}`** ({severity}): {}\n\n{}",
        rule.name, rule.summary, rule.explanation
    )
}

/// A name that the description chose, or that a mapping takes as a key.
fn of_name(name: &str, above: &[Step]) -> Option<String> {
    types_at(above).into_iter().find_map(|of| match of {
        Type::Map { by: NameOf::Rule, .. } => rules::named(name).map(of_rule),
        Type::Map { by: NameOf::Kind, .. } => of_kind(name),
        _ => None,
    })
}

fn of_value(written: &str, path: &[Step]) -> Option<String> {
    let takes_kinds = types_at(path).iter().any(|of| matches!(of, Type::Kind));
    of_kind(written).filter(|_| takes_kinds)
}

/// A built-in kind of Kubernetes.
fn of_kind(reference: &str) -> Option<String> {
    let (group, rest) = reference.split_once('/')?;
    let (version, kind) = rest.split_once('.')?;
    let (plural, scope) = kubernetes::resource(group, version, kind)?;
    let scope = match scope {
        Scope::Namespaced => "in namespaces",
        Scope::Cluster => "cluster-scoped",
    };
    Some(format!(
        "**`{reference}`**, a Kubernetes kind: `{plural}`, {scope}"
    ))
}

fn of_state(tree: &TolerantTree, text: &str, part: usize, name: &str) -> String {
    let scalar = |key| value_of(tree, text, part, key);
    let mut markdown = format!("**`{name}`**, a `{}` state", scalar("kind").unwrap_or("working"));
    if let Some(doc) = scalar("doc") {
        markdown += &format!("\n\n{doc}");
    }
    let next = tree.entry(part, "next");
    let edges = next.into_iter().flat_map(|next| tree.inside(next));
    let to: Vec<String> = edges
        .filter_map(|edge| value(tree, text, edge).or_else(|| value_of(tree, text, edge, "to")))
        .map(|to| format!("`{to}`"))
        .collect();
    if !to.is_empty() {
        markdown += &format!("\n\nIts handler can choose {}.", to.join(", "));
    }
    if let Some(timeout) = tree.entry(part, "timeout") {
        let scalar = |key| value_of(tree, text, timeout, key);
        if let (Some(after), Some(to)) = (scalar("after"), scalar("to")) {
            markdown += &format!("\n\nAfter {after}, the timeout leads to `{to}`.");
        }
    }
    markdown
}
