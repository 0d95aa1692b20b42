//! Reads the custom resource, its columns and its conditions.

use super::constraints::refuse_lines;
use super::keys::Keys;
use super::nodes::{Input, entries, limited_list, name_of, names, text};
use super::paths::{Fields, Leaf};
use crate::catalog::keys::{ColumnKey, NameKey, ResourceKey, ScaleKey};
use crate::catalog::{INVALID_NAME, MISSING_KEY, WRONG_TYPE};
use crate::finding::{Finding, Spanned};
use crate::model::{
    Column, ColumnPath, ColumnType, DeclaredCondition, FieldPath, JsonPath, NameRule, Resource, Scale, Scope,
};
use crate::names::{
    Category, ColumnName, ConditionName, GroupName, KindName, NotAName, ResourceName, RustKindName,
    VersionName, plural,
};

/// The largest number of characters in the name of an object.
const LONGEST_CRD_NAME: usize = 253;

/// Reads `resource`, except its paths, which need the schema.
pub(super) fn resource(node: Input<'_>) -> Option<Resource> {
    let mut keys = Keys::of(node)?;
    let group = keys.read(ResourceKey::Group, name_of("group", GroupName::parse));
    let version = keys.read(ResourceKey::Version, name_of("version", VersionName::parse));
    let kind = keys.read(ResourceKey::Kind, name_of("kind", KindName::parse));
    let rust_name = keys.read(ResourceKey::RustName, name_of("kind", RustKindName::parse));
    let has_approval = keys.has(ResourceKey::ApiApproved);
    let api_approved = keys.read(ResourceKey::ApiApproved, name_of("approval", approval));
    if let Some(group) = &group
        && is_protected(group.as_str())
        && !has_approval
    {
        let message = format!("the group `{}` belongs to Kubernetes", group.value);
        let help = "groups under k8s.io and kubernetes.io need approval: use a domain of your own, or set `apiApproved` to the URL of the approval";
        node.report(Finding::new(&INVALID_NAME, group.span, message).help(help));
    }
    let plural_node = keys.read(ResourceKey::Plural, name_of("plural", ResourceName::parse));
    let singular = keys.read(ResourceKey::Singular, name_of("singular", ResourceName::parse));
    let short_names = keys.read_all(ResourceKey::ShortNames, |node| {
        names(node, "short", ResourceName::parse)
    });
    let categories = keys.read_all(ResourceKey::Categories, |node| {
        names(node, "category", Category::parse)
    });
    let scope = keys.word(ResourceKey::Scope, &Scope::ALL);
    let name = keys.read(ResourceKey::Name, name_rule);
    // These keys are read later, because they need the schema.
    keys.entry(ResourceKey::Scale);
    keys.entry(ResourceKey::SelectableFields);
    let span = keys.span();
    keys.finish();

    let kind = kind?;
    let rust_name = rust_name.unwrap_or_else(|| {
        let own = RustKindName::parse(kind.as_str()).unwrap_or_else(|_| {
            let proposed = kind.in_rust();
            let message = format!("`{}` cannot be the name of a Rust type", kind.value);
            let help = format!("add `rustName: {proposed}` beside `kind`");
            node.report(Finding::new(&INVALID_NAME, kind.span, message).help(help));
            proposed
        });
        Spanned::new(own, kind.span)
    });
    let default = |text: String| {
        // The plural of a long kind may be too long for a name.
        ResourceName::parse(&text)
            .ok()
            .map(|name| Spanned::new(name, kind.span))
    };
    let plural = plural_node.or_else(|| default(plural(kind.as_str())));
    let singular = singular.or_else(|| default(kind.as_str().to_ascii_lowercase()));
    if plural.is_none() {
        node.sink.error(
            &MISSING_KEY,
            kind.span,
            "the kind is too long for a default plural; add `plural`",
        );
    }
    if let (Some(group), Some(plural)) = (&group, &plural)
        && plural.as_str().len() + 1 + group.as_str().len() > LONGEST_CRD_NAME
    {
        let message =
            format!("the name of the CRD, `<plural>.<group>`, has more than {LONGEST_CRD_NAME} characters");
        node.report(Finding::new(&INVALID_NAME, group.span, message).help("shorten the group or the plural"));
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
        name,
        scale: None,
        selectable_fields: Vec::new(),
        kind,
        rust_name,
    })
}

/// Reads `name`.
fn name_rule(node: Input<'_>) -> Option<NameRule> {
    Keys::mapping(node, |keys| {
        let pattern = keys.read(NameKey::Pattern, text);
        let message = keys.read(NameKey::Message, text);
        refuse_lines(message.as_ref(), node.sink);
        Some(NameRule {
            pattern: pattern?,
            message,
        })
    })
}

/// Whether the API server requires an approval for definitions in the group.
fn is_protected(group: &str) -> bool {
    ["k8s.io", "kubernetes.io"].iter().any(|domain| {
        group
            .strip_suffix(domain)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    })
}

/// A value of the annotation `api-approved.kubernetes.io` that the API server accepts.
fn approval(text: &str) -> Result<String, NotAName> {
    match krator_schema::is_approval(text) {
        true => Ok(text.to_owned()),
        false => Err(NotAName {
            expected: "a URL, or a text that begins with `unapproved`",
        }),
    }
}

/// Reads the paths of `resource`.
pub(super) fn resource_paths(node: Input<'_>, resource: &mut Resource, fields: &Fields<'_, '_>) {
    // The other keys of `resource` have been checked already.
    let Some(mut keys) = Keys::of(node) else {
        return;
    };
    let counts = &[Leaf::Integer];
    resource.scale = keys.read(ResourceKey::Scale, |node| {
        Keys::mapping(node, |keys| {
            let spec = keys.read(ScaleKey::Spec, |node| fields.path(node, counts));
            let status = keys.read(ScaleKey::Status, |node| fields.path(node, counts));
            let selector = keys.read(ScaleKey::Selector, |node| fields.path(node, &[Leaf::String]));
            Some(Scale {
                spec: spec?,
                status: status?,
                selector,
            })
        })
    });
    let simple = &[
        Leaf::String,
        Leaf::Integer,
        Leaf::Boolean,
        Leaf::DateTime,
        Leaf::Duration,
    ];
    resource.selectable_fields = keys.read_all(ResourceKey::SelectableFields, |node| {
        let paths = limited_list(node, ResourceKey::SelectableFields, "a list of paths").into_iter();
        paths.filter_map(|node| fields.path(node, simple)).collect()
    });
}

/// Reads `columns`.
pub(super) fn columns(node: Input<'_>, fields: &Fields<'_, '_>) -> Vec<Column> {
    const TYPES: [(&str, ColumnType); 5] = [
        ("string", ColumnType::String),
        ("integer", ColumnType::Integer),
        ("number", ColumnType::Number),
        ("boolean", ColumnType::Boolean),
        ("date", ColumnType::Date),
    ];
    Keys::list(node, "a list of columns", |keys| {
        let name = keys.read(ColumnKey::Name, name_of("column", ColumnName::parse));
        let path = keys.read(ColumnKey::Path, |node| column_path(node, fields));
        let column_type = keys.word(ColumnKey::Type, &TYPES);
        let priority = keys.integer(ColumnKey::Priority);
        let description = keys.read(ColumnKey::Description, text);
        let (name, (path, leaf)) = (name?, path?);
        let follows = match leaf {
            Leaf::Integer => ColumnType::Integer,
            Leaf::Number => ColumnType::Number,
            Leaf::Boolean => ColumnType::Boolean,
            Leaf::DateTime => ColumnType::Date,
            Leaf::String | Leaf::Duration | Leaf::IntOrString | Leaf::List | Leaf::Object | Leaf::Open => {
                ColumnType::String
            }
        };
        Some(Column {
            name,
            path,
            column_type: column_type.map_or(follows, |written| written.value),
            priority: priority.map_or(0, |priority| priority.value),
            description,
        })
    })
}

/// Reads the path of a column, with the type of its value.
fn column_path(node: Input<'_>, fields: &Fields<'_, '_>) -> Option<(Spanned<ColumnPath>, Leaf)> {
    let other = node
        .scalar()
        .and_then(|scalar| match FieldPath::parse(&scalar.text) {
            Ok(_) => None,
            Err(_) => JsonPath::parse(&scalar.text).ok(),
        });
    match other {
        None => {
            let (path, leaf) = fields.path_and_leaf(node, &[])?;
            Some((path.map(ColumnPath::Field), leaf))
        }
        Some(path) => {
            let leaf = match path.fields() {
                Some(led) => fields.check(node, led)?,
                None => Leaf::Open,
            };
            Some((Spanned::new(ColumnPath::Other(path), node.span), leaf))
        }
    }
}

/// Reads `conditions` of a document.
pub(super) fn conditions(node: Input<'_>) -> Vec<DeclaredCondition> {
    let entries = entries(node, "conditions by type").into_iter();
    entries
        .filter_map(|entry| {
            let name = entry.name("condition", ConditionName::parse);
            let doc = text(entry.value);
            let name = name?;
            if is_standard_condition(name.as_str()) {
                let message = format!("the condition `{}` is reserved for the machine", name.value);
                return node.sink.refuse(Finding::new(&WRONG_TYPE, name.span, message));
            }
            Some(DeclaredCondition { name, doc: doc? })
        })
        .collect()
}

/// Whether the machine keeps the condition.
pub(super) fn is_standard_condition(name: &str) -> bool {
    matches!(name, "Ready" | "Reconciling" | "Stalled" | "Paused")
}
