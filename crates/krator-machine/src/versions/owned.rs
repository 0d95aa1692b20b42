//! Converts `managedFields` to another version. The API server keeps an entry in the version that its manager
//! used last, and refuses every server-side apply to an object that has an entry in a removed version.
use super::path::{nested, nested_value, split};
use super::{Change, Direction, Step, Versions};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

impl Versions {
    /// Converts owned fields, in the format `FieldsV1`, from one version to another; `None` if a version is
    /// unknown. Fields that the other version lacks are dropped.
    pub fn owned(&self, mut fields: Value, from: &str, to: &str) -> Option<Value> {
        let (mut at, target) = (self.find(from)?, self.find(to)?);
        while at != target {
            let next = if at < target { at + 1 } else { at - 1 };
            self.each_change((at, next), |change, direction| {
                own(change, &mut fields, direction)
            });
            at = next;
        }
        Some(fields)
    }
}

fn own(change: &Change, fields: &mut Value, direction: Direction) {
    if let Some((from, to)) = change.way(direction) {
        return moved(change, fields, direction, from, to);
    }
    match (change, direction) {
        // Moved values were handled above.
        (Change::Moved { .. }, _) => {}
        (Change::Added { at, .. }, Direction::Down) | (Change::Removed { at, .. }, Direction::Up) => {
            remove(fields, at);
        }
        (Change::Added { .. }, Direction::Up) | (Change::Removed { .. }, Direction::Down) => {}
        (Change::Values { at, .. } | Change::Duration { at, .. } | Change::Custom { at, .. }, direction) => {
            let (above, _) = split(at);
            rename_items(fields, above, &|item| retold(change, direction, above, item));
            if matches!(change, Change::Custom { .. }) {
                // The converted value may have other fields, so it is owned as a whole.
                at_each(fields, at, &mut |fields| *fields = json!({}));
            }
        }
    }
}

fn moved(
    change: &Change,
    fields: &mut Value,
    direction: Direction,
    (from, kept): (&[Step], usize),
    to: &[Step],
) {
    let ((above, from), (_, to)) = (split(from), split(to));
    rename_items(fields, above, &|item| retold(change, direction, above, item));
    at_each(fields, above, &mut |parent| {
        // Items of lists without keys have no separate owners.
        let (from_item, to_item) = (before_index(from), before_index(to));
        let Some(owned) = at_path(parent, from_item).cloned() else {
            return;
        };
        let gone = kept
            .saturating_sub(above.len())
            .min(from_item.len().saturating_sub(1));
        remove(parent, &from_item[..=gone]);
        let is_whole = from_item.len() == from.len() && to_item.len() == to.len();
        put(parent, to_item, if is_whole { owned } else { json!({}) });
    });
}

fn before_index(path: &[Step]) -> &[Step] {
    let index = path.iter().position(|step| matches!(step, Step::Index(_)));
    &path[..index.unwrap_or(path.len())]
}

/// Converts the key of a list item by applying the change to an object with only that item.
fn retold(change: &Change, direction: Direction, above: &[Step], item: &Value) -> Option<Value> {
    let mut object = nested(above, item.clone());
    // Keys are never converted by functions.
    change.apply(
        &mut object,
        direction,
        &|_, _, value| Ok(value),
        &mut BTreeMap::new(),
    );
    nested_value(&mut object, above).map(Value::take)
}

/// Changes the keys of items in the lists at a path that ends with them, if the keys are objects.
fn rename_items(fields: &mut Value, path: &[Step], key: &dyn Fn(&Value) -> Option<Value>) {
    let Some((Step::Each, above)) = path.split_last() else {
        return;
    };
    at_each(fields, above, &mut |list| {
        let Value::Object(items) = list else {
            return;
        };
        let renamed = std::mem::take(items).into_iter().map(|(name, below)| {
            let new = name
                .strip_prefix("k:")
                .and_then(|item| serde_json::from_str(item).ok())
                .and_then(|item| key(&item))
                // `BTreeMap` sorts the fields as the API server does.
                .and_then(|item| serde_json::from_value::<BTreeMap<String, Value>>(item).ok())
                .and_then(|item| serde_json::to_string(&item).ok());
            (new.map_or(name, |new| format!("k:{new}")), below)
        });
        *items = renamed.collect();
    });
}

fn at_each(fields: &mut Value, path: &[Step], act: &mut dyn FnMut(&mut Value)) {
    let Some((step, rest)) = path.split_first() else {
        return act(fields);
    };
    let Value::Object(below) = fields else {
        return;
    };
    match step {
        Step::Field(name) => {
            if let Some(below) = below.get_mut(&format!("f:{name}")) {
                at_each(below, rest, act);
            }
        }
        Step::Each => {
            let items = below.iter_mut().filter(|(name, _)| *name != ".");
            items.for_each(|(_, item)| at_each(item, rest, act));
        }
        Step::Index(_) => {}
    }
}

fn at_path<'f>(fields: &'f Value, path: &[Step]) -> Option<&'f Value> {
    path.iter().try_fold(fields, |fields, step| match step {
        Step::Field(name) => fields.get(format!("f:{name}")),
        Step::Index(_) | Step::Each => None,
    })
}

/// Removes a field, and its ancestors that own nothing else.
fn remove(fields: &mut Value, path: &[Step]) {
    let Some((Step::Field(name), above)) = path.split_last() else {
        return;
    };
    at_each(fields, above, &mut |parent| {
        if let Value::Object(parent) = parent {
            parent.remove(&format!("f:{name}"));
        }
    });
    if above.is_empty() {
        return;
    }
    // An empty set would claim the whole value.
    let is_empty = |fields: &Value| fields.as_object().is_some_and(Map::is_empty);
    if at_path(fields, above).is_some_and(is_empty) {
        remove(fields, above);
    }
}

fn put(fields: &mut Value, path: &[Step], owned: Value) {
    let Some((Step::Field(name), rest)) = path.split_first() else {
        if let (Value::Object(fields), Value::Object(owned)) = (fields, owned) {
            fields.extend(owned);
        }
        return;
    };
    if let Value::Object(fields) = fields {
        put(
            fields.entry(format!("f:{name}")).or_insert_with(|| json!({})),
            rest,
            owned,
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::versions::Versions;
    use serde_json::{Value, json};

    fn versions() -> Versions {
        let field = |path: &str| -> Value {
            path.split('.')
                .map(|step| if step == "*" { Value::Null } else { step.into() })
                .collect()
        };
        serde_json::from_value(json!({
            "group": "g", "kind": "K", "stored": "v2", "newest": {"name": "v2"},
            "older": [{"name": "v1", "changes": [
                {"moved": {"from": field("spec.size"), "fromKept": 1, "to": field("spec.replicas"), "toKept": 1}},
                {"moved": {"from": field("spec.host"), "fromKept": 1, "to": ["spec", "hosts", 0], "toKept": 1}},
                {"moved": {"from": field("spec.rules.*.id"), "fromKept": 3, "to": field("spec.rules.*.name"), "toKept": 3}},
                {"added": {"at": field("spec.tls.on"), "default": true}},
                {"custom": {"at": field("spec.selector"), "function": "selector"}},
            ]}],
        }))
        .expect("versions")
    }

    #[test]
    fn fields_are_owned_where_they_are_in_the_other_version() {
        let older = json!({"f:spec": {
            "f:host": {}, "f:other": {".": {}, "f:deep": {}}, "f:selector": {"f:matchLabels": {}}, "f:size": {},
            "f:rules": {"k:{\"id\":\"x\"}": {".": {}, "f:id": {}}},
        }});
        let newer = json!({"f:spec": {
            "f:hosts": {}, "f:other": {".": {}, "f:deep": {}}, "f:replicas": {}, "f:selector": {},
            "f:rules": {"k:{\"name\":\"x\"}": {".": {}, "f:name": {}}},
        }});
        let versions = versions();
        assert_eq!(versions.owned(older.clone(), "v1", "v2"), Some(newer.clone()));
        let mut back = older.clone();
        back["f:spec"]["f:selector"] = json!({});
        assert_eq!(versions.owned(newer, "v2", "v1"), Some(back));
        assert_eq!(versions.owned(older, "v1", "v3"), None);
    }

    #[test]
    fn nobody_owns_what_the_other_version_lacks() {
        let newer = json!({"f:spec": {"f:replicas": {}, "f:tls": {"f:on": {}}}});
        let older = json!({"f:spec": {"f:size": {}}});
        assert_eq!(versions().owned(newer, "v2", "v1"), Some(older));
    }
}
