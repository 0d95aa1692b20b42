//! The network between processes and the API server. It delays and loses requests and their answers.

use futures::StreamExt as _;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full, StreamBody};
use krator_apiserver::Server;
use krator_runtime::simulation::Connection;
use kube::client::{Body, DynBody};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};
use tower::BoxError;
use tower::util::BoxService;

use crate::dice::Dice;

/// What the network does, in thousandths of the requests that it may be done to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// A request, or its answer, takes up to two seconds.
    pub slow: usize,
    /// A request does not arrive.
    pub lost: usize,
    /// A request is done, and its answer does not arrive.
    pub unanswered: usize,
    /// A request is not done, but refused with 409 (writes), 429, 500 or 504.
    pub refused: usize,
    /// A watch ends within ten seconds.
    pub cut: usize,
}

/// The network of one API server. Clones are the same.
#[derive(Clone)]
pub struct Network(Arc<Inner>);

struct Inner {
    server: Server,
    seed: u64,
    faults: Mutex<Faults>,
    began: Instant,
    log: Mutex<Vec<String>>,
    /// How often each replica has asked the same.
    asked: Mutex<BTreeMap<String, u64>>,
}

/// What becomes of a request.
struct Fate {
    there: Duration,
    back: Duration,
    lost: bool,
    unanswered: bool,
    refused: Option<u16>,
    cut: Option<Duration>,
}

impl Network {
    pub fn new(server: Server, seed: u64) -> Network {
        Network(Arc::new(Inner {
            server,
            seed,
            faults: Mutex::default(),
            began: Instant::now(),
            log: Mutex::default(),
            asked: Mutex::default(),
        }))
    }

    /// What the network does from now on.
    pub fn set(&self, faults: Faults) {
        *self.0.faults.lock().expect("nothing panics with it") = faults;
    }

    /// All requests that arrived so far, with their answers.
    pub fn log(&self) -> Vec<String> {
        self.0.log.lock().expect("nothing panics with it").clone()
    }

    /// A connection of a process. Its user is `user`.
    pub fn connect(&self, process: &str, user: &str) -> Connection {
        let (network, process, user) = (self.clone(), process.to_owned(), user.to_owned());
        BoxService::new(tower::service_fn(move |request: Request<Body>| {
            let (network, process, user) = (network.clone(), process.clone(), user.clone());
            async move { network.send(process, user, request).await }
        }))
    }

    async fn send(
        self,
        process: String,
        user: String,
        request: Request<Body>,
    ) -> Result<Response<Box<DynBody>>, BoxError> {
        let (mut parts, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let path = parts
            .uri
            .path_and_query()
            .map(ToString::to_string)
            .unwrap_or_default();
        let what = format!("{process} {} {path}", parts.method);
        let sent: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
        let text = if sent.is_null() {
            String::new()
        } else {
            format!(" {sent}")
        };
        parts.headers.insert("impersonate-user", user.parse()?);
        let is_write = parts.method != http::Method::GET;
        let fate = self.fate(&what, is_write);
        let (answered, answer) = oneshot::channel();
        // What was sent is under way, also when the sender has ended.
        tokio::spawn(async move {
            sleep(fate.there).await;
            if fate.lost {
                return;
            }
            let response = match fate.refused {
                Some(code) => refusal(code),
                None => {
                    self.0
                        .server
                        .answer(Request::from_parts(parts, Full::new(body)))
                        .await
                }
            };
            let at = self.0.began.elapsed().as_millis();
            let code = response.status().as_u16();
            let line = format!("{at} {what} -> {code}{text}");
            self.0.log.lock().expect("nothing panics with it").push(line);
            sleep(fate.back).await;
            if !fate.unanswered {
                // Nobody may wait for it any more.
                let _ = answered.send(response);
            }
        });
        let response = answer
            .await
            .map_err(|_| io::Error::from(io::ErrorKind::ConnectionReset))?;
        let (parts, body) = response.into_parts();
        let body = body.map_err(|never| -> BoxError { match never {} });
        let body: Box<DynBody> = match fate.cut {
            None => Box::new(body),
            Some(after) => {
                let frames = body
                    .into_data_stream()
                    .map(|bytes| bytes.map(http_body::Frame::data));
                Box::new(StreamBody::new(frames.take_until(Box::pin(sleep(after)))))
            }
        };
        Ok(Response::from_parts(parts, body))
    }

    /// Draws the fate of a request by who sends which one for the how manieth time, so that those of others stay as they are.
    fn fate(&self, what: &str, is_write: bool) -> Fate {
        let mut asked = self.0.asked.lock().expect("nothing panics with it");
        let nth = asked.entry(what.to_owned()).or_default();
        *nth += 1;
        let mut hash = DefaultHasher::new();
        (self.0.seed, what, *nth).hash(&mut hash);
        let mut dice = Dice::new(hash.finish());
        let faults = *self.0.faults.lock().expect("nothing panics with it");
        let mut hit = |of_thousand: usize| dice.below(1000) < of_thousand;
        let [slow, lost, unanswered, refused] =
            [faults.slow, faults.lost, faults.unanswered, faults.refused].map(&mut hit);
        let is_watch = what.contains("watch=");
        let cut = hit(faults.cut) && is_watch;
        let mut millis = |most: usize| Duration::from_millis(dice.below(most) as u64);
        let most = if slow { 2000 } else { 5 };
        let (there, back, after) = (millis(most), millis(most), millis(10_000));
        let codes: &[u16] = if is_write {
            &[409, 429, 500, 504]
        } else {
            &[429, 500, 504]
        };
        Fate {
            there,
            back,
            lost,
            unanswered: unanswered && !is_watch,
            refused: refused.then(|| *dice.among(codes)),
            cut: cut.then_some(after),
        }
    }
}

fn refusal(code: u16) -> Response<krator_apiserver::Body> {
    let status = serde_json::json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "message": "as the seed says",
        "reason": match code { 409 => "Conflict", 429 => "TooManyRequests", 504 => "Timeout", _ => "InternalError" },
    });
    let body = Full::new(status.to_string().into()).boxed_unsync();
    let mut response = Response::new(body);
    *response.status_mut() = http::StatusCode::from_u16(code).expect("a code of ours");
    response
}
