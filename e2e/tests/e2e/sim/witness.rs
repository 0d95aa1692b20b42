//! Observes the writes in a simulation, and judges them.

use super::world::BEGIN;
use crate::cluster::watch::Event;
use crate::contract::Oracle;
use futures::StreamExt as _;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use krator_apiserver::Server;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use tokio::time::Instant;

/// The maximum differences between the time in a status and the time of the write: a clock is set by the server's
/// `Date`, which has whole seconds, and a write may be retried for a while.
const AHEAD: SignedDuration = SignedDuration::from_secs(3);
const BEHIND: SignedDuration = SignedDuration::from_mins(30);
/// An object may enter this number of states at once, and then one per second, by the contract.
const AT_ONCE: f64 = 100.0;
/// The tolerance: the times in a status have whole seconds, and clocks are corrected.
const INEXACT: f64 = 3.0;

/// The writes with their times, each with the number of its oracle. Leases have none.
type Seen = Arc<Mutex<Vec<(Option<usize>, Event, Timestamp)>>>;

/// The observed writes, and the findings.
pub struct Witness {
    began: Instant,
    /// One oracle for each kind of the description.
    pub oracles: Vec<Oracle>,
    seen: Seen,
    /// The holder of the Lease.
    holder: Value,
    /// The entry time in the status of each object, by the uid of the object.
    entered: BTreeMap<String, Value>,
    /// The rate of entries since another operator or leader began, by the uid of an object.
    rates: BTreeMap<String, RateLimiter>,
    /// The number of operators that act at once.
    acting: f64,
    pub findings: Vec<String>,
}

/// Counts the entries of an object's states.
#[derive(Default)]
struct RateLimiter {
    /// The last entry.
    entry: String,
    at: Timestamp,
    /// The number of entries, which decreases by one each second.
    ahead: f64,
}

impl Witness {
    pub fn new(began: Instant, oracles: Vec<Oracle>, acting: usize) -> Witness {
        Witness {
            began,
            oracles,
            seen: Seen::default(),
            holder: Value::Null,
            entered: BTreeMap::new(),
            rates: BTreeMap::new(),
            // The number is small.
            acting: acting as f64,
            findings: Vec::new(),
        }
    }

    /// Records all writes to the objects of a path.
    pub async fn watch(&self, server: &Server, path: &str, number: Option<usize>) {
        let request = Request::get(format!("{path}?watch=1&timeoutSeconds=100000"));
        let request = request.body(Full::<bytes::Bytes>::default()).expect("a request");
        let mut body = server.answer(request).await.into_body().into_data_stream();
        let sink = Arc::clone(&self.seen);
        let began = self.began;
        tokio::spawn(async move {
            // Each frame is a line.
            while let Some(Ok(line)) = body.next().await {
                let event: Value = serde_json::from_slice(&line).expect("a server sends JSON");
                let event = Event {
                    deleted: event["type"] == "DELETED",
                    object: event["object"].clone(),
                };
                let time = BEGIN + began.elapsed();
                sink.lock()
                    .expect("nothing panics with it")
                    .push((number, event, time));
            }
        });
    }

    /// Records that another operator or leader begins.
    pub fn another_acts(&mut self, time: Timestamp) {
        for oracle in &mut self.oracles {
            oracle.operator_starts(time);
        }
        self.rates.clear();
    }

    /// Checks that an object enters states no faster than the contract allows.
    fn check_pace(&mut self, event: &Event) {
        let status = &event.object["status"];
        let entered = status["stateEnteredTime"].as_str();
        let (Some(entry), Some(entered)) = (
            status["entry"].as_str(),
            entered.and_then(|text| text.parse().ok()),
        ) else {
            return;
        };
        let uid = event.object["metadata"]["uid"].as_str().unwrap_or_default();
        let rate = self.rates.entry(uid.to_owned()).or_default();
        if rate.entry == entry {
            return;
        }
        let seconds = Timestamp::duration_since(entered, rate.at).as_secs_f64();
        *rate = RateLimiter {
            entry: entry.to_owned(),
            at: entered,
            ahead: (rate.ahead - seconds * self.acting).max(0.0) + 1.0,
        };
        if rate.ahead > AT_ONCE * self.acting + INEXACT {
            let kind = event.object["kind"].as_str().unwrap_or_default();
            let finding = format!("{kind} {}: it goes on and on without a pause", event.name());
            self.findings.push(finding);
        }
    }

    /// Checks that the entry time of a state is that of the server, not that of a node.
    fn check_time(&mut self, event: &Event, stored: Timestamp) {
        let entered = &event.object["status"]["stateEnteredTime"];
        let uid = event.object["metadata"]["uid"].as_str().unwrap_or_default();
        if self.entered.insert(uid.to_owned(), entered.clone()).as_ref() == Some(entered) {
            return;
        }
        let Some(entered) = entered.as_str().and_then(|text| text.parse::<Timestamp>().ok()) else {
            return;
        };
        let before = stored.duration_since(entered);
        if before > BEHIND || -before > AHEAD {
            let kind = event.object["kind"].as_str().unwrap_or_default();
            self.findings.push(format!(
                "{kind} {}: it has entered its state at {entered}, as its status says, which was stored at {stored}",
                event.name()
            ));
        }
    }

    /// Checks that the operator reports a refused status only for a refusal: the server refuses with 400 and 422 only.
    fn check_refusal(&mut self, event: &Event) {
        let conditions = event.object["status"]["conditions"].as_array();
        let messages = conditions
            .into_iter()
            .flatten()
            .filter_map(|condition| condition["message"].as_str());
        for message in messages {
            if message.contains("the status was rejected") && !message.contains("Invalid") {
                let kind = event.object["kind"].as_str().unwrap_or_default();
                let finding = format!("{kind} {}: this was no refusal: {message}", event.name());
                self.findings.push(finding);
            }
        }
    }

    /// Passes the writes since the last call to the oracles, in their order.
    pub fn follow(&mut self) {
        let mut events = std::mem::take(&mut *self.seen.lock().expect("nothing panics with it"));
        events.sort_by_key(|(_, event, _)| {
            let version = event.object["metadata"]["resourceVersion"].as_str();
            version.and_then(|version| version.parse::<u64>().ok())
        });
        for (number, event, time) in events {
            match number {
                Some(number) => {
                    self.check_time(&event, time);
                    self.check_refusal(&event);
                    self.check_pace(&event);
                    self.oracles[number].see(&event);
                }
                None => {
                    let holder = event.object["spec"]["holderIdentity"].clone();
                    if holder.as_str().is_some_and(|holder| !holder.is_empty()) && holder != self.holder {
                        self.another_acts(time);
                    }
                    self.holder = holder;
                }
            }
        }
    }
}
