//! The answers to probes: whether the event loops of the operator run, and whether it has seen everything that it needs before
//! it can work.
use super::serve::{HttpHandler, text};
use crate::{cluster::api::raw::Endpoint, error::Error, lock::Lock as _};
use http::{Response, StatusCode, request::Parts};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};
use tokio::time::Instant;

/// How often an event loop runs that has nothing to do.
pub(in crate::cluster) const BEAT: Duration = Duration::from_secs(10);
/// An event loop that has not run for so long counts as stuck.
const LONGEST_SILENCE: Duration = Duration::from_secs(30);

/// The health of the process. Clones share it.
///
/// It is locked for moments only: when something that the process waits for happens for the first time or fails, once
/// in [`BEAT`] by each loop, and by probes.
#[derive(Clone, Default)]
pub(in crate::cluster) struct Health(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// The last number that was given.
    last: u64,
    /// Conditions that the process still waits for.
    waits: BTreeMap<u64, Waiting>,
    /// The kinds whose listing is not required for readiness.
    spared: BTreeSet<String>,
    /// Problems that do not keep the process from being ready, by their subjects.
    notes: BTreeMap<String, String>,
    /// The event loops, and when each ran last.
    loops: BTreeMap<u64, (String, Instant)>,
}

/// A condition that the process waits for.
struct Waiting {
    name: String,
    why: String,
    /// Whether the process is ready without it.
    is_spared: bool,
}

/// Something that has to happen once before the process is ready.
pub(in crate::cluster) struct Wait {
    health: Health,
    number: u64,
}

/// An event loop that has to run again and again. It is no longer watched when this is dropped.
pub(in crate::cluster) struct Heartbeat {
    health: Health,
    number: u64,
}

impl Health {
    /// The process is not ready until this is [`done`](Wait::done).
    pub fn waits_for(&self, name: impl Into<String>) -> Wait {
        self.waits(name.into(), false)
    }

    fn waits(&self, name: String, is_spared: bool) -> Wait {
        let why = "not seen yet".to_owned();
        let waiting = Waiting { name, why, is_spared };
        let number = self.with(|state| {
            state.last += 1;
            state.waits.insert(state.last, waiting);
            state.last
        });
        Wait {
            health: self.clone(),
            number,
        }
    }

    /// The process is not ready until the objects of a kind are listed in a namespace; the empty one stands for all.
    pub fn waits_for_listing(&self, kind: &Endpoint, namespace: &str) -> Wait {
        let name = kind.name();
        let is_spared = self.with(|state| state.spared.contains(&name));
        let place = match namespace {
            "" => String::new(),
            namespace => format!(" in {namespace}"),
        };
        self.waits(name + &place, is_spared)
    }

    /// Does not require the listing of a kind for readiness: the API server calls this process for
    /// conversions during the listing, but only when it is ready, so both would wait for each other.
    pub fn spares(&self, kind: &Endpoint) {
        self.with(|state| state.spared.insert(kind.name()));
    }

    /// The process is alive only while this event loop runs.
    pub fn watches_loop(&self, name: impl Into<String>) -> Heartbeat {
        let number = self.with(|state| {
            state.last += 1;
            state.loops.insert(state.last, (name.into(), Instant::now()));
            state.last
        });
        Heartbeat {
            health: self.clone(),
            number,
        }
    }

    /// Why the process is not alive; nothing if it is.
    fn dead(&self) -> Vec<String> {
        self.with(|state| {
            let since = |last: &Instant| last.elapsed();
            let still = state
                .loops
                .values()
                .filter(|(_, last)| since(last) > LONGEST_SILENCE);
            still
                .map(|(name, last)| {
                    format!(
                        "{name}: the event loop has been blocked for {} s",
                        since(last).as_secs()
                    )
                })
                .collect()
        })
    }

    /// Why the process is not ready; nothing if it is.
    pub fn unready(&self) -> Vec<String> {
        self.with(|state| {
            let waits = state.waits.values().filter(|wait| !wait.is_spared);
            waits.map(Waiting::text).collect()
        })
    }

    /// Sets or removes a note about a subject in the answer to `/readyz?verbose`.
    pub fn note(&self, about: String, note: Option<String>) {
        self.with(|state| match note {
            Some(note) => state.notes.insert(about, note),
            None => state.notes.remove(&about),
        });
    }

    fn notes(&self) -> String {
        self.with(|state| {
            let waits = state.waits.values().filter(|wait| wait.is_spared);
            let notes = state.notes.iter().map(|(about, note)| format!("{about}: {note}"));
            let all = waits.map(Waiting::text).chain(notes);
            all.map(|line| line + "\n").collect()
        })
    }

    fn with<T>(&self, then: impl FnOnce(&mut State) -> T) -> T {
        let mut state: MutexGuard<'_, State> = self.0.locked();
        then(&mut state)
    }
}

impl Waiting {
    fn text(&self) -> String {
        format!("{}: {}", self.name, self.why)
    }
}

impl Wait {
    /// Marks the condition as met. Later failures do not make the process unready again.
    pub fn done(self) {
        self.health.with(|state| state.waits.remove(&self.number));
    }

    /// Records a failure, which probes show until a retry succeeds.
    pub fn fails(&self, error: &Error) {
        self.health.with(|state| {
            if let Some(wait) = state.waits.get_mut(&self.number) {
                wait.why = reason(error);
            }
        });
    }
}

impl Heartbeat {
    /// The event loop has run.
    pub fn beats(&self) {
        self.health.with(|state| {
            if let Some((_, last)) = state.loops.get_mut(&self.number) {
                *last = Instant::now();
            }
        });
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.health.with(|state| state.loops.remove(&self.number));
    }
}

/// An error for people who look for what is missing in a cluster.
fn reason(error: &Error) -> String {
    match error.answer() {
        Some(status) if status.code == 403 => format!("forbidden: {}", status.message),
        // The API server has no path for the kind, so there is no status in its answer.
        Some(status) if status.code == 404 && status.reason != "NotFound" => {
            "the API server does not serve this kind".to_owned()
        }
        Some(status) => status.message.clone(),
        None => error.to_string(),
    }
}

/// Whether the query of a request asks for details, in the form of Kubernetes' own probes.
fn is_verbose(query: &str) -> bool {
    let mut parameters = query.split('&').map(|parameter| parameter.split('=').next());
    parameters.any(|name| name == Some("verbose"))
}

impl HttpHandler for Health {
    async fn respond(&self, request: &Parts) -> Response<String> {
        let problems = match request.uri.path() {
            "/livez" => self.dead(),
            "/readyz" | "/healthz" => self.unready(),
            _ => {
                let paths = "not found: this server has /livez, /readyz and /healthz\n";
                return text(StatusCode::NOT_FOUND, paths.to_owned());
            }
        };
        if problems.is_empty() {
            let is_verbose = request.uri.query().is_some_and(is_verbose) && request.uri.path() != "/livez";
            let notes = if is_verbose { self.notes() } else { String::new() };
            return text(StatusCode::OK, format!("ok\n{notes}"));
        }
        text(StatusCode::INTERNAL_SERVER_ERROR, problems.join("\n") + "\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn probe(health: &Health, path: &str) -> (u16, String) {
        let (request, ()) = http::Request::get(path).body(()).expect("a request").into_parts();
        let answer = health.respond(&request).await;
        (answer.status().as_u16(), answer.into_body())
    }

    #[tokio::test(start_paused = true)]
    async fn a_loop_that_stops_is_named_and_one_that_has_ended_is_not() {
        let health = Health::default();
        assert_eq!(probe(&health, "/livez").await.0, 200);
        let (moose, other) = (
            health.watches_loop("moose.example.com"),
            health.watches_loop("other"),
        );
        tokio::time::advance(LONGEST_SILENCE).await;
        assert_eq!(probe(&health, "/livez").await.0, 200);
        tokio::time::advance(BEAT).await;
        other.beats();
        let stuck = "moose.example.com: the event loop has been blocked for 40 s\n";
        assert_eq!(probe(&health, "/livez").await, (500, stuck.to_owned()));
        moose.beats();
        assert_eq!(probe(&health, "/livez").await, (200, "ok\n".to_owned()));
        tokio::time::advance(2 * LONGEST_SILENCE).await;
        drop((moose, other));
        assert_eq!(probe(&health, "/livez").await.0, 200, "both loops have ended");
    }

    #[tokio::test]
    async fn the_process_is_ready_when_everything_has_happened_once() {
        let health = Health::default();
        let (kind, lease) = (
            health.waits_for("moose.example.com"),
            health.waits_for("the lease"),
        );
        for path in ["/readyz", "/healthz"] {
            let both = "moose.example.com: not seen yet\nthe lease: not seen yet\n";
            assert_eq!(probe(&health, path).await, (500, both.to_owned()));
        }
        lease.done();
        let forbidden = kube::core::Status::failure("moose are secret", "Forbidden").with_code(403);
        kind.fails(&Error::from(kube::Error::Api(forbidden.boxed())).context("listing"));
        let why = "moose.example.com: forbidden: moose are secret\n";
        assert_eq!(probe(&health, "/readyz").await, (500, why.to_owned()));
        assert_eq!(probe(&health, "/livez").await.0, 200, "a restart does not help");
        kind.done();
        assert_eq!(probe(&health, "/readyz").await, (200, "ok\n".to_owned()));

        health.note("moose".to_owned(), Some("the CRD is old".to_owned()));
        assert_eq!(probe(&health, "/readyz").await, (200, "ok\n".to_owned()));
        let verbose = probe(&health, "/readyz?verbose").await;
        assert_eq!(verbose, (200, "ok\nmoose: the CRD is old\n".to_owned()));
        health.note("moose".to_owned(), None);
        assert_eq!(probe(&health, "/readyz?verbose").await, (200, "ok\n".to_owned()));
    }
}
