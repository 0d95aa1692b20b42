//! Cluster roles that aggregate the rules of others by their labels, after `pkg/controller/clusterroleaggregation`.

use super::GROUP;
use crate::{
    object::{at, fields_mut, meta, meta_map},
    selector::LabelSelector,
    state::{State, id},
};
use serde_json::Value as Json;
use std::sync::Arc;

/// Aggregates rules until nothing changes, because a role may aggregate the rules of another aggregating role.
pub(crate) fn aggregate(state: &mut State) {
    let roles = id(GROUP, "clusterroles");
    // A chain of roles is not longer than their number.
    for _ in 0..=state.store.list(&roles, "").count() {
        let all: Vec<Arc<Json>> = state
            .store
            .list(&roles, "")
            .map(|(_, role)| Arc::clone(role))
            .collect();
        let gathering = all
            .iter()
            .filter(|role| at(role, &["aggregationRule"]).is_object());
        let changed: Vec<Json> = gathering.filter_map(|role| gathered(role, &all)).collect();
        if changed.is_empty() {
            return;
        }
        for role in changed {
            state.store.put(&roles, role);
        }
    }
}

/// The role with the rules of all roles that it selects; none if it has these rules already.
fn gathered(role: &Json, all: &[Arc<Json>]) -> Option<Json> {
    let mut rules: Vec<Json> = Vec::new();
    for selector in at(role, &["aggregationRule", "clusterRoleSelectors"])
        .as_array()
        .into_iter()
        .flatten()
    {
        for other in all
            .iter()
            .filter(|other| meta(other, "name") != meta(role, "name"))
        {
            if !selects(selector, other) {
                continue;
            }
            for rule in at(other, &["rules"]).as_array().into_iter().flatten() {
                if !rules.contains(rule) {
                    rules.push(rule.clone());
                }
            }
        }
    }
    let rules = if rules.is_empty() {
        Json::Null
    } else {
        Json::Array(rules)
    };
    if at(role, &["rules"]) == &rules {
        return None;
    }
    let mut role = role.clone();
    // A role without rules has null, so the field is not removed.
    fields_mut(&mut role).insert("rules".to_owned(), rules);
    Some(role)
}

/// Whether a label selector matches an object. An invalid selector matches nothing.
fn selects(selector: &Json, object: &Json) -> bool {
    LabelSelector::of(selector).is_some_and(|selector| {
        selector.matches(|label| {
            meta_map(object, "labels")
                .find(|(key, _)| *key == label)
                .map(|(_, value)| value)
        })
    })
}
