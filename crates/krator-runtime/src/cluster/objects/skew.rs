//! The version skew between an operator and the CustomResourceDefinition in the cluster. Where the definition is older, it
//! lacks states, values and fields: what the operator writes is then refused, or cannot be applied at all. That stops only the
//! objects that need what is missing, and the messages name the cause.
//!
//! The definition is read as `/openapi/v3` publishes it, which needs no right beyond those that every user has.
mod schema;

use crate::{
    cluster::{
        api::{backoff::WatchBackoff, raw::Endpoint},
        process::health::Health,
    },
    error::{Error, Result},
    lock::Lock as _,
};
use http::Request;
use kube::{
    Client,
    core::{GroupVersionKind, Status},
};
use prometheus_client::metrics::gauge::Gauge;
use schema::{Schema, missing_value};
use serde::Deserialize;
use serde_json::Value;
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex as StdMutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio::{
    sync::{Mutex, Notify},
    time::{Instant, sleep},
};

pub(in crate::cluster) use schema::Lacks;

/// The definition is read at most this often.
const LEAST: Duration = Duration::from_secs(1);
/// How often a definition that lacks something is read again.
const AGAIN: Duration = Duration::from_secs(10);
/// The remedy.
const REMEDY: &str = "apply deploy/crd.yaml";

/// The difference between the CustomResourceDefinition of one kind in the cluster and that of the operator.
pub(in crate::cluster) struct Skew {
    kind: Endpoint,
    /// The definitions that the operator was built with, as YAML; empty if it says none.
    definitions: &'static str,
    client: Client,
    health: Health,
    gauge: Gauge,
    lacks: StdMutex<Arc<Lacks>>,
    /// How often `lacks` has changed.
    epoch: AtomicU64,
    last_read: Mutex<Option<Instant>>,
    /// Somebody was refused, so the definition may have changed.
    doubted: Notify,
}

impl Skew {
    pub fn new(
        kind: Endpoint,
        definitions: &'static str,
        client: Client,
        health: Health,
        gauge: Gauge,
    ) -> Self {
        Self {
            kind,
            definitions,
            client,
            health,
            gauge,
            lacks: StdMutex::default(),
            epoch: AtomicU64::new(0),
            last_read: Mutex::default(),
            doubted: Notify::new(),
        }
    }

    /// The fields and values that the definition lacks, as far as is known.
    pub fn lacks(&self) -> Arc<Lacks> {
        Arc::clone(&self.lacks.locked())
    }

    /// A number that changes with [`lacks`](Self::lacks).
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Relaxed)
    }

    /// A message about the lacks of the definition; `None` if it has everything.
    pub fn note(&self) -> Option<String> {
        let lacks = self.lacks();
        (!lacks.is_empty()).then(|| in_words(&lacks.to_string()))
    }

    /// Reads the definition at the start, and again while it lacks something or after a write was refused.
    pub async fn watch(&self) {
        // Without a definition of its own there is nothing to compare.
        if own(self.definitions, &self.kind).is_err() {
            return;
        }
        for delay in WatchBackoff::default() {
            match self.read().await {
                Ok(()) => break,
                Err(error) => self.cannot_read(&error),
            }
            sleep(delay).await;
        }
        loop {
            if self.lacks().is_empty() {
                self.doubted.notified().await;
                // The server publishes a new definition a moment after it applies it.
                sleep(2 * LEAST).await;
            } else {
                sleep(AGAIN).await;
            }
            if let Err(error) = self.read().await {
                self.cannot_read(&error);
            }
        }
    }

    fn cannot_read(&self, error: &Error) {
        let (group, kind) = (self.kind.group(), self.kind.kind());
        tracing::debug!(group, kind, %error, "the definition in the cluster cannot be compared");
    }

    /// A client that needs no leadership.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Reads the definition now, unless that was done a moment ago.
    ///
    /// # Errors
    ///
    /// If the API server does not answer, or does not serve the kind.
    pub async fn read(&self) -> Result<()> {
        let mut last = self.last_read.lock().await;
        if last.is_some_and(|last| last.elapsed() < LEAST) {
            return Ok(());
        }
        let (group, version) = (self.kind.group(), self.kind.version());
        let request = Request::get(format!("/openapi/v3/apis/{group}/{version}")).body(Vec::new())?;
        let text = self.client.request_text(request).await?;
        *last = Some(Instant::now());
        let own = own(self.definitions, &self.kind)?;
        let served = served(&text, &self.kind)?;
        self.know(own.lacks_in(&served));
        Ok(())
    }

    fn know(&self, lacks: Lacks) {
        let mut known = self.lacks.locked();
        if **known == lacks {
            return;
        }
        self.epoch.fetch_add(1, Relaxed);
        self.gauge.set(i64::try_from(lacks.len()).unwrap_or(i64::MAX));
        let (group, kind) = (self.kind.group(), self.kind.kind());
        let note = (!lacks.is_empty()).then(|| in_words(&lacks.to_string()));
        match &note {
            Some(note) => tracing::warn!(group, kind, "{note}"),
            None => tracing::info!(
                group,
                kind,
                "the CRD in the cluster has all that the operator uses"
            ),
        }
        self.health.note(self.kind.name(), note);
        *known = Arc::new(lacks);
    }

    /// Why a status was refused, in words, if that is because the definition lacks a value of an enum. The types of a generated
    /// crate have no values but those of its own definition, so the handler is not to blame.
    pub fn explain(&self, error: &Error) -> Option<String> {
        let note = missing_values(error.answer()?)?;
        self.doubted.notify_one();
        Some(in_words(&note))
    }
}

fn in_words(lacks: &str) -> String {
    format!("the CRD in the cluster has {lacks}; {REMEDY}")
}

/// Whether the API server could not apply a status because its schema lacks a field.
pub(in crate::cluster) fn lacks_a_field(error: &Error) -> bool {
    let answer = error.answer();
    answer.is_some_and(|status| status.code == 500 && status.message.contains("field not declared in schema"))
}

/// The values that an answer refuses, if it refuses nothing else.
fn missing_values(answer: &Status) -> Option<String> {
    let causes = &answer.details.as_ref()?.causes;
    let missing: Option<Vec<String>> = causes
        .iter()
        .map(|cause| {
            let value = cause
                .message
                .strip_prefix("Unsupported value: \"")?
                .split('"')
                .next()?;
            let is_of_status = cause.reason == "FieldValueNotSupported" && cause.field.starts_with("status.");
            is_of_status.then(|| missing_value(&format!(".{}", cause.field), value))
        })
        .collect();
    missing
        .filter(|missing| !missing.is_empty())
        .map(|missing| missing.join(", "))
}

/// The schema of a kind in the definitions of the operator.
fn own(definitions: &str, kind: &Endpoint) -> Result<Schema> {
    let all: Vec<Value> = serde_saphyr::from_multiple(definitions)?;
    let mut all = all.iter().map(|definition| &definition["spec"]);
    let found = all.find(|spec| spec["group"] == kind.group() && spec["names"]["kind"] == kind.kind());
    let mut versions = found
        .iter()
        .flat_map(|spec| spec["versions"].as_array())
        .flatten();
    let found = versions.find(|version| version["name"] == kind.version());
    let found = found.ok_or_else(|| Error::from("the operator has no definition of the kind"))?;
    Ok(Schema::deserialize(&found["schema"]["openAPIV3Schema"])?)
}

/// The schema of a kind in a document of OpenAPI.
fn served(document: &str, kind: &Endpoint) -> Result<Schema> {
    #[derive(Deserialize)]
    struct Document {
        components: Components,
    }
    #[derive(Deserialize)]
    struct Components {
        schemas: BTreeMap<String, Schema>,
    }
    let document: Document = serde_json::from_str(document)?;
    let wanted = [GroupVersionKind::gvk(kind.group(), kind.version(), kind.kind())];
    let mut all = document.components.schemas.into_values();
    let found = all.find(|schema| schema.kinds == wanted);
    found.ok_or_else(|| Error::from("the API server does not publish the kind"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube::core::response::{StatusCause, StatusDetails};

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

    #[test]
    fn only_values_that_the_operator_has_itself_are_blamed_on_the_definition() {
        let unsupported = "FieldValueNotSupported";
        let state = r#"Unsupported value: "Growing": supported values: "New""#;
        let explained = answer(&[
            (unsupported, state, "status.state"),
            (
                unsupported,
                r#"Unsupported value: "sad": supported values: "glad""#,
                "status.mood",
            ),
        ]);
        let words = "no state `Growing`, no value `sad` of `.status.mood`";
        assert_eq!(missing_values(&explained).as_deref(), Some(words));
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
            assert_eq!(missing_values(&answer(other)), None, "{other:?}");
        }
    }
}
