//! The mismatch between an operator and the CustomResourceDefinition in the cluster. Where the definition is older, it
//! lacks fields and values of the status, and the API server refuses a status that has them. That stops only the objects that
//! need a value that is missing: a field is left out of what is written, and the messages name the cause.
use crate::{
    cluster::{api::raw::Endpoint, process::health::Health},
    error::Error,
    lock::Lock as _,
    spec_digest::strip,
};
use kube::core::Status;
use prometheus_client::metrics::gauge::Gauge;
use serde::Serialize;
use serde_json::Value;
use std::{collections::BTreeSet, fmt, sync::Mutex, time::Duration};
use tokio::time::Instant;

/// When nothing was refused for so long, statuses are written in full again, to see what the definition has now.
const AGAIN: Duration = Duration::from_secs(600);
/// The most that is remembered of what is missing. A map may have any number of values that each lack a field.
const MOST: usize = 8;

/// Fields and values that the CustomResourceDefinition of one kind in the cluster lacks, as far as the API server has refused them.
pub(in crate::cluster) struct CrdMismatch {
    kind: Endpoint,
    health: Health,
    gauge: Gauge,
    known: Mutex<Refusals>,
}

struct Refusals {
    missing: BTreeSet<Missing>,
    /// How often the definition may have got something that it lacked.
    epoch: u64,
    /// When something was refused last, or when a recheck began.
    since: Instant,
    is_rechecking: bool,
}

/// A field of the status that the definition lacks, or a value of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Missing {
    /// Such as `.status.pace`; fields of a list are those of each item.
    path: String,
    value: Option<String>,
}

impl CrdMismatch {
    pub fn new(kind: Endpoint, health: Health, gauge: Gauge) -> Self {
        let known = Refusals {
            missing: BTreeSet::new(),
            epoch: 0,
            since: Instant::now(),
            is_rechecking: false,
        };
        let known = Mutex::new(known);
        Self {
            kind,
            health,
            gauge,
            known,
        }
    }

    /// A number that changes when the server may keep more than before.
    pub fn epoch(&self) -> u64 {
        let mut known = self.known.locked();
        if !known.missing.is_empty() && known.since.elapsed() >= AGAIN {
            // Missing fields are refused again before the recheck has lasted that long.
            if known.is_rechecking {
                known.missing.clear();
                self.tell(&known.missing);
            }
            known.is_rechecking = !known.is_rechecking;
            known.since = Instant::now();
            known.epoch += 1;
        }
        known.epoch
    }

    /// A message about what is missing; `None` if nothing is.
    pub fn note(&self) -> Option<String> {
        in_words(&self.known.locked().missing)
    }

    /// Removes the fields from a status that it was refused for, as the answer names them. Returns whether it has changed.
    pub fn prune(&self, error: &Error, status: &mut Value) -> bool {
        let missing = error.answer().map(missing_fields).unwrap_or_default();
        let whole = status.clone();
        for field in &missing {
            strip(status, None, &field.names());
        }
        self.refused(missing);
        *status != whole
    }

    /// Why a status was refused, in words, if that is because the definition lacks a value of an enum. The types of a generated
    /// crate have no values but those of its own definition, so the handler is not to blame.
    pub fn explain(&self, error: &Error) -> Option<String> {
        let missing = missing_values(error.answer()?);
        let note = in_words(&missing);
        self.refused(missing);
        note
    }

    /// A status was stored in full, so nothing that it has is missing any more.
    pub fn stored(&self, status: &impl Serialize) {
        let mut known = self.known.locked();
        if known.missing.is_empty() {
            return;
        }
        let status = serde_json::to_value(status).unwrap_or_default();
        let before = known.missing.len();
        known.missing.retain(|missing| !missing.is_in(&status));
        if known.missing.len() != before {
            known.epoch += 1;
            self.tell(&known.missing);
        }
    }

    fn refused(&self, missing: BTreeSet<Missing>) {
        if missing.is_empty() {
            return;
        }
        let mut known = self.known.locked();
        (known.since, known.is_rechecking) = (Instant::now(), false);
        let before = known.missing.len();
        known.missing.extend(missing);
        while known.missing.len() > MOST {
            known.missing.pop_last();
        }
        if known.missing.len() != before {
            self.tell(&known.missing);
        }
    }

    fn tell(&self, missing: &BTreeSet<Missing>) {
        self.gauge.set(i64::try_from(missing.len()).unwrap_or(i64::MAX));
        let (group, kind) = (self.kind.group(), self.kind.kind());
        let note = in_words(missing);
        match &note {
            Some(note) => tracing::warn!(group, kind, "{note}"),
            None => tracing::info!(
                group,
                kind,
                "the CRD in the cluster has all fields and values that the operator writes"
            ),
        }
        self.health.note(self.kind.name(), note);
    }
}

impl Missing {
    fn new(path: &str, value: Option<&str>) -> Self {
        // The place of an item, such as `.status.parts[0].size`, is without the item.
        let parts = path.split('[');
        let parts = parts.map(|part| part.rsplit_once(']').map_or(part, |(_, rest)| rest));
        Self {
            path: parts.collect(),
            value: value.map(str::to_owned),
        }
    }

    /// The names that lead there from the status.
    fn names(&self) -> Vec<&str> {
        self.path.split('.').skip(2).collect()
    }

    fn is_in(&self, status: &Value) -> bool {
        let found = self.names().into_iter().try_fold(status, |at, name| at.get(name));
        found.is_some_and(|found| self.value.is_none() || found.as_str() == self.value.as_deref())
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Some(value) => write!(f, "no value `{value}` of `{}`", self.path),
            None => write!(f, "no field `{}`", self.path),
        }
    }
}

fn in_words(missing: &BTreeSet<Missing>) -> Option<String> {
    let words: Vec<String> = missing.iter().map(ToString::to_string).collect();
    let words = words.join(", ");
    (!words.is_empty()).then(|| format!("the CRD in the cluster has {words}; apply deploy/crd.yaml"))
}

/// The fields of a status that server-side apply refuses because the definition lacks them.
fn missing_fields(answer: &Status) -> BTreeSet<Missing> {
    // One is in the same line, and several are in a line each.
    let lines = answer.message.lines();
    let fields = lines.filter_map(|line| {
        let place = line.strip_suffix(": field not declared in schema")?;
        Some(Missing::new(&place[place.find(" .status.")? + 1..], None))
    });
    fields.collect()
}

/// The values that an answer refuses, if it refuses nothing else.
fn missing_values(answer: &Status) -> BTreeSet<Missing> {
    let causes = answer.details.iter().flat_map(|details| &details.causes);
    let values: Option<_> = causes
        .map(|cause| {
            let value = cause.message.strip_prefix("Unsupported value: \"")?;
            let is_of_status = cause.reason == "FieldValueNotSupported" && cause.field.starts_with("status.");
            is_of_status.then(|| Missing::new(&format!(".{}", cause.field), value.split('"').next()))
        })
        .collect();
    values.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::Pod;
    use kube::core::response::{StatusCause, StatusDetails};
    use serde_json::json;

    fn answer(causes: &[(&str, &str, &str)]) -> Status {
        let causes = causes.iter().map(|(reason, message, field)| StatusCause {
            reason: (*reason).to_owned(),
            message: (*message).to_owned(),
            field: (*field).to_owned(),
        });
        let details = StatusDetails {
            name: "bruce".to_owned(),
            group: "example.com".to_owned(),
            kind: "moose".to_owned(),
            uid: String::new(),
            causes: causes.collect(),
            retry_after_seconds: 0,
        };
        Status {
            details: Some(details),
            ..Status::failure("it is invalid", "Invalid").with_code(422)
        }
    }

    fn undeclared(fields: &str) -> Error {
        let message = format!("failed to create typed patch object (a/x.status.y; b/v1, Kind=Foo): {fields}");
        let answer = Status::failure(&message, "InternalError").with_code(500);
        Error::from(kube::Error::Api(Box::new(answer)))
    }

    fn mismatch() -> CrdMismatch {
        CrdMismatch::new(Endpoint::of::<Pod>(), Health::default(), Gauge::default())
    }

    #[test]
    fn only_values_that_the_operator_has_itself_are_blamed_on_the_definition() {
        let unsupported = "FieldValueNotSupported";
        let state = r#"Unsupported value: "Growing": supported values: "New""#;
        let explained = answer(&[
            (unsupported, state, "status.state"),
            (
                unsupported,
                r#"Unsupported value: "sad": supported values: "glad""#,
                "status.moods[0].mood",
            ),
        ]);
        let words = "the CRD in the cluster has no value `sad` of `.status.moods.mood`, no value `Growing` of `.status.state`; \
                     apply deploy/crd.yaml";
        assert_eq!(in_words(&missing_values(&explained)).as_deref(), Some(words));
        for other in [
            &[][..],
            // A number of an enum is one that the handler has chosen.
            &[(
                unsupported,
                "Unsupported value: 3: supported values: 1, 2",
                "status.size",
            )],
            &[
                (unsupported, state, "status.state"),
                ("FieldValueInvalid", "Invalid value", "status.size"),
            ],
            &[(unsupported, state, "spec.mood")],
        ] {
            assert_eq!(missing_values(&answer(other)), BTreeSet::new(), "{other:?}");
        }
    }

    #[test]
    fn a_status_is_written_without_the_fields_that_were_refused() {
        let mismatch = mismatch();
        let item = |more: bool| {
            if more {
                json!({"kept": 1, "more": 2})
            } else {
                json!({"kept": 1})
            }
        };
        let status =
            |more: bool| json!({"list": [item(more), 1], "map": {"a": item(more)}, "state": "Growing"});
        let mut written = status(true);
        written["added"] = json!("x");
        assert!(mismatch.prune(
            &undeclared(".status.added: field not declared in schema"),
            &mut written
        ));
        let several = "errors:\n  .status.list[0].more: field not declared in schema\n  \
                       .status.map.a.more: field not declared in schema";
        assert!(mismatch.prune(&undeclared(several), &mut written));
        assert_eq!(written, status(false));
        let note = "the CRD in the cluster has no field `.status.added`, no field `.status.list.more`, no field \
                    `.status.map.a.more`; apply deploy/crd.yaml";
        assert_eq!(mismatch.note().as_deref(), Some(note));
        for other in [
            undeclared(several),
            undeclared(".status.state: expected string, got &value.valueUnstructured{Value:5}"),
            Error::from("something else"),
        ] {
            assert!(!mismatch.prune(&other, &mut written), "{other}");
        }
        let keyed = r#".status.conditions[type="a.b/c"].more: field not declared in schema"#;
        let mut written = json!({"conditions": [{"type": "a.b/c", "more": 1}]});
        assert!(mismatch.prune(&undeclared(keyed), &mut written));
        assert_eq!(written, json!({"conditions": [{"type": "a.b/c"}]}));
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_refused_is_known_until_it_is_stored_or_nobody_asks_for_it() {
        let mismatch = mismatch();
        let refuse = || {
            let added = undeclared(".status.added: field not declared in schema");
            assert!(mismatch.prune(&added, &mut json!({"added": 1})));
        };
        refuse();
        mismatch.stored(&json!({"state": "New"}));
        assert_eq!((mismatch.epoch(), mismatch.note().is_some()), (0, true));
        mismatch.stored(&json!({"added": 1}));
        assert_eq!((mismatch.epoch(), mismatch.note()), (1, None));

        let fast = answer(&[(
            "FieldValueNotSupported",
            r#"Unsupported value: "fast": supported values: "slow""#,
            "status.pace",
        )]);
        let fast = Error::from(kube::Error::Api(Box::new(fast)));
        assert!(mismatch.explain(&fast).is_some());
        mismatch.stored(&json!({"pace": "slow"}));
        assert!(mismatch.note().is_some());
        mismatch.stored(&json!({"pace": "fast"}));
        assert_eq!((mismatch.epoch(), mismatch.note()), (2, None));

        // Statuses are written in full again now and then.
        refuse();
        for epoch in 3..5 {
            tokio::time::advance(AGAIN).await;
            assert_eq!((mismatch.epoch(), mismatch.epoch()), (epoch, epoch));
            refuse();
            assert!(mismatch.note().is_some());
        }
        tokio::time::advance(AGAIN).await;
        assert_eq!((mismatch.epoch(), mismatch.note().is_some()), (5, true));
        tokio::time::advance(AGAIN).await;
        assert_eq!((mismatch.epoch(), mismatch.note()), (6, None));
    }
}
