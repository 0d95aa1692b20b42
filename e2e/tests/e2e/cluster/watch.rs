//! All writes to the objects of one kind in one namespace, in order.
//!
//! A list shows only the current objects, but a watch shows each write since its start.

use super::process_guard::ProcessGuard;
use super::{Cluster, DEADLINE, Kubectl};
use serde_json::Value;
use std::io::BufReader;
use std::process::{Child, ChildStdout, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// A write to an object.
#[derive(Clone)]
pub struct Event {
    /// Whether the object was removed.
    pub deleted: bool,
    /// The object after the write.
    pub object: Value,
}

impl Event {
    /// `.metadata.name`
    pub fn name(&self) -> &str {
        self.text("/metadata/name")
    }

    /// The string at a JSON pointer, empty when there is none.
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

struct Seen {
    events: Mutex<Vec<Event>>,
    news: Condvar,
    kubectl: Kubectl,
    guard: Arc<ProcessGuard>,
    /// kubectl, while it watches.
    watching: Mutex<Option<Child>>,
    ended: AtomicBool,
}

/// A running watch.
pub struct Watch {
    seen: Arc<Seen>,
}

impl Watch {
    /// Watches the objects of a path such as `/api/v1/namespaces/default/configmaps`. Existing objects come first.
    pub fn start(cluster: &Cluster, path: &str) -> Watch {
        let list: Value = serde_json::from_str(&cluster.kubectl(&["get", "--raw", path])).expect("a list");
        let version = text(&list, "/metadata/resourceVersion").to_owned();
        let there = list["items"].as_array().expect("a list has items");
        let there = there.iter().map(|object| Event {
            deleted: false,
            object: object.clone(),
        });
        let seen = Arc::new(Seen {
            events: Mutex::new(there.collect()),
            news: Condvar::new(),
            kubectl: cluster.kubectl.clone(),
            guard: Arc::clone(cluster.process_guard()),
            watching: Mutex::new(None),
            ended: AtomicBool::new(false),
        });
        let (writer, path) = (seen.clone(), path.to_owned());
        std::thread::spawn(move || writer.follow(&path, version));
        Watch { seen }
    }

    /// Blocks until the events so far satisfy `is_enough`, and returns them.
    pub fn wait(&self, what: &str, is_enough: impl Fn(&[Event]) -> bool) -> Vec<Event> {
        self.wait_while(what, is_enough, || true)
    }

    /// Waits as [`wait`](Watch::wait) does, but panics as soon as `may_come` returns false.
    pub fn wait_while(
        &self,
        what: &str,
        is_enough: impl Fn(&[Event]) -> bool,
        mut may_come: impl FnMut() -> bool,
    ) -> Vec<Event> {
        let deadline = Instant::now() + DEADLINE;
        let mut events = self.seen.events.lock().expect("no reader panics with the lock");
        while !is_enough(&events) {
            let in_time = Instant::now() < deadline;
            if !in_time || !may_come() {
                let count = events.len();
                // Released before the panic, so that the thread that writes the events does not panic as well.
                drop(events);
                let why = if in_time {
                    "and no more are expected"
                } else {
                    "and the deadline has passed"
                };
                panic!("{what}: not after {count} events, {why}");
            }
            let news = self.seen.news.wait_timeout(events, Duration::from_secs(1));
            events = news.expect("no reader panics with the lock").0;
        }
        events.clone()
    }

    /// Removes and returns the events since the last call.
    pub fn take(&self) -> Vec<Event> {
        std::mem::take(&mut *self.seen.events.lock().expect("no reader panics with the lock"))
    }

    /// The events so far.
    pub fn events(&self) -> Vec<Event> {
        self.seen
            .events
            .lock()
            .expect("no reader panics with the lock")
            .clone()
    }
}

impl Seen {
    /// Records the writes after `version`. A server may end a watch at any time, for example when it is busy. Then the
    /// next watch continues from the last version, so that no event is lost.
    fn follow(&self, path: &str, mut version: String) {
        while let Some(stream) = self.watch(path, &version) {
            // The stream may end in the middle of an event when the watch is dropped.
            let stream = serde_json::Deserializer::from_reader(stream).into_iter::<Value>();
            for event in stream.map_while(Result::ok) {
                // A panic of this thread makes waits fail at their deadline.
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
            self.end();
        }
    }

    /// Starts kubectl, unless the watch was dropped.
    fn watch(&self, path: &str, version: &str) -> Option<BufReader<ChildStdout>> {
        let mut watching = self.watching.lock().expect("nobody panics with the lock");
        if self.ended.load(Ordering::Relaxed) {
            return None;
        }
        let path = format!("{path}?watch=true&resourceVersion={version}");
        let command = &mut self.kubectl.command("admin", &["get", "--raw", &path]);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("kubectl starts");
        self.guard.hold(&child);
        let stream = child.stdout.take().expect("a pipe was asked for");
        *watching = Some(child);
        Some(BufReader::new(stream))
    }

    /// Kills kubectl, so that the thread that reads its output continues.
    fn cut(&self) {
        if let Some(child) = self
            .watching
            .lock()
            .expect("nobody panics with the lock")
            .as_mut()
        {
            // `kill` fails for a process that has ended already, which does not matter here.
            let _ = child.kill();
        }
    }

    fn end(&self) {
        if let Some(mut child) = self.watching.lock().expect("nobody panics with the lock").take() {
            // `kill` fails for a process that has ended already, which does not matter here.
            let _ = child.kill();
            let _ = child.wait();
            self.guard.free(&child);
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
fn a_watch_shows_every_write_in_order_even_when_it_is_interrupted() {
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
        // The effect is the same as when a server ends the watch.
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
