//! Fault injection, for tests only: failures of the API server and of the network, and crashes of the process
//! around a write of the status. It is a layer of the client, so the rest of the runtime does not know about it.
//!
//! The variable `KRATOR_FAULTS` contains the plan as JSON; without it there are no faults. The same seed gives the
//! same faults to the same sequence of requests. The events of a running watch are never touched: a watch is cut by
//! asking the server for a short one, and 410 is the server's own answer to a version that it has forgotten.
#![allow(
    clippy::disallowed_methods,
    reason = "tests pass the faults through the environment"
)]
use crate::spec_digest::{STEP, mixed};
use futures::{FutureExt as _, future::BoxFuture};
use http::{Method, Request, Response};
use kube::{
    client::Body,
    core::{
        Status,
        response::{StatusDetails, reason},
    },
};
use serde::Deserialize;
use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};
use tokio::time::{Instant, sleep};
use tower::{BoxError, Layer, Service, ServiceExt as _};

/// The variable that contains the plan.
const VARIABLE: &str = "KRATOR_FAULTS";

/// The faults and their frequency: the number of affected requests in a thousand, unless stated otherwise.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Plan {
    seed: u64,
    /// The request is delayed by up to 200 ms.
    latency: u64,
    /// A write is not done, and answered with 409.
    conflict: u64,
    /// A write is not done, and answered with 422.
    invalid: u64,
    /// The request is not done, and answered with 429 and a Retry-After of one second.
    throttled: u64,
    /// The request is not done, and answered with 500.
    broken: u64,
    /// The request is done, but its answer is lost.
    lost: u64,
    /// A watch ends after one to five seconds.
    cut: u64,
    /// A watch begins at a version that the server has forgotten: 410.
    gone: u64,
    /// `(every, first)`: in every period of `every` milliseconds, all requests fail during the `first` ones.
    partition: Option<(u64, u64)>,
    /// The process crashes once before and once after the write of each state. This file remembers the crashes, one
    /// in each line: `before Website Publish`.
    crashes: Option<PathBuf>,
    /// The process crashes around each write, also those of other kinds: `before DELETE /api/v1/namespaces/a/secrets/b`.
    every_write: bool,
}

/// The faults that the environment asks for.
#[derive(Clone)]
pub(super) struct Faults {
    plan: Arc<Plan>,
    requests: Arc<AtomicU64>,
    began: Instant,
}

impl Faults {
    /// Reads the plan from the environment; an error if the variable does not contain one.
    pub fn from_env() -> io::Result<Self> {
        let plan = match std::env::var(VARIABLE) {
            Ok(text) => serde_json::from_str(&text).map_err(io::Error::other)?,
            Err(_) => Plan::default(),
        };
        Ok(Self {
            plan: Arc::new(plan),
            requests: Arc::default(),
            began: Instant::now(),
        })
    }

    /// The random numbers for the next request.
    fn chances(&self) -> Chances {
        let nth = self.requests.fetch_add(1, Ordering::Relaxed);
        Chances(self.plan.seed.wrapping_mul(STEP) ^ nth.wrapping_mul(0xd1b5_4a32_d192_ed03))
    }

    fn is_partitioned(&self) -> bool {
        let now = self.began.elapsed().as_millis();
        self.plan.partition.is_some_and(|(every, first)| {
            // The first period has no partition, so that the operator can start.
            now > u128::from(every) && now % u128::from(every.max(1)) < u128::from(first)
        })
    }
}

/// SplitMix64: small, and good enough for this.
struct Chances(u64);

impl Chances {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mixed(self.0)
    }
    /// True with a probability of `of_thousand` in a thousand.
    fn hit(&mut self, of_thousand: u64) -> bool {
        self.next() % 1000 < of_thousand
    }
}

impl<S> Layer<S> for Faults {
    type Service = Faulty<S>;
    fn layer(&self, inner: S) -> Faulty<S> {
        Faulty {
            faults: self.clone(),
            inner: Arc::new(tokio::sync::Mutex::new(inner)),
        }
    }
}

/// The service of a client, with faults.
pub(super) struct Faulty<S> {
    faults: Faults,
    /// Shared with the requests that are still to be sent, because the service cannot be cloned.
    inner: Arc<tokio::sync::Mutex<S>>,
}

impl<S, B> Service<Request<Body>> for Faulty<S>
where
    S: Service<Request<Body>, Response = Response<B>, Error = BoxError> + Send + 'static,
    S::Future: Send,
    B: Send + 'static,
{
    type Response = Response<B>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Response<B>, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let (faults, inner) = (self.faults.clone(), Arc::clone(&self.inner));
        async move {
            let (plan, mut chances) = (&*faults.plan, faults.chances());
            if chances.hit(plan.latency) {
                sleep(Duration::from_millis(chances.next() % 200)).await;
            }
            if faults.is_partitioned() {
                return Err(io::Error::from(io::ErrorKind::ConnectionRefused).into());
            }
            if let Some(status) = plan.refusal(&request, &mut chances) {
                return Err(kube::Error::Api(status.boxed()).into());
            }
            let is_lost = chances.hit(plan.lost);
            let (request, point) = plan.prepared(request, &mut chances).await?;
            if let Some(state) = &point {
                plan.crash("before", state);
            }
            let answer = {
                let mut inner = inner.lock().await;
                inner.ready().await?.call(request)
            }
            .await;
            if let (Some(state), Ok(answer)) = (&point, &answer)
                && answer.status().is_success()
            {
                plan.crash("after", state);
            }
            if is_lost {
                return Err(io::Error::from(io::ErrorKind::ConnectionReset).into());
            }
            answer
        }
        .boxed()
    }
}

impl Plan {
    /// An answer in place of the server's.
    fn refusal(&self, request: &Request<Body>, chances: &mut Chances) -> Option<Status> {
        let is_write = request.method() != Method::GET;
        // Every request draws all numbers, so that the frequency of one fault does not affect the others.
        let (conflict, invalid) = (chances.hit(self.conflict), chances.hit(self.invalid));
        let (throttled, broken) = (chances.hit(self.throttled), chances.hit(self.broken));
        let failure = |code, reason| Some(Status::failure("an injected fault", reason).with_code(code));
        if is_write && conflict {
            failure(409, reason::CONFLICT)
        } else if is_write && invalid {
            failure(422, reason::INVALID)
        } else if throttled {
            failure(429, reason::TOO_MANY_REQUESTS).map(|status| {
                status.with_details(StatusDetails {
                    name: String::new(),
                    group: String::new(),
                    kind: String::new(),
                    uid: String::new(),
                    causes: Vec::new(),
                    retry_after_seconds: 1,
                })
            })
        } else if broken {
            failure(500, reason::INTERNAL_ERROR)
        } else {
            None
        }
    }

    /// The request as it is sent, and the kind and state of the status that it writes, if any.
    async fn prepared(
        &self,
        request: Request<Body>,
        chances: &mut Chances,
    ) -> Result<(Request<Body>, Option<String>), BoxError> {
        let (mut parts, mut body) = request.into_parts();
        let (cut, gone) = (chances.hit(self.cut), chances.hit(self.gone));
        if let Some(query) = parts.uri.query().filter(|query| query.contains("watch=true")) {
            let mut uri = format!("{}?{query}", parts.uri.path());
            if cut {
                uri = replaced(&uri, "timeoutSeconds", 1 + chances.next() % 5);
            }
            if gone {
                uri = replaced(&uri, "resourceVersion", 1);
            }
            let mut whole = parts.uri.clone().into_parts();
            whole.path_and_query = Some(uri.parse()?);
            parts.uri = whole.try_into()?;
        }
        let mut point = None;
        if self.crashes.is_some() && self.every_write {
            let bytes = body.collect_bytes().await?;
            point = write_point(&parts.method, parts.uri.path(), &bytes);
            body = bytes.into();
        } else if self.crashes.is_some()
            && parts.method == Method::PATCH
            && parts.uri.path().ends_with("/status")
        {
            let bytes = body.collect_bytes().await?;
            let written: serde_json::Value = serde_json::from_slice(&bytes)?;
            point = written["kind"]
                .as_str()
                .zip(written["status"]["state"].as_str())
                .map(|(kind, state)| format!("{kind} {state}"));
            body = bytes.into();
        }
        Ok((Request::from_parts(parts, body), point))
    }

    /// Crashes as if by `kill -9`, once at each point: nothing unwinds, nothing is flushed.
    fn crash(&self, when: &str, state: &str) {
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let Some(file) = &self.crashes else { return };
        let _dying = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let point = format!("{when} {state}");
        if !crashed(file).contains(&point) {
            let noted = File::options().create(true).append(true).open(file);
            let noted = noted.and_then(|mut file| writeln!(file, "{point}"));
            // Without this record every later process would crash at the same point.
            if noted.is_ok() {
                std::process::abort();
            }
        }
    }
}

/// The name of a write: its request, and the fields that distinguish it from other writes of the same object. Events and
/// leases have none.
fn write_point(method: &Method, path: &str, body: &[u8]) -> Option<String> {
    let is_meant = *method != Method::GET && !path.contains("/events") && !path.contains("/leases");
    is_meant.then(|| {
        let written: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
        let details = [&written["status"]["state"], &written["metadata"]["finalizers"]];
        format!("{method} {path} {} {}", details[0], details[1])
    })
}

/// The points at which the process has crashed.
fn crashed(file: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// A path with the value of a query parameter replaced, or added if it has none.
fn replaced(uri: &str, parameter: &str, value: u64) -> String {
    let mut parts = uri.splitn(2, '?');
    let (path, query) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let others = query
        .split('&')
        .filter(|pair| !pair.starts_with(&format!("{parameter}=")));
    let query: Vec<&str> = others.collect();
    format!("{path}?{}&{parameter}={value}", query.join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_faults() {
        let drawn = |seed: u64| {
            let faults = Faults {
                plan: Arc::new(Plan {
                    seed,
                    ..Plan::default()
                }),
                requests: Arc::default(),
                began: Instant::now(),
            };
            let hits = (0..2000).map(|_| faults.chances().hit(100));
            hits.collect::<Vec<bool>>()
        };
        assert_eq!(drawn(7), drawn(7));
        assert_ne!(drawn(7), drawn(8));
        let hits = drawn(7).into_iter().filter(|hit| *hit).count();
        assert!((150..250).contains(&hits), "{hits} of 2000 instead of about 200");
    }

    #[test]
    fn replacing_a_query_parameter_keeps_the_others() {
        let uri = "/api/v1/pods?watch=true&timeoutSeconds=290&resourceVersion=7";
        assert_eq!(
            replaced(uri, "timeoutSeconds", 3),
            "/api/v1/pods?watch=true&resourceVersion=7&timeoutSeconds=3"
        );
        assert_eq!(
            replaced("/a?watch=true", "resourceVersion", 1),
            "/a?watch=true&resourceVersion=1"
        );
    }
}
