//! Objects that the API server has accepted and that have no value of their Rust type: a list nested deeper than serde_json
//! reads, an enum value of a newer CRD, an integer written as `1.0`.
//!
//! Such an object is left alone, visibly. Its deletion must not wait until somebody mends it, so a deleted object is read
//! without the fields that cannot be decoded; where it has no value even so, it is released, because no handler can run for it.
use crate::{cluster::api::raw::Raw, status::MachineStatus, world::WriteError};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::de::DeserializeOwned;
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};
use std::{collections::BTreeMap, sync::Arc};

/// An object, as far as it can be decoded.
pub(super) enum Decoded<K> {
    Whole(K),
    /// The object is being deleted, and some of its fields have no value.
    Partly(K, Undecodable),
    Not(Undecodable),
}

/// Why an object has no value of its type.
pub(super) struct Undecodable {
    pub meta: ObjectMeta,
    /// The first field that cannot be decoded, such as `.spec.free`.
    pub path: String,
    pub error: serde_json::Error,
}

/// The object in the answer to a request.
pub(super) fn stored<K: DeserializeOwned>(answer: &Raw) -> Result<Arc<K>, WriteError> {
    match decode(answer) {
        Decoded::Whole(object) | Decoded::Partly(object, _) => Ok(Arc::new(object)),
        Decoded::Not(why) => Err(WriteError::Other(why.error.into())),
    }
}

/// Decodes an object. One that is being deleted is read without the fields that cannot be decoded, if that is possible.
pub(super) fn decode<K: DeserializeOwned>(raw: &Raw) -> Decoded<K> {
    let error = match raw.decode() {
        Ok(object) => return Decoded::Whole(object),
        Err(error) => error,
    };
    let (meta, (rest, path)) = (raw.read_metadata::<ObjectMeta>(), rest(raw));
    let is_deleted = meta.deletion_timestamp.is_some();
    let why = Undecodable { meta, path, error };
    match rest.filter(|_| is_deleted) {
        Some(object) => Decoded::Partly(object, why),
        None => Decoded::Not(why),
    }
}

/// The fields of an object, not decoded. Reading them does not recurse.
type Fields = BTreeMap<String, Box<RawValue>>;

fn fields(text: &str) -> Fields {
    serde_json::from_str(text).unwrap_or_default()
}

/// The machine's part of the status, as far as it can be decoded.
pub(super) fn machine_status(raw: &Raw) -> MachineStatus {
    let object = fields(raw.text());
    let status = object
        .get("status")
        .map(|status| serde_json::from_str(status.get()));
    status.and_then(Result::ok).unwrap_or_default()
}

/// Leaves out the fields of the spec that cannot be decoded and, if that is not enough, those of the status. Returns the rest,
/// if it has a value of its type, and the first of the fields that were left out, such as `.spec.free`.
pub(super) fn rest<K: DeserializeOwned>(raw: &Raw) -> (Option<K>, String) {
    let mut object = fields(raw.text());
    let spec = object.get("spec").map(|spec| fields(spec.get()));
    let (spec, bad): (Fields, Fields) = spec
        .into_iter()
        .flatten()
        .partition(|(name, value)| fits::<K>(name, value));
    object.extend(to_raw_value(&spec).map(|spec| ("spec".to_owned(), spec)));
    let first = bad.into_keys().next().map(|name| format!(".spec.{name}"));
    let path = |other: &str| first.unwrap_or_else(|| other.to_owned());
    // The fields of the machine are kept. The deletion does not depend on the fields of handlers.
    let machine = to_raw_value(&machine_status(raw)).ok();
    let statuses = [
        (".spec", object.remove("status")),
        (".status", machine),
        (".status", None),
    ];
    for (other, status) in statuses {
        object.remove("status");
        object.extend(status.map(|status| ("status".to_owned(), status)));
        let text = serde_json::to_string(&object).unwrap_or_default();
        if let Ok(object) = serde_json::from_str(&text) {
            return (Some(object), path(other));
        }
    }
    (None, path(".spec"))
}

/// Whether a field of the spec can be decoded. Fields are decoded in the order of the text, so an object that ends behind this
/// one is an error of its own only if this one is none.
fn fits<K: DeserializeOwned>(name: &str, value: &RawValue) -> bool {
    let text = format!("{{\"spec\":{{{}:{value}", Value::from(name));
    serde_json::from_str::<K>(&text).is_err_and(|error| error.is_eof())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    /// As a generated kind: an optional field of any JSON, and fields with and without a default.
    #[derive(Debug, PartialEq, Deserialize)]
    struct Thing {
        metadata: ObjectMeta,
        spec: Spec,
        #[serde(default)]
        status: Status,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Spec {
        #[serde(default)]
        free: Option<Value>,
        size: i64,
        #[serde(default)]
        level: Option<Level>,
        #[serde(default)]
        since: Option<jiff::Timestamp>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    enum Level {
        Low,
        High,
    }

    #[derive(Debug, Default, PartialEq, Deserialize)]
    struct Status {
        #[serde(default)]
        own: Option<i64>,
        #[serde(flatten)]
        machine: MachineStatus,
    }

    fn read(text: &str) -> (Result<Thing, serde_json::Error>, (Option<Thing>, String)) {
        let raw: Raw = serde_json::from_str(text).expect("the server sends JSON");
        (raw.decode(), rest(&raw))
    }

    /// Values that a server stores under a CRD, with whether the type takes them.
    fn values() -> [(&'static str, Vec<(String, bool)>); 4] {
        let deep = format!("{}1{}", "[".repeat(300), "]".repeat(300));
        let of = |values: &[(&str, bool)]| {
            values
                .iter()
                .map(|(v, ok)| ((*v).to_owned(), *ok))
                .collect::<Vec<_>>()
        };
        let mut free = of(&[("null", true), ("{\"a\": [1, \"}\"]}", true)]);
        free.push((deep, false));
        [
            ("free", free),
            (
                "size",
                of(&[("1", true), ("1.0", false), ("99999999999999999999", false)]),
            ),
            (
                "level",
                of(&[
                    ("\"Low\"", true),
                    ("\"High\"", true),
                    ("\"Highest,\\\"}\"", false),
                ]),
            ),
            (
                "since",
                of(&[
                    ("\"2026-01-01T00:00:00Z\"", true),
                    ("\"9999-12-31T23:59:59-23:59\"", false),
                ]),
            ),
        ]
    }

    /// Every combination of these values, in two statuses.
    #[test]
    fn what_can_be_decoded_of_an_object_is_all_but_the_fields_that_cannot() {
        let mut combinations = vec![Vec::new()];
        let statuses = (
            "own",
            vec![("7".to_owned(), true), ("\"seven\"".to_owned(), false)],
        );
        for (_, values) in values().into_iter().chain([statuses]) {
            let with = |before: &Vec<_>| {
                let before = before.clone();
                let values = values.clone().into_iter();
                values
                    .map(move |value| [before.clone(), vec![value]].concat())
                    .collect::<Vec<_>>()
            };
            combinations = combinations.iter().flat_map(with).collect();
        }
        for values in combinations {
            let [free, size, level, since, own] = &values[..] else {
                unreachable!("each field has a value")
            };
            let text = format!(
                r#"{{"metadata": {{"name": "a", "uid": "1"}}, "status": {{"own": {}, "state": "Eat"}},
                    "spec": {{"free": {}, "size": {}, "level": {}, "since": {}}}}}"#,
                own.0, free.0, size.0, level.0, since.0
            );
            let (whole, (rest, path)) = read(&text);
            let fits = values.iter().all(|(_, fits)| *fits);
            assert_eq!(whole.is_ok(), fits, "{text}: {whole:?}");
            // A required field cannot be left out.
            assert_eq!(rest.is_some(), size.1, "{text}");
            let Some(object) = rest else { continue };
            let spec = &object.spec;
            assert_eq!(object.status.machine.state.as_deref(), Some("Eat"), "{text}");
            assert_eq!(
                (spec.level.is_some(), spec.since.is_some()),
                (level.1, since.1),
                "{text}"
            );
            assert_eq!(spec.free.is_some(), free.1 && free.0 != "null", "{text}");
            assert_eq!(object.status.own.is_some(), own.1, "{text}");
            let first = match (free.1, level.1, since.1, own.1) {
                (false, ..) => ".spec.free",
                (_, false, ..) => ".spec.level",
                (_, _, false, _) => ".spec.since",
                (.., false) => ".status",
                _ => ".spec",
            };
            assert_eq!(path, first, "{text}");
        }
    }

    #[test]
    fn a_status_that_cannot_be_decoded_is_left_out() {
        let text =
            r#"{"metadata": {"name": "a", "uid": "1"}, "spec": {"size": 1}, "status": {"attempts": "many"}}"#;
        let (whole, (rest, path)) = read(text);
        assert!(whole.is_err());
        assert_eq!(rest.map(|object| object.status), Some(Status::default()));
        assert_eq!(path, ".status");
    }

    #[test]
    fn a_required_field_is_what_an_object_lacks() {
        for spec in ["null", "{}", "[]", r#"{"level": "Low"}"#] {
            let text =
                format!(r#"{{"metadata": {{"name": "a"}}, "spec": {spec}, "status": {{"state": "Eat"}}}}"#);
            let (_, (rest, path)) = read(&text);
            assert_eq!((rest, path.as_str()), (None, ".spec"), "{spec}");
        }
    }

    #[test]
    fn an_object_of_a_great_many_fields_is_read_in_time() {
        let fields: String = (0..100_000).map(|n| format!(r#""field{n}": {n}, "#)).collect();
        let text = format!(r#"{{"metadata": {{"name": "a"}}, "spec": {{{fields}"free": 1, "size": 1.0}}}}"#);
        let (_, (rest, path)) = read(&text);
        assert_eq!((rest, path.as_str()), (None, ".spec.size"));
    }
}
