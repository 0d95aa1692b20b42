//! Lowers the syntax tree to the model. It does not stop at the first mistake: each mistake is reported and replaced by
//! a placeholder, and reading continues.

mod admission;
mod bounds;
mod constraints;
mod deploy;
mod foreign;
mod gates;
mod json;
mod keys;
mod kinds;
mod machine;
mod nodes;
mod objectives;
mod openapi;
mod paths;
mod resource;
mod retries;
mod schema;
mod sink;
mod spec_changes;
mod states;
mod table;
mod versions;
mod waits;
mod webhooks;

pub(crate) use schema::{DEEPEST_PHRASE, type_words};

use constraints::{refuse_repeated, validation_list};
use foreign::Foreign;
use keys::Keys;
use kinds::Kinds;
use nodes::{Input, entries, name, text};
use openapi::schema_of_json;
use paths::Fields;
use schema::Types;
use sink::Sink;
use table::{BuildContext, Table};

use super::status::{is_machine_field, machine_status_of};
use super::{Description, Extra, Kind, Resource, Schema, Shape};
use crate::catalog::keys::{DocumentKey, SectionKey, SpecKey};
use crate::catalog::{MISSING_KEY, NAME_COLLISION, SYNTAX, UNKNOWN_KEY, WRONG_TYPE};
use crate::finding::{Finding, Source, Span, Spanned};
use crate::names::{OperatorName, kebab, unusable_operator};
use crate::spec::{Files, Node, NodeKind};

/// Builds the model. `None` if the text lacks kinds or states, which findings report. `files` has the files that the
/// description names.
pub(crate) fn lower(
    source: &Source,
    documents: &[Node],
    files: &Files,
) -> (Option<Description>, Vec<Finding>) {
    let sink = Sink::new(source);
    let description = description(documents, files, &sink);
    (description, sink.into_findings())
}

/// A document of which only the keys that other documents may refer to have been read.
struct Document<'a> {
    keys: Keys<'a, DocumentKey>,
    input: Input<'a>,
    doc: Option<Spanned<String>>,
    resource: Option<Resource>,
}

fn description<'a>(documents: &'a [Node], files: &Files, sink: &'a Sink<'a>) -> Option<Description> {
    let inputs = documents.iter().map(|node| Input { node, sink });
    let inputs: Vec<Input<'a>> = inputs.filter(|document| !document.is_null()).collect();
    if inputs.is_empty() {
        return sink.refuse(
            Finding::new(&SYNTAX, Span::default(), "the description is empty")
                .help("it begins with `krator: 1`, `resource`, `spec`, `machine` and `states`"),
        );
    }
    if let Some(finding) = inputs.iter().find_map(|document| other_version(*document)) {
        return sink.refuse(finding);
    }
    let mut documents = Vec::new();
    let mut type_nodes = Vec::new();
    let mut schema_nodes = Vec::new();
    let mut operator = None;
    let mut deploy = None;
    for (at, input) in inputs.iter().copied().enumerate() {
        if let Some(finding) = object_of_kubernetes(input) {
            sink.report(finding);
            continue;
        }
        let Some(mut keys) = Keys::of(input) else {
            continue;
        };
        version(&mut keys, sink);
        if at == 0 {
            operator = keys.read(DocumentKey::Operator, operator_name);
            deploy = keys.get(DocumentKey::Deploy).map(deploy::deploy);
        } else {
            for key in [DocumentKey::Operator, DocumentKey::Deploy] {
                if let Some(entry) = keys.entry(key) {
                    let message = format!("only the first document can have `{}`", key.key().name);
                    sink.error(&UNKNOWN_KEY, entry.key_span, message);
                }
            }
        }
        type_nodes.extend(keys.get(DocumentKey::Types));
        schema_nodes.extend(keys.get(DocumentKey::Schemas));
        documents.push(Document {
            input,
            doc: keys.read(DocumentKey::Doc, text),
            resource: keys.read(DocumentKey::Resource, resource::resource),
            keys,
        });
    }
    let mut types = Types::declare(type_nodes, sink);
    let resources = documents.iter().filter_map(|document| document.resource.clone());
    let resources: Vec<Resource> = resources.collect();
    let mut foreign = Foreign::default();
    for node in schema_nodes {
        foreign.read(node, files, &resources);
    }
    let doc = documents.first().and_then(|document| document.doc.clone());
    let mut kinds = Vec::new();
    for document in documents {
        let others = Kinds {
            described: &resources,
            foreign: &foreign.kinds,
        };
        kinds.extend(kind(document, &mut types, others, sink));
    }
    let is_complete = kinds.len() == inputs.len();
    if is_complete {
        foreign.refuse_unused(&kinds, sink);
        kinds::share_scopes(&mut kinds, sink);
    }
    let types = types.finish(sink);
    let kind_name = kinds.first()?.resource.kind.clone();
    let operator = operator.unwrap_or_else(|| default_operator(&kind_name));
    let mut deploy = deploy.unwrap_or_else(|| deploy::default_deploy(kind_name.span));
    // Objectives only produce alerts and parts of the dashboard.
    if kinds.iter().any(|kind| !kind.objectives.is_empty()) {
        deploy.extras.insert(Extra::Monitoring);
    }
    is_complete.then(|| Description {
        namespace: format!("{}-system", operator.value),
        operator,
        doc,
        types,
        deploy,
        foreign: foreign.kinds,
        schema_files: foreign.files,
        has_sound_schemas: sink.has_sound_schemas(),
        kinds,
    })
}

/// Reports a Kubernetes object once instead of key by key.
fn object_of_kubernetes(document: Input<'_>) -> Option<Finding> {
    let entries = document.entries();
    let named = |key: &str| entries.iter().find(|entry| entry.key == key);
    let (version, kind) = (named("apiVersion")?, named("kind")?);
    if named(DocumentKey::Krator.key().name).is_some() {
        return None;
    }
    let is_definition = kind
        .value
        .scalar()
        .is_some_and(|kind| kind.text == "CustomResourceDefinition");
    let finding = Finding::new(
        &MISSING_KEY,
        version.key_span,
        "this is a Kubernetes object, not a description",
    );
    Some(finding.help(match is_definition {
        true => "`krator import` generates a description from a CustomResourceDefinition",
        false => "a description begins with `krator: 1`; `krator init` writes one",
    }))
}

/// The version of the language: required, and first.
fn version(keys: &mut Keys<'_, DocumentKey>, sink: &Sink<'_>) {
    let head = keys.head();
    let Some(entry) = keys.entry(DocumentKey::Krator) else {
        let finding = Finding::new(
            &MISSING_KEY,
            head,
            "the description does not begin with `krator: 1`",
        );
        let finding = finding.help("`krator` is the version of the language");
        let begins_line = sink.source.text()[..head.start]
            .chars()
            .next_back()
            .is_none_or(|c| c == '\n');
        let start = Span {
            end: head.start,
            ..head
        };
        sink.report(match begins_line {
            true => finding.fix(start, "krator: 1\n", "begin with the version"),
            false => finding,
        });
        return;
    };
    if entry.key_span != head {
        sink.error(&WRONG_TYPE, entry.key_span, "`krator: 1` has to be the first key");
    }
}

/// Reports a document in another version of the language once, because the meaning of its keys is unknown.
fn other_version(document: Input<'_>) -> Option<Finding> {
    let mut entries = document.entries().into_iter();
    let entry = entries.find(|entry| entry.key == DocumentKey::Krator.key().name)?;
    if entry.value.scalar().and_then(|scalar| scalar.integer()) == Some(1) {
        return None;
    }
    let found = crate::text::shown(document.sink.source.at(entry.value.span));
    let message = format!("this version of krator supports version 1 of the language, not `{found}`");
    Some(Finding::new(&WRONG_TYPE, entry.value.span, message))
}

fn operator_name(node: Input<'_>) -> Option<Spanned<OperatorName>> {
    let operator = name(node, "operator", OperatorName::parse)?;
    if let Some(reason) = unusable_operator(operator.as_str()) {
        let message = format!("an operator cannot be called `{}`", operator.value);
        node.report(Finding::new(&NAME_COLLISION, operator.span, message).label(reason));
    }
    Some(operator)
}

/// The kind in kebab case with `-operator`, shortened to the longest name that is allowed.
fn default_operator(kind: &Spanned<crate::names::KindName>) -> Spanned<OperatorName> {
    const SUFFIX: &str = "-operator";
    let mut stem = kebab(kind.as_str());
    stem.truncate(40 - SUFFIX.len());
    let text = format!("{}{SUFFIX}", stem.trim_end_matches('-'));
    #[allow(
        clippy::unwrap_used,
        reason = "a kind begins with a letter and has only letters and digits"
    )]
    Spanned::new(OperatorName::parse(&text).unwrap(), kind.span)
}

/// Reads a document. Parts that do not need the resource are checked even without it.
fn kind<'a>(
    document: Document<'a>,
    types: &mut Types<'a>,
    kinds: Kinds<'_>,
    sink: &Sink<'_>,
) -> Option<Kind> {
    let mut keys = document.keys;
    let Some(mut resource) = document.resource else {
        keys.read_all(DocumentKey::Status, |node| types.fields(node));
        keys.skip_known();
        keys.finish();
        return None;
    };
    let spec = match keys.get(DocumentKey::Spec) {
        Some(node) => spec_schema(node, types),
        None => Schema::plain(Shape::Any, keys.head()),
    };
    types.refuse_giants(&spec, sink);
    let status = keys.read_all(DocumentKey::Status, |node| types.fields(node));
    for field in &status {
        types.refuse_giants(&field.schema, sink);
        if is_machine_field(&field.name) {
            let message = format!(
                "the field `.status.{}` is reserved for the machine",
                field.name.value
            );
            sink.error(&NAME_COLLISION, field.name.span, message);
        }
    }
    let states = keys.entry(DocumentKey::States);
    let names_phases = states.is_some_and(|states| names_phases(states.value));
    let mut all_status = schema_of_json(machine_status_of(names_phases));
    if let Shape::Object(fields) = &mut all_status.shape {
        fields.splice(0..0, status.iter().cloned());
    }
    let fields = Fields {
        types,
        spec: &spec,
        status: &all_status,
    };
    if let Some(node) = keys.get(DocumentKey::Resource) {
        resource::resource_paths(node, &mut resource, &fields);
    }
    let columns = keys.read_all(DocumentKey::Columns, |node| resource::columns(node, &fields));
    let versions_node = keys.get(DocumentKey::Versions);
    let conditions = keys.read_all(DocumentKey::Conditions, resource::conditions);
    // A list with mistakes counts as well, because they are reported already.
    let (has_owned, has_watched) = (keys.has(DocumentKey::Owns), keys.has(DocumentKey::Watches));
    let owns = keys.read_all(DocumentKey::Owns, |node| kinds.owns(node));
    let watches = keys.read_all(DocumentKey::Watches, |node| kinds.watches(node, &fields));
    let access = keys.read_all(DocumentKey::Access, |node| kinds.access(node));
    let webhooks = keys
        .read(DocumentKey::Webhooks, webhooks::webhooks)
        .unwrap_or_default();
    let allow = keys.read_all(DocumentKey::Allow, deploy::allow);

    let machine_node = keys.get(DocumentKey::Machine);
    let states_node = keys.get(DocumentKey::States);
    let state_entries = states_node.map(|node| entries(node, "states by name"));
    let properties_node = keys.get(DocumentKey::Properties);
    let slo_node = keys.get(DocumentKey::Slo);
    let limits_node = keys.get(DocumentKey::Limits);
    let admission_node = keys.get(DocumentKey::Admission);
    let head = keys.head();
    keys.finish();
    let (states_node, state_entries) = (states_node?, state_entries?);
    if state_entries.is_empty() {
        if let NodeKind::Mapping(_) = states_node.kind {
            let message = "`states` needs at least one state";
            sink.error(&MISSING_KEY, states_node.span, message);
        }
        return None;
    }
    let seen = owns
        .iter()
        .map(|owned| &owned.kind.value)
        .chain(watches.iter().map(|watch| &watch.kind.value));
    let in_view = seen.map(|kind| (kind.reference(), kind.clone())).collect();
    let context = BuildContext {
        fields,
        kinds,
        in_view,
        has_owned,
        has_watched,
    };
    let mut table = Table::of(&state_entries);
    let (machine, states, properties, objectives, limits, admission) = sink.beside_schema(|| {
        let mut machine = machine::machine(machine_node, head, &mut table, &context.fields);
        let written = states::states(&state_entries, &mut table, &context);
        let states = machine::resolve(&mut machine, written, sink);
        let properties = properties_node.map(|node| machine::properties(node, &mut table));
        let objectives = slo_node.map(|node| objectives::objectives(node, &states, &mut table));
        let limits = limits_node.map(|node| gates::limits(node, &mut table, &context.fields));
        let admission = admission_node.and_then(|node| admission::admission(node, &mut table));
        (
            machine.machine,
            states,
            properties.unwrap_or_default(),
            objectives.unwrap_or_default(),
            limits.unwrap_or_default(),
            admission.unwrap_or_default(),
        )
    });
    let newest = versions::Newest {
        resource: &resource,
        spec: &spec,
        status: &status,
        all_status: &all_status,
        columns: &columns,
    };
    let versions = versions_node.map(|node| versions::versions(node, &newest, types));
    Some(Kind {
        span: document.input.span,
        doc: document.doc,
        resource,
        spec,
        status,
        columns,
        conditions,
        machine,
        objectives,
        limits,
        states,
        owns,
        watches,
        access,
        webhooks,
        admission,
        versions: versions.unwrap_or_default(),
        properties,
        allow,
        lacks_edges: table.lacks_edges,
    })
}

/// Whether a state has a `phase`. Paths depend on it and are read before the states.
fn names_phases(states: Input<'_>) -> bool {
    let mut states = states.entries().into_iter();
    states.any(|state| state.value.entries().iter().any(|key| key.key == "phase"))
}

/// Reads `spec`: the name of a type, or fields and `validations`.
fn spec_schema<'a>(node: Input<'a>, types: &mut Types<'a>) -> Schema {
    if !matches!(node.kind, NodeKind::Mapping(_)) {
        let schema = types.schema(node);
        let is_object = matches!(
            types.resolve(&schema).shape,
            Shape::Object(_) | Shape::FreeForm | Shape::Kubernetes(_) | Shape::Map(_)
        );
        if !is_object && !matches!(schema.shape, Shape::Any) {
            node.error(&WRONG_TYPE, "`spec` has to be an object");
        }
        return schema;
    }
    let mut fields = Vec::new();
    let mut validations = Vec::new();
    for entry in node.entries() {
        if entry.key == SpecKey::Validations.key().name {
            validations = validation_list(entry.value);
            refuse_repeated(&validations, node.sink);
        } else {
            fields.extend(types.field(entry));
        }
    }
    let mut schema = Schema::plain(Shape::Object(fields), node.span);
    schema.validations = validations;
    schema
}
