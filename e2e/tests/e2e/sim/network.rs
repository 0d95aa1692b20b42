//! The network between processes and the API server. It delays, loses and refuses requests and their answers, and it knows what no
//! process may send.

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

/// How long after it has sent a renewal a leader may act.
const DEADLINE: Duration = Duration::from_secs(10);

/// What the network does, in thousandths of the requests that it may be done to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// A request, or its answer, takes up to two seconds.
    pub slow: usize,
    /// A request does not arrive.
    pub lost: usize,
    /// A request is done, and its answer does not arrive.
    pub unanswered: usize,
    /// A request is not done, but refused with 409 or 422 (writes), 429, 500 or 504.
    pub refused: usize,
    /// A write is done, and answered with 500 or 504.
    pub failed: usize,
    /// A write arrives within half a minute, after its sender was told that the connection is gone.
    pub late: usize,
    /// A watch ends within ten seconds.
    pub cut: usize,
    /// A watch begins at a version that the server has forgotten: 410.
    pub gone: usize,
}

/// The network of one API server. Clones are the same.
#[derive(Clone)]
pub struct Network(Arc<Inner>);

struct Inner {
    server: Server,
    seed: u64,
    began: Instant,
    /// Restarts of the server. Watches end with it, in the order in which they began: tokio's `watch` would wake them in any order.
    restarts: broadcast::Sender<()>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    faults: Faults,
    log: Vec<String>,
    findings: Vec<String>,
    /// How often each process has asked the same.
    asked: BTreeMap<String, u64>,
    /// Until when a process is cut off.
    cut_off: BTreeMap<String, Instant>,
    /// Until when the server is down.
    down: Option<Instant>,
    /// How often the server was restarted.
    restarts: usize,
    /// The restart of the server after which each process began its last watch of each path.
    watches: BTreeMap<String, usize>,
    processes: BTreeMap<String, Process>,
    /// When each process sent its last renewal of the Lease that succeeded. None if nobody is elected.
    renewals: Option<BTreeMap<String, Instant>>,
    /// Where processes have been killed around writes of the status: `before Moose Eat`. None if they are not to be.
    killed: Option<BTreeSet<String>>,
}

/// What becomes of a request.
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

    /// Replicas are elected, and only a leader writes.
    pub fn elect(&self) {
        self.state().renewals = Some(BTreeMap::new());
    }

    /// Kills processes once before and once after each state is written to a status of each kind.
    pub fn kill_around_writes(&self) {
        self.state().killed = Some(BTreeSet::new());
    }

    /// Where processes have been killed around writes.
    pub fn killed(&self) -> BTreeSet<String> {
        self.state().killed.clone().unwrap_or_default()
    }

    /// What the network does from now on.
    pub fn set(&self, faults: Faults) {
        self.state().faults = faults;
    }

    /// Nothing between a process and the server arrives for a while. What was sent then arrives late.
    pub fn cut_off(&self, process: &str, length: Duration) {
        self.state()
            .cut_off
            .insert(process.to_owned(), Instant::now() + length);
    }

    /// The server is restarted, which takes a while, and has forgotten the history of its objects.
    pub fn restart_server(&self, length: Duration) {
        let mut state = self.state();
        state.down = Some(Instant::now() + length);
        state.restarts += 1;
        drop(state);
        // Nobody watches, or those who do will notice.
        let _ = self.0.restarts.send(());
    }

    /// A process that uses the network.
    pub fn add(&self, name: &str, process: &Process) {
        self.state().processes.insert(name.to_owned(), process.clone());
    }

    /// Lets go of the processes, each of which has a connection to this network: nothing of either would ever be dropped.
    pub fn close(&self) {
        self.state().processes.clear();
    }

    /// All requests that arrived so far, with their answers.
    pub fn log(&self) -> Vec<String> {
        self.state().log.clone()
    }

    /// What processes have sent that they should not have.
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
        // What was sent is under way, also when the sender has ended.
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
                // Nobody may wait for it any more.
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

    /// The events of a watch, until it is cut or the server ends.
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
                // The network has the sender.
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

    /// Waits until a process is not cut off.
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

    /// A replica writes nothing once its last renewal is too old.
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

    /// Whether a watch goes on from a version that the server had before it was restarted.
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

    /// Draws the delivery of a request by who sends which one for the how manieth time, so that those of others stay as they are.
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

/// The kind and the state that a request writes to a status.
fn status_point(path: &str, sent: &Value) -> Option<String> {
    let path = path.split('?').next().unwrap_or_default();
    let (kind, state) = (sent["kind"].as_str()?, sent["status"]["state"].as_str()?);
    path.ends_with("/status").then(|| format!("{kind} {state}"))
}

/// How an API server ends a watch from a version that it has forgotten: with an event, not with the status of its answer.
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
