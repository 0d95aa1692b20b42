//! Constraints of a newer version that an older one cannot have.
//!
//! Each object of one version has to be a valid object of the other. A change that cannot guarantee this is refused if
//! the reason is a bound of the field itself. A rule of an object around the field may be broken by objects of the
//! older version, whose clients are not aware of it; it is left out of the older version, and a finding reports this.

use krator_machine::versions::{Change, Path, Step, path_text};
use krator_schema::cel;

use super::shapes::{self, Unfit};
use crate::finding::Spanned;
use crate::model::lower::schema::Types;
use crate::model::{Schema, Shape};

/// Rules of the newer version that an older one lacks.
pub(super) type Lost = Vec<Spanned<String>>;

/// The place of a change in the newer version, and the number of its steps that the older version also has.
fn newer(change: &Change) -> (&Path, usize) {
    match change {
        Change::Moved { to, to_kept, .. } => (to, *to_kept),
        Change::Added { at, .. } | Change::Removed { at, .. } => (at, at.len() - 1),
        Change::Values { at, .. } | Change::Duration { at, .. } | Change::Custom { at, .. } => (at, at.len()),
    }
}

/// Whether one of the versions cannot represent the whole value, so that the rest is kept in an annotation.
fn rides(change: &Change) -> bool {
    let has_index = |path: &Path| path.iter().any(|step| matches!(step, Step::Index(_)));
    match change {
        Change::Moved { from, to, .. } => has_index(from) || has_index(to),
        Change::Values { map, .. } => {
            let mut older: Vec<String> = map.iter().map(|(older, _)| older.to_string()).collect();
            let count = older.len();
            older.sort();
            older.dedup();
            older.len() < count
        }
        Change::Added { .. } | Change::Removed { .. } | Change::Duration { .. } | Change::Custom { .. } => {
            true
        }
    }
}

/// Refuses a change whose value would be kept in an annotation although this is not allowed. `before` is the newer
/// version.
pub(super) fn may_ride(types: &Types<'_>, before: &Schema, change: &Change) -> Result<(), Unfit> {
    let (place, kept) = newer(change);
    let is_elsewhere = |from: &Path| from[..from.len() - 1] != place[..place.len() - 1];
    let is_moved = matches!(change, Change::Moved { from, .. } if is_elsewhere(from));
    if place.first() == Some(&Step::Field("status".to_owned())) && (is_moved || rides(change)) {
        let why = "a field of the status can only be `renamed`, or its `values` mapped one to one, because both versions have to contain all its data";
        return Err(why.to_owned());
    }
    if !rides(change) {
        return Ok(());
    }
    let mut root = before.clone();
    for at in 0..place.len() {
        let Ok(around) = shapes::at(types, &mut root, &place[..at]) else {
            break;
        };
        if is_told_apart(around, &place[at..]) && !matches!(change, Change::Moved { .. }) {
            let why = "this value identifies the items of the list, so each item has to keep a unique one";
            return Err(why.to_owned());
        }
        let Ok(schema) = shapes::at(types, &mut root, &place[..=at]) else {
            break;
        };
        let is_below = at >= kept.min(place.len() - 1);
        if schema.change.is_some() || is_below && has_bound_field(types, schema) {
            let field = path_text(&place[..=at]);
            return Err(format!(
                "changes of `{field}` are restricted, but a part of its value would be kept in an annotation, which \
                 clients can write"
            ));
        }
        if place
            .get(at + 1)
            .is_some_and(|step| matches!(step, Step::Index(_)))
        {
            list_takes_any(schema)?;
        }
    }
    Ok(())
}

/// Refuses a list that could not contain both the one item and the items from the annotation.
fn list_takes_any(list: &Schema) -> Result<(), Unfit> {
    let kind = list
        .extension("x-kubernetes-list-type")
        .and_then(|kind| kind.as_str());
    if let Some(kind @ ("set" | "map")) = kind {
        return Err(format!(
            "the first item of a list of the type `{kind}` could duplicate another item"
        ));
    }
    let least = list
        .constraints
        .limits
        .get("minItems")
        .and_then(|least| least.value.as_u64());
    match least {
        Some(2..) => {
            Err("`minItems` requires more items than the single item of the older version".to_owned())
        }
        _ => Ok(()),
    }
}

/// Whether the value at the steps identifies the items of a list.
fn is_told_apart(list: &Schema, steps: &[Step]) -> bool {
    let kind = list
        .extension("x-kubernetes-list-type")
        .and_then(|kind| kind.as_str());
    match (kind, steps) {
        (Some("set"), [Step::Each]) => true,
        (Some("map"), [Step::Each, Step::Field(name)]) => {
            let keys = list
                .extension("x-kubernetes-list-map-keys")
                .and_then(|keys| keys.as_array());
            keys.is_some_and(|keys| keys.iter().any(|key| key == name))
        }
        _ => false,
    }
}

fn has_bound_field(types: &Types<'_>, schema: &Schema) -> bool {
    let schema = types.inlined(schema);
    let is_bound = |schema: &Schema| schema.change.is_some() || has_bound_field(types, schema);
    match &schema.shape {
        Shape::Object(fields) => fields.iter().any(|field| is_bound(&field.schema)),
        Shape::List(inner) | Shape::Map(inner) => is_bound(inner),
        _ => false,
    }
}

/// Removes the rules around a change that the older version cannot keep. `before` is the newer version.
pub(super) fn leave_out(
    types: &Types<'_>,
    before: &Schema,
    root: &mut Schema,
    change: &Change,
    lost: &mut Lost,
) {
    let (place, kept) = newer(change);
    // A rule of the list or map itself may apply to each item without naming it.
    let named = (0..kept.min(place.len() - 1) + 1)
        .rev()
        .find(|at| matches!(place[*at], Step::Field(_)));
    let named = named.unwrap_or(0);
    let names: Vec<&str> = place[named..]
        .iter()
        .filter_map(|step| match step {
            Step::Field(name) => Some(name.as_str()),
            Step::Each | Step::Index(_) => None,
        })
        .collect();
    let counts = !matches!(
        change,
        Change::Values { .. } | Change::Duration { .. } | Change::Custom { .. }
    );
    for depth in 1..=kept {
        if let Some(schema) = shapes::find(root, &place[..depth]) {
            let about: &dyn Fn(&str) -> bool =
                &|text| depth > named || names.iter().any(|name| mentions(text, name));
            take_rules(schema, about, counts, lost);
        }
    }
    if let Change::Moved { from, from_kept, .. } = change {
        for depth in 1..=*from_kept {
            if let Some(schema) = shapes::find(root, &from[..depth]) {
                take_rules(schema, &|_| false, true, lost);
            }
        }
    }
    // The objects and lists that only the newer version has.
    let mut newer = before.clone();
    for depth in kept + 1..place.len() {
        if let Ok(gone) = shapes::at(types, &mut newer, &place[..depth]) {
            take_rules(gone, &|_| true, true, lost);
        }
    }
}

/// Removes the rules for which `about` is true from a schema, and if `counts` is set also the limits on the number of
/// fields.
fn take_rules(schema: &mut Schema, about: &dyn Fn(&str) -> bool, counts: bool, lost: &mut Lost) {
    schema.validations.retain(|validation| {
        let texts = [
            Some(&validation.rule),
            validation.message_expression.as_ref(),
            validation.field_path.as_ref(),
        ];
        let is_lost = texts.into_iter().flatten().any(|text| about(&text.value));
        if is_lost {
            lost.push(validation.rule.clone());
        }
        !is_lost
    });
    schema.extensions.retain(|(key, value)| {
        let is_schema = matches!(key.value.as_str(), "allOf" | "anyOf" | "oneOf" | "not");
        let is_lost = is_schema && about(&value.to_string());
        if is_lost {
            lost.push(key.clone());
        }
        !is_lost
    });
    if counts && matches!(schema.shape, Shape::Object(_)) {
        for keyword in ["minProperties", "maxProperties"] {
            if let Some(limit) = schema.constraints.limits.remove(keyword) {
                lost.push(Spanned::new(keyword.to_owned(), limit.span));
            }
        }
    }
}

/// Whether a rule contains the name of a field. A match may be another item of that name.
fn mentions(text: &str, name: &str) -> bool {
    let escaped = cel::escape(name);
    let names = [Some(name), escaped.as_deref()];
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    names.into_iter().flatten().any(|name| {
        let mut found = text.match_indices(name);
        found.any(|(at, _)| {
            let (before, after) = (&text[..at], &text[at + name.len()..]);
            !before.ends_with(is_part) && !after.starts_with(is_part)
        })
    })
}
