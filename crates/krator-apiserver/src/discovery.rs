//! The discovery documents, after `k8s.io/apiserver/pkg/endpoints/discovery`.

use crate::kinds::{Kind, Kinds, rank};
use serde_json::{Value as Json, json};
use std::{collections::BTreeMap, sync::Arc};

/// The media type parameter of aggregated discovery.
const AGGREGATED: &str = "g=apidiscovery.k8s.io";

/// Whether a client requests aggregated discovery.
pub(crate) fn is_aggregated(accept: &str) -> bool {
    accept.contains(AGGREGATED)
}

/// A version of a group, with its kinds.
type Version<'a> = (&'a str, Vec<&'a Arc<Kind>>);

/// The versions of each group with their kinds, in the order in which clients prefer them. Builtin groups are first.
fn groups(kinds: &Kinds) -> Vec<(&str, Vec<Version<'_>>)> {
    let mut groups: BTreeMap<(bool, &str), BTreeMap<_, Version<'_>>> = BTreeMap::new();
    for kind in kinds.iter() {
        let group = groups.entry((kind.is_custom(), kind.group.as_str())).or_default();
        let version = group
            .entry(rank(&kind.version))
            .or_insert_with(|| (&kind.version, Vec::new()));
        version.1.push(kind);
    }
    let in_order =
        |((_, name), versions): ((bool, _), BTreeMap<_, _>)| (name, versions.into_values().collect());
    groups.into_iter().map(in_order).collect()
}

/// The aggregated document of `/api` or of `/apis`.
pub(crate) fn aggregated(kinds: &Kinds, is_core: bool) -> Json {
    let version = |(name, kinds): &Version<'_>| {
        let resources: Vec<Json> = kinds.iter().map(|kind| resource(kind)).collect();
        json!({"version": name, "resources": resources, "freshness": "Current"})
    };
    let all = groups(kinds);
    let items: Vec<Json> = all
        .iter()
        .filter(|(group, _)| group.is_empty() == is_core)
        .map(|(group, versions)| {
            let metadata = if is_core {
                json!({})
            } else {
                json!({"name": group})
            };
            json!({"metadata": metadata, "versions": versions.iter().map(version).collect::<Vec<_>>()})
        })
        .collect();
    json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items,
    })
}

fn resource(kind: &Kind) -> Json {
    let response =
        |group: &str, version: &str, name: &str| json!({"group": group, "version": version, "kind": name});
    let (group, version) = if kind.is_custom() {
        (kind.group.as_str(), kind.version.as_str())
    } else {
        ("", "")
    };
    let mut resource = json!({
        "resource": kind.id.resource,
        "responseKind": response(group, version, &kind.kind),
        "scope": if kind.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": kind.singular,
        "verbs": kind.verbs,
    });
    if !kind.short_names.is_empty() {
        resource["shortNames"] = json!(kind.short_names);
    }
    if !kind.categories.is_empty() {
        resource["categories"] = json!(kind.categories);
    }
    if !kind.subresources.is_empty() {
        let subresources = kind.subresources.iter().map(|sub| {
            json!({
                "subresource": sub.name,
                "responseKind": response(&sub.group, &sub.version, &sub.kind),
                "verbs": sub.verbs,
            })
        });
        resource["subresources"] = subresources.collect();
    }
    resource
}

/// The list of groups, for clients without aggregated discovery.
pub(crate) fn group_list(kinds: &Kinds) -> Json {
    let all = groups(kinds);
    let named = all.iter().filter(|(group, _)| !group.is_empty());
    let groups: Vec<Json> = named.map(|(name, versions)| group_json(name, versions)).collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

fn group_json(name: &str, versions: &[Version<'_>]) -> Json {
    let version = |version: &str| json!({"groupVersion": format!("{name}/{version}"), "version": version});
    let all: Vec<Json> = versions.iter().map(|(name, _)| version(name)).collect();
    json!({"name": name, "versions": all, "preferredVersion": all.first()})
}

/// One group; `None` if it is not served.
pub(crate) fn group(kinds: &Kinds, name: &str) -> Option<Json> {
    let all = groups(kinds);
    let (name, versions) = all
        .iter()
        .find(|(group, _)| *group == name && !group.is_empty())?;
    let mut group = json!({"kind": "APIGroup", "apiVersion": "v1"});
    if let (Some(group), Json::Object(rest)) = (group.as_object_mut(), group_json(name, versions)) {
        group.extend(rest);
    }
    Some(group)
}

/// The versions of the core group.
pub(crate) fn core_versions() -> Json {
    json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []})
}

/// The resources of a version of a group; `None` if it is not served.
pub(crate) fn resources(kinds: &Kinds, group: &str, version: &str) -> Option<Json> {
    let served = kinds
        .iter()
        .filter(|kind| kind.group == group && kind.version == version);
    let resources: Vec<Json> = served.flat_map(|kind| legacy(kind)).collect();
    let group_version = if group.is_empty() {
        version.to_owned()
    } else {
        format!("{group}/{version}")
    };
    (!resources.is_empty()).then(|| {
        json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": resources})
    })
}

/// A resource and its subresources in the form of `APIResourceList`.
fn legacy(kind: &Kind) -> Vec<Json> {
    let mut own = json!({
        "name": kind.id.resource,
        "singularName": kind.singular,
        "namespaced": kind.namespaced,
        "kind": kind.kind,
        "verbs": kind.verbs,
    });
    if !kind.short_names.is_empty() {
        own["shortNames"] = json!(kind.short_names);
    }
    if !kind.categories.is_empty() {
        own["categories"] = json!(kind.categories);
    }
    let below = kind.subresources.iter().map(|sub| {
        let mut resource = json!({
            "name": format!("{}/{}", kind.id.resource, sub.name),
            "singularName": "",
            "namespaced": kind.namespaced,
            "kind": sub.kind,
            "verbs": sub.verbs,
        });
        if !sub.group.is_empty() && sub.group != kind.group {
            resource["group"] = json!(sub.group);
            resource["version"] = json!(sub.version);
        }
        resource
    });
    std::iter::once(own).chain(below).collect()
}
