//! Takes over fields of a child from former field managers: this operator under a former name, or the
//! managers that an annotation names. Only the metadata is changed, as `kubectl apply --server-side` does it
//! for client-side apply. The next apply then replaces former fields by new ones in a single write. If both
//! were present for a moment, the API server might refuse the object, and pods would be rolled out twice.
use crate::text::printable;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{FieldsV1, ManagedFieldsEntry, ObjectMeta};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The operation of a manager that applies.
const APPLY: &str = "Apply";
/// The most fields of a manager that an event lists.
const LISTED: usize = 8;

/// The managers of the fields of a child.
pub(super) struct Managers<'a> {
    /// The field manager of the owner: `<operator>-<uid>`.
    pub present: &'a str,
    /// The uid of its owner.
    pub uid: &'a str,
    /// The annotation that names the former managers.
    pub annotation: &'a str,
}

impl Managers<'_> {
    /// A merge patch that makes fields of former managers those of the present one. `None` if there is nothing to take over.
    pub fn take_over(&self, meta: &ObjectMeta) -> Option<Value> {
        let (named, entries) = (
            self.named(meta),
            meta.managed_fields.as_deref().unwrap_or_default(),
        );
        let is_former = |entry: &&ManagedFieldsEntry| self.is_former(entry, named.unwrap_or_default());
        let own = entries.iter().find(|entry| self.is_present(entry));
        let first = own.or_else(|| entries.iter().find(is_former));
        // A manager that applies has one entry, in one version.
        let is_taken = |entry: &&ManagedFieldsEntry| {
            is_former(entry) && first.is_some_and(|first| first.api_version == entry.api_version)
        };
        let mut patch = json!({"metadata": {"resourceVersion": meta.resource_version}});
        if named.is_some() {
            patch["metadata"]["annotations"] = json!({self.annotation: null});
        }
        if entries.iter().any(|entry| is_taken(&entry)) {
            let mut fields = json!({});
            for entry in own.into_iter().chain(entries.iter().filter(is_taken)) {
                unite(&mut fields, entry.fields_v1.as_ref().map(|fields| &fields.0));
            }
            // No child is applied with a status.
            if let Some(fields) = fields.as_object_mut() {
                fields.remove("f:status");
            }
            let united = first.map(|first| ManagedFieldsEntry {
                manager: Some(self.present.to_owned()),
                operation: Some(APPLY.to_owned()),
                fields_v1: Some(FieldsV1(fields)),
                ..first.clone()
            });
            let others = entries
                .iter()
                .filter(|entry| !self.is_present(entry) && !is_taken(entry));
            let entries: Vec<_> = others.cloned().chain(united).collect();
            patch["metadata"]["managedFields"] = json!(entries);
        } else if named.is_none() {
            return None;
        }
        Some(patch)
    }

    /// Whether a child is handed over without its former managers: none is named and it was never applied, or
    /// the named ones have no fields.
    pub fn lacks_former(&self, meta: &ObjectMeta) -> bool {
        let named = self.named(meta);
        let mut entries = meta.managed_fields.iter().flatten();
        !entries.any(|entry| {
            self.is_former(entry, named.unwrap_or_default()) || named.is_none() && self.is_present(entry)
        })
    }

    /// The managers that have fields which the present one lacks, and those fields, for people; `None` if there are none.
    pub fn others(&self, meta: &ObjectMeta) -> Option<(String, String)> {
        let entries = || meta.managed_fields.iter().flatten();
        let own = entries().find(|entry| self.is_present(entry))?.fields_v1.as_ref();
        let mut of_others: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for entry in entries().filter(|entry| is_of_main(entry) && !self.is_present(entry)) {
            let (Some(manager), Some(fields)) = (&entry.manager, &entry.fields_v1) else {
                continue;
            };
            let found = of_others.entry(manager).or_default();
            lacking(&fields.0, own.map(|own| &own.0), &mut String::new(), found);
        }
        // The client that handed the child over has set its owner reference and the annotation.
        for found in of_others.values_mut() {
            found.retain(|path| {
                !path.starts_with(".metadata.ownerReferences") && !path.starts_with(".status")
            });
        }
        of_others.retain(|_, found| !found.is_empty());
        let listed = of_others.iter().map(|(manager, found)| {
            let more = if found.len() > LISTED { ", …" } else { "" };
            let found = found.iter().take(LISTED).map(String::as_str).collect::<Vec<_>>();
            format!("`{}`: {}{more}", printable(manager), printable(&found.join(", ")))
        });
        let listed = listed.collect::<Vec<_>>().join("; ");
        let managers = of_others.into_keys().collect::<Vec<_>>().join(",");
        (!managers.is_empty()).then_some((managers, listed))
    }

    fn named<'m>(&self, meta: &'m ObjectMeta) -> Option<&'m str> {
        Some(meta.annotations.as_ref()?.get(self.annotation)?)
    }

    fn is_present(&self, entry: &ManagedFieldsEntry) -> bool {
        is_of_main(entry) && applies(entry) && entry.manager.as_deref() == Some(self.present)
    }

    /// Whether an entry is of the operator under another name, or of a manager in `named`. Only this
    /// operator's managers end with the uid of the owner.
    fn is_former(&self, entry: &ManagedFieldsEntry, named: &str) -> bool {
        let Some(manager) = entry.manager.as_deref().filter(|_| is_of_main(entry)) else {
            return false;
        };
        let is_own = || {
            let name = manager
                .strip_suffix(self.uid)
                .and_then(|rest| rest.strip_suffix('-'));
            applies(entry) && name.is_some() && manager != self.present
        };
        named.split(',').any(|name| name.trim() == manager) || is_own()
    }
}

/// Whether an entry is about the main resource. Fields set through a subresource, such as `replicas` by
/// autoscalers, stay with their managers.
fn is_of_main(entry: &ManagedFieldsEntry) -> bool {
    entry.subresource.as_deref().unwrap_or_default().is_empty()
}

fn applies(entry: &ManagedFieldsEntry) -> bool {
    entry.operation.as_deref() == Some(APPLY)
}

/// Adds a field set to another one.
fn unite(into: &mut Value, fields: Option<&Value>) {
    let Some(fields) = fields.and_then(Value::as_object) else {
        return;
    };
    for (key, below) in fields {
        unite(&mut into[key], Some(below));
        if into[key].is_null() {
            into[key] = json!({});
        }
    }
}

/// The paths of the outermost fields that `own` lacks.
fn lacking(fields: &Value, own: Option<&Value>, path: &mut String, found: &mut Vec<String>) {
    for (key, below) in fields.as_object().into_iter().flatten() {
        let length = path.len();
        match key.split_once(':') {
            Some(("f", name)) => path.extend([".", name]),
            Some((_, item)) => path.extend(["[", item, "]"]),
            // The value itself, whose fields follow.
            None => continue,
        }
        match own.and_then(|own| own.get(key)) {
            Some(own) => lacking(below, Some(own), path, found),
            None => found.push(path.clone()),
        }
        path.truncate(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::from_value;

    const MANAGERS: Managers<'static> = Managers {
        present: "sites-1",
        uid: "1",
        annotation: "example.com/former-managers",
    };

    fn entry(manager: &str, operation: &str, fields: Value) -> Value {
        json!({
            "manager": manager, "operation": operation, "apiVersion": "apps/v1", "fieldsType": "FieldsV1",
            "fieldsV1": fields,
        })
    }

    fn with(mut entry: Value, key: &str, value: &str) -> Value {
        entry[key] = json!(value);
        entry
    }

    /// The metadata of a child with these managers, of whom `named` are former ones.
    fn meta(named: Option<&str>, entries: &[Value]) -> ObjectMeta {
        let annotations = named.map(|named| json!({MANAGERS.annotation: named}));
        let meta = json!({"resourceVersion": "7", "annotations": annotations, "managedFields": entries});
        from_value(meta).expect("metadata")
    }

    #[test]
    fn fields_of_former_managers_become_those_of_the_present_one() {
        let own = entry("sites-1", "Apply", json!({"f:spec": {"f:a": {}}}));
        let renamed = entry(
            "former-1",
            "Apply",
            json!({"f:spec": {"f:a": {}, "f:b": {".": {}, "f:c": {}}}}),
        );
        let updated = entry(
            "manager",
            "Update",
            json!({"f:spec": {"f:d": {}}, "f:status": {"f:e": {}}}),
        );
        let scaled = with(
            entry("manager", "Update", json!({"f:spec": {"f:replicas": {}}})),
            "subresource",
            "scale",
        );
        let stranger = entry("somebody-2", "Apply", json!({"f:spec": {"f:f": {}}}));
        let older = with(
            entry("manager", "Update", json!({"f:spec": {"f:g": {}}})),
            "apiVersion",
            "apps/v1beta1",
        );
        let taken = |named: Option<&str>, entries: &[Value]| {
            let patch = MANAGERS.take_over(&meta(named, entries))?;
            assert_eq!(patch["metadata"]["resourceVersion"], "7");
            assert_eq!(patch["metadata"].get("annotations").is_some(), named.is_some());
            Some(patch["metadata"]["managedFields"].clone())
        };
        let others = [scaled.clone(), stranger.clone()];
        assert_eq!(
            taken(
                None,
                &[own.clone(), updated.clone(), scaled.clone(), stranger.clone()]
            ),
            None
        );
        let both = json!({"f:spec": {"f:a": {}, "f:b": {".": {}, "f:c": {}}}});
        assert_eq!(
            taken(
                None,
                &[own.clone(), renamed.clone(), scaled.clone(), stranger.clone()]
            ),
            Some(json!(
                [&others[..], &[entry("sites-1", "Apply", both.clone())]].concat()
            )),
        );
        assert_eq!(
            taken(None, &[renamed]),
            Some(json!([entry("sites-1", "Apply", both)]))
        );
        let first = entry("sites-1", "Apply", json!({"f:spec": {"f:d": {}}}));
        assert_eq!(
            taken(Some("helm, manager"), &[updated, scaled, stranger, older.clone()]),
            Some(json!([&others[..], &[older.clone(), first]].concat())),
            "an entry is of one version"
        );
        assert_eq!(
            taken(Some("manager"), &[own, older]),
            Some(Value::Null),
            "the annotation goes"
        );
    }

    #[test]
    fn fields_of_others_are_named_once_and_outermost() {
        let own = json!({
            "f:metadata": {"f:labels": {"f:app": {}}},
            "f:spec": {"f:a": {}, r#"k:{"name":"web"}"#: {"f:image": {}}},
        });
        let own = entry("sites-1", "Apply", own);
        let other = json!({
            "f:metadata": {"f:labels": {".": {}, "f:old": {}}, "f:ownerReferences": {"k:{\"uid\":\"1\"}": {}}},
            "f:spec": {"f:a": {}, r#"k:{"name":"web"}"#: {".": {}, "f:image": {}}, r#"k:{"name":"old"}"#: {".": {}, "f:image": {}}},
            "f:status": {"f:b": {}},
        });
        let scaled = with(
            entry("scaler", "Update", json!({"f:spec": {"f:replicas": {}}})),
            "subresource",
            "scale",
        );
        let meta = meta(None, &[own.clone(), entry("b", "Update", other), scaled.clone()]);
        let expected = (
            "b".to_owned(),
            r#"`b`: .metadata.labels.old, .spec[{"name":"old"}]"#.to_owned(),
        );
        assert_eq!(MANAGERS.others(&meta), Some(expected));
        assert_eq!(MANAGERS.others(&self::meta(None, &[own, scaled])), None);
    }

    #[test]
    fn former_managers_are_lacking_where_nobody_is_named_or_nobody_is_called_so() {
        let (own, former) = (
            entry("sites-1", "Apply", json!({})),
            entry("former-1", "Apply", json!({})),
        );
        let other = entry("helm", "Update", json!({}));
        assert!(MANAGERS.lacks_former(&meta(None, std::slice::from_ref(&other))));
        assert!(
            MANAGERS.lacks_former(&meta(Some("hlem"), &[own.clone(), other.clone()])),
            "nobody is called so"
        );
        assert!(!MANAGERS.lacks_former(&meta(Some("helm"), &[own.clone(), other.clone()])));
        assert!(!MANAGERS.lacks_former(&meta(None, &[own, other.clone()])));
        assert!(
            !MANAGERS.lacks_former(&meta(None, &[former, other])),
            "it was renamed"
        );
    }
}
