//! The rules of roles, after `pkg/apis/rbac/v1/evaluation_helpers.go` of Kubernetes.

use super::Attributes;
use crate::object::at;
use serde::{Deserialize, Deserializer};
use serde_json::Value as Json;

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

/// Reads a list, which may be null.
fn list<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

fn has(list: &[String], item: &str) -> bool {
    list.iter().any(|known| known == item)
}

/// Whether a pattern, which may end with a star, matches a path.
fn path_matches(pattern: &str, path: &str) -> bool {
    pattern == path || pattern.ends_with('*') && path.starts_with(pattern.trim_end_matches('*'))
}

impl Rule {
    /// The rules of a role. Malformed rules grant nothing.
    pub fn all_of(role: &Json) -> Vec<Self> {
        let rules = at(role, &["rules"]).as_array().into_iter().flatten();
        rules.filter_map(|rule| Self::deserialize(rule).ok()).collect()
    }

    /// Rules that allow every verb on everything.
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

    /// Whether the rule allows a request.
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
}
