//! `resource` and `columns` of a description: names, scale, columns, and the paths in them.

use krator_schema::Path;
use serde_json::{Map, Value as Json, json};

use super::{Findings, Refusal, Rest, clean, mapping};
use crate::crd::API_APPROVED;
use crate::model::{FieldPath, JsonPath, PathRoot, Segment, kubernetes};
use crate::names::{
    Category, ColumnName, GroupName, KindName, NotAName, ResourceName, RustKindName, VersionName, plural,
};
use crate::text::shown;

/// The names in `resource`.
pub(super) struct Names<'j> {
    pub group: &'j str,
    pub kind: &'j str,
    /// The name of the kind in Rust.
    pub rust_kind: RustKindName,
    pub version: &'j str,
}

impl<'j> Names<'j> {
    /// The names that a description requires.
    pub fn of(definition: &'j Json, version: &'j Json) -> Result<Self, Refusal> {
        fn name<'j, N>(
            value: &'j Json,
            path: &'static str,
            parse: impl Fn(&str) -> Result<N, NotAName>,
        ) -> Result<&'j str, Refusal> {
            let text = value.as_str().unwrap_or_default();
            let refused = |why: NotAName| Refusal::Name {
                path,
                name: shown(text),
                expected: why.expected,
            };
            parse(text).map(|_| text).map_err(refused)
        }
        let spec = &definition["spec"];
        let refused = |why: NotAName| Refusal::Name {
            path: "spec.names.kind",
            name: shown(spec["names"]["kind"].as_str().unwrap_or_default()),
            expected: why.expected,
        };
        let kind = spec["names"]["kind"].as_str().unwrap_or_default();
        Ok(Names {
            group: name(&spec["group"], "spec.group", GroupName::parse)?,
            kind,
            rust_kind: KindName::parse(kind).map_err(refused)?.in_rust(),
            version: name(&version["name"], "the storage version", VersionName::parse)?,
        })
    }
}

/// `resource`, except for the paths.
pub(super) fn resource(definition: &Json, names: &Names<'_>, findings: &mut Findings) -> Map<String, Json> {
    let path = Path::root().field("spec").field("names");
    let mut out = mapping();
    out.insert("group".to_owned(), names.group.into());
    let approval = definition["metadata"]["annotations"][API_APPROVED].as_str();
    if let Some(approval) = approval {
        out.insert("apiApproved".to_owned(), approval.into());
    }
    out.insert("version".to_owned(), names.version.into());
    out.insert("kind".to_owned(), names.kind.into());
    if names.rust_kind.as_str() != names.kind {
        out.insert("rustName".to_owned(), names.rust_kind.as_str().into());
    }
    let mut rest = Rest::of(&definition["spec"]["names"]);
    rest.take("kind");
    let defaults = [
        ("plural", plural(names.kind)),
        ("singular", names.kind.to_ascii_lowercase()),
    ];
    for (key, default) in defaults {
        if let Some(name) = rest.text(key)
            && name != default
        {
            match ResourceName::parse(name) {
                Ok(_) => _ = out.insert(key.to_owned(), name.into()),
                Err(why) => findings.add(&path.field(key), format!("a description needs {}", why.expected)),
            }
        }
    }
    let list_kind = format!("{}List", names.kind);
    if rest.text("listKind").is_some_and(|written| written != list_kind) {
        findings.add(&path.field("listKind"), format!("it becomes `{list_kind}`"));
    }
    let is_short = |name: &str| ResourceName::parse(name).is_ok();
    let is_category = |name: &str| Category::parse(name).is_ok();
    for (key, is_good) in [
        ("shortNames", &is_short as &dyn Fn(&str) -> bool),
        ("categories", &is_category),
    ] {
        let mut good: Vec<&str> = Vec::new();
        for (at, name) in rest.list(key).iter().filter_map(Json::as_str).enumerate() {
            if !is_good(name) {
                findings.add(
                    &path.field(key).index(at),
                    format!("a description needs {}", ResourceName::PATTERN.expected),
                );
            } else if !good.contains(&name) {
                good.push(name);
            }
        }
        if !good.is_empty() {
            out.insert(key.to_owned(), json!(good));
        }
    }
    findings.unread(&path, rest);
    if definition["spec"]["scope"] == "Cluster" {
        out.insert("scope".to_owned(), "Cluster".into());
    }
    out
}

/// The schemas for the paths of a CRD: `.spec` and `.status` as in the description.
pub(super) struct Fields<'j> {
    pub spec: &'j Json,
    pub status: &'j Json,
}

impl Fields<'_> {
    /// The type of the field at a path. The error is the reason why a description cannot have the path.
    fn follow(&self, text: &str) -> Result<Option<String>, String> {
        self.follow_path(&FieldPath::parse(text).map_err(str::to_owned)?)
    }

    /// Checks the path of a column. The error is the reason why a description cannot have it.
    fn of_column(&self, text: &str) -> Result<(), String> {
        let path = match FieldPath::parse(text) {
            Ok(path) => Some(path),
            Err(_) => JsonPath::parse(text).map_err(str::to_owned)?.fields().cloned(),
        };
        path.map_or(Ok(()), |path| self.follow_path(&path).map(|_| ()))
    }

    fn follow_path(&self, path: &FieldPath) -> Result<Option<String>, String> {
        let start = match &path.root {
            PathRoot::Label(_) => return Ok(Some("string".to_owned())),
            PathRoot::Spec => self.spec,
            PathRoot::Status => self.status,
            PathRoot::Metadata => kubernetes::object_metadata(),
        };
        let mut at = start;
        for segment in &path.segments {
            if at["type"].is_null() && at["x-kubernetes-int-or-string"].is_null() {
                return Ok(None);
            }
            let below = match segment {
                Segment::Field(name) => at["properties"]
                    .get(name)
                    .or_else(|| at.get("additionalProperties").filter(|values| values.is_object())),
                Segment::Each => at.get("items"),
                Segment::Where { field, value } => at.get("items").filter(|items| {
                    let compared = &items["properties"][field.as_str()];
                    let words = compared["enum"].as_array();
                    let can_be = words.is_none_or(|words| words.iter().any(|word| word == value.as_str()));
                    compared["type"] == "string" && can_be
                }),
            };
            match below {
                Some(below) => at = below,
                None if at["x-kubernetes-preserve-unknown-fields"] == true
                    && at.get("properties").is_none() =>
                {
                    return Ok(None);
                }
                None => return Err("the schema does not have this field".to_owned()),
            }
        }
        Ok(at["type"].as_str().map(str::to_owned))
    }

    /// Checks that a path is that of a field of one of these types.
    fn to(&self, text: &str, types: &[&str]) -> Result<(), String> {
        match self.follow(text)? {
            Some(found) if types.contains(&found.as_str()) => Ok(()),
            _ => Err(format!("this is not a field of the type {}", types.join(" or "))),
        }
    }
}

/// `scale` of a description.
pub(super) fn scale(scale: &Json, path: &Path, fields: &Fields<'_>, findings: &mut Findings) -> Option<Json> {
    let mut rest = Rest::of(scale);
    let mut out = mapping();
    for (key, ours, type_) in [
        ("specReplicasPath", "spec", "integer"),
        ("statusReplicasPath", "status", "integer"),
        ("labelSelectorPath", "selector", "string"),
    ] {
        let Some(text) = rest.text(key) else { continue };
        match fields.to(text, &[type_]) {
            Ok(()) => _ = out.insert(ours.to_owned(), text.into()),
            Err(why) => findings.add(&path.field(key), why),
        }
    }
    findings.unread(path, rest);
    let is_whole = out.contains_key("spec") && out.contains_key("status");
    is_whole.then_some(Json::Object(out))
}

/// `selectableFields` of a description.
pub(super) fn selectable(
    list: &[Json],
    path: &Path,
    fields: &Fields<'_>,
    findings: &mut Findings,
) -> Vec<Json> {
    let mut out = Vec::new();
    for (at, item) in list.iter().enumerate() {
        let text = item["jsonPath"].as_str().unwrap_or_default();
        match fields.to(text, &["string", "integer", "boolean"]) {
            Ok(()) => out.push(text.into()),
            Err(why) => findings.add(&path.index(at), why),
        }
    }
    out
}

/// The columns that every CRD of krator has.
const OWN_COLUMNS: [(&str, &str); 4] = [
    ("State", ".status.state"),
    ("Ready", r#".status.conditions[?(@.type=="Ready")].status"#),
    ("Message", ".status.message"),
    ("Age", ".metadata.creationTimestamp"),
];

/// `columns` of a description.
pub(super) fn columns(list: &[Json], path: &Path, fields: &Fields<'_>, findings: &mut Findings) -> Vec<Json> {
    let mut out = Vec::new();
    for (at, column) in list.iter().enumerate() {
        let path = path.index(at);
        let mut rest = Rest::of(column);
        let name = rest.text("name").unwrap_or_default();
        let json_path = rest.text("jsonPath").unwrap_or_default();
        let type_ = rest.text("type").unwrap_or_default();
        let is_first_rate = column["priority"].as_i64().unwrap_or(0) == 0;
        let is_ours = is_first_rate && OWN_COLUMNS.contains(&(name, json_path));
        let why = if ColumnName::parse(name).is_err() {
            Some(format!(
                "the name of a column has to be {}",
                ColumnName::PATTERN.expected
            ))
        } else if !["string", "integer", "number", "boolean", "date"].contains(&type_) {
            Some(format!("a column cannot have the type `{}`", shown(type_)))
        } else {
            fields.of_column(json_path).err()
        };
        let priority = rest.take("priority").and_then(Json::as_i64).unwrap_or(0);
        let description = rest.text("description");
        if is_ours {
            continue;
        }
        if let Some(why) = why {
            findings.add(&path, format!("the column `{}` is left out: {why}", shown(name)));
            continue;
        }
        let mut keys = mapping();
        keys.insert("name".to_owned(), name.into());
        keys.insert("path".to_owned(), json_path.into());
        keys.insert("type".to_owned(), type_.into());
        match u32::try_from(priority) {
            Ok(0) => {}
            Ok(priority) => _ = keys.insert("priority".to_owned(), priority.into()),
            Err(_) => findings.add(&path.field("priority"), "a priority has to be at least 0"),
        }
        if let Some(text) = description {
            keys.insert("description".to_owned(), clean(text).into());
        }
        findings.unread(&path, rest);
        out.push(Json::Object(keys));
    }
    out
}
