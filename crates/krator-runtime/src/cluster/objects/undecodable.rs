//! Objects that the API server has accepted and that have no value of their Rust type: a list nested deeper than serde_json
//! reads, an enum value of a newer CRD, an integer written as `1.0`.
//!
//! Such an object is left alone, visibly. Its deletion must not wait until somebody mends it, so a deleted object is read
//! without the fields that cannot be decoded; where it has no value even so, it is released, because no handler can run for it.
use crate::{cluster::api::raw::Raw, status::MachineStatus, world::WriteError};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::{borrow::Cow, collections::BTreeMap, ops::RangeInclusive, sync::Arc};

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
type Fields<'a> = BTreeMap<String, Cow<'a, str>>;

fn fields(text: &str) -> Option<Fields<'_>> {
    let fields: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
    Some(
        fields
            .into_iter()
            .map(|(name, value)| (name, Cow::Borrowed(value.get())))
            .collect(),
    )
}

/// The machine's part of the status, as far as it can be decoded.
pub(super) fn machine_status(raw: &Raw) -> MachineStatus {
    let object = fields(raw.text());
    let status = object.as_ref().and_then(|object| object.get("status"));
    let status = status.and_then(|status| serde_json::from_str(status).ok());
    status.unwrap_or_default()
}

/// Leaves out fields of the spec, and those of the status that are not the machine's, until the rest can be decoded. Returns
/// the rest, if it has a value of its type, and the first of the fields that were left out, such as `.spec.free`.
pub(super) fn rest<K: DeserializeOwned>(raw: &Raw) -> (Option<K>, String) {
    let mut object = fields(raw.text()).unwrap_or_default();
    let spec = object.remove("spec").unwrap_or_default();
    let mut spec = fields(&spec).unwrap_or_default();
    let mut path = None;
    loop {
        let (text, places) = joined(&spec, &object);
        let error = match serde_json::from_str(&text) {
            Ok(object) => {
                return (Some(object), path.unwrap_or_else(|| ".spec".to_owned()));
            }
            Err(error) => error,
        };
        let at = offset(&text, &error);
        let bad = places.into_iter().find(|(_, place)| place.contains(&at));
        if let Some((name, _)) = bad {
            spec.remove(&name);
            path.get_or_insert(format!(".spec.{name}"));
        } else if let Some(status) = object
            .get("status")
            .filter(|_| path.as_deref() != Some(".status"))
        {
            // The fields of the machine are kept. The deletion does not depend on the fields of handlers.
            let machine = serde_json::from_str::<MachineStatus>(status).ok();
            let machine = machine.and_then(|machine| serde_json::to_string(&machine).ok());
            match machine {
                Some(machine) if *status != machine => {
                    object.insert("status".to_owned(), machine.into());
                }
                _ => drop(object.remove("status")),
            }
            path.get_or_insert(".status".to_owned());
        } else {
            return (None, path.unwrap_or_else(|| ".spec".to_owned()));
        }
    }
}

/// The text of an object, and where the fields of its spec are in it.
fn joined(spec: &Fields<'_>, others: &Fields<'_>) -> (String, Vec<(String, RangeInclusive<usize>)>) {
    let mut text = "{\"spec\":{".to_owned();
    let mut places = Vec::new();
    for (name, value) in spec {
        if !places.is_empty() {
            text.push(',');
        }
        let start = text.len() + 1;
        text += &format!("{}:{value}", serde_json::Value::from(name.as_str()));
        places.push((name.clone(), start..=text.len()));
    }
    text.push('}');
    for (name, value) in others {
        text += &format!(",{}:{value}", serde_json::Value::from(name.as_str()));
    }
    text.push('}');
    (text, places)
}

/// How many bytes of the text serde_json had read when it found the error.
fn offset(text: &str, error: &serde_json::Error) -> usize {
    let lines = text.split_inclusive('\n');
    let before: usize = lines.take(error.line().saturating_sub(1)).map(str::len).sum();
    before + error.column()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::Value;

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
}
