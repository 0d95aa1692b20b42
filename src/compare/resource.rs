//! Changes outside of schema and graph: added and removed kinds, names, versions, and other parts of the CRD.

use super::owned::of_owned;
use super::value_test::ValueTest;
use super::{Change, ChangeKind, SchemaPath, Stored};
use crate::finding::Span;
use crate::model::{Description, Kind, KindLineage, Lineage, Resource, Scope};

/// A kind that both descriptions have, and which of its states became which.
pub(super) struct Pair<'a> {
    pub old_description: &'a Description,
    pub old: &'a Kind,
    pub new_description: &'a Description,
    pub new: &'a Kind,
    pub lineage: &'a KindLineage,
}

/// The kinds that both descriptions have, in the order of the new one.
pub(super) fn pairs<'a>(old: &'a Description, new: &'a Description, lineage: &'a Lineage) -> Vec<Pair<'a>> {
    let kinds = lineage.kinds().iter().map(|lineage| Pair {
        old_description: old,
        old: old.kind(lineage.former),
        new_description: new,
        new: new.kind(lineage.now),
        lineage,
    });
    kinds.collect()
}

/// The name of the CRD.
fn resource_name(kind: &Kind) -> String {
    format!("{}.{}", kind.resource.plural.value, kind.resource.group.value)
}

/// A change that breaks nothing. Callers override the fields that differ.
pub(super) fn plain(what: ChangeKind, kind: Option<&Kind>, message: String, new: Span) -> Change {
    Change {
        what,
        kind: kind.map(|kind| kind.resource.kind.to_string()),
        path: None,
        message,
        new,
        old: None,
        is_gone: false,
        may_be_renamed: false,
        stored: Stored::Keep,
        clients: None,
        help: None,
        test: ValueTest::Every,
    }
}

/// Changes of the operator as a whole, and the kinds that only one of the descriptions has.
pub(super) fn of_operator(old: &Description, new: &Description, pairs: &[Pair<'_>]) -> Vec<Change> {
    let mut changes = Vec::new();
    let (before, now) = (&old.operator, &new.operator);
    if before.value != now.value {
        let message = format!("the operator was `{}` and is `{}` now", before.value, now.value);
        changes.push(Change {
            old: Some(before.span),
            help: Some(format!(
                "delete the Deployment `{}` before the new one starts: both would move the same objects",
                before.value
            )),
            ..plain(ChangeKind::OperatorRenamed, None, message, now.span)
        });
    }
    for kind in &old.kinds {
        if pairs.iter().any(|pair| std::ptr::eq(pair.old, kind)) {
            continue;
        }
        let message = format!("the kind `{}` is gone", kind.resource.kind.value);
        changes.push(Change {
            old: Some(kind.resource.kind.span),
            is_gone: true,
            stored: Stored::Stranded,
            clients: Some("nothing acts on what they write any more"),
            help: Some(match kind.machine.deletion {
                Some(_) => "delete all its objects first: nothing else removes their finalizer".to_owned(),
                None => "delete its CRD when nobody needs its objects any more".to_owned(),
            }),
            ..plain(
                ChangeKind::KindRemoved,
                Some(kind),
                message,
                new.kinds[0].resource.kind.span,
            )
        });
    }
    for kind in &new.kinds {
        if !pairs.iter().any(|pair| std::ptr::eq(pair.new, kind)) {
            let name = &kind.resource.kind;
            let message = format!("the kind `{}` is new", name.value);
            changes.push(plain(ChangeKind::KindAdded, Some(kind), message, name.span));
        }
    }
    changes
}

/// Changes of a kind outside of its schema and its graph.
pub(super) fn of_kind(pair: &Pair<'_>) -> Vec<Change> {
    let mut changes = Vec::new();
    changes.extend(resource_renamed(pair));
    changes.extend(kind_renamed(pair));
    changes.extend(version_renamed(pair));
    changes.extend(scope(pair));
    words(pair, &mut changes);
    scale(pair, &mut changes);
    of_owned(pair, &mut changes);
    columns(pair, &mut changes);
    changes
}

fn resource_renamed(pair: &Pair<'_>) -> Option<Change> {
    let (before, now) = (resource_name(pair.old), resource_name(pair.new));
    if before == now {
        return None;
    }
    let (old, new) = (&pair.old.resource, &pair.new.resource);
    let (old_span, new_span) = match old.group.value == new.group.value {
        true => (old.plural.span, new.plural.span),
        false => (old.group.span, new.group.span),
    };
    let message = format!("the resource was `{before}` and is `{now}` now");
    let finalizer = match pair.old.machine.deletion {
        Some(_) => format!(
            ", and deleted ones wait for their finalizer `{}/{}`",
            old.group.value, old.plural.value
        ),
        None => String::new(),
    };
    Some(Change {
        old: Some(old_span),
        stored: Stored::Stranded,
        clients: Some("their requests go to a resource that no operator manages"),
        help: Some(format!(
            "move the objects while the old operator runs: it alone looks after those of `{before}`{finalizer}"
        )),
        ..plain(ChangeKind::ResourceRenamed, Some(pair.new), message, new_span)
    })
}

fn kind_renamed(pair: &Pair<'_>) -> Option<Change> {
    let (before, now) = (&pair.old.resource.kind, &pair.new.resource.kind);
    (before.value != now.value && resource_name(pair.old) == resource_name(pair.new)).then(|| {
        let message = format!("the kind was `{}` and is `{}` now", before.value, now.value);
        Change {
            old: Some(before.span),
            stored: Stored::DefinitionRefused,
            clients: Some("requests with the old kind are refused"),
            help: Some(
                "the kind of a CRD cannot be changed: give the new one a `plural` of its own, and move the objects"
                    .to_owned(),
            ),
            ..plain(ChangeKind::KindRenamed, Some(pair.new), message, now.span)
        }
    })
}

fn version_renamed(pair: &Pair<'_>) -> Option<Change> {
    let (before, now) = (&pair.old.resource.version, &pair.new.resource.version);
    (before.value != now.value).then(|| {
        let message = format!("the version was `{}` and is `{}` now", before.value, now.value);
        // A new resource has a new CRD, so its version cannot conflict.
        let is_same = resource_name(pair.old) == resource_name(pair.new);
        let stored = if is_same { Stored::DefinitionRefused } else { Stored::Keep };
        Change {
            old: Some(before.span),
            stored,
            clients: Some("requests of the old version are not found"),
            help: Some(format!(
                "objects are stored as `{}`, which the CRD has to name as long as its `status.storedVersions` does",
                before.value
            )),
            ..plain(ChangeKind::VersionChanged, Some(pair.new), message, now.span)
        }
    })
}

fn scope(pair: &Pair<'_>) -> Option<Change> {
    let (before, now) = (&pair.old.resource.scope, &pair.new.resource.scope);
    let word = |scope: Scope| match scope {
        Scope::Namespaced => "in namespaces",
        Scope::Cluster => "in no namespace",
    };
    (before.value != now.value).then(|| {
        let message = format!("objects were {} and are {} now", word(before.value), word(now.value));
        let is_same = resource_name(pair.old) == resource_name(pair.new);
        let stored = if is_same { Stored::DefinitionRefused } else { Stored::Keep };
        Change {
            old: Some(before.span),
            stored,
            clients: Some("objects have another path"),
            help: Some("the scope of a CRD cannot be changed: give the new one a `plural` of its own, and move the objects".to_owned()),
            ..plain(ChangeKind::ScopeChanged, Some(pair.new), message, now.span)
        }
    })
}

/// Changes of the names by which clients refer to the resource, its selectors and its conditions.
fn words(pair: &Pair<'_>, changes: &mut Vec<Change>) {
    let (old, new) = (&pair.old.resource, &pair.new.resource);
    type Words = Vec<(String, Span)>;
    let mut compare = |what: ChangeKind, name: &str, old: Words, new: Words, place: Span| {
        for (word, span) in &old {
            if !new.iter().any(|(now, _)| now == word) {
                changes.push(Change {
                    old: Some(*span),
                    is_gone: true,
                    clients: Some("requests that use it find nothing"),
                    ..plain(
                        what,
                        Some(pair.new),
                        format!("the {name} `{word}` is gone"),
                        place,
                    )
                });
            }
        }
        for (word, span) in &new {
            if !old.iter().any(|(then, _)| then == word) {
                let message = format!("the {name} `{word}` is new");
                changes.push(plain(what, Some(pair.new), message, *span));
            }
        }
    };
    // A name that follows from the kind changes with it; the change of the kind is reported already.
    let follows = |resource: &Resource| resource.singular.span == resource.kind.span;
    let singular = |resource: &Resource| match follows(old) && follows(new) {
        true => Vec::new(),
        false => vec![(resource.singular.to_string(), resource.singular.span)],
    };
    compare(
        ChangeKind::NamesChanged,
        "singular",
        singular(old),
        singular(new),
        new.singular.span,
    );
    let names = |names: &[crate::finding::Spanned<crate::names::ResourceName>]| -> Words {
        names.iter().map(|name| (name.to_string(), name.span)).collect()
    };
    let place = new.kind.span;
    compare(
        ChangeKind::NamesChanged,
        "short name",
        names(&old.short_names),
        names(&new.short_names),
        place,
    );
    let categories = |resource: &Resource| -> Words {
        let categories = resource.categories.iter();
        categories
            .map(|category| (category.to_string(), category.span))
            .collect()
    };
    compare(
        ChangeKind::NamesChanged,
        "category",
        categories(old),
        categories(new),
        place,
    );
    let selectable = |resource: &Resource| -> Words {
        let paths = resource.selectable_fields.iter();
        paths.map(|path| (path.to_string(), path.span)).collect()
    };
    compare(
        ChangeKind::SelectableFieldsChanged,
        "selectable field",
        selectable(old),
        selectable(new),
        place,
    );
    let conditions = |kind: &Kind| -> Words {
        let span_of = |name: &str| {
            let declared = kind
                .conditions
                .iter()
                .find(|condition| condition.name.as_str() == name);
            let settings = || kind.states.iter().flat_map(|state| &state.conditions);
            declared
                .map(|condition| condition.name.span)
                .or_else(|| Some(settings().find(|set| set.name.as_str() == name)?.name.span))
                .unwrap_or(kind.resource.kind.span)
        };
        let types = kind.condition_types().into_iter();
        types.map(|name| (name.to_owned(), span_of(name))).collect()
    };
    compare(
        ChangeKind::ConditionsChanged,
        "condition",
        conditions(pair.old),
        conditions(pair.new),
        place,
    );
}

fn scale(pair: &Pair<'_>, changes: &mut Vec<Change>) {
    let (old, new) = (&pair.old.resource.scale, &pair.new.resource.scale);
    let place = pair.new.resource.kind.span;
    match (old, new) {
        (Some(old), None) => changes.push(Change {
            old: Some(old.spec.span),
            is_gone: true,
            clients: Some("autoscalers and `kubectl scale` no longer work"),
            ..plain(
                ChangeKind::ScaleChanged,
                Some(pair.new),
                "the scale subresource is gone".to_owned(),
                place,
            )
        }),
        (None, Some(new)) => {
            let message = "the scale subresource is new".to_owned();
            changes.push(plain(
                ChangeKind::ScaleChanged,
                Some(pair.new),
                message,
                new.spec.span,
            ));
        }
        (Some(old), Some(new)) if old.spec.value != new.spec.value => {
            let message = format!("`{}` is scaled instead of `{}`", new.spec.value, old.spec.value);
            changes.push(plain(
                ChangeKind::ScaleChanged,
                Some(pair.new),
                message,
                new.spec.span,
            ));
        }
        _ => {}
    }
}

/// Changes of the printer columns.
fn columns(pair: &Pair<'_>, changes: &mut Vec<Change>) {
    let shown = |kind: &Kind| -> Vec<(String, String)> {
        let columns = kind.columns.iter();
        columns
            .map(|column| (column.name.to_string(), column.path.to_string()))
            .collect()
    };
    if shown(pair.old) != shown(pair.new) {
        let place = pair
            .new
            .columns
            .first()
            .map_or(pair.new.resource.kind.span, |column| column.name.span);
        changes.push(plain(
            ChangeKind::ColumnsChanged,
            Some(pair.new),
            "the columns are different".to_owned(),
            place,
        ));
    }
}

/// The path of the state in an object's status.
pub(super) fn state_path() -> SchemaPath {
    SchemaPath::root("status").field("state")
}
