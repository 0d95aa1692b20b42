//! The custom resource: its names, its columns and the conditions of its handlers.

use super::keys::{Keys, Sink, count, entries, list, name, named, text, word};
use super::paths::{Fields, Leaf};
use crate::catalog::{INVALID_NAME, MISSING_KEY, WRONG_TYPE};
use crate::finding::{Finding, Spanned};
use crate::model::{Column, ColumnType, DeclaredCondition, Resource, Scale, Scope};
use crate::names::{
    Category, ColumnName, ConditionName, GroupName, KindName, ResourceName, VersionName, plural,
};
use crate::spec::Node;

/// Reads `resource`, but for its paths, which need the schema.
pub(super) fn resource(node: &Node, sink: &mut Sink<'_>) -> Option<Resource> {
    let mut keys = Keys::of(node, "`resource`", sink)?;
    let group = keys
        .need("group", sink)
        .and_then(|node| name(node, "group", GroupName::parse, sink));
    let version = keys
        .need("version", sink)
        .and_then(|node| name(node, "version", VersionName::parse, sink));
    let kind = keys
        .need("kind", sink)
        .and_then(|node| name(node, "kind", KindName::parse, sink));
    if let Some(group) = &group {
        let is_protected =
            |domain: &str| group.as_str() == domain || group.as_str().ends_with(&format!(".{domain}"));
        if is_protected("k8s.io") || is_protected("kubernetes.io") {
            let message = format!("the group `{}` belongs to Kubernetes", group.value);
            let help = "groups under k8s.io and kubernetes.io need approval; use a domain of your own";
            sink.report(Finding::new(&INVALID_NAME, group.span, message).help(help));
        }
    }
    let plural_node = keys
        .get("plural", sink)
        .and_then(|node| name(node, "plural", ResourceName::parse, sink));
    let singular = keys
        .get("singular", sink)
        .and_then(|node| name(node, "singular", ResourceName::parse, sink));
    let mut texts = |key: &'static str| {
        keys.get(key, sink)
            .map(|node| list(node, "a list of names", sink))
            .unwrap_or_default()
    };
    let (short_nodes, category_nodes) = (texts("shortNames"), texts("categories"));
    let short_names = short_nodes
        .iter()
        .filter_map(|node| name(node, "short", ResourceName::parse, sink))
        .collect();
    let categories = category_nodes
        .iter()
        .filter_map(|node| name(node, "category", Category::parse, sink))
        .collect();
    let scope = keys.get("scope", sink).and_then(|node| {
        word(
            node,
            &[("Namespaced", Scope::Namespaced), ("Cluster", Scope::Cluster)],
            sink,
        )
    });
    // Read later, with the schema at hand.
    keys.entry("scale");
    keys.entry("selectableFields");
    let span = keys.span();
    keys.finish(sink);

    let kind = kind?;
    let default = |text: String| {
        // A kind of 63 letters has a plural that is too long to be one.
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
    Some(Resource {
        span,
        group: group?,
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

/// Reads the paths of `resource`.
pub(super) fn resource_paths(
    node: &Node,
    resource: &mut Resource,
    fields: &Fields<'_, '_>,
    sink: &mut Sink<'_>,
) {
    // What else is under `resource` has been judged before.
    let Some(mut keys) = Keys::of(node, "`resource`", sink) else {
        return;
    };
    if let Some(scale) = keys.get("scale", sink)
        && let Some(mut keys) = Keys::of(scale, "`scale`", sink)
    {
        let counts = &[Leaf::Integer];
        let spec = keys
            .need("spec", sink)
            .and_then(|node| fields.path(node, counts, sink));
        let status = keys
            .need("status", sink)
            .and_then(|node| fields.path(node, counts, sink));
        let selector = keys
            .get("selector", sink)
            .and_then(|node| fields.path(node, &[Leaf::Text], sink));
        keys.finish(sink);
        resource.scale = spec.zip(status).map(|(spec, status)| Scale {
            spec,
            status,
            selector,
        });
    }
    if let Some(node) = keys.get("selectableFields", sink) {
        let simple = &[
            Leaf::Text,
            Leaf::Integer,
            Leaf::Boolean,
            Leaf::DateTime,
            Leaf::Duration,
        ];
        let paths = list(node, "a list of paths", sink);
        if paths.len() > 8 {
            sink.error(
                &WRONG_TYPE,
                node.span,
                "the API takes at most 8 selectable fields",
            );
        }
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
        let Some(mut keys) = Keys::of(item, "a column", sink) else {
            continue;
        };
        let head = keys
            .need("name", sink)
            .and_then(|node| name(node, "column", ColumnName::parse, sink));
        let path = keys
            .need("path", sink)
            .and_then(|node| fields.path_and_leaf(node, &[], sink));
        let column_type = keys.get("type", sink).and_then(|node| word(node, &TYPES, sink));
        let priority = keys.get("priority", sink).and_then(|node| count(node, 0, sink));
        let description = keys.get("description", sink).and_then(|node| text(node, sink));
        keys.finish(sink);
        let (Some(name), Some((path, leaf))) = (head, path) else {
            continue;
        };
        let follows = match leaf {
            Leaf::Integer => ColumnType::Integer,
            Leaf::Number => ColumnType::Number,
            Leaf::Boolean => ColumnType::Boolean,
            Leaf::DateTime => ColumnType::Date,
            Leaf::Text | Leaf::Duration | Leaf::IntOrString | Leaf::List | Leaf::Object | Leaf::Open => {
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
                let message = format!("the machine itself keeps the condition `{}`", name.value);
                sink.error(&WRONG_TYPE, name.span, message);
                return None;
            }
            Some(DeclaredCondition { name, doc: doc? })
        })
        .collect()
}

/// Whether the machine keeps the condition.
pub(super) fn is_standard_condition(name: &str) -> bool {
    matches!(name, "Ready" | "Reconciling" | "Stalled")
}
