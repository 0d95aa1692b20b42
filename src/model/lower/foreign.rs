//! Reads `schemas`: CustomResourceDefinitions of other kinds, from files beside the description.
//!
//! A definition is taken as it is: the API server has accepted it, and krator makes only Rust types of it. Where those
//! cannot say what the schema says, they are JSON.

use std::collections::{BTreeMap, BTreeSet};

use super::kinds::reference_of;
use super::nodes::{Input, InputEntry, entries, text};
use super::sink::Sink;
use crate::catalog::{SCHEMA_FILE, UNKNOWN_KIND};
use crate::finding::{Finding, Source, Span, Spanned};
use crate::model::{Field, ForeignKind, KubernetesType, Resource, Schema, Scope, Shape, kubernetes};
use crate::names::{FieldName, KindName, ResourceName};
use crate::spec::{self, Files, Node, NodeKind};
use crate::text::shown;

/// Values that are nested deeper than this are JSON in Rust. The deepest schemas of well-known kinds have 20 levels.
const DEEPEST: usize = 40;

/// The foreign kinds of a description, and the texts of their files by their paths.
#[derive(Default)]
pub(super) struct Foreign {
    pub kinds: Vec<ForeignKind>,
    pub files: BTreeMap<String, String>,
    /// Where each kind is named, in the order of `kinds`.
    spans: Vec<Span>,
}

impl Foreign {
    /// Reads the `schemas` of one document.
    pub fn read(&mut self, node: Input<'_>, files: &Files, resources: &[Resource]) {
        for entry in entries(node, "paths by kind") {
            let kind = reference(entry, resources, node.sink);
            let Some(path) = path(entry.value) else {
                continue;
            };
            let Some((reference, name)) = kind else { continue };
            let defined = files
                .get(&path)
                .map_err(|why| (format!("cannot read `{}`: {why}", path.value), None))
                .and_then(|text| Ok((text, definition(&path, text, &reference, name)?)));
            match defined {
                Ok((text, kind)) => {
                    let is_same =
                        |other: &ForeignKind| (&other.group, &other.kind) == (&kind.group, &kind.kind);
                    if let Some(at) = self.kinds.iter().position(is_same) {
                        let message = format!("`{}` has a schema twice", shown(entry.key));
                        let finding = Finding::new(&SCHEMA_FILE, entry.key_span, message);
                        node.sink.report(finding.related(self.spans[at], "first here"));
                        continue;
                    }
                    self.files.insert(path.value.clone(), text.to_owned());
                    self.kinds.push(ForeignKind { file: path, ..kind });
                    self.spans.push(entry.key_span);
                }
                Err((message, help)) => {
                    let finding = Finding::new(&SCHEMA_FILE, path.span, message);
                    node.sink.report(match help {
                        Some(help) => finding.help(help),
                        None => finding,
                    });
                }
            }
        }
    }

    /// Reports the kinds that the description has no use for.
    pub fn refuse_unused(&self, kinds: &[crate::model::Kind], sink: &Sink<'_>) {
        for (foreign, span) in self.kinds.iter().zip(&self.spans) {
            let is_used = kinds.iter().any(|kind| {
                let owned = kind.owns.iter().map(|owned| &owned.kind.value);
                let watched = kind.watches.iter().map(|watch| &watch.kind.value);
                let accessed = kind.access.iter().map(|access| &access.kind.value);
                let mut others = owned.chain(watched).chain(accessed);
                others.any(|other| foreign.is(other))
            });
            if !is_used {
                let message = format!("no handler can use `{}`", foreign.kind);
                let help = "name the kind, with this version, under `owns`, `watches` or `access`, or remove its schema";
                sink.report(Finding::new(&UNKNOWN_KIND, *span, message).help(help));
            }
        }
    }
}

/// The kind that a key of `schemas` names.
fn reference(
    entry: InputEntry<'_>,
    resources: &[Resource],
    sink: &Sink<'_>,
) -> Option<(KubernetesType, KindName)> {
    let span = entry.key_span;
    let example = "`certs.example.com/v1.Certificate`";
    let (reference, kind) = reference_of(entry.key, span, example, sink)?;
    if kubernetes::has_group(&reference.group) {
        let message = format!("krator has the types of `{}` already", shown(entry.key));
        sink.report(Finding::new(&SCHEMA_FILE, span, message).help("`schemas` is for custom resources"));
        return None;
    }
    let own = resources.iter().find(|resource| {
        resource.group.as_str() == reference.group && resource.kind.as_str() == reference.name
    });
    if let Some(own) = own {
        let message = format!("this file describes `{}` itself", shown(entry.key));
        sink.report(Finding::new(&SCHEMA_FILE, span, message).related(own.kind.span, "described here"));
        return None;
    }
    Some((reference, kind))
}

fn path(node: Input<'_>) -> Option<Spanned<String>> {
    let path = text(node)?;
    if !spec::is_schema_path(&path.value) {
        let message = format!("`{}` is not the path of a schema", shown(&path.value));
        let help = format!("expected {}", spec::PATH_EXPECTED);
        node.sink
            .report(Finding::new(&SCHEMA_FILE, path.span, message).help(help));
        return None;
    }
    Some(path)
}

/// The message of a finding, and its help.
type Refusal = (String, Option<String>);

/// The definition of a kind in a file.
fn definition(
    path: &Spanned<String>,
    text: &str,
    wanted: &KubernetesType,
    kind: KindName,
) -> Result<ForeignKind, Refusal> {
    let source = Source::new(path.value.as_str(), text);
    let (documents, findings) = spec::parse(&source);
    if let Some(finding) = findings.first() {
        let line = source.position(finding.span.start).line;
        let message = format!("cannot read `{}`: {} in line {line}", path.value, finding.message);
        return Err((message, None));
    }
    let definitions: Vec<&Node> = documents
        .iter()
        .filter(|document| string(document, &["kind"]) == Some("CustomResourceDefinition"))
        .collect();
    let is_wanted = |definition: &&&Node| {
        string(definition, &["spec", "group"]) == Some(&wanted.group)
            && string(definition, &["spec", "names", "kind"]) == Some(&wanted.name)
    };
    let reference = wanted.reference();
    let Some(definition) = definitions.iter().find(is_wanted) else {
        let message = format!("`{}` does not define `{reference}`", path.value);
        let found: BTreeSet<String> = definitions
            .iter()
            .filter_map(|definition| {
                let (group, kind) = (
                    string(definition, &["spec", "group"])?,
                    string(definition, &["spec", "names", "kind"])?,
                );
                Some(format!("`{}` of `{}`", shown(kind), shown(group)))
            })
            .take(8)
            .collect();
        let help = if found.is_empty() {
            "it has no CustomResourceDefinition; `kubectl get crd NAME -o yaml` prints one".to_owned()
        } else {
            format!("it defines {}", Vec::from_iter(found).join(", "))
        };
        return Err((message, Some(help)));
    };
    let versions = items(at(definition, &["spec", "versions"]));
    let version = versions
        .iter()
        .find(|version| string(version, &["name"]) == Some(&wanted.version));
    let Some(version) = version else {
        let message = format!("`{}` does not define `{reference}`", path.value);
        let found = versions.iter().filter_map(|version| string(version, &["name"]));
        let found: Vec<String> = found.take(8).map(|name| format!("`{}`", shown(name))).collect();
        return Err((message, Some(format!("it has the versions {}", found.join(", ")))));
    };
    let plural = string(definition, &["spec", "names", "plural"]).unwrap_or_default();
    let (Ok(plural), Some(root)) = (
        ResourceName::parse(plural),
        at(version, &["schema", "openAPIV3Schema"]),
    ) else {
        let message = format!("`{}` has no plural or no schema of `{reference}`", path.value);
        return Err((message, None));
    };
    let scope = match string(definition, &["spec", "scope"]) {
        Some("Cluster") => Scope::Cluster,
        _ => Scope::Namespaced,
    };
    let fields = fields(root, path.span, 0).unwrap_or_default();
    Ok(ForeignKind {
        group: wanted.group.clone(),
        version: wanted.version.clone(),
        kind,
        plural,
        scope,
        description: string(root, &["description"]).map(str::to_owned),
        fields: fields
            .into_iter()
            .filter(|field| {
                let is_common = ["apiVersion", "kind"].contains(&field.name.as_str());
                !is_common && field.name.rust_field() != "metadata"
            })
            .collect(),
        file: path.clone(),
    })
}

/// The value at a path of keys.
fn at<'n>(node: &'n Node, path: &[&str]) -> Option<&'n Node> {
    path.iter().try_fold(node, |node, key| match &node.kind {
        NodeKind::Mapping(mapping) => {
            let entry = mapping.entries.iter().find(|entry| entry.key == *key)?;
            Some(&entry.value)
        }
        _ => None,
    })
}

fn string<'n>(node: &'n Node, path: &[&str]) -> Option<&'n str> {
    Some(at(node, path)?.scalar()?.text.as_str())
}

fn is_true(node: &Node, key: &str) -> bool {
    at(node, &[key])
        .and_then(Node::scalar)
        .and_then(spec::Scalar::boolean)
        == Some(true)
}

fn items(node: Option<&Node>) -> &[Node] {
    match node.map(|node| &node.kind) {
        Some(NodeKind::Sequence(items)) => items,
        _ => &[],
    }
}

/// The model of a schema. Everything in it has the place of the path in the description.
fn schema(node: &Node, span: Span, depth: usize) -> Schema {
    let description = string(node, &["description"]).map(|text| Spanned::new(text.to_owned(), span));
    Schema {
        nullable: is_true(node, "nullable"),
        description,
        ..Schema::plain(shape(node, span, depth), span)
    }
}

fn shape(node: &Node, span: Span, depth: usize) -> Shape {
    if depth > DEEPEST {
        return Shape::Any;
    }
    if is_true(node, "x-kubernetes-int-or-string") {
        return Shape::IntOrString;
    }
    let format = string(node, &["format"]);
    match string(node, &["type"]) {
        Some("string") if format == Some("date-time") => Shape::DateTime,
        Some("string") => words(node, span),
        Some("boolean") => Shape::Boolean,
        Some("integer") if format == Some("int32") => Shape::Int32,
        Some("integer") => Shape::Integer,
        Some("number") => Shape::Number,
        Some("array") => {
            let items = at(node, &["items"]).map(|items| schema(items, span, depth + 1));
            Shape::List(Box::new(items.unwrap_or_else(|| Schema::plain(Shape::Any, span))))
        }
        Some("object") => object(node, span, depth),
        _ => Shape::Any,
    }
}

/// A string, or one of some.
fn words(node: &Node, span: Span) -> Shape {
    let values = items(at(node, &["enum"])).iter();
    let values: Option<Vec<_>> = values
        .map(|value| Some(Spanned::new(value.scalar()?.text.clone(), span)))
        .collect();
    match values {
        Some(values) if !values.is_empty() => Shape::Enum(values),
        _ => Shape::String,
    }
}

fn object(node: &Node, span: Span, depth: usize) -> Shape {
    let keeps_more = is_true(node, "x-kubernetes-preserve-unknown-fields")
        || is_true(node, "x-kubernetes-embedded-resource");
    if keeps_more {
        return Shape::FreeForm;
    }
    match (fields(node, span, depth), at(node, &["additionalProperties"])) {
        (Some(fields), _) => Shape::Object(fields),
        (None, Some(values)) if matches!(values.kind, NodeKind::Mapping(_)) => {
            Shape::Map(Box::new(schema(values, span, depth + 1)))
        }
        _ => Shape::FreeForm,
    }
}

/// The fields of an object; `None` if there are none, or if Rust has no names for them. A field with a default may be left
/// out, because the API server fills it in.
fn fields(node: &Node, span: Span, depth: usize) -> Option<Vec<Field>> {
    let NodeKind::Mapping(properties) = &at(node, &["properties"])?.kind else {
        return None;
    };
    let required: BTreeSet<&str> = items(at(node, &["required"]))
        .iter()
        .filter_map(|name| Some(name.scalar()?.text.as_str()))
        .collect();
    let mut rust_names = BTreeSet::new();
    let mut fields = Vec::new();
    for entry in &properties.entries {
        let name = FieldName::parse(&entry.key).ok()?;
        let rust_name = name.rust_field();
        let is_keyword = matches!(
            rust_name.trim_start_matches('_'),
            "" | "self" | "super" | "crate" | "Self"
        );
        if is_keyword || !rust_names.insert(rust_name) {
            return None;
        }
        let schema = schema(&entry.value, span, depth + 1);
        let is_required = required.contains(entry.key.as_str()) && at(&entry.value, &["default"]).is_none();
        fields.push(Field {
            name: Spanned::new(name, span),
            schema: Schema {
                optional: !is_required,
                ..schema
            },
        });
    }
    (!fields.is_empty()).then_some(fields)
}
