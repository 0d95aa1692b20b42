//! Maps whose keys a handler leaves out all at once. Server-side apply makes `null` of such a map instead of `{}`, which
//! the API server then refuses where the schema does not allow it: in `spec` of a custom resource, for example.
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::{Map, Value};

/// A merge patch that removes the keys which `manager` has applied before, in the maps that are empty in `body` now. `None`
/// if there are none. Keys that others have set, too, are kept.
pub(super) fn patch(meta: &ObjectMeta, manager: &str, body: &Value) -> Option<Value> {
    let (mut own, mut others) = (None, Vec::new());
    for entry in meta.managed_fields.iter().flatten() {
        let Some(fields) = &entry.fields_v1 else { continue };
        if entry.manager.as_deref() == Some(manager) && entry.operation.as_deref() == Some("Apply") {
            own = Some(&fields.0);
        } else {
            others.push(&fields.0);
        }
    }
    in_empty_maps(body, own?, &others)
}

fn in_empty_maps(body: &Value, own: &Value, others: &[&Value]) -> Option<Value> {
    let body = body.as_object()?;
    if body.is_empty() {
        return removed(own, others);
    }
    let inside = body.iter().filter_map(|(name, value)| {
        let key = format!("f:{name}");
        let patch = in_empty_maps(value, own.get(&key)?, &at(others, &key))?;
        Some((name.clone(), patch))
    });
    some(inside.collect())
}

/// Removes what is only in `own`.
fn removed(own: &Value, others: &[&Value]) -> Option<Value> {
    let keys = own.as_object()?.iter().filter_map(|(key, below)| {
        let (name, others) = (key.strip_prefix("f:")?, at(others, key));
        let patch = if others.is_empty() {
            Value::Null
        } else {
            removed(below, &others)?
        };
        Some((name.to_owned(), patch))
    });
    some(keys.collect())
}

fn at<'a>(fields: &[&'a Value], key: &str) -> Vec<&'a Value> {
    fields.iter().filter_map(|fields| fields.get(key)).collect()
}

fn some(patch: Map<String, Value>) -> Option<Value> {
    (!patch.is_empty()).then_some(Value::Object(patch))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json};

    #[test]
    fn only_own_keys_of_empty_maps_are_removed() {
        let meta: ObjectMeta = from_value(json!({"managedFields": [
            {"manager": "me", "operation": "Apply", "fieldsV1": {"f:spec": {
                "f:gone": {}, "f:shared": {}, "f:deep": {"f:gone": {}, "f:shared": {}}, "f:kept": {"f:gone": {}},
            }}},
            {"manager": "me", "operation": "Update", "fieldsV1": {"f:spec": {"f:shared": {}}}},
            {"manager": "other", "operation": "Update", "fieldsV1": {"f:spec": {"f:deep": {"f:shared": {}}}}},
        ]}))
        .expect("metadata");
        let of = |body: Value| patch(&meta, "me", &body);
        assert_eq!(
            of(json!({"spec": {}})),
            Some(json!({"spec": {"gone": null, "deep": {"gone": null}, "kept": null}}))
        );
        assert_eq!(
            of(json!({"spec": {"gone": 1, "kept": {}}})),
            Some(json!({"spec": {"kept": {"gone": null}}}))
        );
        assert_eq!(of(json!({"spec": {"gone": 1}, "data": {}})), None);
        assert_eq!(patch(&meta, "nobody", &json!({"spec": {}})), None);
    }
}
