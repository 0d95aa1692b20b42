//! The discovery and OpenAPI documents of builtin kinds, extracted from a real API server by `tools/openapi/draw`.

use serde_json::{Map, Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{LazyLock, OnceLock};

const DISCOVERY: &str = include_str!("../../data/discovery.txt");
const SCHEMAS: &str = include_str!("../../data/openapi/schemas.txt");
const PARAMETERS: &str = include_str!("../../data/openapi/parameters.txt");

/// One line for the paths of each group version, and for each schema that differs between documents.
const DOCUMENTS: &str = include_str!("../../data/openapi/documents.txt");

/// The schemas that are the same in all documents.
static COMMON: LazyLock<BTreeMap<&'static str, Json>> = LazyLock::new(|| parsed(SCHEMAS).collect());

/// A version of a kind, as discovery describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedKind {
    /// The API group; empty for core.
    pub group: String,
    /// The version.
    pub version: String,
    /// The kind, such as `Pod`.
    pub kind: String,
    /// The kind of lists, such as `PodList`.
    pub list_kind: String,
    /// The plural in paths, such as `pods`.
    pub resource: String,
    /// The singular, such as `pod`.
    pub singular: String,
    /// Short names, such as `po`.
    pub short_names: Vec<String>,
    /// Categories, such as `all`.
    pub categories: Vec<String>,
    /// Whether objects are in namespaces.
    pub namespaced: bool,
    /// The verbs of its requests, such as `create`.
    pub verbs: Vec<String>,
    /// Paths below objects, such as `status`.
    pub subresources: Vec<ServedSubresource>,
}

/// A path below the objects of a kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedSubresource {
    /// The last element of the path, such as `status`.
    pub name: String,
    /// The group of the kind of its bodies; empty for that of the objects.
    pub group: String,
    /// The version of that kind; empty for that of the objects.
    pub version: String,
    /// The kind, such as `Scale`.
    pub kind: String,
    /// The verbs of its requests.
    pub verbs: Vec<String>,
}

/// The builtin kinds that this server has, in the order in which a real server lists groups and resources.
pub fn kinds() -> &'static [ServedKind] {
    static KINDS: LazyLock<Vec<ServedKind>> = LazyLock::new(|| DISCOVERY.lines().filter_map(kind).collect());
    &KINDS
}

/// Reads a line of the discovery data: the group, the version and an `APIResourceDiscovery` of `apidiscovery.k8s.io/v2`.
fn kind(line: &str) -> Option<ServedKind> {
    let mut words = line.splitn(3, ' ');
    let (group, version) = (words.next()?, words.next()?);
    let resource = parse(words.next()?);
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    let texts = |list: &Json| list.as_array().into_iter().flatten().map(text).collect();
    let subresources = resource["subresources"].as_array().into_iter().flatten();
    let subresource = |sub: &Json| ServedSubresource {
        name: text(&sub["subresource"]),
        group: text(&sub["responseKind"]["group"]),
        version: text(&sub["responseKind"]["version"]),
        kind: text(&sub["responseKind"]["kind"]),
        verbs: texts(&sub["verbs"]),
    };
    let kind = text(&resource["responseKind"]["kind"]);
    Some(ServedKind {
        group: if group == "core" {
            String::new()
        } else {
            group.to_owned()
        },
        version: version.to_owned(),
        list_kind: format!("{kind}List"),
        kind,
        resource: text(&resource["resource"]),
        singular: text(&resource["singularResource"]),
        short_names: texts(&resource["shortNames"]),
        categories: texts(&resource["categories"]),
        namespaced: resource["scope"] == "Namespaced",
        verbs: texts(&resource["verbs"]),
        subresources: subresources.map(subresource).collect(),
    })
}

/// The OpenAPI v3 document of a group version, such as `apps/v1` or `v1`, reduced to the kinds served.
pub fn openapi(group_version: &str) -> Option<&'static Json> {
    static WRITTEN: LazyLock<BTreeMap<&'static str, OnceLock<Json>>> = LazyLock::new(|| {
        entries(DOCUMENTS)
            .map(|(name, _)| (name, OnceLock::new()))
            .collect()
    });
    let (name, document) = WRITTEN.get_key_value(group_version)?;
    Some(document.get_or_init(|| self::document(name)))
}

fn document(group_version: &str) -> Json {
    let mut paths = Map::new();
    let mut own = BTreeMap::new();
    let lines = entries(DOCUMENTS).filter(|(of, _)| *of == group_version);
    for (name, text) in lines.filter_map(|(_, line)| line.split_once(' ')) {
        let mut value = parse(text);
        if name.starts_with('/') {
            write_parameters(&mut value);
            paths.insert(name.to_owned(), value);
        } else {
            own.insert(name, value);
        }
    }
    let paths = Json::Object(paths);
    let schemas = schemas_of(&paths, &own);
    json!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "1.37"},
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"BearerToken": {
                "type": "apiKey",
                "description": "Bearer Token authentication",
                "name": "authorization",
                "in": "header",
            }},
        },
    })
}

/// The schemas of all kinds, as one document of OpenAPI.
pub fn schemas() -> Json {
    let own = entries(DOCUMENTS).filter_map(|(_, line)| line.split_once(' '));
    let own = own.filter(|(name, _)| !name.starts_with('/'));
    let own = own.map(|(name, text)| (name.to_owned(), parse(text)));
    let common = COMMON
        .iter()
        .map(|(name, schema)| ((*name).to_owned(), schema.clone()));
    json!({"components": {"schemas": common.chain(own).collect::<Map<_, _>>()}})
}

/// The last three parts of the full name of a type, which are its group, version and name: `core.v1.Pod`.
fn short(name: &str) -> &str {
    let end: usize = name.rsplitn(4, '.').take(3).map(|part| part.len() + 1).sum();
    name.get((name.len() + 1).saturating_sub(end)..).unwrap_or(name)
}

/// The schema of a type by its name, such as `core.v1.Pod` or `io.k8s.api.core.v1.Pod`, with the short form of the name.
pub(super) fn schema(name: &str) -> Option<(&'static str, &'static Json)> {
    static BY_NAME: LazyLock<BTreeMap<&'static str, &'static Json>> = LazyLock::new(|| {
        COMMON
            .iter()
            .map(|(name, schema)| (short(name), schema))
            .collect()
    });
    let found = BY_NAME.get_key_value(short(name));
    found.map(|(name, schema)| (*name, *schema))
}

/// The schemas to which paths refer, directly or indirectly.
fn schemas_of(paths: &Json, own: &BTreeMap<&'static str, Json>) -> Map<String, Json> {
    let mut wanted = BTreeSet::new();
    references(paths, &mut wanted);
    let mut schemas = BTreeMap::new();
    while let Some(name) = wanted.pop_first() {
        let schema = own.get(name.as_str()).or_else(|| COMMON.get(name.as_str()));
        let Some(schema) = schema else { continue };
        let mut more = BTreeSet::new();
        references(schema, &mut more);
        schemas.insert(name, schema.clone());
        wanted.extend(more.into_iter().filter(|name| !schemas.contains_key(name)));
    }
    schemas.into_iter().collect()
}

fn references(value: &Json, into: &mut BTreeSet<String>) {
    match value {
        Json::Object(fields) => {
            if let Some(Json::String(reference)) = fields.get("$ref") {
                into.insert(reference.trim_start_matches("#/components/schemas/").to_owned());
            }
            fields.values().for_each(|field| references(field, into));
        }
        Json::Array(items) => items.iter().for_each(|item| references(item, into)),
        _ => {}
    }
}

/// Replaces the names of parameters with the parameters.
fn write_parameters(path: &mut Json) {
    static NAMED: LazyLock<BTreeMap<&'static str, Json>> = LazyLock::new(|| parsed(PARAMETERS).collect());
    let Json::Object(fields) = path else { return };
    for (key, value) in fields {
        match value {
            Json::Array(items) if key == "parameters" => {
                for item in items {
                    if let Some(parameter) = item.as_str().and_then(|name| NAMED.get(name)) {
                        *item = parameter.clone();
                    }
                }
            }
            other => write_parameters(other),
        }
    }
}

fn entries(lines: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    lines.lines().filter_map(|line| line.split_once(' '))
}

fn parsed(lines: &'static str) -> impl Iterator<Item = (&'static str, Json)> {
    entries(lines).map(|(name, text)| (name, parse(text)))
}

fn parse(text: &str) -> Json {
    serde_json::from_str(text).expect("the tests parse all of the data")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_paths_and_a_schema() {
        for kind in kinds() {
            let group_version = match kind.group.as_str() {
                "" => kind.version.to_owned(),
                group => format!("{group}/{}", kind.version),
            };
            let document = openapi(&group_version).expect("a document of each group version");
            let gvk = json!({"group": kind.group, "version": kind.version, "kind": kind.kind});
            let schemas = document["components"]["schemas"].as_object().expect("schemas");
            let is_kind = |schema: &Json| {
                let gvks = schema["x-kubernetes-group-version-kind"].as_array();
                gvks.is_some_and(|gvks| gvks.contains(&gvk))
            };
            assert!(schemas.values().any(is_kind), "{gvk} has no schema");
            let paths = document["paths"].as_object().expect("paths");
            let suffix = format!("/{}", kind.resource);
            assert!(
                paths.keys().any(|path| path.ends_with(&suffix)),
                "{gvk} has no path"
            );
        }
        assert_eq!(openapi("autoscaling/v3"), None);
    }

    #[test]
    fn references_and_parameters_are_complete() {
        for name in entries(DOCUMENTS).map(|(name, _)| name).collect::<BTreeSet<_>>() {
            let document = openapi(name).expect("listed above");
            let mut names = BTreeSet::new();
            references(document, &mut names);
            for reference in names {
                assert!(
                    document["components"]["schemas"].get(&reference).is_some(),
                    "{name}: {reference} is missing"
                );
            }
            for path in document["paths"].as_object().expect("paths").values() {
                for parameter in path["parameters"].as_array().into_iter().flatten() {
                    assert!(parameter.is_object(), "{name}: unknown parameter {parameter}");
                }
            }
        }
    }

    #[test]
    fn kinds_are_as_discovered() {
        let found = kinds()
            .iter()
            .find(|kind| kind.resource == "deployments")
            .expect("deployments");
        assert_eq!((found.group.as_str(), found.version.as_str()), ("apps", "v1"));
        assert_eq!(
            (found.kind.as_str(), found.list_kind.as_str()),
            ("Deployment", "DeploymentList")
        );
        assert_eq!(found.short_names, ["deploy"]);
        let subresources: Vec<_> = found
            .subresources
            .iter()
            .map(|sub| (&*sub.name, &*sub.kind))
            .collect();
        assert_eq!(subresources, [("scale", "Scale"), ("status", "Deployment")]);
        assert_eq!(kinds().len(), DISCOVERY.lines().count());
    }
}
