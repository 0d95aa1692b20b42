//! The whole description of a CRD, section by section.

use krator_schema::Path;
use serde_json::{Map, Value as Json, json};

use super::resource::{Fields, Names};
use super::schema::{keys_of, type_of};
use super::{Findings, Imported, Refusal, Rest, clean, mapping, proposal, resource, status, versions};
use crate::crd::API_APPROVED;
use crate::model::{machine_status, machine_status_of};
use crate::text::{printable, shown};
use crate::yaml;

/// Describes a CRD that the API server accepts.
pub(super) fn describe(definition: &Json) -> Result<Imported, Refusal> {
    let mut findings = Findings::default();
    let (version, version_path) = storage(definition);
    let names = Names::of(definition, version)?;
    around(definition, &mut findings);
    let path = version_path.field("schema").field("openAPIV3Schema");
    let root = Root::read(&version["schema"]["openAPIV3Schema"], &path, &mut findings)?;

    if let Some(found) = root.spec["type"].as_str().filter(|found| *found != "object") {
        return Err(Refusal::Spec(shown(found)));
    }

    let status_path = path.field("properties").key("status");
    let proposal = proposal::propose(names.rust_kind.as_str(), root.status, &status_path, &mut findings);
    let status_fields = status::fields(root.status, &status_path, &mut findings);
    let observed = observed(root.status, &status_fields, proposal.names_phases);
    let fields = Fields {
        spec: root.spec,
        status: &observed,
    };

    let mut resource = resource::resource(definition, &names, &mut findings);
    let columns = of_version(version, &version_path, &fields, &mut resource, &mut findings);
    let versions = versions::others(definition, version, &fields, &mut findings);
    let spec = spec(&root, &path.field("properties").key("spec"), &mut findings);

    let mut sections = vec![json!({"krator": 1})];
    if let Some(doc) = root.doc {
        sections.push(json!({"doc": doc}));
    }
    sections.push(json!({"resource": resource}));
    if !versions.is_empty() {
        sections.push(json!({"versions": versions}));
    }
    match spec {
        Spec::Fields(fields) => sections.push(json!({"spec": fields})),
        Spec::Type(schema) => {
            // A type that is merged with the spec in Rust has the spec's name, which is only possible for a type with
            // fields.
            let ending = if schema.get("properties").is_some() {
                "Spec"
            } else {
                "Content"
            };
            let name = format!("{}{ending}", names.rust_kind);
            sections.push(json!({"types": {name.as_str(): schema}}));
            let phrase = if root.requires_spec {
                name
            } else {
                format!("optional {name}")
            };
            sections.push(json!({"spec": phrase}));
        }
    }
    if !status_fields.is_empty() {
        sections.push(json!({"status": status_fields}));
    }
    if !columns.is_empty() {
        sections.push(json!({"columns": columns}));
    }
    findings.0.sort_by(|a, b| a.path.cmp(&b.path));
    let mut description = head(definition, names.version, &findings);
    for section in &sections {
        description.push_str(&yaml::document(section));
        description.push('\n');
    }
    description.push_str(&proposal.text);
    Ok(Imported {
        description,
        not_imported: findings.0,
    })
}

/// The comment at the top, with all parts that are not imported.
fn head(definition: &Json, version: &str, findings: &Findings) -> String {
    let name = definition["metadata"]["name"]
        .as_str()
        .unwrap_or("without a name");
    let mut out = format!(
        "# Imported by krator from version {} of the CRD {}.\n",
        printable(version),
        shown(name)
    );
    match findings.0.len() {
        0 => {}
        1 => out.push_str("# One part of the CRD was not imported:\n"),
        count => out.push_str(&format!("# {count} parts of the CRD were not imported:\n")),
    }
    for part in &findings.0 {
        out.push_str(&format!("#   {part}\n"));
    }
    out
}

/// The storage version, and its path.
fn storage(definition: &Json) -> (&Json, Path) {
    let versions = definition["spec"]["versions"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let at = versions
        .iter()
        .position(|version| version["storage"] == true)
        .unwrap_or_default();
    let path = Path::root().field("spec").field("versions").index(at);
    (versions.get(at).unwrap_or(&Json::Null), path)
}

/// Reads the parts of the CRD outside of the versions.
fn around(definition: &Json, findings: &mut Findings) {
    let mut rest = Rest::of(definition);
    for key in ["apiVersion", "kind", "status", "spec"] {
        rest.take(key);
    }
    let path = Path::root().field("metadata");
    let mut metadata = Rest::of(rest.take("metadata").unwrap_or(&Json::Null));
    // The name is derived from the plural and the group, and the API server sets the other keys.
    for key in [
        "name",
        "creationTimestamp",
        "generation",
        "managedFields",
        "resourceVersion",
        "uid",
        "selfLink",
        "deletionTimestamp",
    ] {
        metadata.take(key);
    }
    for kind in ["annotations", "labels"] {
        let entries = metadata.take(kind).and_then(Json::as_object);
        for key in entries.into_iter().flatten().map(|(key, _)| key) {
            // kubectl writes the latter itself, and the former is imported as `resource.apiApproved`.
            if key != API_APPROVED && key != "kubectl.kubernetes.io/last-applied-configuration" {
                findings.add(
                    &path.field(kind).key(key),
                    "the CRD of a description does not contain this key",
                );
            }
        }
    }
    findings.unread(&path, metadata);
    findings.unread(&Path::root(), rest);
    let path = Path::root().field("spec");
    let mut spec = Rest::of(&definition["spec"]);
    for key in ["group", "names", "scope", "versions"] {
        spec.take(key);
    }
    let conversion = spec.take("conversion").unwrap_or(&Json::Null);
    if conversion["strategy"] == "Webhook" {
        findings.add(
            &path.field("conversion"),
            "the operator converts objects itself, by the `changes` of `versions`",
        );
    }
    let removed = "unknown fields are removed from objects";
    spec.leave_out("preserveUnknownFields", &path, removed, findings);
    findings.unread(&path, spec);
}

/// Reads the parts of a version outside of its schema: adds the paths of `resource`, and returns the columns.
fn of_version(
    version: &Json,
    path: &Path,
    fields: &Fields<'_>,
    resource: &mut Map<String, Json>,
    findings: &mut Findings,
) -> Vec<Json> {
    let mut rest = Rest::of(version);
    for key in ["name", "storage", "schema"] {
        rest.take(key);
    }
    if !rest.is_true("served") {
        findings.add(
            &path.field("served"),
            "the newest version of a description is served",
        );
    }
    for key in ["deprecated", "deprecationWarning"] {
        let why =
            "the newest version of a description is not deprecated; an older one under `versions` may be";
        rest.leave_out(key, path, why, findings);
    }
    let mut subresources = Rest::of(rest.take("subresources").unwrap_or(&Json::Null));
    if subresources.0.remove("status").is_none() {
        findings.add(
            &path.field("subresources"),
            "objects of a description have the subresource `status`, which the operator writes",
        );
    }
    if let Some(scale) = subresources.take("scale") {
        let path = path.field("subresources").field("scale");
        if let Some(scale) = resource::scale(scale, &path, fields, findings) {
            resource.insert("scale".to_owned(), scale);
        }
    }
    findings.unread(&path.field("subresources"), subresources);
    let selectable = resource::selectable(
        rest.list("selectableFields"),
        &path.field("selectableFields"),
        fields,
        findings,
    );
    if !selectable.is_empty() {
        resource.insert("selectableFields".to_owned(), json!(selectable));
    }
    let columns = resource::columns(
        rest.list("additionalPrinterColumns"),
        &path.field("additionalPrinterColumns"),
        fields,
        findings,
    );
    findings.unread(path, rest);
    columns
}

/// The root of a schema.
struct Root<'j> {
    doc: Option<String>,
    spec: &'j Json,
    requires_spec: bool,
    status: &'j Json,
}

impl<'j> Root<'j> {
    fn read(schema: &'j Json, path: &Path, findings: &mut Findings) -> Result<Self, Refusal> {
        let mut rest = Rest::of(schema);
        rest.take("type");
        let doc = rest.text("description").map(|text| clean(text).trim().to_owned());
        let properties = rest.take("properties").unwrap_or(&Json::Null);
        let mut roots = Rest::of(properties);
        let at = |name: &str| path.field("properties").key(name);
        for name in ["apiVersion", "kind", "metadata"] {
            let mut keys = Rest::of(roots.take(name).unwrap_or(&Json::Null));
            keys.take("type");
            keys.take("description");
            for key in keys.0.keys() {
                findings.add(
                    &at(name).field(*key),
                    format!("a description cannot declare `.{name}`"),
                );
            }
        }
        let (spec, status) = (roots.take("spec"), roots.take("status"));
        let keeps_all = rest.is_true("x-kubernetes-preserve-unknown-fields");
        if spec.is_none() && (keeps_all || !roots.0.is_empty()) {
            let fields = roots.0.keys().map(|name| format!("`.{}`", shown(name)));
            let unknown = keeps_all.then(|| "fields of any name".to_owned());
            return Err(Refusal::NoSpec(fields.chain(unknown).collect()));
        }
        const DELETED: &str = "from all stored objects as soon as the API server has this CRD: objects of a description have only \
                               `.spec` and `.status`";
        for name in roots.0.keys() {
            findings.add_loss(&at(name), format!("`.{}` is deleted {DELETED}", shown(name)));
        }
        if keeps_all {
            let path = path.field("x-kubernetes-preserve-unknown-fields");
            findings.add_loss(&path, format!("fields beside `.spec` are deleted {DELETED}"));
        }
        let required = rest.list("required");
        let requires_spec = required.iter().any(|name| name == "spec");
        for name in required.iter().filter_map(Json::as_str) {
            if !["spec", "apiVersion", "kind", "metadata"].contains(&name) {
                findings.add(
                    &path.field("required"),
                    format!(
                        "`.{}` is not required, because new objects do not have it",
                        shown(name)
                    ),
                );
            }
        }
        let rules_path = path.field("x-kubernetes-validations");
        for (at, _) in rest.list("x-kubernetes-validations").iter().enumerate() {
            findings.add(
                &rules_path.index(at),
                "a rule at the root would block the removal of finalizers; rules belong to `.spec` or its fields",
            );
        }
        findings.unread(path, rest);
        Ok(Root {
            doc: doc.filter(|doc| !doc.is_empty()),
            spec: spec.unwrap_or(&Json::Null),
            requires_spec,
            status: status.unwrap_or(&Json::Null),
        })
    }
}

/// The form of `.spec` in a description.
enum Spec {
    /// Fields, with rules for them.
    Fields(Json),
    /// A type of its own, because it has more keys.
    Type(Json),
}

fn spec(root: &Root<'_>, path: &Path, findings: &mut Findings) -> Spec {
    let schema = root.spec;
    if schema.is_null() {
        return match root.requires_spec {
            true => Spec::Fields(json!({})),
            false => Spec::Type(json!({"properties": {}})),
        };
    }
    let simple = ["type", "properties", "required", "x-kubernetes-validations"];
    let keys = schema
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, _)| key.as_str());
    let is_simple = schema["type"] == "object"
        && schema["properties"].is_object()
        && schema["properties"].get("validations").is_none()
        && keys.into_iter().all(|key| simple.contains(&key));
    if !is_simple || !root.requires_spec {
        return Spec::Type(type_of(schema, path, false, findings));
    }
    let mut keys = keys_of(schema, path, findings);
    // Fields have no place for some limits, such as a required field that does not exist.
    if keys
        .keys()
        .any(|key| !["properties", "validations"].contains(&key.as_str()))
    {
        return Spec::Type(Json::Object(keys));
    }
    let mut fields = mapping();
    let properties = keys.remove("properties").and_then(|fields| match fields {
        Json::Object(fields) => Some(fields),
        _ => None,
    });
    fields.extend(properties.unwrap_or_default());
    fields.extend(keys);
    Spec::Fields(Json::Object(fields))
}

/// The schema of `.status` in the CRD of the description, for paths.
fn observed(status: &Json, fields: &Map<String, Json>, names_phases: bool) -> Json {
    let mut observed = machine_status_of(names_phases).clone();
    let kept = &machine_status()["properties"];
    if let Some(properties) = observed["properties"].as_object_mut() {
        for (name, schema) in status["properties"].as_object().into_iter().flatten() {
            if kept.get(name).is_none() && fields.contains_key(name) {
                properties.insert(name.clone(), schema.clone());
            }
        }
    }
    observed
}
