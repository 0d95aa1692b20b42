//! CustomResourceDefinitions: their defaults, their validation and the acceptance of their names, after
//! `pkg/apis/apiextensions/v1/defaults.go` and `pkg/controller/status` of `k8s.io/apiextensions-apiserver`.

mod budget;

use crate::{
    object::{at, fields_mut, set},
    refusal::{FieldError, Refusal},
};
use krator_schema::{Definition, Path, Problem, ProblemKind, Segment, cel};
use serde_json::{Value as Json, json};

/// The group and the resource of definitions.
pub(crate) const GROUP: &str = "apiextensions.k8s.io";
pub(crate) const RESOURCE: &str = "customresourcedefinitions";
/// The finalizer that keeps a definition until its objects are gone.
pub(crate) const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// Reads the definition in an object.
///
/// # Errors
///
/// If its `spec` is malformed.
pub(crate) fn read(object: &Json) -> Result<Definition, Refusal> {
    serde_json::from_value(at(object, &["spec"]).clone()).map_err(|error| {
        Refusal::bad_request(format!(
            "the spec of the CustomResourceDefinition cannot be read: {error}"
        ))
    })
}

/// Fills in the defaults.
pub(crate) fn default(object: &mut Json) {
    let spec = fields_mut(fields_mut(object).entry("spec").or_insert_with(|| json!({})));
    spec.entry("conversion")
        .or_insert_with(|| json!({"strategy": "None"}));
    let service = spec
        .get_mut("conversion")
        .and_then(|it| it.pointer_mut("/webhook/clientConfig/service"));
    if let Some(Json::Object(service)) = service {
        service.entry("port").or_insert_with(|| 443.into());
    }
    let names = fields_mut(spec.entry("names").or_insert_with(|| json!({})));
    let kind = names.get("kind").and_then(Json::as_str).unwrap_or_default();
    let (singular, list) = (kind.to_lowercase(), format!("{kind}List"));
    if !kind.is_empty() {
        names.entry("singular").or_insert_with(|| singular.into());
        names.entry("listKind").or_insert_with(|| list.into());
    }
}

/// Prepares a new or changed definition, whose status only the server sets.
pub(crate) fn prepare(object: &mut Json, old: Option<&Json>) {
    let stored = at(object, &["spec", "versions"]).as_array().into_iter().flatten();
    let stored = stored.filter(|version| version.get("storage") == Some(&Json::Bool(true)));
    let stored: Vec<Json> = stored
        .filter_map(|version| version.get("name").cloned())
        .collect();
    match old {
        None => {
            crate::object::set_meta(object, "generation", 1.into());
            let names = json!({"kind": "", "plural": ""});
            let status = json!({"conditions": null, "acceptedNames": names, "storedVersions": stored});
            set(object, "status", status);
        }
        Some(old) => {
            let mut status = at(old, &["status"]).clone();
            let known = fields_mut(&mut status)
                .entry("storedVersions")
                .or_insert_with(|| json!([]));
            if let Json::Array(known) = known {
                let new: Vec<Json> = stored
                    .into_iter()
                    .filter(|version| !known.contains(version))
                    .collect();
                known.extend(new);
            }
            set(object, "status", status);
            if at(object, &["spec"]) != at(old, &["spec"]) {
                let generation = at(old, &["metadata", "generation"]).as_i64().unwrap_or(0);
                crate::object::set_meta(object, "generation", (generation + 1).into());
            }
        }
    }
}

/// A problem of a definition as an error of the API server, which shows an unsupported value and the sorted supported
/// ones.
fn schema_error(object: &Json, problem: Problem) -> FieldError {
    if problem.kind != ProblemKind::NotSupported {
        return FieldError::from(problem);
    }
    let (start, supported) = problem
        .detail
        .split_once("supported values: ")
        .unwrap_or_default();
    let mut quoted: Vec<String> = supported.split(", ").map(|value| format!("{value:?}")).collect();
    quoted.sort();
    let detail = format!("{start}supported values: {}", quoted.join(", "));
    let value = value_at(object, &problem.path).cloned();
    FieldError::new(problem.path.to_string(), problem.kind, value, detail)
}

/// The value at a path. A schema that all versions share has a path of its own; then the schema of the first version is
/// used.
fn value_at<'a>(object: &'a Json, path: &Path) -> Option<&'a Json> {
    let in_schema = |path: &Path| {
        let schema = object.pointer("/spec/versions/0/schema")?;
        path.segments()
            .iter()
            .skip(2)
            .try_fold(schema, |value, segment| match segment {
                Segment::Field(name) | Segment::Key(name) => value.get(name),
                Segment::Index(index) => value.get(index),
            })
    };
    path.find(object).or_else(|| in_schema(path))
}

/// Whether a version has the same schema in both definitions.
fn has_schema(old: &Json, version: &str, new: &Json) -> bool {
    let schema = |object: &Json| {
        let versions = at(object, &["spec", "versions"]).as_array().into_iter().flatten();
        let mut versions = versions.filter(|it| at(it, &["name"]) == version);
        versions.next().map(|it| at(it, &["schema"]).clone())
    };
    schema(old).is_some() && schema(old) == schema(new)
}

/// The errors of a definition.
///
/// # Errors
///
/// If it is malformed, or this server cannot serve it.
pub(crate) fn validate(object: &Json, old: Option<&Json>) -> Result<Vec<FieldError>, Refusal> {
    let definition = read(object)?;
    let approval = at(object, &["metadata", "annotations", "api-approved.kubernetes.io"]).as_str();
    let mut errors: Vec<FieldError> = krator_schema::validate_definition(&definition, approval)
        .into_iter()
        .map(|problem| schema_error(object, problem))
        .collect();
    let name = format!("{}.{}", definition.names.plural, definition.group);
    if crate::object::meta(object, "name") != name {
        let detail = "must be spec.names.plural+\".\"+spec.group";
        let found = crate::object::meta(object, "name");
        errors.push(FieldError::invalid("metadata.name", found, detail));
    }
    if errors.is_empty() {
        let root = ["spec", "validation", "openAPIV3Schema"];
        let root = root
            .into_iter()
            .fold(Path::root(), |path, field| path.field(field));
        for version in &definition.versions {
            let schema = version.schema.as_ref();
            let schema = schema.and_then(|schema| schema.open_api_v3_schema.as_ref());
            let Some(schema) = schema else { continue };
            let wrong = cel::check_rules(schema, &root);
            let is_sound = wrong.is_empty();
            errors.extend(wrong.into_iter().map(|rule| FieldError::from(rule.problem)));
            // The costs of an unchanged schema are not checked again.
            if is_sound && !old.is_some_and(|old| has_schema(old, &version.name, object)) {
                errors.extend(budget::errors(schema, &root));
            }
        }
    }
    for path in [
        "/spec/group",
        "/spec/scope",
        "/spec/names/plural",
        "/spec/names/kind",
    ] {
        let new = object.pointer(path).cloned().unwrap_or_default();
        if old.is_some_and(|old| old.pointer(path) != Some(&new)) {
            let field = path.trim_start_matches('/').replace('/', ".");
            errors.push(FieldError::invalid(field, new, "field is immutable"));
        }
    }
    // A rule that this server cannot evaluate is refused here, because objects could not be updated after their
    // creation.
    let schemas = definition
        .versions
        .iter()
        .filter_map(|version| version.schema.as_ref());
    let schemas = schemas.filter_map(|schema| schema.open_api_v3_schema.as_ref());
    if let Some(rule) = schemas
        .flat_map(|schema| cel::unjudged(schema, &Path::root()))
        .next()
    {
        return Err(Refusal::not_built(&format!("The CEL rule at {rule}")));
    }
    Ok(errors)
}

/// The status of a definition after the check of its names, which are accepted unless one of the `others` of its group
/// has taken some of them.
pub(crate) fn settled(object: &Json, others: &[Json], now: &str) -> Json {
    let names = at(object, &["spec", "names"]);
    let mut status = at(object, &["status"]).clone();
    let old = at(&status, &["conditions"])
        .as_array()
        .cloned()
        .unwrap_or_default();
    let conflict = conflict(names, at(&status, &["acceptedNames"]), others);
    let of_names = match &conflict {
        None => ["NamesAccepted", "True", "NoConflicts", "no conflicts found"],
        Some((reason, message)) => ["NamesAccepted", "False", reason, message],
    };
    let established = match &conflict {
        None => [
            "True",
            "InitialNamesAccepted",
            "the initial names have been accepted",
        ],
        Some(_) => ["False", "NotAccepted", "not all names are accepted"],
    };
    let [state, reason, message] = established;
    let new = [of_names, ["Established", state, reason, message]].map(|condition| {
        let [type_, state, reason, message] = condition;
        // A definition stays established.
        let stays = |it: &&Json| {
            type_ == "Established" && it["status"] == "True"
                || it["status"] == state && it["reason"] == reason && it["message"] == message
        };
        let before = old.iter().find(|it| it["type"] == type_).filter(stays);
        before.cloned().unwrap_or_else(|| {
            json!({"type": type_, "status": state, "lastTransitionTime": now, "reason": reason, "message": message})
        })
    });
    let rest = old
        .iter()
        .filter(|it| new.iter().all(|new| new["type"] != it["type"]));
    let all: Vec<Json> = new.iter().chain(rest).cloned().collect();
    set(&mut status, "conditions", all.into());
    if conflict.is_none() {
        set(&mut status, "acceptedNames", names.clone());
    }
    status
}

/// The conflict with names of other definitions: the reason of the condition, and its message.
fn conflict(names: &Json, accepted: &Json, others: &[Json]) -> Option<(&'static str, String)> {
    let texts = |names: &Json, keys: &[&str]| -> Vec<String> {
        let values = keys.iter().map(|key| at(names, &[key]));
        let values = values.flat_map(|value| match value {
            Json::Array(items) => items.iter().collect(),
            other => vec![other],
        });
        values.filter_map(Json::as_str).map(str::to_owned).collect()
    };
    let taken = |keys: &[&str]| -> Vec<String> {
        others
            .iter()
            .flat_map(|other| texts(at(other, &["status", "acceptedNames"]), keys))
            .collect()
    };
    let resources = taken(&["plural", "singular", "shortNames"]);
    let kinds = taken(&["kind", "listKind"]);
    let checks = [
        ("plural", "PluralConflict", &resources),
        ("singular", "SingularConflict", &resources),
        ("shortNames", "ShortNamesConflict", &resources),
        ("kind", "KindConflict", &kinds),
        ("listKind", "ListKindConflict", &kinds),
    ];
    // As in the API server, the last conflict is reported.
    checks.into_iter().rev().find_map(|(key, reason, taken)| {
        let own = texts(accepted, &[key]);
        let wanted = texts(names, &[key]).into_iter();
        let taken = wanted
            .filter(|name| !own.contains(name))
            .find(|name| taken.contains(name))?;
        Some((reason, format!("{taken:?} is already in use")))
    })
}

/// Adds the condition that the objects of a definition are about to be deleted.
pub(crate) fn terminate(object: &mut Json, now: &str) {
    let condition = json!({
        "type": "Terminating",
        "status": "True",
        "lastTransitionTime": now,
        "reason": "InstanceDeletionPending",
        "message": "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
    });
    let status = fields_mut(fields_mut(object).entry("status").or_insert_with(|| json!({})));
    if !status.get("conditions").is_some_and(Json::is_array) {
        status.insert("conditions".to_owned(), json!([]));
    }
    if let Some(Json::Array(conditions)) = status.get_mut("conditions") {
        conditions.retain(|it| it.get("type") != condition.get("type"));
        conditions.push(condition);
    }
    let meta = crate::object::meta_mut(object);
    if let Json::Array(finalizers) = meta.entry("finalizers").or_insert_with(|| json!([]))
        && !finalizers.contains(&json!(CLEANUP))
    {
        finalizers.push(json!(CLEANUP));
    }
}
