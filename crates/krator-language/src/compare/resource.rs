//! Changes outside of schema and graph: added and removed kinds, names, versions, and other parts of the CRD.

use super::pair::{FoundChanges, Pair};
use super::{Change, ChangeKind, Stored};
use crate::finding::{Span, Spanned};
use crate::model::{Description, Kind, Resource, Scope, StateId};
use crate::text::shown;

/// Changes of the operator as a whole, and the kinds that only one of the descriptions has.
pub(super) fn of_operator(old: &Description, new: &Description, pairs: &[Pair<'_>]) -> Vec<Change> {
    let mut changes = FoundChanges::of(None);
    let (before, now) = (&old.operator, &new.operator);
    if before.value != now.value {
        let message = format!(
            "the operator was renamed from `{}` to `{}`",
            before.value, now.value
        );
        let change = changes.changed(ChangeKind::OperatorRenamed, message, before.span, now.span);
        change.help = Some(format!(
            "delete the Deployment `{}` before the new one starts, because both would handle the same objects",
            before.value
        ));
    }
    let mut all = changes.found;
    for kind in &old.kinds {
        if pairs.iter().any(|pair| std::ptr::eq(pair.old, kind)) {
            continue;
        }
        let (name, place) = (&kind.resource.kind, new.kinds[0].resource.kind.span);
        let mut changes = FoundChanges::of(Some(kind));
        let message = format!("the kind `{}` was removed", name.value);
        let change = changes.gone(ChangeKind::KindRemoved, message, name.span, place);
        change.stored = Stored::Stranded;
        change.clients = Some("no operator manages their objects");
        change.help = Some(match kind.machine.deletion {
            Some(_) => "delete all its objects while the old operator runs: only it removes their finalizer"
                .to_owned(),
            None => "delete its CRD when its objects are no longer needed".to_owned(),
        });
        all.append(&mut changes.found);
    }
    for kind in &new.kinds {
        if !pairs.iter().any(|pair| std::ptr::eq(pair.new, kind)) {
            let name = &kind.resource.kind;
            let mut changes = FoundChanges::of(Some(kind));
            let message = format!("the kind `{}` is new", name.value);
            changes.added(ChangeKind::KindAdded, message, name.span);
            all.append(&mut changes.found);
        }
    }
    all
}

/// Changes of a kind outside of its schema and its graph.
pub(super) fn of_kind(pair: &Pair<'_>) -> Vec<Change> {
    let mut changes = pair.changes();
    definition(pair, &mut changes);
    names(pair, &mut changes);
    webhooks(pair, &mut changes);
    name_rule(pair, &mut changes);
    admission(pair, &mut changes);
    changes.found
}

/// Changes of a version of a kind outside of its schema.
pub(super) fn of_version(pair: &Pair<'_>) -> Vec<Change> {
    let mut changes = pair.changes();
    let selectable = |kind: &Kind| names_of(&kind.resource.selectable_fields);
    named(
        pair,
        (ChangeKind::SelectableFieldsChanged, "selectable field"),
        (selectable(pair.old), selectable(pair.new)),
        &mut changes,
    );
    scale(pair, &mut changes);
    let columns = |kind: &Kind| -> Vec<(String, String)> {
        let columns = kind.columns.iter();
        columns
            .map(|column| (column.name.to_string(), column.path.to_string()))
            .collect()
    };
    if columns(pair.old) != columns(pair.new) {
        let first = pair.new.columns.first();
        let place = first.map_or(pair.new.resource.kind.span, |column| column.name.span);
        changes.added(ChangeKind::ColumnsChanged, "the columns are different", place);
    }
    changes.found
}

/// Changes of the immutable parts of a CRD.
fn definition(pair: &Pair<'_>, changes: &mut FoundChanges<'_>) {
    let (old, new) = (&pair.old.resource, &pair.new.resource);
    let (before, now) = (pair.old.resource.definition(), pair.new.resource.definition());
    let is_same = before == now;
    if !is_same {
        let (old_span, new_span) = match old.group.value == new.group.value {
            true => (old.plural.span, new.plural.span),
            false => (old.group.span, new.group.span),
        };
        let finalizer = match pair.old.machine.deletion {
            Some(_) => format!(
                ", and removes their finalizer `{}/{}`",
                old.group.value, old.plural.value
            ),
            None => String::new(),
        };
        let message = format!("the resource changed from `{before}` to `{now}`");
        let change = changes.changed(ChangeKind::ResourceRenamed, message, old_span, new_span);
        change.stored = Stored::Stranded;
        change.clients = Some("their requests go to a resource that no operator manages");
        change.help = Some(format!(
            "move the objects while the old operator runs: only it manages objects of `{before}`{finalizer}"
        ));
    }
    // A new resource has a new CRD, which does not conflict with the old one.
    let stored = if is_same {
        Stored::DefinitionRefused
    } else {
        Stored::Keep
    };
    let (before, now) = (&old.kind, &new.kind);
    if before.value != now.value && is_same {
        let message = format!("the kind changed from `{}` to `{}`", before.value, now.value);
        let change = changes.changed(ChangeKind::KindRenamed, message, before.span, now.span);
        change.stored = stored.clone();
        change.clients = Some("requests with the old kind are refused");
        change.help = Some(format!("the kind {CANNOT_CHANGE}"));
    }
    let (before, now) = (&old.scope, &new.scope);
    if before.value != now.value {
        let word = |scope: Scope| match scope {
            Scope::Namespaced => "namespaced",
            Scope::Cluster => "cluster-scoped",
        };
        let message = format!(
            "objects were {} and are now {}",
            word(before.value),
            word(now.value)
        );
        let change = changes.changed(ChangeKind::ScopeChanged, message, before.span, now.span);
        change.stored = stored;
        change.clients = Some("the paths of objects change");
        change.help = Some(format!("the scope {CANNOT_CHANGE}"));
    }
}

const CANNOT_CHANGE: &str =
    "of a CRD cannot be changed: give the new resource another `plural`, and move the objects";

/// Names, each with its place.
type Names = Vec<(String, Span)>;

fn names_of<T: ToString>(names: &[Spanned<T>]) -> Names {
    names
        .iter()
        .map(|name| (name.value.to_string(), name.span))
        .collect()
}

/// Changes of the names by which clients refer to the resource, and of its conditions.
fn names(pair: &Pair<'_>, changes: &mut FoundChanges<'_>) {
    let (old, new) = (&pair.old.resource, &pair.new.resource);
    // A name that is derived from the kind changes with it; the change of the kind is reported already.
    let follows = |resource: &Resource| resource.singular.span == resource.kind.span;
    let singular = |resource: &Resource| match follows(old) && follows(new) {
        true => Vec::new(),
        false => vec![(resource.singular.to_string(), resource.singular.span)],
    };
    let of_both = |names: fn(&Resource) -> Names| (names(old), names(new));
    let sorts = [
        (
            ChangeKind::NamesChanged,
            "singular",
            (singular(old), singular(new)),
        ),
        (
            ChangeKind::NamesChanged,
            "short name",
            of_both(|resource| names_of(&resource.short_names)),
        ),
        (
            ChangeKind::NamesChanged,
            "category",
            of_both(|resource| names_of(&resource.categories)),
        ),
        (
            ChangeKind::ConditionsChanged,
            "condition",
            (conditions(pair.old), conditions(pair.new)),
        ),
    ];
    for (what, sort, both) in sorts {
        named(pair, (what, sort), both, changes);
    }
}

/// Changes of names of one category.
fn named(
    pair: &Pair<'_>,
    (what, sort): (ChangeKind, &str),
    (old, now): (Names, Names),
    changes: &mut FoundChanges<'_>,
) {
    let new = &pair.new.resource;
    let is_in = |names: &Names, name: &str| names.iter().any(|(known, _)| known == name);
    for (name, span) in old.iter().filter(|(name, _)| !is_in(&now, name)) {
        let place = match sort {
            "singular" => new.singular.span,
            _ => new.kind.span,
        };
        let change = changes.gone(what, format!("the {sort} `{name}` was removed"), *span, place);
        change.clients = Some("requests that use it get no results");
    }
    for (name, span) in now.iter().filter(|(name, _)| !is_in(&old, name)) {
        changes.added(what, format!("the {sort} `{name}` is new"), *span);
    }
}

/// The conditions of a kind, at their declarations or otherwise where states set them.
fn conditions(kind: &Kind) -> Names {
    let span_of = |name: &str| {
        let declared = kind.conditions.iter().map(|condition| &condition.name);
        let set = kind.states.iter().flat_map(|state| &state.conditions);
        let mut named = declared.chain(set.map(|condition| &condition.name));
        let named = named.find(|condition| condition.as_str() == name);
        named.map_or(kind.resource.kind.span, |condition| condition.span)
    };
    let types = kind.condition_types().into_iter();
    types.map(|name| (name.to_owned(), span_of(name))).collect()
}

fn webhooks(pair: &Pair<'_>, changes: &mut FoundChanges<'_>) {
    let (old, new, place) = (
        &pair.old.webhooks,
        &pair.new.webhooks,
        pair.new.resource.kind.span,
    );
    let both = [
        ("validate", &old.validate, &new.validate),
        ("mutate", &old.mutate, &new.mutate),
    ];
    for (name, old, new) in both {
        match (old, new) {
            (None, Some(new)) => {
                let message = format!("the webhook `{name}` is new");
                let change = changes.added(ChangeKind::WebhookAdded, message, new.span);
                change.clients = Some("their requests wait for a response of the operator");
                change.help = Some(
                    "roll out the operator before deploy/webhooks.yaml: an older operator does not serve the webhook"
                        .to_owned(),
                );
            }
            (Some(old), None) => {
                let message = format!("the webhook `{name}` was removed");
                let change = changes.gone(ChangeKind::WebhookRemoved, message, old.span, place);
                change.help = Some(
                    "delete its configuration before the new operator starts, because the new operator does not \
                     serve the webhook".to_owned(),
                );
            }
            (Some(old), Some(new)) if !old.asks_the_same(new) => {
                let message = format!("the webhook `{name}` is called for other requests");
                changes.changed(ChangeKind::WebhookChanged, message, old.span, new.span);
            }
            _ => {}
        }
    }
}

/// Changes of the pattern of names. Existing objects keep their names.
fn name_rule(pair: &Pair<'_>, changes: &mut FoundChanges<'_>) {
    let pattern = |kind: &'_ Kind| kind.resource.name.as_ref().map(|name| name.pattern.clone());
    let (old, new) = (pattern(pair.old), pattern(pair.new));
    match (old, new) {
        (Some(old), None) => {
            let place = pair.new.resource.kind.span;
            changes.gone(
                ChangeKind::NameRuleRemoved,
                "objects may have any name",
                old.span,
                place,
            );
        }
        (old, Some(new)) if old.as_deref() != Some(&new.value) => {
            let message = format!("names of new objects have to match `{}`", shown(&new));
            let change = changes.added(ChangeKind::NameRuleAdded, message, new.span);
            change.clients = Some("requests that create objects with other names are refused");
        }
        _ => {}
    }
}

/// Changes of the requests that policies deny.
fn admission(pair: &Pair<'_>, changes: &mut FoundChanges<'_>) {
    let (old, new) = (&pair.old.admission, &pair.new.admission);
    let none = pair.new.resource.kind.span;
    let mut note =
        |before: Option<Span>, now: Option<Span>, refused: &str, meets: &'static str| match (before, now) {
            (None, Some(now)) => {
                let change = changes.added(ChangeKind::PolicyAdded, format!("{refused} are refused"), now);
                change.clients = Some(meets);
            }
            (Some(before), None) => {
                changes.gone(
                    ChangeKind::PolicyRemoved,
                    format!("{refused} are no longer refused"),
                    before,
                    none,
                );
            }
            _ => {}
        };
    note(
        old.status,
        new.status,
        "writes of the status by clients other than the operator",
        "writers of the status need the verb `operate`",
    );
    note(
        old.transitions,
        new.transitions,
        "changes of the stored state without an edge",
        "changes of the state without an edge are refused, including those by an operator that is newer than the \
         policy",
    );
    for id in &new.protect {
        let name = &pair.new.state(id.value).name.value;
        let former = |id: &Spanned<StateId>| pair.lineage.successor(id.value);
        if !old.protect.iter().any(|old| former(old) == Some(id.value)) {
            let refused = format!("deletions of objects in the state `{name}`");
            note(
                None,
                Some(id.span),
                &refused,
                "they have to allow the deletion by an annotation first",
            );
        }
    }
    for id in &old.protect {
        let now = pair.lineage.successor(id.value);
        if !new.protect.iter().any(|new| now == Some(new.value)) {
            let name = &pair.old.state(id.value).name.value;
            note(
                Some(id.span),
                None,
                &format!("deletions of objects in the state `{name}`"),
                "",
            );
        }
    }
}

fn scale(pair: &Pair<'_>, changes: &mut FoundChanges<'_>) {
    let (what, place) = (ChangeKind::ScaleChanged, pair.new.resource.kind.span);
    match (&pair.old.resource.scale, &pair.new.resource.scale) {
        (Some(old), None) => {
            let change = changes.gone(what, "the scale subresource was removed", old.spec.span, place);
            change.clients = Some("autoscalers and `kubectl scale` no longer work");
        }
        (None, Some(new)) => _ = changes.added(what, "the scale subresource is new", new.spec.span),
        (Some(old), Some(new)) if old.spec.value != new.spec.value => {
            let message = format!(
                "the scale subresource scales `{}` instead of `{}`",
                new.spec.value, old.spec.value
            );
            changes.added(what, message, new.spec.span);
        }
        _ => {}
    }
}
