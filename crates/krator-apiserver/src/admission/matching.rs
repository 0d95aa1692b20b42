//! Matches writes with webhooks and policies, after `plugin/webhook/predicates` of `k8s.io/apiserver`.

use super::review::{Attributes, Matched, Operation};
use crate::{
    expressions::{list, text},
    object::{at, meta_map},
    selector::LabelSelector,
    state::{State, namespaces},
    store::Key,
};
use serde_json::Value as Json;

/// Whether a webhook or the constraints of a policy match a write; if so, in which version. `rules` is the name of the
/// list of rules. The constraints of a binding may have no rules, and then match every write.
pub(super) fn matches(
    state: &State,
    about: &Attributes<'_>,
    constraints: &Json,
    rules: &str,
    objects: [Option<&Json>; 2],
) -> Option<Matched> {
    let own = || Matched {
        version: about.kind.version.clone(),
    };
    if !selects_namespace(state, about, constraints, objects[0]) || !selects_object(constraints, objects) {
        return None;
    }
    let is_exact = text(constraints, "matchPolicy") == "Exact";
    let found = |rules: &str| {
        let rule = |version: &str| list(constraints, rules).any(|rule| is_of_rule(about, rule, version));
        if rule(&about.kind.version) {
            return Some(own());
        }
        let mut others = state
            .kinds
            .iter()
            .filter(|kind| !is_exact && kind.id == about.kind.id);
        others.find(|kind| rule(&kind.version)).map(|kind| Matched {
            version: kind.version.clone(),
        })
    };
    if found("excludeResourceRules").is_some() {
        return None;
    }
    let has_rules = list(constraints, rules).next().is_some();
    if !has_rules && rules == "resourceRules" {
        return Some(own());
    }
    found(rules)
}

fn is_of_rule(about: &Attributes<'_>, rule: &Json, version: &str) -> bool {
    let has = |key: &str, value: &str| list(rule, key).any(|item| item == "*" || item == value);
    let of_resource = |item: &Json| {
        let item = item.as_str().unwrap_or_default();
        let (resource, sub) = item.split_once('/').unwrap_or((item, ""));
        (resource == "*" || resource == about.kind.id.resource) && (sub == "*" || sub == about.subresource)
    };
    let in_cluster = about.is_namespace() || about.namespace().is_empty();
    let in_scope = match text(rule, "scope") {
        "Namespaced" => !in_cluster,
        "Cluster" => in_cluster,
        _ => true,
    };
    let mut names = list(rule, "resourceNames").peekable();
    let is_named = names.peek().is_none() || names.any(|name| *name == about.key.name);
    in_scope
        && is_named
        && has("operations", about.operation.name())
        && has("apiGroups", &about.kind.group)
        && has("apiVersions", version)
        && list(rule, "resources").any(of_resource)
}

/// Whether a label selector matches; an invalid selector matches nothing.
fn selects<'a>(selector: &Json, label: impl Fn(&str) -> Option<&'a str>) -> bool {
    selector.is_null() || LabelSelector::of(selector).is_some_and(|selector| selector.matches(label))
}

fn label_of<'a>(object: &'a Json, key: &str) -> Option<&'a str> {
    meta_map(object, "labels")
        .find(|(name, _)| *name == key)
        .map(|(_, value)| value)
}

fn selects_namespace(
    state: &State,
    about: &Attributes<'_>,
    constraints: &Json,
    object: Option<&Json>,
) -> bool {
    let name = about.namespace();
    if name.is_empty() {
        // Namespace selectors do not exclude cluster-scoped objects.
        return true;
    }
    let is_written =
        about.is_namespace() && about.subresource.is_empty() && about.operation != Operation::Delete;
    let stored = || {
        state
            .store
            .get(&namespaces(), &Key::new("", name))
            .map(|found| &**found)
    };
    let namespace = object
        .filter(|_| is_written)
        .or_else(stored)
        .unwrap_or(&Json::Null);
    selects(at(constraints, &["namespaceSelector"]), |key| {
        label_of(namespace, key)
    })
}

fn selects_object(constraints: &Json, objects: [Option<&Json>; 2]) -> bool {
    let selector = at(constraints, &["objectSelector"]);
    let is_empty = LabelSelector::of(selector).is_none_or(|selector| selector.is_empty());
    let mut objects = objects.into_iter().flatten();
    is_empty || objects.any(|object| selects(selector, |key| label_of(object, key)))
}

/// The namespace of an object, in the form that policies see; null for cluster-scoped objects.
pub(super) fn namespace_object(state: &State, about: &Attributes<'_>) -> Json {
    let name = match about.is_namespace() {
        true => "",
        false => about.namespace(),
    };
    let Some(namespace) = state.store.get(&namespaces(), &Key::new("", name)) else {
        return Json::Null;
    };
    let mut shown = Json::clone(namespace);
    if let Some(metadata) = shown.get_mut("metadata").and_then(Json::as_object_mut) {
        // The API server gives policies only these fields.
        metadata.retain(|key, _| SHOWN.contains(&key.as_str()));
    }
    shown
}

const SHOWN: [&str; 12] = [
    "name",
    "generateName",
    "namespace",
    "labels",
    "annotations",
    "uid",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "resourceVersion",
    "finalizers",
];
