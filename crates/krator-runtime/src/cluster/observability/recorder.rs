//! Publishes the events of a process beside its work. They are best effort: no object waits for them, they wait in a
//! bounded queue, and those that do not fit are dropped. Repeats are one event with a count.
//!
//! The recorder of kube takes events with different notes for repeats of each other, and makes a request for each repeat.
mod series;

use crate::{
    cluster::{api::LONGEST_REQUEST, host},
    error::Error,
    lock::Lock as _,
    machine::Event,
    status::{cut, truncated},
    text::printable,
};
use jiff::Timestamp;
use k8s_openapi::{
    api::{
        core::v1::ObjectReference,
        events::v1::{Event as Published, EventSeries},
    },
    apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta},
};
use kube::{
    Api, Client,
    api::{Patch, PatchParams, PostParams},
};
use prometheus_client::metrics::counter::Counter;
use serde_json::json;
use series::{EventLog, EventName, Key, Next};
use std::{
    hash::{DefaultHasher, Hash, Hasher as _},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until, timeout},
};

/// The most bytes of a reason.
const LONGEST_REASON: usize = 128;
/// The most bytes of the name of an object that begin the name of its event. The name of the event may have 253.
const LONGEST_PREFIX: usize = 230;

/// An event about an object.
#[derive(Debug)]
struct Occurrence {
    about: ObjectReference,
    action: &'static str,
    event: Event,
    time: Timestamp,
}

/// The events of a process.
pub(in crate::cluster) struct Recorder {
    only_warnings: bool,
    log: Mutex<EventLog>,
    salt: u64,
    recorded: Notify,
    closing: AtomicBool,
}

impl Recorder {
    /// A recorder that publishes what is recorded while [`run`](Self::run) runs.
    /// `dropped` counts the events that are recorded and cannot be published.
    pub fn new(only_warnings: bool, dropped: Counter) -> Self {
        Self {
            only_warnings,
            log: Mutex::new(EventLog::new(dropped)),
            salt: host::random(),
            recorded: Notify::new(),
            closing: AtomicBool::new(false),
        }
    }

    /// Records an event, without waiting. `time` is the API server's.
    pub fn record(&self, about: ObjectReference, action: &'static str, event: Event, time: Timestamp) {
        if self.only_warnings && !event.warning {
            return;
        }
        let key = self.hash((&about.uid, action, &event));
        let occurrence = Occurrence {
            about,
            action,
            event,
            time,
        };
        if self.log.locked().record(key, occurrence, Instant::now()) {
            self.recorded.notify_one();
        }
    }

    fn hash(&self, what: impl Hash) -> u64 {
        let mut hash = DefaultHasher::new();
        (self.salt, what).hash(&mut hash);
        hash.finish()
    }

    /// Lets [`run`](Self::run) publish at once what waits for its time, and end.
    pub fn close(&self) {
        self.closing.store(true, Relaxed);
        self.recorded.notify_one();
    }

    /// Publishes events until the recorder is closed, with one request at a time.
    pub async fn run(&self, client: Client, controller: &str) {
        // In a pod it is the name of the pod.
        let host = host::name();
        let instance = match &*host {
            "" => controller.to_owned(),
            host => cut(host, LONGEST_REASON).to_owned(),
        };
        loop {
            let closing = self.closing.load(Relaxed);
            let next = self.log.locked().next(Instant::now(), closing);
            match next {
                Next::Create(key, occurrence) => {
                    let name = self.name(key, &occurrence);
                    let event = published(&name, *occurrence, controller, &instance);
                    let created = create(&client, &event).await;
                    let mut log = self.log.locked();
                    match created {
                        Ok(()) => log.created(key, name, Instant::now()),
                        Err(error) => {
                            log.forget(key);
                            tracing::debug!(%error, reason = event.reason, "cannot publish an event");
                        }
                    }
                }
                Next::Count(key, name, count, last) => {
                    let sent = send_count(&client, &name, count, last).await;
                    let mut log = self.log.locked();
                    match sent {
                        Ok(true) => log.sent(key, count, Instant::now()),
                        Err(_) if !closing => log.postpone(key, Instant::now()),
                        Ok(false) | Err(_) => log.forget(key),
                    }
                }
                Next::Wait(until) => tokio::select! {
                    biased;
                    () = self.recorded.notified() => {}
                    () = sleep_until(until) => {}
                },
                Next::Idle if closing => return,
                Next::Idle => self.recorded.notified().await,
            }
        }
    }

    /// A name for the event of this series.
    fn name(&self, key: Key, occurrence: &Occurrence) -> EventName {
        let about = &occurrence.about;
        let object = cut(about.name.as_deref().unwrap_or_default(), LONGEST_PREFIX);
        // A series of the same events may follow later.
        let unique = self.hash((key, occurrence.time));
        EventName {
            // Events about objects of the cluster as a whole have to be there.
            namespace: about.namespace.clone().unwrap_or_else(|| "default".to_owned()),
            name: format!("{}.{unique:016x}", object.trim_end_matches(['.', '-'])),
        }
    }
}

/// The event object of a first occurrence.
fn published(name: &EventName, occurrence: Occurrence, controller: &str, instance: &str) -> Published {
    let Occurrence {
        about,
        action,
        event,
        time,
    } = occurrence;
    Published {
        metadata: ObjectMeta {
            name: Some(name.name.clone()),
            namespace: Some(name.namespace.clone()),
            ..ObjectMeta::default()
        },
        event_time: Some(MicroTime(time)),
        type_: Some(if event.warning { "Warning" } else { "Normal" }.to_owned()),
        action: Some(action.to_owned()),
        reason: Some(cut(&printable(&event.reason), LONGEST_REASON).to_owned()),
        note: Some(truncated(&printable(&event.note))),
        regarding: Some(about),
        reporting_controller: Some(controller.to_owned()),
        reporting_instance: Some(instance.to_owned()),
        ..Published::default()
    }
}

async fn create(client: &Client, event: &Published) -> Result<(), Error> {
    let namespace = event.metadata.namespace.as_deref().unwrap_or_default();
    let api = Api::<Published>::namespaced(client.clone(), namespace);
    timeout(LONGEST_REQUEST, api.create(&PostParams::default(), event)).await??;
    Ok(())
}

/// Returns whether the event still exists.
async fn send_count(client: &Client, name: &EventName, count: u64, last: Timestamp) -> Result<bool, Error> {
    let series = EventSeries {
        count: count.try_into().unwrap_or(i32::MAX),
        last_observed_time: MicroTime(last),
    };
    let api = Api::<Published>::namespaced(client.clone(), &name.namespace);
    let patch = Patch::Merge(json!({ "series": series }));
    let params = PatchParams::default();
    match timeout(LONGEST_REQUEST, api.patch_metadata(&name.name, &params, &patch)).await? {
        Ok(_) => Ok(true),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{Method, Request, Response};
    use kube::client::Body;
    use serde_json::Value;
    use std::{convert::Infallible, sync::Arc, time::Duration};

    /// An API server that keeps what is requested, and answers with these codes first.
    #[derive(Default)]
    struct Server {
        requests: Mutex<Vec<(Instant, Method, Value)>>,
        codes: Mutex<Vec<u16>>,
    }

    impl Server {
        async fn answer(&self, request: Request<Body>) -> (u16, Value) {
            let (parts, body) = request.into_parts();
            let body = body.collect_bytes().await.expect("a body");
            let body: Value = serde_json::from_slice(&body).expect("JSON");
            let mut requests = self.requests.lock().expect("a lock");
            requests.push((Instant::now(), parts.method, body.clone()));
            match self.codes.lock().expect("a lock").pop() {
                None | Some(200) => (200, body),
                Some(code) => (
                    code,
                    json!({"status": "Failure", "code": code, "message": "no", "reason": "no"}),
                ),
            }
        }

        /// How many requests of this method there were.
        fn count(&self, method: &Method) -> usize {
            let requests = self.requests.lock().expect("a lock");
            requests.iter().filter(|(_, of, _)| of == method).count()
        }

        /// The last count of a series.
        fn last_count(&self) -> Option<u64> {
            let requests = self.requests.lock().expect("a lock");
            requests.last()?.2["series"]["count"].as_u64()
        }
    }

    struct Process {
        server: Arc<Server>,
        recorder: Arc<Recorder>,
        dropped: Counter,
        client: Client,
    }

    impl Process {
        fn new(only_warnings: bool) -> Self {
            let server = Arc::new(Server::default());
            let serving = Arc::clone(&server);
            let service = tower::service_fn(move |request: Request<Body>| {
                let server = Arc::clone(&serving);
                async move {
                    let (code, body) = server.answer(request).await;
                    let body = Body::from(body.to_string().into_bytes());
                    let answer = Response::builder().status(code).body(body);
                    Ok::<_, Infallible>(answer.expect("an answer"))
                }
            });
            let dropped = Counter::default();
            Self {
                server,
                recorder: Arc::new(Recorder::new(only_warnings, dropped.clone())),
                dropped,
                client: Client::new(service, "default"),
            }
        }

        fn started(only_warnings: bool) -> (Self, tokio::task::JoinHandle<()>) {
            let process = Self::new(only_warnings);
            let (recorder, client) = (Arc::clone(&process.recorder), process.client.clone());
            let runs = tokio::spawn(async move { recorder.run(client, "moose-operator").await });
            (process, runs)
        }

        fn record(&self, note: impl Into<String>) {
            self.record_about("rudolph", "Transition", Event::warning("Hungry", note));
        }

        fn record_about(&self, uid: &str, action: &'static str, event: Event) {
            let about = ObjectReference {
                name: Some("rudolph".to_owned()),
                namespace: Some("tundra".to_owned()),
                uid: Some(uid.to_owned()),
                ..ObjectReference::default()
            };
            self.recorder.record(about, action, event, Timestamp::UNIX_EPOCH);
        }
    }

    #[test]
    fn what_a_terminal_would_act_on_is_escaped_in_events() {
        let name = EventName {
            namespace: "tundra".to_owned(),
            name: "rudolph.1".to_owned(),
        };
        let hostile = "a\nINFO fake\u{1b}[31m\u{202e}\0".repeat(300);
        let occurrence = Occurrence {
            about: ObjectReference::default(),
            action: "Transition",
            event: Event::warning(hostile.as_str(), hostile.as_str()),
            time: Timestamp::UNIX_EPOCH,
        };
        let event = published(&name, occurrence, "moose-operator", "pod");
        for text in [event.note, event.reason].into_iter().flatten() {
            assert!(!text.contains(crate::text::is_unprintable), "{text:?}");
            assert!(text.len() <= 1024);
        }
    }

    async fn seconds(seconds: u64) {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn ten_thousand_equal_events_in_six_minutes_are_one_series() {
        let (process, runs) = Process::started(false);
        for _ in 0..10_000 {
            process.record("no grass");
            tokio::time::sleep(Duration::from_millis(36)).await;
        }
        process.recorder.close();
        runs.await.expect("the recorder ends");
        let server = &process.server;
        assert_eq!(
            (server.count(&Method::POST), server.last_count()),
            (1, Some(10_000))
        );
        assert!(
            server.count(&Method::PATCH) <= 38,
            "{}",
            server.count(&Method::PATCH)
        );
        let requests = server.requests.lock().expect("a lock");
        // The last request does not wait, because the process ends.
        for pair in requests[..requests.len() - 1].windows(2) {
            assert!(pair[1].0 - pair[0].0 >= Duration::from_secs(10), "{pair:?}");
        }
        let event = &requests[0].2;
        assert_eq!(
            (&event["reason"], &event["note"]),
            (&json!("Hungry"), &json!("no grass"))
        );
        assert_eq!(
            (&event["action"], &event["type"]),
            (&json!("Transition"), &json!("Warning"))
        );
        assert_eq!(event["reportingController"], "moose-operator");
        assert_eq!(process.dropped.get(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn events_that_differ_are_different_series_and_so_is_one_after_six_minutes() {
        let (process, _runs) = Process::started(false);
        let mut normal = Event::warning("Hungry", "no grass");
        normal.warning = false;
        process.record("no grass");
        process.record("no moss");
        process.record_about("rudolph", "Transition", Event::warning("Lost", "no grass"));
        process.record_about("rudolph", "Transition", normal);
        process.record_about("rudolph", "Run", Event::warning("Hungry", "no grass"));
        process.record_about("another one", "Transition", Event::warning("Hungry", "no grass"));
        seconds(1).await;
        assert_eq!(process.server.count(&Method::POST), 6);
        seconds(359).await;
        process.record("no grass");
        seconds(361).await;
        assert_eq!(
            (process.server.count(&Method::POST), process.server.last_count()),
            (6, Some(2))
        );
        process.record("no grass");
        seconds(1).await;
        assert_eq!(process.server.count(&Method::POST), 7);
    }

    #[tokio::test(start_paused = true)]
    async fn what_does_not_fit_into_the_queue_is_dropped_and_counted() {
        let process = Process::new(false);
        for note in 0..series::QUEUE + 44 {
            process.record(note.to_string());
        }
        process.record("0");
        assert_eq!(process.dropped.get(), 44, "a repeat needs no room");
        process.recorder.close();
        process
            .recorder
            .run(process.client.clone(), "moose-operator")
            .await;
        assert_eq!(process.server.count(&Method::POST), series::QUEUE);
        assert_eq!(process.server.last_count(), Some(2));
    }

    #[tokio::test(start_paused = true)]
    async fn a_count_is_sent_again_and_an_event_that_is_gone_is_made_anew() {
        let (process, _runs) = Process::started(false);
        process.record("no grass");
        seconds(1).await;
        process.record("no grass");
        process.server.codes.lock().expect("a lock").push(500);
        seconds(10).await;
        process.record("no grass");
        seconds(10).await;
        assert_eq!(process.server.count(&Method::PATCH), 2);
        assert_eq!(process.server.last_count(), Some(3));
        process.record("no grass");
        process.server.codes.lock().expect("a lock").push(404);
        seconds(10).await;
        assert_eq!(process.dropped.get(), 1, "its event is gone");
        process.record("no grass");
        seconds(1).await;
        assert_eq!(process.server.count(&Method::POST), 2);
        process.server.codes.lock().expect("a lock").push(403);
        process.record("no moss");
        seconds(1).await;
        assert_eq!(process.dropped.get(), 2, "it could not be created");
    }

    #[tokio::test(start_paused = true)]
    async fn only_warnings_are_published_if_nothing_else_is_asked_for() {
        let (process, _runs) = Process::started(true);
        let mut normal = Event::warning("Hungry", "no grass");
        normal.warning = false;
        process.record_about("rudolph", "Transition", normal);
        process.record("no moss");
        seconds(1).await;
        assert_eq!(process.server.count(&Method::POST), 1);
    }
}
