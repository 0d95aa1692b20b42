//! The network between processes and the API server. It delays, loses and refuses requests and their responses, and
//! finds requests that processes must not send.

use futures::StreamExt as _;
use http::{Method, Request, Response};
use http_body_util::{BodyExt as _, Full, StreamBody};
use krator_apiserver::Server;
use krator_runtime::simulation::{Connection, Process};
use kube::client::{Body, DynBody};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::future;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::{broadcast, oneshot};
use tokio::time::{Instant, sleep, sleep_until};
use tower::BoxError;
use tower::util::BoxService;

use crate::dice::Dice;

/// The time after sending a renewal in which a leader may act.
const DEADLINE: Duration = Duration::from_secs(10);

/// The probability of each fault, in thousandths of the requests to which it applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// A request, or its response, takes up to two seconds.
    pub slow: usize,
    /// A request is lost.
    pub lost: usize,
    /// A request is executed, and its response is lost.
    pub unanswered: usize,
    /// A request is not executed, but refused with 409 or 422 (writes), 429, 500 or 504.
    pub refused: usize,
    /// A write is executed, but answered with 500 or 504.
    pub failed: usize,
    /// A write arrives within half a minute after its sender saw a closed connection.
    pub late: usize,
    /// A watch ends within ten seconds.
    pub cut: usize,
    /// A watch begins at a version that the server has forgotten: 410.
    pub gone: usize,
}

/// The network of one API server. Clones share it.
#[derive(Clone)]
pub struct Network(Arc<Inner>);

struct Inner {
    server: Server,
    seed: u64,
    began: Instant,
    /// Restarts of the server. They end watches in the order in which the watches began; tokio's `watch` would wake
    /// them in any order.
    restarts: broadcast::Sender<()>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    faults: Faults,
    log: Vec<String>,
    findings: Vec<String>,
    /// The number of times each process has sent the same request.
    asked: BTreeMap<String, u64>,
    /// The time until which a process is cut off.
    cut_off: BTreeMap<String, Instant>,
    /// The time until which the server is down.
    down: Option<Instant>,
    /// The number of restarts of the server.
    restarts: usize,
    /// The number of server restarts when each process last started to watch each path.
    watches: BTreeMap<String, usize>,
    processes: BTreeMap<String, Process>,
    /// The time at which each process sent its last successful renewal of the Lease. None without leader election.
    renewals: Option<BTreeMap<String, Instant>>,
    /// The points at which processes were killed around writes of the status: `before Moose Eat`. None if such kills
    /// are disabled.
    killed: Option<BTreeSet<String>>,
}

/// How a request is delivered.
struct Delivery {
    there: Duration,
    back: Duration,
    lost: bool,
    unanswered: bool,
    refused: Option<u16>,
    gone: bool,
    failed: Option<u16>,
    late: Option<Duration>,
    cut: Option<Duration>,
}

impl Network {
    pub fn new(server: Server, seed: u64) -> Network {
        Network(Arc::new(Inner {
            server,
            seed,
            began: Instant::now(),
            restarts: broadcast::Sender::new(1),
            state: Mutex::default(),
        }))
    }

    /// Declares that replicas elect a leader, and only the leader may write.
    pub fn elect(&self) {
        self.state().renewals = Some(BTreeMap::new());
    }

    /// Enables kills, once before and once after each state of each kind is first written to a status.
    pub fn kill_around_writes(&self) {
        self.state().killed = Some(BTreeSet::new());
    }

    /// The points at which processes were killed around writes.
    pub fn killed(&self) -> BTreeSet<String> {
        self.state().killed.clone().unwrap_or_default()
    }

    /// Sets the faults from now on.
    pub fn set(&self, faults: Faults) {
        self.state().faults = faults;
    }

    /// Holds back all traffic between a process and the server for a while. It arrives late.
    pub fn cut_off(&self, process: &str, length: Duration) {
        self.state()
            .cut_off
            .insert(process.to_owned(), Instant::now() + length);
    }

    /// Restarts the server, which takes a while and forgets the history of its objects.
    pub fn restart_server(&self, length: Duration) {
        let mut state = self.state();
        state.down = Some(Instant::now() + length);
        state.restarts += 1;
        drop(state);
        // This fails if there are no watches.
        let _ = self.0.restarts.send(());
    }

    /// Registers a process that uses the network.
    pub fn add(&self, name: &str, process: &Process) {
        self.state().processes.insert(name.to_owned(), process.clone());
    }

    /// Drops the processes. Each has a connection to this network, so the cycle of references would leak both.
    pub fn close(&self) {
        self.state().processes.clear();
    }

    /// All requests that arrived so far, with their answers.
    pub fn log(&self) -> Vec<String> {
        self.state().log.clone()
    }

    /// The requests that processes must not have sent.
    pub fn findings(&self) -> Vec<String> {
        self.state().findings.clone()
    }

    /// A connection of a process. Its user is `user`.
    pub fn connect(&self, process: &str, user: &str) -> Connection {
        let (network, process, user) = (self.clone(), process.to_owned(), user.to_owned());
        BoxService::new(tower::service_fn(move |request: Request<Body>| {
            let (network, process, user) = (network.clone(), process.clone(), user.clone());
            let sent_at = Instant::now();
            network.judge_leadership(&process, &request);
            async move { network.send(process, user, request, sent_at).await }
        }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().expect("nothing panics with it")
    }

    async fn send(
        self,
        process: String,
        user: String,
        request: Request<Body>,
        sent_at: Instant,
    ) -> Result<Response<Box<DynBody>>, BoxError> {
        let (mut parts, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let path = parts
            .uri
            .path_and_query()
            .map_or("", |path| path.as_str())
            .to_owned();
        let what = format!("{process} {} {path}", parts.method);
        let sent: Value = serde_json::from_slice(&body).unwrap_or_default();
        let is_write = parts.method != Method::GET;
        let is_renewal = is_write && path.contains("/leases");
        let point = status_point(&path, &sent);
        if let Some(point) = &point
            && self.kills(&process, &format!("before {point}"))
        {
            return future::pending().await;
        }
        parts.headers.insert("impersonate-user", user.parse()?);
        let delivery = self.delivery(&what, is_write);
        let restarts = self.0.restarts.subscribe();
        let (answered, answer) = oneshot::channel();
        let network = self.clone();
        let sender = process.clone();
        // A request stays in flight even after its sender has ended.
        tokio::spawn(async move {
            network.passes(&sender).await;
            let mut answered = Some(answered);
            if let Some(late) = delivery.late {
                answered = None;
                sleep(late).await;
            }
            sleep(delivery.there).await;
            let is_down = network.state().down.is_some_and(|until| Instant::now() < until);
            if delivery.lost || is_down {
                return;
            }
            let is_forgotten = delivery.gone || network.has_forgotten(&sender, &parts.uri);
            let mut response = match delivery.refused {
                Some(code) => refusal(code),
                None if is_forgotten => expired(),
                None => {
                    let request = Request::from_parts(parts, Full::new(body));
                    network.0.server.answer(request).await
                }
            };
            let is_done = response.status().is_success();
            if let Some(code) = delivery.failed.filter(|_| is_done) {
                response = refusal(code);
            }
            let code = match delivery.refused {
                None if is_forgotten => 410,
                _ => response.status().as_u16(),
            };
            network.note(&what, code, &sent);
            if is_done {
                if is_renewal && let Some(renewals) = &mut network.state().renewals {
                    let renewed = renewals.entry(sender.clone()).or_insert(sent_at);
                    *renewed = sent_at.max(*renewed);
                }
                if let Some(point) = &point {
                    network.kills(&sender, &format!("after {point}"));
                }
            }
            sleep(delivery.back).await;
            network.passes(&sender).await;
            if let Some(answered) = answered.filter(|_| !delivery.unanswered) {
                // The sender may have stopped waiting.
                let _ = answered.send(response);
            }
        });
        let response = answer
            .await
            .map_err(|_| io::Error::from(io::ErrorKind::ConnectionReset))?;
        let (parts, body) = response.into_parts();
        let body = body.map_err(|never| -> BoxError { match never {} });
        let is_watch = path.contains("watch=");
        let body: Box<DynBody> = if is_watch {
            let frames = self.frames(process, body, delivery.cut, restarts);
            Box::new(StreamBody::new(frames.boxed()))
        } else {
            Box::new(body)
        };
        Ok(Response::from_parts(parts, body))
    }

    /// The events of a watch, until it is cut or the server restarts.
    fn frames(
        self,
        process: String,
        body: impl http_body::Body<Data = bytes::Bytes, Error = BoxError> + Send + 'static,
        cut: Option<Duration>,
        mut restarts: broadcast::Receiver<()>,
    ) -> impl futures::Stream<Item = Result<http_body::Frame<bytes::Bytes>, BoxError>> + Send {
        let end = Box::pin(async move {
            tokio::select! {
                biased;
                // The network owns the sender, so the channel is open.
                _ = restarts.recv() => {}
                () = async { match cut {
                    Some(after) => sleep(after).await,
                    None => future::pending().await,
                } } => {}
            }
        });
        let frames = body.into_data_stream().take_until(end);
        frames.then(move |bytes| {
            let (network, process) = (self.clone(), process.clone());
            async move {
                network.passes(&process).await;
                bytes.map(http_body::Frame::data)
            }
        })
    }

    /// Waits until a process is connected again.
    async fn passes(&self, process: &str) {
        let until = self.state().cut_off.get(process).copied();
        if let Some(until) = until {
            sleep_until(until).await;
        }
    }

    fn note(&self, what: &str, code: u16, sent: &Value) {
        let text = match sent {
            Value::Null => String::new(),
            sent => format!(" {sent}"),
        };
        let at = self.0.began.elapsed().as_millis();
        let mut state = self.state();
        if code == 403 && !what.contains(" GET ") {
            state.findings.push(format!("{what} was refused: {text}"));
        }
        state.log.push(format!("{at} {what} -> {code}{text}"));
    }

    /// Records a finding if a replica writes after its last renewal has become too old.
    fn judge_leadership(&self, process: &str, request: &Request<Body>) {
        let mut state = self.state();
        let (method, path) = (request.method(), request.uri().path());
        if *method == Method::GET || path.contains("/leases") {
            return;
        }
        let Some(renewals) = &state.renewals else { return };
        let late = match renewals.get(process) {
            None => "it never led".to_owned(),
            Some(renewed) if renewed.elapsed() > DEADLINE => {
                format!("it sent its last renewal {:?} ago", renewed.elapsed())
            }
            Some(_) => return,
        };
        let finding = format!("{method} {path} was sent by {process}, which does not lead: {late}");
        state.findings.push(finding);
    }

    /// Kills a process, once at each point.
    fn kills(&self, process: &str, point: &str) -> bool {
        let mut state = self.state();
        let Some(killed) = &mut state.killed else {
            return false;
        };
        let is_new = killed.insert(point.to_owned());
        if is_new && let Some(process) = state.processes.get(process) {
            process.kill();
        }
        is_new
    }

    /// Whether a watch starts from a version before a restart of the server.
    fn has_forgotten(&self, process: &str, uri: &http::Uri) -> bool {
        if !uri.query().is_some_and(|query| query.contains("watch=")) {
            return false;
        }
        let watch = format!("{process} {}", uri.path());
        let mut state = self.state();
        let restarts = state.restarts;
        let before = state.watches.insert(watch, restarts);
        before.is_some_and(|before| before < restarts)
    }

    /// Draws the delivery from the sender, the request and its repetition count, so that other requests keep their
    /// deliveries.
    fn delivery(&self, what: &str, is_write: bool) -> Delivery {
        let mut state = self.state();
        let faults = state.faults;
        let nth = state.asked.entry(what.to_owned()).or_default();
        *nth += 1;
        let mut hash = DefaultHasher::new();
        (self.0.seed, what, *nth).hash(&mut hash);
        let mut dice = Dice::new(hash.finish());
        let mut hit = |of_thousand: usize| dice.below(1000) < of_thousand;
        let [slow, lost, unanswered, refused] =
            [faults.slow, faults.lost, faults.unanswered, faults.refused].map(&mut hit);
        let is_watch = what.contains("watch=");
        let cut = hit(faults.cut) && is_watch;
        let [failed, gone, late] = [faults.failed, faults.gone, faults.late].map(&mut hit);
        let mut millis = |most: usize| Duration::from_millis(dice.below(most) as u64);
        let most = if slow { 2000 } else { 5 };
        let (there, back, after, later) = (millis(most), millis(most), millis(10_000), millis(30_000));
        let codes: &[u16] = if is_write {
            &[409, 422, 429, 500, 504]
        } else {
            &[429, 500, 504]
        };
        let refused = refused.then(|| *dice.among(codes));
        Delivery {
            there,
            back,
            lost,
            unanswered: unanswered && !is_watch,
            refused,
            gone: gone && is_watch,
            failed: (failed && is_write).then(|| *dice.among(&[500, 504])),
            late: (late && is_write).then_some(later),
            cut: cut.then_some(after),
        }
    }
}

/// The kind and the state in a write of a status.
fn status_point(path: &str, sent: &Value) -> Option<String> {
    let path = path.split('?').next().unwrap_or_default();
    let (kind, state) = (sent["kind"].as_str()?, sent["status"]["state"].as_str()?);
    path.ends_with("/status").then(|| format!("{kind} {state}"))
}

/// The end of a watch from a forgotten version: an event, not the status code of the response.
fn expired() -> Response<krator_apiserver::Body> {
    let event = serde_json::json!({"type": "ERROR", "object": {
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": 410, "message": "as the seed says",
        "reason": "Expired",
    }});
    Response::new(Full::new(format!("{event}\n").into()).boxed_unsync())
}

fn refusal(code: u16) -> Response<krator_apiserver::Body> {
    let reason = match code {
        409 => "Conflict",
        422 => "Invalid",
        429 => "TooManyRequests",
        504 => "Timeout",
        _ => "InternalError",
    };
    let status = serde_json::json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "message": "as the seed says", "reason": reason,
    });
    let body = Full::new(status.to_string().into()).boxed_unsync();
    let mut response = Response::new(body);
    *response.status_mut() = http::StatusCode::from_u16(code).expect("a code of ours");
    response
}
