//! Lowers the tree of the text to the model. It does not stop at the first mistake: each one is reported, a stand-in
//! takes its place, and reading goes on.

mod bounds;
mod constraints;
mod deploy;
mod foreign;
mod keys;
mod kinds;
mod machine;
mod nodes;
mod paths;
mod resource;
mod retries;
mod schema;
mod sink;
mod spec_changes;
mod states;
mod values;
mod waits;

pub(crate) use schema::{DEEPEST_PHRASE, type_words};

use constraints::{refuse_repeated, validation_list};
use foreign::Foreign;
use keys::Keys;
use kinds::Kinds;
use nodes::{entries, name, text};
use paths::Fields;
use schema::Types;
use sink::Sink;

use super::{Deploy, Description, Kind, Schema, Shape, status::is_machine_field};
use crate::catalog::keys::{DocumentKey, SectionKey, SpecKey};
use crate::catalog::{MISSING_KEY, NAME_COLLISION, SYNTAX, UNKNOWN_KEY, WRONG_TYPE};
use crate::finding::{Finding, Source, Span, Spanned};
use crate::names::{OperatorName, kebab, unusable_operator};
use crate::spec::{Entry, Files, Node, NodeKind};

/// Builds the model. There is none if the text lacks kinds or states, which findings report. `files` has the files that
/// the description names.
pub(crate) fn lower(
    source: &Source,
    documents: &[Node],
    files: &Files,
) -> (Option<Description>, Vec<Finding>) {
    let mut sink = Sink::new(source);
    let description = description(documents, files, &mut sink);
    (description, sink.findings)
}

/// A document of which only those keys have been read that other documents may refer to.
struct Document<'a> {
    keys: Keys<'a, DocumentKey>,
    span: Span,
    resource: super::Resource,
    resource_node: &'a Node,
}

fn description(documents: &[Node], files: &Files, sink: &mut Sink<'_>) -> Option<Description> {
    let written: Vec<&Node> = documents.iter().filter(|node| !node.is_null()).collect();
    if written.is_empty() {
        sink.report(
            Finding::new(&SYNTAX, Span::default(), "the description is empty")
                .help("it begins with `krator: 1`, `resource`, `spec`, `machine` and `states`"),
        );
        return None;
    }
    if let Some(finding) = written.iter().find_map(|node| other_version(node, sink.source)) {
        sink.report(finding);
        return None;
    }
    let mut type_nodes = Vec::new();
    let mut schema_nodes = Vec::new();
    let mut begun = Vec::new();
    let mut operator = None;
    let mut doc = None;
    let mut deploy = None;
    for (at, node) in written.iter().copied().enumerate() {
        if let Some(finding) = object_of_kubernetes(node) {
            sink.report(finding);
            continue;
        }
        let Some(mut keys) = Keys::of(node, sink) else {
            continue;
        };
        version(&mut keys, sink);
        if at == 0 {
            operator = keys.read(DocumentKey::Operator, sink, operator_name);
            deploy = keys
                .get(DocumentKey::Deploy, sink)
                .map(|node| deploy::deploy(node, sink));
        } else {
            for key in [DocumentKey::Operator, DocumentKey::Deploy] {
                if let Some(entry) = keys.entry(key) {
                    let message = format!("only the first document can have `{}`", key.key().name);
                    sink.error(&UNKNOWN_KEY, entry.key_span, message);
                }
            }
        }
        type_nodes.extend(keys.get(DocumentKey::Types, sink));
        schema_nodes.extend(keys.get(DocumentKey::Schemas, sink));
        let own_doc = keys.read(DocumentKey::Doc, sink, text);
        if at == 0 {
            doc = own_doc.clone();
        }
        let resource_node = keys.get(DocumentKey::Resource, sink);
        let resource = resource_node.and_then(|node| resource::resource(node, sink));
        begun.push((node.span, keys, resource_node, resource, own_doc));
    }
    let mut types = Types::declare(type_nodes, sink);
    let mut read = Vec::new();
    for (span, keys, resource_node, resource, own_doc) in begun {
        match (resource_node, resource) {
            (Some(resource_node), Some(resource)) => {
                read.push((
                    Document {
                        keys,
                        span,
                        resource,
                        resource_node,
                    },
                    own_doc,
                ));
            }
            // The rest of the document is checked anyway, except for what needs the resource.
            _ => skim(keys, &mut types, sink),
        }
    }
    let resources: Vec<super::Resource> = read
        .iter()
        .map(|(document, _)| document.resource.clone())
        .collect();
    let mut foreign = Foreign::default();
    for node in schema_nodes {
        foreign.read(node, files, &resources, sink);
    }
    let is_complete = resources.len() == written.len();
    let mut kinds = Vec::new();
    for (document, own_doc) in read {
        let others = Kinds {
            described: &resources,
            foreign: &foreign.kinds,
        };
        kinds.extend(kind(document, own_doc, &mut types, others, sink));
    }
    if is_complete && kinds.len() == resources.len() {
        foreign.refuse_unused(&kinds, sink);
    }
    let types = types.finish(sink);
    let first = kinds.first()?;
    let kind_name = &first.resource.kind;
    let operator = operator.unwrap_or_else(|| default_operator(kind_name));
    let deploy: Deploy = deploy.unwrap_or_else(|| deploy::default_deploy(kind_name.span));
    (is_complete && kinds.len() == resources.len()).then_some(Description {
        operator,
        doc,
        types,
        kinds,
        foreign: foreign.kinds,
        schema_files: foreign.files,
        deploy,
        has_sound_schemas: sink.has_sound_schemas(),
    })
}

/// What there is to say of a document that is an object of Kubernetes: one thing, because none of its keys means anything here.
fn object_of_kubernetes(node: &Node) -> Option<Finding> {
    let NodeKind::Mapping(mapping) = &node.kind else {
        return None;
    };
    let named = |key: &str| mapping.entries.iter().find(|entry| entry.key == key);
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
        "this is an object of Kubernetes and not a description",
    );
    Some(finding.help(match is_definition {
        true => "`krator import` makes a description of a CustomResourceDefinition",
        false => "a description begins with `krator: 1`; `krator init` writes one",
    }))
}

/// The language's version: required, and first.
fn version(keys: &mut Keys<'_, DocumentKey>, sink: &mut Sink<'_>) {
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

/// What there is to say of a document in another version of the language: one thing, because its keys may mean anything.
fn other_version(node: &Node, source: &Source) -> Option<Finding> {
    let mut entries = mapping_entries(node).iter();
    let entry = entries.find(|entry| entry.key == DocumentKey::Krator.key().name)?;
    if entry.value.scalar().and_then(|scalar| scalar.integer()) == Some(1) {
        return None;
    }
    let found = crate::text::shown(source.at(entry.value.span));
    let message = format!("this krator reads version 1 of the language, not `{found}`");
    Some(Finding::new(&WRONG_TYPE, entry.value.span, message))
}

fn operator_name(node: &Node, sink: &mut Sink<'_>) -> Option<Spanned<OperatorName>> {
    let operator = name(node, "operator", OperatorName::parse, sink)?;
    if let Some(reason) = unusable_operator(operator.as_str()) {
        let message = format!("an operator cannot be called `{}`", operator.value);
        sink.report(Finding::new(&NAME_COLLISION, operator.span, message).label(reason));
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

/// Checks what can be checked of a document without its resource.
fn skim<'a>(mut keys: Keys<'a, DocumentKey>, types: &mut Types<'a>, sink: &mut Sink<'_>) {
    if let Some(node) = keys.get(DocumentKey::Status, sink) {
        types.fields(node, sink);
    }
    keys.skip_known();
    keys.finish(sink);
}

fn kind<'a>(
    document: Document<'a>,
    doc: Option<Spanned<String>>,
    types: &mut Types<'a>,
    kinds: Kinds<'_>,
    sink: &mut Sink<'_>,
) -> Option<Kind> {
    let Document {
        mut keys,
        span,
        mut resource,
        resource_node,
    } = document;
    let spec = match keys.get(DocumentKey::Spec, sink) {
        Some(node) => spec_schema(node, types, sink),
        None => Schema::plain(Shape::Any, keys.head()),
    };
    types.refuse_giants(&spec, sink);
    let status = keys.read_all(DocumentKey::Status, sink, |node, sink| types.fields(node, sink));
    for field in &status {
        types.refuse_giants(&field.schema, sink);
        if is_machine_field(&field.name) {
            let message = format!("the machine keeps `.status.{}` itself", field.name.value);
            sink.error(&NAME_COLLISION, field.name.span, message);
        }
    }
    let fields = Fields {
        types,
        spec: &spec,
        status: &status,
        names_phases: keys
            .entry(DocumentKey::States)
            .is_some_and(|states| names_phases(&states.value)),
    };
    resource::resource_paths(resource_node, &mut resource, &fields, sink);
    let columns = keys.read_all(DocumentKey::Columns, sink, |node, sink| {
        resource::columns(node, &fields, sink)
    });
    let conditions = keys.read_all(DocumentKey::Conditions, sink, resource::conditions);
    let owns_node = keys.get(DocumentKey::Owns, sink);
    let owns = owns_node.map(|node| kinds.owns(node, sink)).unwrap_or_default();
    let watches_node = keys.get(DocumentKey::Watches, sink);
    let watches = watches_node
        .map(|node| kinds.watches(node, &fields, sink))
        .unwrap_or_default();
    let access = keys.read_all(DocumentKey::Access, sink, |node, sink| kinds.access(node, sink));
    let allow = keys.read_all(DocumentKey::Allow, sink, deploy::allow);

    let machine_node = keys.get(DocumentKey::Machine, sink);
    let state_entries = keys
        .get(DocumentKey::States, sink)
        .map(|node| (node, entries(node, "states by name", sink)));
    let properties_node = keys.get(DocumentKey::Properties, sink);
    let head = keys.head();
    keys.finish(sink);
    let (states_node, state_entries) = state_entries?;
    if state_entries.is_empty() {
        if let NodeKind::Mapping(_) = states_node.kind {
            sink.error(
                &MISSING_KEY,
                states_node.span,
                "`states` needs at least one state",
            );
        }
        return None;
    }
    let seen = owns
        .iter()
        .map(|owned| &owned.kind.value)
        .chain(watches.iter().map(|watch| &watch.kind.value));
    let in_view = seen.map(|kind| (kind.reference(), kind.clone())).collect();
    let context = states::BuildContext {
        fields,
        kinds,
        in_view,
        // A list with mistakes counts as well: they are reported already.
        has_owned: owns_node.is_some(),
        has_watched: watches_node.is_some(),
    };
    let mut table = states::Table::of(state_entries);
    let (machine, states, properties) = sink.beside_schema(|sink| {
        let mut machine = machine::machine(machine_node, head, &mut table, &context.fields, sink);
        let written = states::states(state_entries, &mut table, &context, sink);
        let states = machine::resolve(&mut machine, written, sink);
        let properties = properties_node
            .map(|node| machine::properties(node, &mut table, sink))
            .unwrap_or_default();
        (machine.machine, states, properties)
    });
    Some(Kind {
        span,
        doc,
        resource,
        spec,
        status,
        columns,
        conditions,
        machine,
        states,
        owns,
        watches,
        access,
        properties,
        allow,
        lacks_edges: table.lacks_edges,
    })
}

/// Whether a state below this node has a `phase`. Paths have to know this before the states are read.
fn names_phases(states: &Node) -> bool {
    let below = |state: &Entry| mapping_entries(&state.value).iter().any(|key| key.key == "phase");
    mapping_entries(states).iter().any(below)
}

fn mapping_entries(node: &Node) -> &[Entry] {
    match &node.kind {
        NodeKind::Mapping(mapping) => &mapping.entries,
        _ => &[],
    }
}

/// Reads `spec`: the name of a type, or fields with `validations` beside them.
fn spec_schema<'a>(node: &'a Node, types: &mut Types<'a>, sink: &mut Sink<'_>) -> Schema {
    let NodeKind::Mapping(mapping) = &node.kind else {
        let schema = types.schema(node, sink);
        let is_object = matches!(
            types.resolve(&schema).shape,
            Shape::Object(_) | Shape::FreeForm | Shape::Kubernetes(_) | Shape::Map(_)
        );
        if !is_object && !matches!(schema.shape, Shape::Any) {
            sink.error(&WRONG_TYPE, node.span, "`spec` is an object");
        }
        schema::refuse_optional(&schema, "`.spec`", sink);
        return schema;
    };
    let mut fields = Vec::new();
    let mut validations = Vec::new();
    for entry in &mapping.entries {
        if entry.key == SpecKey::Validations.key().name {
            validations = validation_list(&entry.value, sink);
            refuse_repeated(&validations, sink);
        } else {
            fields.extend(types.field(entry, sink));
        }
    }
    let mut schema = Schema::plain(Shape::Object(fields), node.span);
    schema.validations = validations;
    schema
}
