//! Rules of roles: what they allow, and whether some rules cover others, after `pkg/apis/rbac/v1/evaluation_helpers.go` and
//! `auth/rbac/validation/policy_comparator.go` of `k8s.io/component-helpers`.

use super::Attributes;
use crate::object::at;
use serde::{Deserialize, Deserializer};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// A rule of a role.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Rule {
    #[serde(deserialize_with = "list")]
    pub verbs: Vec<String>,
    #[serde(deserialize_with = "list")]
    pub api_groups: Vec<String>,
    #[serde(deserialize_with = "list")]
    pub resources: Vec<String>,
    #[serde(deserialize_with = "list")]
    pub resource_names: Vec<String>,
    #[serde(rename = "nonResourceURLs", deserialize_with = "list")]
    pub paths: Vec<String>,
}

/// Lists may be null.
fn list<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

fn has(list: &[String], item: &str) -> bool {
    list.iter().any(|known| known == item)
}

fn has_all(list: &[String], items: &[String]) -> bool {
    items.iter().all(|item| has(list, item))
}

/// Whether a pattern, which may end with a star, has a path.
fn path_matches(pattern: &str, path: &str) -> bool {
    pattern == path || pattern.ends_with('*') && path.starts_with(pattern.trim_end_matches('*'))
}

impl Rule {
    /// The rules of a role. Those that cannot be read grant nothing.
    pub fn all_of(role: &Json) -> Vec<Self> {
        let rules = at(role, &["rules"]).as_array().into_iter().flatten();
        rules.filter_map(|rule| Self::deserialize(rule).ok()).collect()
    }

    /// Every verb on everything.
    pub fn everything() -> Vec<Self> {
        let all = || vec!["*".to_owned()];
        let resources = Self {
            verbs: all(),
            api_groups: all(),
            resources: all(),
            ..Self::default()
        };
        let paths = Self {
            verbs: all(),
            paths: all(),
            ..Self::default()
        };
        vec![resources, paths]
    }

    /// Whether it allows something.
    pub fn allows(&self, asked: &Attributes) -> bool {
        let verb = has(&self.verbs, "*") || has(&self.verbs, &asked.verb);
        if let Some(path) = &asked.path {
            return verb && self.paths.iter().any(|pattern| path_matches(pattern, path));
        }
        verb && (has(&self.api_groups, "*") || has(&self.api_groups, &asked.group))
            && self.has_resource(&asked.resource, &asked.subresource)
            && (self.resource_names.is_empty() || has(&self.resource_names, &asked.name))
    }

    fn has_resource(&self, resource: &str, subresource: &str) -> bool {
        self.resources
            .iter()
            .any(|known| match (known.as_str(), subresource) {
                ("*", _) => true,
                (known, "") => known == resource,
                (known, sub) => known
                    .split_once('/')
                    .is_some_and(|(outer, inner)| inner == sub && (outer == "*" || outer == resource)),
            })
    }

    /// The rules of one verb on one thing that it consists of.
    fn parts(&self) -> Vec<Self> {
        let one = |text: &String| vec![text.clone()];
        let mut parts = Vec::new();
        for (group, resource) in self
            .api_groups
            .iter()
            .flat_map(|group| self.resources.iter().map(move |it| (group, it)))
        {
            for verb in &self.verbs {
                let part = Self {
                    verbs: one(verb),
                    api_groups: one(group),
                    resources: one(resource),
                    ..Self::default()
                };
                let named = self.resource_names.iter().map(|name| Self {
                    resource_names: one(name),
                    ..part.clone()
                });
                parts.extend(named);
                if self.resource_names.is_empty() {
                    parts.push(part);
                }
            }
        }
        for path in &self.paths {
            parts.extend(self.verbs.iter().map(|verb| Self {
                verbs: one(verb),
                paths: one(path),
                ..Self::default()
            }));
        }
        parts
    }

    /// Whether it allows all that a rule allows which is a part of another.
    fn covers(&self, part: &Self) -> bool {
        let all = |own: &[String], wanted: &[String]| has(own, "*") || has_all(own, wanted);
        let names = self.resource_names.is_empty()
            || !part.resource_names.is_empty() && has_all(&self.resource_names, &part.resource_names);
        all(&self.verbs, &part.verbs)
            && all(&self.api_groups, &part.api_groups)
            && self.covers_resources(&part.resources)
            && names
            && part
                .paths
                .iter()
                .all(|path| self.paths.iter().any(|pattern| path_matches(pattern, path)))
    }

    fn covers_resources(&self, wanted: &[String]) -> bool {
        let is_covered = |resource: &String| {
            has(&self.resources, resource)
                || resource
                    .split_once('/')
                    .is_some_and(|(_, sub)| has(&self.resources, &format!("*/{sub}")))
        };
        has(&self.resources, "*") || wanted.iter().all(is_covered)
    }

    /// As messages show it.
    fn shown(&self) -> String {
        let parts = [
            ("APIGroups", &self.api_groups),
            ("Resources", &self.resources),
            ("NonResourceURLs", &self.paths),
            ("ResourceNames", &self.resource_names),
            ("Verbs", &self.verbs),
        ];
        let parts = parts.iter().filter(|(_, list)| !list.is_empty());
        let parts: Vec<String> = parts
            .map(|(name, list)| format!("{name}:{}", quoted(list)))
            .collect();
        format!("{{{}}}", parts.join(", "))
    }
}

/// A list as Go shows it.
pub(super) fn quoted(list: &[String]) -> String {
    let list: Vec<String> = list.iter().map(|item| format!("{item:?}")).collect();
    format!("[{}]", list.join(" "))
}

/// What `wanted` allows and `own` does not, as messages show it: sorted, with the verbs on the same thing together.
pub(super) fn missing(own: &[Rule], wanted: &[Rule]) -> Vec<String> {
    let parts = wanted.iter().flat_map(Rule::parts);
    let mut shown: Vec<String> = Vec::new();
    let mut compact: BTreeMap<Rule, Rule> = BTreeMap::new();
    for part in parts.filter(|part| !own.iter().any(|rule| rule.covers(part))) {
        if part.resources.is_empty() {
            shown.push(part.shown());
            continue;
        }
        let key = Rule {
            verbs: Vec::new(),
            ..part.clone()
        };
        compact.entry(key.clone()).or_insert(key).verbs.extend(part.verbs);
    }
    shown.extend(compact.values().map(Rule::shown));
    shown.sort();
    shown.dedup();
    shown
}
