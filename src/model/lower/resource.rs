//! Reads the custom resource, its columns and its conditions.

use super::keys::Keys;
use super::nodes::{entries, limited_list, list, name_of, named, names, text};
use super::paths::{Fields, Leaf};
use super::sink::Sink;
use crate::catalog::keys::{ColumnKey, ResourceKey, ScaleKey};
use crate::catalog::{INVALID_NAME, MISSING_KEY, WRONG_TYPE};
use crate::finding::{Finding, Spanned};
use crate::model::{Column, ColumnType, DeclaredCondition, Resource, Scale, Scope};
use crate::names::{
    Category, ColumnName, ConditionName, GroupName, KindName, NotAName, ResourceName, VersionName, plural,
};
use crate::spec::Node;

/// How many characters the name of an object may have.
const LONGEST_CRD_NAME: usize = 253;

/// Reads `resource`, but for its paths, which need the schema.
pub(super) fn resource(node: &Node, sink: &mut Sink<'_>) -> Option<Resource> {
    let mut keys = Keys::of(node, sink)?;
    let group = keys.read(ResourceKey::Group, sink, name_of("group", GroupName::parse));
    let version = keys.read(ResourceKey::Version, sink, name_of("version", VersionName::parse));
    let kind = keys.read(ResourceKey::Kind, sink, name_of("kind", KindName::parse));
    let has_approval = keys.has(ResourceKey::ApiApproved);
    let api_approved = keys.read(ResourceKey::ApiApproved, sink, name_of("approval", approval));
    if let Some(group) = &group
        && is_protected(group.as_str())
        && !has_approval
    {
        let message = format!("the group `{}` belongs to Kubernetes", group.value);
        let help = "groups under k8s.io and kubernetes.io need approval: use a domain of your own, or say in `apiApproved` \
                    where the API was approved";
        sink.report(Finding::new(&INVALID_NAME, group.span, message).help(help));
    }
    let plural_node = keys.read(ResourceKey::Plural, sink, name_of("plural", ResourceName::parse));
    let singular = keys.read(
        ResourceKey::Singular,
        sink,
        name_of("singular", ResourceName::parse),
    );
    let short_names = keys.read_all(ResourceKey::ShortNames, sink, |node, sink| {
        names(node, "short", ResourceName::parse, sink)
    });
    let categories = keys.read_all(ResourceKey::Categories, sink, |node, sink| {
        names(node, "category", Category::parse, sink)
    });
    let scopes = [("Namespaced", Scope::Namespaced), ("Cluster", Scope::Cluster)];
    let scope = keys.word(ResourceKey::Scope, &scopes, sink);
    // Read later, with the schema at hand.
    keys.entry(ResourceKey::Scale);
    keys.entry(ResourceKey::SelectableFields);
    let span = keys.span();
    keys.finish(sink);

    let kind = kind?;
    let default = |text: String| {
        // The plural of a long kind is too long for a name.
        ResourceName::parse(&text)
            .ok()
            .map(|name| Spanned::new(name, kind.span))
    };
    let plural = plural_node.or_else(|| default(plural(kind.as_str())));
    let singular = singular.or_else(|| default(kind.as_str().to_ascii_lowercase()));
    if plural.is_none() {
        sink.error(
            &MISSING_KEY,
            kind.span,
            "the kind is too long for a plural by default; give it one",
        );
    }
    if let (Some(group), Some(plural)) = (&group, &plural)
        && plural.as_str().len() + 1 + group.as_str().len() > LONGEST_CRD_NAME
    {
        let message =
            format!("the name of the CRD, `<plural>.<group>`, has more than {LONGEST_CRD_NAME} characters");
        sink.report(Finding::new(&INVALID_NAME, group.span, message).help("shorten the group or the plural"));
    }
    Some(Resource {
        span,
        group: group?,
        api_approved,
        version: version?,
        plural: plural?,
        singular: singular?,
        short_names,
        categories,
        scope: scope.unwrap_or(Spanned::new(Scope::Namespaced, kind.span)),
        scale: None,
        selectable_fields: Vec::new(),
        kind,
    })
}

/// Whether the API server asks for an approval of definitions in the group.
fn is_protected(group: &str) -> bool {
    ["k8s.io", "kubernetes.io"].iter().any(|domain| {
        group
            .strip_suffix(domain)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    })
}

/// A value of the annotation `api-approved.kubernetes.io` that the API server takes.
fn approval(text: &str) -> Result<String, NotAName> {
    match krator_schema::is_approval(text) {
        true => Ok(text.to_owned()),
        false => Err(NotAName {
            expected: "a URL, or a text that begins with `unapproved`",
        }),
    }
}

/// Reads the paths of `resource`.
pub(super) fn resource_paths(
    node: &Node,
    resource: &mut Resource,
    fields: &Fields<'_, '_>,
    sink: &mut Sink<'_>,
) {
    // The other keys of `resource` have been checked already.
    let Some(mut keys) = Keys::of(node, sink) else {
        return;
    };
    if let Some(scale) = keys.get(ResourceKey::Scale, sink)
        && let Some(mut keys) = Keys::of(scale, sink)
    {
        let counts = &[Leaf::Integer];
        let spec = keys.read(ScaleKey::Spec, sink, |node, sink| fields.path(node, counts, sink));
        let status = keys.read(ScaleKey::Status, sink, |node, sink| {
            fields.path(node, counts, sink)
        });
        let selector = keys.read(ScaleKey::Selector, sink, |node, sink| {
            fields.path(node, &[Leaf::String], sink)
        });
        keys.finish(sink);
        resource.scale = spec.zip(status).map(|(spec, status)| Scale {
            spec,
            status,
            selector,
        });
    }
    if let Some(node) = keys.get(ResourceKey::SelectableFields, sink) {
        let simple = &[
            Leaf::String,
            Leaf::Integer,
            Leaf::Boolean,
            Leaf::DateTime,
            Leaf::Duration,
        ];
        let paths = limited_list(node, ResourceKey::SelectableFields, "a list of paths", sink);
        resource.selectable_fields = paths
            .iter()
            .filter_map(|node| fields.path(node, simple, sink))
            .collect();
    }
}

/// Reads `columns`.
pub(super) fn columns(node: &Node, fields: &Fields<'_, '_>, sink: &mut Sink<'_>) -> Vec<Column> {
    const TYPES: [(&str, ColumnType); 5] = [
        ("string", ColumnType::String),
        ("integer", ColumnType::Integer),
        ("number", ColumnType::Number),
        ("boolean", ColumnType::Boolean),
        ("date", ColumnType::Date),
    ];
    let mut columns = Vec::new();
    for item in list(node, "a list of columns", sink) {
        let Some(mut keys) = Keys::of(item, sink) else {
            continue;
        };
        let head = keys.read(ColumnKey::Name, sink, name_of("column", ColumnName::parse));
        let path = keys.read(ColumnKey::Path, sink, |node, sink| {
            fields.path_and_leaf(node, &[], sink)
        });
        let column_type = keys.word(ColumnKey::Type, &TYPES, sink);
        let priority = keys.integer(ColumnKey::Priority, sink);
        let description = keys.read(ColumnKey::Description, sink, text);
        keys.finish(sink);
        let (Some(name), Some((path, leaf))) = (head, path) else {
            continue;
        };
        let follows = match leaf {
            Leaf::Integer => ColumnType::Integer,
            Leaf::Number => ColumnType::Number,
            Leaf::Boolean => ColumnType::Boolean,
            Leaf::DateTime => ColumnType::Date,
            Leaf::String | Leaf::Duration | Leaf::IntOrString | Leaf::List | Leaf::Object | Leaf::Open => {
                ColumnType::String
            }
        };
        columns.push(Column {
            name,
            path,
            column_type: column_type.map_or(follows, |written| written.value),
            priority: priority.map_or(0, |priority| priority.value),
            description,
        });
    }
    columns
}

/// Reads `conditions` of a document.
pub(super) fn conditions(node: &Node, sink: &mut Sink<'_>) -> Vec<DeclaredCondition> {
    entries(node, "conditions by type", sink)
        .iter()
        .filter_map(|entry| {
            let name = named(
                &entry.key,
                entry.key_span,
                "condition",
                ConditionName::parse,
                sink,
            );
            let doc = text(&entry.value, sink);
            let name = name?;
            if is_standard_condition(name.as_str()) {
                let message = format!("the machine sets the condition `{}` itself", name.value);
                sink.error(&WRONG_TYPE, name.span, message);
                return None;
            }
            Some(DeclaredCondition { name, doc: doc? })
        })
        .collect()
}

/// Whether the machine keeps the condition.
pub(super) fn is_standard_condition(name: &str) -> bool {
    matches!(name, "Ready" | "Reconciling" | "Stalled" | "Paused")
}
