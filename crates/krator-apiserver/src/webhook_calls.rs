//! The webhook calls of a request, and the responses so far.

use crate::world::World;
use serde_json::Value as Json;
use std::{collections::BTreeMap, time::Duration};

/// A call of a webhook.
#[derive(Debug, Clone)]
pub(crate) struct WebhookCall {
    /// The identity of the call.
    pub key: String,
    /// The `AdmissionRequest`, without a uid.
    pub request: Json,
    pub client: Json,
    pub timeout: Duration,
    /// Whether the answer may change the object.
    pub mutates: bool,
}

/// The `AdmissionResponse`, or why there is none.
pub(crate) type WebhookResponse = Result<Json, String>;

/// The data that a request keeps between attempts.
#[derive(Debug, Default)]
pub(crate) struct Session {
    answers: BTreeMap<String, WebhookResponse>,
    /// The calls that have to be made before the next attempt.
    wanted: Vec<WebhookCall>,
    warnings: Vec<String>,
    /// The uid of the new object, so that all attempts ask about the same one.
    uid: Option<String>,
    /// The generated name of the new object.
    pub name: Option<String>,
}

impl Session {
    /// The response to a call. Without one, the call is made before the next attempt.
    pub fn answer(&mut self, call: WebhookCall) -> Option<WebhookResponse> {
        let known = self.answers.get(&call.key).cloned();
        if known.is_none() {
            self.wanted.push(call);
        }
        known
    }

    /// Whether calls have to be made first.
    pub fn waits(&self) -> bool {
        !self.wanted.is_empty()
    }

    /// Begins another attempt, and tells what is to be asked before it.
    pub fn again(&mut self) -> Vec<WebhookCall> {
        self.warnings.clear();
        std::mem::take(&mut self.wanted)
    }

    pub fn remember(&mut self, key: String, answer: WebhookResponse) {
        self.answers.insert(key, answer);
    }

    /// Warns the client, once of each thing.
    pub fn warn(&mut self, warning: String) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The uid of the object that the request makes, the same in every attempt.
    pub fn uid(&mut self, world: &World) -> String {
        let uid = self.uid.get_or_insert_with(|| world.uid());
        uid.clone()
    }
}
