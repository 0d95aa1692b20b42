//! Makes the JSON patch (RFC 6902) for the changes that a handler has made to a typed object.
use serde_json::{Map, Value, json};

/// The operations that change `object` as `before` was changed to `after`.
///
/// `before` is `object` after decoding and encoding: it lacks unknown fields, and has defaults that `object`
/// does not have. Therefore only differences between `before` and `after` are applied to `object`.
pub fn of(object: &Value, before: &Value, after: &Value) -> Vec<Value> {
    let mut operations = Vec::new();
    change(&mut String::new(), Some(object), before, after, &mut operations);
    operations
}

fn change(
    path: &mut String,
    object: Option<&Value>,
    before: &Value,
    after: &Value,
    operations: &mut Vec<Value>,
) {
    if before == after {
        return;
    }
    match (object, before, after) {
        (Some(Value::Object(object)), Value::Object(before), Value::Object(after)) => {
            fields(path, object, before, after, operations);
        }
        (Some(Value::Array(object)), Value::Array(before), Value::Array(after))
            if object.len() == before.len() =>
        {
            items(path, object, before, after, operations);
        }
        // `add` replaces an existing field.
        _ => operations.push(json!({"op": "add", "path": path, "value": after})),
    }
}

fn fields(
    path: &mut String,
    object: &Map<String, Value>,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    operations: &mut Vec<Value>,
) {
    let end = path.len();
    for key in before.keys().filter(|key| !after.contains_key(*key)) {
        if object.contains_key(key) {
            operations.push(json!({"op": "remove", "path": format!("{path}/{}", escaped(key))}));
        }
    }
    for (key, after) in after {
        path.push('/');
        path.push_str(&escaped(key));
        let before = before.get(key).unwrap_or(&Value::Null);
        change(path, object.get(key), before, after, operations);
        path.truncate(end);
    }
}

/// Patches a list: its common prefix and suffix stay, items between them are patched in pairs, and the rest
/// is removed or added.
fn items(
    path: &mut String,
    object: &[Value],
    before: &[Value],
    after: &[Value],
    operations: &mut Vec<Value>,
) {
    let same = |(before, after): &(&Value, &Value)| before == after;
    let first = before.iter().zip(after).take_while(same).count();
    let (mut old, mut new) = (&before[first..], &after[first..]);
    while let ([head @ .., last], [others @ .., other]) = (old, new)
        && last == other
    {
        (old, new) = (head, others);
    }
    let end = path.len();
    let both = old.len().min(new.len());
    for at in 0..both {
        path.push_str(&format!("/{}", first + at));
        change(path, Some(&object[first + at]), &old[at], &new[at], operations);
        path.truncate(end);
    }
    for at in (first + both..first + old.len()).rev() {
        operations.push(json!({"op": "remove", "path": format!("{path}/{at}")}));
    }
    for (at, item) in new.iter().enumerate().skip(both) {
        operations.push(json!({"op": "add", "path": format!("{path}/{}", first + at), "value": item}));
    }
}

/// Escapes a key for a JSON pointer (RFC 6901).
fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_handler_has_changed_is_touched() {
        let object =
            json!({"spec": {"zone": "a", "unknown": 1, "tags": [{"a/b": 1, "new": true}], "gone": 1}});
        let before = json!({"spec": {"zone": "a", "tags": [{"a/b": 1}], "gone": 1, "default": {"x": 1}}});
        let after = json!({"spec": {"zone": "b", "tags": [{"a/b": 2}], "default": {"x": 2}}});
        let expected = json!([
            {"op": "add", "path": "/spec/default", "value": {"x": 2}},
            {"op": "remove", "path": "/spec/gone"},
            {"op": "add", "path": "/spec/tags/0/a~1b", "value": 2},
            {"op": "add", "path": "/spec/zone", "value": "b"},
        ]);
        let mut patch = of(&object, &before, &after);
        // The order of fields may differ.
        patch.sort_by_key(|operation| operation["path"].to_string());
        assert_eq!(Value::from(patch), expected);
        assert_eq!(of(&object, &before, &before), Vec::<Value>::new());
    }

    #[test]
    fn items_that_stay_in_a_list_keep_what_the_type_does_not_know() {
        let object = json!([{"a": 1, "new": 1}, {"a": 2, "new": 2}, {"a": 3, "new": 3}]);
        let before = json!([{"a": 1}, {"a": 2}, {"a": 3}]);
        let patch = |after: Value| Value::from(of(&object, &before, &after));
        let longer = patch(json!([{"a": 1}, {"a": 2}, {"a": 4}, {"a": 3}]));
        assert_eq!(longer, json!([{"op": "add", "path": "/2", "value": {"a": 4}}]));
        let shorter = patch(json!([{"a": 5}, {"a": 3}]));
        let expected = json!([
            {"op": "add", "path": "/0/a", "value": 5},
            {"op": "remove", "path": "/1"},
        ]);
        assert_eq!(shorter, expected);
    }
}
