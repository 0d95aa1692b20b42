//! The server, which turns requests into responses.

mod builder;
mod call;
mod delivery;
mod responses;
mod routes;
mod senders;

pub use builder::Builder;

use crate::{
    admission,
    answer::{self, Include},
    audit::{self, Audit},
    body, discovery, faults,
    listing::Selection,
    negotiation, openapi,
    parameters::ListParameters,
    rbac,
    refusal::Refusal,
    request::{self, Query, Subresource, Target},
    state::{State, lock},
    store::Key,
    users::User,
    watching::{self, Watch},
    webhook_calls::Session,
    world::World,
};
use bytes::Bytes;
use call::Call;
use futures::StreamExt as _;
use http::{HeaderMap, Method, Request, Response, StatusCode, header};
use http_body::{Body as HttpBody, Frame};
use http_body_util::{BodyExt as _, Limited, StreamBody, combinators::UnsyncBoxBody};
use responses::{answered, discovered, json_response, no_page, openapi_v2, refused, text, warn};
use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
};
use tokio::sync::Semaphore;

/// The largest request body, as in the API server.
const LARGEST_BODY: usize = 3 << 20;

/// The warning of the API server about the deletion of Jobs without a propagation policy.
const PODS_STAY: &str = "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to \
    remove them or set propagationPolicy=Orphan to suppress this warning";

/// The body of a response.
pub type Body = UnsyncBoxBody<Bytes, Infallible>;

/// An in-memory API server. Clones share the server, which ends when the last one is dropped.
///
/// The server is a service for `kube::Client::new`, and [`serve`](Server::serve) makes it reachable for kubectl.
#[derive(Clone)]
pub struct Server {
    pub(crate) state: Arc<Mutex<State>>,
    world: Arc<World>,
    /// The user of requests without credentials.
    caller: Arc<User>,
    audit: Option<Audit>,
    faults: Option<faults::Plan>,
    /// Limits the number of concurrent watches.
    watches: Arc<Semaphore>,
}

impl Server {
    /// Starts a server with only the objects that every cluster has. All its users may do everything.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime, which runs the garbage collector.
    pub fn start() -> Self {
        Self::builder().start()
    }

    /// Returns a builder, for example for a server with RBAC, an audit log or faults.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Responds to a request, without faults.
    pub async fn answer<B>(&self, request: Request<B>) -> Response<Body>
    where
        B: HttpBody,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (parts, body) = request.into_parts();
        let query = Query::parse(parts.uri.query().unwrap_or_default());
        let wanted = rbac::Attributes::of(&parts.method, parts.uri.path(), &query);
        let uri = parts
            .uri
            .path_and_query()
            .map(ToString::to_string)
            .unwrap_or_default();
        let mut entry = self
            .audit
            .as_ref()
            .map(|log| log.begin(&uri, &parts.headers, &wanted));
        let body = Limited::new(body, LARGEST_BODY).collect().await;
        let path = parts.uri.path().to_owned();
        let is_head = parts.method == Method::HEAD;
        let wants_yaml = negotiation::wants_yaml(&parts.headers);
        let received = self.user(&parts.headers, &wanted, entry.as_mut()).map(|user| {
            let body = body.ok().map(|body| body.to_bytes());
            if let Some(entry) = &mut entry
                && [Method::POST, Method::PUT].contains(&parts.method)
                && let (Ok(form), Some(body)) = (negotiation::sent(&parts.headers), &body)
                && let Ok((object, _)) = body::read(form, body)
            {
                entry.about(&object);
            }
            ReceivedRequest {
                method: parts.method,
                path: path.clone(),
                query,
                headers: parts.headers,
                body,
                user: Arc::new(user),
            }
        });
        let mut session = Session::default();
        let answer = match &received {
            Ok(received) => self.answer_of(received, &mut session).await,
            Err(refusal) => Err(refusal.clone()),
        };
        let mut response = match answer {
            Ok(response) => response,
            Err(refusal) if refusal == Refusal::no_such_path() && !self.has_group(&path) => no_page(),
            Err(refusal) => refused(&refusal),
        };
        responses::date(&mut response, self.world.now());
        for warning in session.warnings() {
            warn(&mut response, warning);
        }
        let status = response.extensions_mut().remove::<audit::Status>();
        if wants_yaml {
            response = responses::in_yaml(response).await;
        }
        if is_head {
            *response.body_mut() = responses::full("");
        }
        let Some(mut entry) = entry else { return response };
        if response.status() == StatusCode::UNAUTHORIZED {
            entry.forget();
            return response;
        }
        entry.ended(response.status().as_u16(), status.as_ref());
        // The event is written when the body ends.
        response.map(|body| {
            body.map_frame(move |frame| {
                let _until_the_end = &entry;
                frame
            })
            .boxed_unsync()
        })
    }

    /// The response to a request. The request is started again whenever webhooks have to be called first.
    async fn answer_of(
        &self,
        request: &ReceivedRequest,
        session: &mut Session,
    ) -> Result<Response<Body>, Refusal> {
        loop {
            let answer = self.route(request, session);
            if !session.waits() {
                return answer;
            }
            let calls = session.again();
            let answers = calls.iter().map(admission::call);
            let answers = futures::future::join_all(answers).await;
            for (call, answer) in calls.into_iter().zip(answers) {
                session.remember(call.key, answer);
            }
        }
    }

    /// Whether a path belongs to a builtin group. Paths of custom resources exist only while they are served.
    fn has_group(&self, path: &str) -> bool {
        let mut parts = path.split('/').filter(|part| !part.is_empty());
        match (parts.next(), parts.next()) {
            (Some("api"), _) => true,
            (Some("apis"), Some(group)) => {
                let state = lock(&self.state);
                state
                    .kinds
                    .iter()
                    .any(|kind| kind.group == group && !kind.is_custom())
            }
            _ => false,
        }
    }

    fn route(&self, request: &ReceivedRequest, session: &mut Session) -> Result<Response<Body>, Refusal> {
        let parts: Vec<&str> = request.path.split('/').filter(|part| !part.is_empty()).collect();
        let is_read = [Method::GET, Method::HEAD].contains(&request.method);
        let state = || lock(&self.state);
        let accept = request::header_text(&request.headers, header::ACCEPT.as_str());
        let aggregated = discovery::is_aggregated(accept);
        let found = match parts.as_slice() {
            ["healthz" | "livez" | "readyz", ..] => return Ok(text("ok")),
            ["version"] => Some(answer::version()),
            ["openapi", "v3"] if is_read => Some(openapi::index(&state().kinds)),
            ["openapi", "v2"] if is_read && openapi::is_protobuf(accept) => {
                return Ok(openapi_v2());
            }
            ["openapi", "v2"] if is_read => return Err(Refusal::not_built("OpenAPI v2 as JSON")),
            ["openapi", "v3", rest @ ..] if is_read => openapi::document(&state().kinds, &rest.join("/")),
            ["api"] | ["apis"] if is_read && aggregated => {
                return Ok(discovered(&discovery::aggregated(
                    &state().kinds,
                    parts[0] == "api",
                )));
            }
            ["api"] => Some(discovery::core_versions()),
            ["apis"] => Some(discovery::group_list(&state().kinds)),
            ["apis", group] => discovery::group(&state().kinds, group),
            ["api", version] => discovery::resources(&state().kinds, "", version),
            ["apis", group, version] => discovery::resources(&state().kinds, group, version),
            _ => return self.resource(request, session),
        };
        let document = found.ok_or_else(Refusal::no_such_path)?;
        match request.method {
            Method::GET => Ok(answered(StatusCode::OK, &document)),
            _ => Err(Refusal::method_not_allowed()),
        }
    }

    /// Handles a request for objects, with exclusive access to the state.
    fn resource(&self, request: &ReceivedRequest, session: &mut Session) -> Result<Response<Body>, Refusal> {
        let mut state = lock(&self.state);
        std::mem::swap(&mut state.session, session);
        let answer = self.resource_in(request, &mut state);
        std::mem::swap(&mut state.session, session);
        answer
    }

    fn resource_in(&self, request: &ReceivedRequest, state: &mut State) -> Result<Response<Body>, Refusal> {
        let target = Target::of(&request.path).ok_or_else(Refusal::no_such_path)?;
        let kind = state
            .kinds
            .find(&target.group, &target.version, &target.resource)
            .map(Arc::clone);
        let kind = kind.ok_or_else(Refusal::no_such_path)?;
        if let Some(warning) = &kind.deprecation {
            state.session.warn(warning.clone());
        }
        let verb = target.verb(&request.method, &request.query);
        routes::check(&kind, &target, verb, &request.method, &request.headers)?;
        if verb == "patch" {
            negotiation::patch(&request.headers, kind.is_custom())?;
        }
        if ["update", "patch"].contains(&verb) && target.name.is_empty() {
            return Err(Refusal::bad_request("name must be provided"));
        }
        let form = negotiation::accepted(&request.headers)?;
        let call = Call {
            request,
            kind: &kind,
            key: Key::new(&target.namespace, &target.name),
            part: &target.subresource,
            subresource: match target.subresource.as_str() {
                "" => Subresource::None,
                "status" => Subresource::Status,
                "scale" => Subresource::Scale,
                _ => Subresource::Other,
            },
            form,
        };
        match verb {
            "get" => call.get(state),
            "list" => call.list(state),
            "watch" => {
                let parameters = ListParameters::read(&request.query)?;
                let selection = Selection::of(&kind, &target.namespace, &parameters)?;
                let include = Include::of(request.query.text("includeObject"));
                let place = watching::place(&self.watches)?;
                let watch = Watch::begin(state, &kind, selection, (call.form, include), &parameters, place)?;
                negotiation::check_stream(&request.headers)?;
                let frames = watch
                    .stream(Arc::clone(&self.state))
                    .map(|line| Ok(Frame::data(line)));
                Ok(json_response(
                    StatusCode::OK,
                    StreamBody::new(frames).boxed_unsync(),
                ))
            }
            "create" => call.create(state),
            "update" | "patch" => call.update(state),
            "delete" | "deletecollection" => {
                let listed = match verb {
                    "delete" => None,
                    _ => {
                        let parameters = ListParameters::read(&request.query)?;
                        let selection = Selection::of(&kind, &target.namespace, &parameters)?;
                        Some((selection, parameters))
                    }
                };
                let options = call.delete_options()?;
                let done = match &listed {
                    None => call.delete(state, &options),
                    Some(listed) => call.delete_all(state, &options, listed),
                };
                let mut response = done.unwrap_or_else(|refusal| refused(&refusal));
                if kind.id.resource == "jobs" && options.propagation.is_none() {
                    warn(&mut response, PODS_STAY);
                }
                Ok(response)
            }
            _ => Err(Refusal::method_not_allowed()),
        }
    }
}

/// A request with its body.
struct ReceivedRequest {
    method: Method,
    path: String,
    query: Query,
    headers: HeaderMap,
    /// None if the body is too large.
    body: Option<Bytes>,
    user: Arc<User>,
}

impl ReceivedRequest {
    fn body(&self) -> Result<&Bytes, Refusal> {
        let too_large = || Refusal::too_large(format_args!("limit is {LARGEST_BODY}"));
        self.body.as_ref().ok_or_else(too_large)
    }
}

#[cfg(test)]
mod tests;
