//! Everything that happens to the objects of one kind in one namespace, in order.
//!
//! A watch loses nothing between its start and now: where a list shows the state after the fact, this shows each write.

use super::{Cluster, DEADLINE};
use serde_json::Value;
use std::io::BufReader;
use std::process::{Child, ChildStdout, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
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
        text(&self.object, pointer)
    }
}

fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

#[derive(Default)]
struct Seen {
    events: Mutex<Vec<Event>>,
    news: Condvar,
    /// kubectl, while it watches.
    kubectl: Mutex<Option<Child>>,
    ended: AtomicBool,
}

/// A running watch.
pub struct Watch {
    seen: Arc<Seen>,
}

impl Watch {
    /// Watches the objects of a path, as `/api/v1/namespaces/default/configmaps`. What is there already comes first,
    /// as it is.
    pub fn start(cluster: &'static Cluster, path: &str) -> Watch {
        let list: Value = serde_json::from_str(&cluster.kubectl(&["get", "--raw", path])).expect("a list");
        let version = text(&list, "/metadata/resourceVersion").to_owned();
        let there = list["items"].as_array().expect("a list has items");
        let seen = Arc::<Seen>::default();
        *seen.events.lock().expect("just made") = there
            .iter()
            .map(|object| Event {
                deleted: false,
                object: object.clone(),
            })
            .collect();
        let (writer, path) = (seen.clone(), path.to_owned());
        std::thread::spawn(move || writer.follow(cluster, &path, version));
        Watch { seen }
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

    /// All that was seen since it was last taken; it is not kept.
    pub fn take(&self) -> Vec<Event> {
        std::mem::take(&mut *self.seen.events.lock().expect("no reader panics with the lock"))
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

impl Seen {
    /// Records what happens after `version`. A server ends watches when it likes, for one when it is busy; then the
    /// next one begins where that ended, so that nothing is lost.
    fn follow(&self, cluster: &Cluster, path: &str, mut version: String) {
        while let Some(stream) = self.watch(cluster, path, &version) {
            // The stream ends in the middle of an event when the watch is dropped.
            let stream = serde_json::Deserializer::from_reader(stream).into_iter::<Value>();
            for event in stream.map_while(Result::ok) {
                // Waits will end at their deadline and show it.
                assert!(
                    event["type"] != "ERROR",
                    "the watch of {path} cannot go on: {event}"
                );
                let object = event["object"].clone();
                version = text(&object, "/metadata/resourceVersion").to_owned();
                let deleted = event["type"] == "DELETED";
                self.events
                    .lock()
                    .expect("no reader panics with the lock")
                    .push(Event { deleted, object });
                self.news.notify_all();
            }
            self.end(cluster);
        }
    }

    /// Starts kubectl, unless the watch is over.
    fn watch(&self, cluster: &Cluster, path: &str, version: &str) -> Option<BufReader<ChildStdout>> {
        let mut kubectl = self.kubectl.lock().expect("nobody panics with the lock");
        if self.ended.load(Ordering::Relaxed) {
            return None;
        }
        let path = format!("{path}?watch=true&resourceVersion={version}");
        let command = &mut cluster.kubectl_command("admin", &["get", "--raw", &path]);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("kubectl starts");
        cluster.process_guard().hold(&child);
        let stream = child.stdout.take().expect("a pipe was asked for");
        *kubectl = Some(child);
        Some(BufReader::new(stream))
    }

    /// Ends kubectl; the thread that reads from it sees that.
    fn cut(&self) {
        if let Some(child) = self.kubectl.lock().expect("nobody panics with the lock").as_mut() {
            // One that has ended already is fine.
            let _ = child.kill();
        }
    }

    fn end(&self, cluster: &Cluster) {
        if let Some(mut child) = self.kubectl.lock().expect("nobody panics with the lock").take() {
            // One that has ended already is fine.
            let _ = child.kill();
            let _ = child.wait();
            cluster.process_guard().free(&child);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.seen.ended.store(true, Ordering::Relaxed);
        self.seen.cut();
    }
}

#[test]
fn a_watch_shows_every_write_in_order_even_when_it_is_cut_off() {
    let Some(cluster) = super::shared() else { return };
    let namespace = cluster.namespace("watch");
    let within = ["--namespace", &namespace];
    let watch = Watch::start(cluster, &format!("/api/v1/namespaces/{namespace}/configmaps"));
    cluster.kubectl(&[&["create", "configmap", "it"], within.as_slice()].concat());
    watch.wait("created", |events| events.iter().any(|e| e.name() == "it"));

    for step in ["1", "2", "3"] {
        let patch = format!("{{\"data\": {{\"step\": \"{step}\"}}}}");
        let args = ["patch", "configmap", "it", "--type=merge", "--patch", &patch];
        cluster.kubectl(&[args.as_slice(), within.as_slice()].concat());
        // As a server does when it has had enough of us.
        watch.seen.cut();
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
