//! Reads `schemas`: CustomResourceDefinitions of other kinds, from files in the folder of the description.
//!
//! A definition is not checked: an API server has accepted it, and krator only generates Rust types from it. Values
//! whose schema Rust types cannot express become JSON.

use std::collections::{BTreeMap, BTreeSet};

use krator_schema::Definition;
use serde::Deserialize as _;

use super::json::json_of;
use super::kinds::reference_of;
use super::nodes::{Input, InputEntry, entries, text};
use super::openapi::fields_of;
use super::sink::Sink;
use crate::catalog::{SCHEMA_FILE, UNKNOWN_KIND};
use crate::finding::{Finding, Source, Span, Spanned};
use crate::model::{ForeignKind, Kind, KubernetesType, Resource, Scope, kubernetes};
use crate::names::{KindName, ResourceName};
use crate::spec::{self, Files};
use crate::text::shown;

/// The foreign kinds of a description, and the texts of their files by their paths.
#[derive(Default)]
pub(super) struct Foreign {
    pub kinds: Vec<ForeignKind>,
    pub files: BTreeMap<String, String>,
    /// The place of each kind's name, in the order of `kinds`.
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
                        let message = format!("`{}` has two schemas", shown(entry.key));
                        let finding = Finding::new(&SCHEMA_FILE, entry.key_span, message);
                        node.report(finding.related(self.spans[at], "first here"));
                        continue;
                    }
                    self.files.insert(path.value.clone(), text.to_owned());
                    self.kinds.push(ForeignKind { file: path, ..kind });
                    self.spans.push(entry.key_span);
                }
                Err((message, help)) => {
                    let finding = Finding::new(&SCHEMA_FILE, path.span, message);
                    node.report(match help {
                        Some(help) => finding.help(help),
                        None => finding,
                    });
                }
            }
        }
    }

    /// Reports the kinds that the description does not use.
    pub fn refuse_unused(&self, kinds: &[Kind], sink: &Sink<'_>) {
        for (foreign, span) in self.kinds.iter().zip(&self.spans) {
            let mut others = kinds.iter().flat_map(Kind::other_kinds);
            if !others.any(|other| foreign.is(other)) {
                let message = format!("no handler can use `{}`", foreign.kind);
                let help = "name the kind, with this version, under `owns`, `watches` or `access`, or remove its schema";
                sink.report(Finding::new(&UNKNOWN_KIND, *span, message).help(help));
            }
        }
    }
}

/// The kind in a key of `schemas`.
fn reference(
    entry: InputEntry<'_>,
    resources: &[Resource],
    sink: &Sink<'_>,
) -> Option<(KubernetesType, KindName)> {
    let span = entry.key_span;
    let example = "`certs.example.com/v1.Certificate`";
    let (reference, kind) = reference_of(entry.key, span, example, sink)?;
    if kubernetes::has_group(&reference.group) {
        let message = format!("krator already has the types of `{}`", shown(entry.key));
        return sink
            .refuse(Finding::new(&SCHEMA_FILE, span, message).help("`schemas` is for custom resources"));
    }
    let own = resources.iter().find(|resource| {
        resource.group.as_str() == reference.group && resource.kind.as_str() == reference.name
    });
    if let Some(own) = own {
        let message = format!("this file describes `{}` itself", shown(entry.key));
        return sink
            .refuse(Finding::new(&SCHEMA_FILE, span, message).related(own.kind.span, "described here"));
    }
    Some((reference, kind))
}

fn path(node: Input<'_>) -> Option<Spanned<String>> {
    let path = text(node)?;
    if !spec::is_schema_path(&path.value) {
        let message = format!("`{}` is not the path of a schema", shown(&path.value));
        let help = format!("expected {}", spec::PATH_EXPECTED);
        return node.refuse(Finding::new(&SCHEMA_FILE, path.span, message).help(help));
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
    let documents = documents.iter().map(json_of);
    let definitions: Vec<Definition> = documents
        .filter(|document| document["kind"] == "CustomResourceDefinition")
        .filter_map(|document| Definition::deserialize(&document["spec"]).ok())
        .collect();
    let is_wanted = |definition: &&Definition| {
        (&definition.group, &definition.names.kind) == (&wanted.group, &wanted.name)
    };
    let reference = wanted.reference();
    let Some(definition) = definitions.iter().find(is_wanted) else {
        let message = format!("`{}` does not define `{reference}`", path.value);
        let found: BTreeSet<String> = definitions
            .iter()
            .map(|found| format!("`{}` of `{}`", shown(&found.names.kind), shown(&found.group)))
            .take(8)
            .collect();
        let help = if found.is_empty() {
            "it has no CustomResourceDefinition; `kubectl get crd NAME -o yaml` prints one".to_owned()
        } else {
            format!("it defines {}", Vec::from_iter(found).join(", "))
        };
        return Err((message, Some(help)));
    };
    let mut versions = definition.versions.iter();
    let Some(version) = versions.clone().find(|version| version.name == wanted.version) else {
        let message = format!("`{}` does not define `{reference}`", path.value);
        let found = versions.by_ref().take(8);
        let found: Vec<String> = found
            .map(|version| format!("`{}`", shown(&version.name)))
            .collect();
        return Err((message, Some(format!("it has the versions {}", found.join(", ")))));
    };
    let root = version.schema.as_ref();
    let (Ok(plural), Some(root)) = (
        ResourceName::parse(&definition.names.plural),
        root.and_then(|schema| schema.open_api_v3_schema.as_ref()),
    ) else {
        let message = format!("`{}` lacks the plural or the schema of `{reference}`", path.value);
        return Err((message, None));
    };
    let mut fields = fields_of(root, path.span);
    fields.retain(|field| {
        let is_common = ["apiVersion", "kind"].contains(&field.name.as_str());
        !is_common && field.rust_name() != "metadata"
    });
    Ok(ForeignKind {
        group: wanted.group.clone(),
        version: wanted.version.clone(),
        kind,
        plural,
        scope: match definition.scope.as_str() {
            "Cluster" => Scope::Cluster,
            _ => Scope::Namespaced,
        },
        description: root.description.clone(),
        fields,
        file: path.clone(),
    })
}
