//! The kinds of a definition, one for each of its served versions.

use super::{Kind, Origin, api_version};
use crate::{
    builtin::{ServedKind, ServedSubresource},
    conversion::{Convert, Converter},
    custom::{Custom, Versions},
    object::at,
    store::ResourceId,
    types::Type,
};
use krator_schema::{Definition, Version};
use serde_json::Value as Json;
use std::{collections::BTreeMap, sync::Arc};

const CUSTOM_VERBS: [&str; 8] = [
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "create",
    "update",
    "watch",
];

/// The kinds of a definition. `spec` is the spec as it was written. `convert` replaces the Service of its conversion
/// webhook.
pub(super) fn kinds(definition: &Definition, spec: &Json, convert: Option<&Arc<Convert>>) -> Vec<Kind> {
    let named = |version: &Version| api_version(&definition.group, &version.name);
    let all: BTreeMap<String, Arc<Custom>> = definition
        .versions
        .iter()
        .map(|version| {
            let custom = Custom::new(version.clone(), schema_of(spec, &version.name));
            (named(version), Arc::new(custom))
        })
        .collect();
    let types: BTreeMap<String, Type> = all
        .iter()
        .map(|(version, custom)| {
            let schema = Some(&custom.written).filter(|schema| schema.is_object());
            (version.clone(), Type::of_custom_resource(schema))
        })
        .collect();
    let stored = definition.versions.iter().find(|version| version.storage);
    let converter = Converter::new(spec, all.keys().cloned().collect(), convert);
    let versions = Arc::new(Versions {
        all,
        stored: stored.map(named).unwrap_or_default(),
        converter: converter.clone(),
    });
    let served = definition.versions.iter().filter(|version| version.served);
    served
        .map(|version| {
            let name = named(version);
            let origin = Origin::Custom(Arc::clone(&versions.all[&name]), Arc::clone(&versions));
            let type_ = types[&name]
                .clone()
                .with_versions(types.clone(), converter.clone());
            kind(definition, version, origin, type_)
        })
        .collect()
}

/// The sort key of a version, by which newer ones come first: stable ones before betas and alphas, then by number.
pub(crate) fn rank(version: &str) -> (u8, u64, String) {
    let digits = |text: &str| {
        text.chars()
            .take_while(char::is_ascii_digit)
            .collect::<String>()
            .parse()
            .unwrap_or(0_u64)
    };
    let number = digits(version.trim_start_matches('v'));
    let stage = match version {
        version if version.contains("alpha") => 2,
        version if version.contains("beta") => 1,
        _ => 0,
    };
    (stage, u64::MAX - number, version.to_owned())
}

/// The warning for a deprecated version: that of the definition, or that of the API server.
fn deprecation(definition: &Definition, version: &Version) -> String {
    if let Some(own) = &version.deprecation_warning {
        return own.clone();
    }
    let (group, kind) = (&definition.group, &definition.names.kind);
    let newer = definition
        .versions
        .iter()
        .filter(|other| other.served && !other.deprecated && rank(&other.name) < rank(&version.name));
    let instead = newer.min_by_key(|other| rank(&other.name)).map(|newest| {
        let newest = &newest.name;
        format!("; use {group}/{newest} {kind}")
    });
    let (version, instead) = (&version.name, instead.unwrap_or_default());
    format!("{group}/{version} {kind} is deprecated{instead}")
}

/// The schema of a version as it is in the definition.
fn schema_of(spec: &Json, version: &str) -> Json {
    let versions = at(spec, &["versions"]).as_array().into_iter().flatten();
    let mut written = versions.filter(|it| at(it, &["name"]) == version);
    let written = written.next();
    written.map_or(Json::Null, |version| {
        at(version, &["schema", "openAPIV3Schema"]).clone()
    })
}

fn kind(definition: &Definition, version: &Version, origin: Origin, types: Type) -> Kind {
    let names = &definition.names;
    let subresource = |name: &str, group: &str, version: &str, kind: &str| ServedSubresource {
        name: name.to_owned(),
        group: group.to_owned(),
        version: version.to_owned(),
        kind: kind.to_owned(),
        verbs: ["get", "patch", "update"].map(str::to_owned).to_vec(),
    };
    let below = version.subresources.as_ref();
    let status = below.and_then(|all| all.status.as_ref());
    let status = status.map(|_| subresource("status", &definition.group, &version.name, &names.kind));
    let scale = below.and_then(|all| all.scale.as_ref());
    let scale = scale.map(|_| subresource("scale", "autoscaling", "v1", "Scale"));
    Kind {
        id: ResourceId {
            group: definition.group.clone(),
            resource: names.plural.clone(),
        },
        served: ServedKind {
            group: definition.group.clone(),
            version: version.name.clone(),
            kind: names.kind.clone(),
            list_kind: names.list_kind.clone(),
            resource: names.plural.clone(),
            singular: names.singular.clone(),
            short_names: names.short_names.clone(),
            categories: names.categories.clone(),
            namespaced: definition.scope == "Namespaced",
            verbs: CUSTOM_VERBS.map(str::to_owned).to_vec(),
            subresources: status.into_iter().chain(scale).collect(),
        },
        types,
        origin,
        deprecation: version.deprecated.then(|| deprecation(definition, version)),
    }
}
