//! The webhook calls of a request, and their responses.

use crate::world::World;
use serde_json::Value as Json;
use std::{collections::BTreeMap, time::Duration};

/// A call of a webhook.
#[derive(Debug, Clone)]
pub(crate) struct WebhookCall {
    /// The identity of the call, by which later attempts find its response.
    pub key: String,
    /// The `AdmissionRequest`, without a uid.
    pub request: Json,
    pub client: Json,
    pub timeout: Duration,
    /// Whether the response may contain a patch.
    pub mutates: bool,
}

/// The `AdmissionResponse`, or an error message.
pub(crate) type WebhookResponse = Result<Json, String>;

/// The data of a request that is kept between its attempts.
#[derive(Debug, Default)]
pub(crate) struct Session {
    answers: BTreeMap<String, WebhookResponse>,
    /// The calls that have to be made before the next attempt.
    wanted: Vec<WebhookCall>,
    warnings: Vec<String>,
    /// The uid of the new object, which is the same in all attempts.
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

    /// Starts another attempt, and returns the calls that have to be made before it.
    pub fn again(&mut self) -> Vec<WebhookCall> {
        self.warnings.clear();
        std::mem::take(&mut self.wanted)
    }

    pub fn remember(&mut self, key: String, answer: WebhookResponse) {
        self.answers.insert(key, answer);
    }

    /// Adds a warning for the client, unless it was added before.
    pub fn warn(&mut self, warning: String) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The uid of the new object, which is the same in all attempts.
    pub fn uid(&mut self, world: &World) -> String {
        let uid = self.uid.get_or_insert_with(|| world.uid());
        uid.clone()
    }
}
