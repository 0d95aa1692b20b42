//! Everything that happens to the objects of one kind in one namespace, in order.
//!
//! A watch loses nothing between its start and now: where a list shows the state after the fact, this shows each write.

use super::{Cluster, DEADLINE};
use serde_json::Value;
use std::io::BufReader;
use std::process::{Child, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// One object as one write left it.
#[derive(Clone)]
pub struct Event {
    /// Whether this is the object's end.
    pub deleted: bool,
    /// The object after the write.
    pub object: Value,
}

impl Event {
    /// `.metadata.name`
    pub fn name(&self) -> &str {
        self.text("/metadata/name")
    }

    /// The text at a JSON pointer, empty when there is none.
    pub fn text(&self, pointer: &str) -> &str {
        self.object
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }
}

#[derive(Default)]
struct Seen {
    events: Mutex<Vec<Event>>,
    news: Condvar,
}

/// A running watch.
pub struct Watch {
    kubectl: Child,
    leash: &'static super::Leash,
    seen: Arc<Seen>,
}

impl Watch {
    /// Watches a kind in a namespace. What is there already comes first, as it is.
    pub fn start(cluster: &'static Cluster, kind: &str, namespace: &str) -> Watch {
        let args = [
            "get",
            kind,
            "--namespace",
            namespace,
            "--watch",
            "--output-watch-events",
            "--output=json",
        ];
        let mut kubectl = cluster
            .kubectl_command("admin", &args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("kubectl starts");
        cluster.leash().hold(&kubectl);
        let stream = BufReader::new(kubectl.stdout.take().expect("a pipe was asked for"));
        let seen = Arc::<Seen>::default();
        let writer = seen.clone();
        std::thread::spawn(move || {
            // The stream ends, maybe in the middle of an event, when the watch is dropped.
            for event in serde_json::Deserializer::from_reader(stream)
                .into_iter::<Value>()
                .map_while(Result::ok)
            {
                let deleted = event["type"] == "DELETED";
                let object = event["object"].clone();
                writer
                    .events
                    .lock()
                    .expect("no reader panics with the lock")
                    .push(Event { deleted, object });
                writer.news.notify_all();
            }
        });
        Watch {
            kubectl,
            leash: cluster.leash(),
            seen,
        }
    }

    /// Blocks until all that was seen so far satisfies `enough`, and returns it.
    pub fn wait(&self, what: &str, enough: impl Fn(&[Event]) -> bool) -> Vec<Event> {
        self.wait_while(what, enough, || true)
    }

    /// The same, but gives up when there is no `hope` any more.
    pub fn wait_while(
        &self,
        what: &str,
        enough: impl Fn(&[Event]) -> bool,
        mut hope: impl FnMut() -> bool,
    ) -> Vec<Event> {
        let deadline = Instant::now() + DEADLINE;
        let mut events = self.seen.events.lock().expect("no reader panics with the lock");
        while !enough(&events) {
            let in_time = Instant::now() < deadline;
            if !in_time || !hope() {
                let count = events.len();
                // Unlocked first, so that the writer does not panic as well.
                drop(events);
                let why = if in_time {
                    "and will not be"
                } else {
                    "and it is late"
                };
                panic!("{what}: not after {count} events, {why}");
            }
            let news = self.seen.news.wait_timeout(events, Duration::from_secs(1));
            events = news.expect("no reader panics with the lock").0;
        }
        events.clone()
    }

    /// All that was seen so far.
    pub fn events(&self) -> Vec<Event> {
        self.seen
            .events
            .lock()
            .expect("no reader panics with the lock")
            .clone()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // One that has ended already is fine.
        let _ = self.kubectl.kill();
        let _ = self.kubectl.wait();
        self.leash.free(&self.kubectl);
    }
}

#[test]
fn a_watch_shows_every_write_in_order() {
    let Some(cluster) = super::shared() else { return };
    let namespace = cluster.namespace("watch");
    let within = ["--namespace", &namespace];
    let watch = Watch::start(cluster, "configmaps", &namespace);
    cluster.kubectl(&[&["create", "configmap", "it"], within.as_slice()].concat());
    watch.wait("created", |events| events.iter().any(|e| e.name() == "it"));

    for step in ["1", "2", "3"] {
        let patch = format!("{{\"data\": {{\"step\": \"{step}\"}}}}");
        let args = ["patch", "configmap", "it", "--type=merge", "--patch", &patch];
        cluster.kubectl(&[args.as_slice(), within.as_slice()].concat());
    }
    cluster.kubectl(&[&["delete", "configmap", "it"], within.as_slice()].concat());

    let events = watch.wait("deleted", |events| events.iter().any(|e| e.deleted));
    let steps: Vec<&str> = events
        .iter()
        .filter(|e| !e.deleted)
        .map(|e| e.text("/data/step"))
        .collect();
    assert_eq!(steps, ["", "1", "2", "3"]);
}
