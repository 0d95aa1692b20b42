//! The server: requests in, answers out.

mod builder;
mod delivery;
mod senders;

pub use builder::Builder;

use crate::{
    answer::{self, Include},
    audit::{self, Audit},
    body,
    custom::Subresource,
    discovery, faults,
    kinds::Kind,
    listing::{self, Selection},
    object::at,
    openapi, rbac,
    refusal::Refusal,
    request::{self, Form, Query, Target},
    rest::{self, DeleteOptions, Edit, Options, Unknown, Written},
    reviews,
    state::{State, lock},
    store::Key,
    users::User,
    watching::Watch,
};
use bytes::Bytes;
use futures::StreamExt as _;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body::{Body as HttpBody, Frame};
use http_body_util::{BodyExt as _, Full, Limited, StreamBody, combinators::UnsyncBoxBody};
use serde_json::Value as Json;
use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
};

/// The largest body of a request, as of the API server.
const LARGEST_BODY: usize = 3 << 20;

/// The body of an answer.
pub type Body = UnsyncBoxBody<Bytes, Infallible>;

/// An API server in memory. Clones are the same server; it ends with the last one.
///
/// It is a service for `kube::Client::new`, and [`serve`](Server::serve) makes it one for kubectl.
#[derive(Clone)]
pub struct Server {
    pub(crate) state: Arc<Mutex<State>>,
    /// Who sends the requests that do not say.
    caller: Arc<User>,
    audit: Option<Audit>,
    faults: Option<faults::Plan>,
}

impl Server {
    /// Starts a server without objects but those that every cluster has. Everybody whom it knows may do everything.
    ///
    /// # Panics
    ///
    /// Outside of a runtime of tokio, which runs its garbage collector.
    pub fn start() -> Self {
        Self::builder().start()
    }

    /// Begins a server with roles, an audit log or faults.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Answers a request, without faults.
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
        let answer = self
            .user(&parts.headers, &wanted, entry.as_mut())
            .and_then(|user| {
                let body = body
                    .map_err(|_| Refusal::too_large(format!("limit is {LARGEST_BODY}")))?
                    .to_bytes();
                if let Some(entry) = &mut entry
                    && [Method::POST, Method::PUT].contains(&parts.method)
                    && let Ok((object, _)) = body::read(request::content_type(&parts.headers), &body)
                {
                    entry.about(&object);
                }
                self.route(&Asked {
                    method: parts.method,
                    path: path.clone(),
                    query,
                    headers: parts.headers,
                    body,
                    user: Arc::new(user),
                })
            });
        let mut response = match answer {
            Ok(response) => response,
            Err(refusal) if refusal.code == 404 && !self.has_group(&path) => no_page(),
            Err(refusal) => refused(&refusal),
        };
        let status = response.extensions_mut().remove::<audit::Status>();
        let Some(mut entry) = entry else { return response };
        if response.status() == StatusCode::UNAUTHORIZED {
            entry.forget();
            return response;
        }
        entry.ended(response.status().as_u16(), status.as_ref());
        // The line is written when the body ends.
        response.map(|body| {
            body.map_frame(move |frame| {
                let _until_the_end = &entry;
                frame
            })
            .boxed_unsync()
        })
    }

    /// Whether a path belongs to a group that is served.
    fn has_group(&self, path: &str) -> bool {
        let mut parts = path.split('/').filter(|part| !part.is_empty());
        match (parts.next(), parts.next()) {
            (Some("api"), _) => true,
            (Some("apis"), Some(group)) => lock(&self.state).kinds.iter().any(|kind| kind.group == group),
            _ => false,
        }
    }

    fn route(&self, asked: &Asked) -> Result<Response<Body>, Refusal> {
        let parts: Vec<&str> = asked.path.split('/').filter(|part| !part.is_empty()).collect();
        let is_read = [Method::GET, Method::HEAD].contains(&asked.method);
        let state = || lock(&self.state);
        let accept = asked.header(&header::ACCEPT);
        let aggregated = discovery::is_aggregated(accept);
        let found = match parts.as_slice() {
            ["healthz" | "livez" | "readyz", ..] if is_read => return Ok(text("ok")),
            ["version"] if is_read => Some(answer::version()),
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
            ["api"] if is_read => Some(discovery::core_versions()),
            ["apis"] if is_read => Some(discovery::group_list(&state().kinds)),
            ["apis", group] if is_read => discovery::group(&state().kinds, group),
            ["api", version] if is_read => discovery::resources(&state().kinds, "", version),
            ["apis", group, version] if is_read => discovery::resources(&state().kinds, group, version),
            _ => return self.resource(asked),
        };
        found
            .map(|document| answered(StatusCode::OK, &document))
            .ok_or_else(Refusal::no_such_path)
    }

    fn resource(&self, asked: &Asked) -> Result<Response<Body>, Refusal> {
        let target = Target::of(&asked.path).ok_or_else(Refusal::no_such_path)?;
        let mut state = lock(&self.state);
        let kind = state
            .kinds
            .find(&target.group, &target.version, &target.resource)
            .map(Arc::clone);
        let kind = kind.ok_or_else(Refusal::no_such_path)?;
        let allowed = if target.subresource.is_empty() {
            &kind.verbs
        } else {
            let sub = kind
                .subresources
                .iter()
                .find(|sub| sub.name == target.subresource);
            let unknown = || match kind.is_custom() {
                true => Refusal::not_found(kind.about(&target.name)),
                false => Refusal::no_such_path(),
            };
            &sub.ok_or_else(unknown)?.verbs
        };
        let verb = target.verb(&asked.method, &asked.query);
        if kind.namespaced
            && target.namespace.is_empty()
            && !["list", "watch"].contains(&verb)
            && !kind.is_review()
        {
            let of_all = ["create", "deletecollection"].contains(&verb);
            return Err(if of_all {
                Refusal::method_not_allowed()
            } else {
                Refusal::no_such_path()
            });
        }
        if verb == "create" && !target.name.is_empty() && target.subresource.is_empty() {
            return Err(Refusal::method_not_allowed());
        }
        if !kind.namespaced && !target.namespace.is_empty() {
            return Err(Refusal::no_such_path());
        }
        if !allowed.iter().any(|allowed| allowed == verb) {
            return Err(Refusal::method_not_allowed());
        }
        let form = request::accepted(&asked.headers)?;
        if let Form::Metadata { of_list, .. } = &form
            && *of_list != ["list", "deletecollection"].contains(&verb)
            && verb != "watch"
        {
            return Err(Refusal::not_acceptable(
                "PartialObjectMetadata of objects, PartialObjectMetadataList of lists",
            ));
        }
        let call = Call {
            asked,
            kind: &kind,
            key: Key::new(&target.namespace, &target.name),
            part: &target.subresource,
            subresource: match target.subresource.as_str() {
                "" => Subresource::None,
                "status" => Subresource::Status,
                "scale" => Subresource::Scale,
                _ => Subresource::Finalize,
            },
            form,
        };
        match verb {
            "get" => call.get(&state),
            "list" => call.list(&state),
            "watch" => {
                let selection = Selection::of(&kind, &target.namespace, &target.name, &asked.query)?;
                let watch = Watch::begin(&state, &kind, selection, call.form, &asked.query)?;
                let frames = watch
                    .stream(Arc::clone(&self.state))
                    .map(|line| Ok(Frame::data(line)));
                Ok(json_response(
                    StatusCode::OK,
                    StreamBody::new(frames).boxed_unsync(),
                ))
            }
            "create" => call.create(&mut state),
            "update" | "patch" => call.update(&mut state),
            "delete" | "deletecollection" => {
                let options = call.delete_options()?;
                let done = match verb {
                    "delete" => call.delete(&mut state, &options),
                    _ => call.delete_all(&mut state, &options),
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

/// A request.
struct Asked {
    method: Method,
    path: String,
    query: Query,
    headers: HeaderMap,
    body: Bytes,
    user: Arc<User>,
}

impl Asked {
    fn header(&self, name: &header::HeaderName) -> &str {
        self.headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    }
}

/// A request about objects of a kind.
struct Call<'a> {
    asked: &'a Asked,
    kind: &'a Arc<Kind>,
    key: Key,
    /// What follows the name in the path.
    part: &'a str,
    subresource: Subresource,
    form: Form,
}

impl Call<'_> {
    fn shown(&self, status: StatusCode, object: &Json) -> Response<Body> {
        let include = Include::of(self.asked.query.text("includeObject"));
        // Reviews, scales and statuses are no objects of the kind.
        let is_object = at_kind(object) == self.kind.kind;
        if !is_object {
            return answered(status, object);
        }
        answered(status, &answer::one(self.kind, object, &self.form, include))
    }

    /// The log of a pod. One that no node runs has an empty one.
    fn log(&self, state: &State) -> Result<Response<Body>, Refusal> {
        let pod = state.store.get(&self.kind.id, &self.key);
        let pod = pod.ok_or_else(|| Refusal::not_found(self.kind.about(&self.key.name)))?;
        match at(pod, &["spec", "nodeName"]).as_str().unwrap_or_default() {
            "" => Ok(text("")),
            _ => Err(Refusal::not_built("Logs of pods, which nothing runs here,")),
        }
    }

    fn get(&self, state: &State) -> Result<Response<Body>, Refusal> {
        if self.part == "log" {
            return self.log(state);
        }
        if self.subresource == Subresource::Scale {
            let scale = rest::read_scale(state, self.kind, &self.key)?;
            return Ok(answered(StatusCode::OK, &answer::scale(&scale, &self.form)));
        }
        if self.subresource == Subresource::Finalize {
            return Err(Refusal::not_built(
                "Subresources other than `/status` and `/scale`",
            ));
        }
        let object = state.store.get(&self.kind.id, &self.key);
        let object = object.ok_or_else(|| Refusal::not_found(self.kind.about(&self.key.name)))?;
        Ok(self.shown(StatusCode::OK, object))
    }

    fn list(&self, state: &State) -> Result<Response<Body>, Refusal> {
        let query = &self.asked.query;
        let selection = Selection::of(self.kind, &self.key.namespace, "", query)?;
        let listed = listing::list(state, self.kind, &selection, query)?;
        let include = Include::of(query.text("includeObject"));
        Ok(answered(
            StatusCode::OK,
            &answer::many(self.kind, listed, &self.form, include),
        ))
    }

    fn options(&self) -> Result<Options, Refusal> {
        let query = &self.asked.query;
        Ok(Options {
            user: Arc::clone(&self.asked.user),
            manager: request::manager(query, &self.asked.headers),
            subresource: self.subresource,
            dry_run: query.dry_run()?,
            unknown: match query.text("fieldValidation") {
                "Ignore" => Unknown::Ignore,
                "Strict" => Unknown::Strict,
                "" | "Warn" => Unknown::Warn,
                other => {
                    let all = ["Ignore", "Strict", "Warn"];
                    let error = crate::refusal::FieldError::not_supported("fieldValidation", other, &all);
                    let about = crate::refusal::About::new("meta.k8s.io", "CreateOptions", "");
                    return Err(Refusal::invalid(about, &[error]));
                }
            },
        })
    }

    fn written(&self, written: &Written) -> Response<Body> {
        let status = if written.created {
            StatusCode::CREATED
        } else {
            StatusCode::OK
        };
        let mut response = self.shown(status, &written.object);
        for warning in &written.warnings {
            warn(&mut response, warning);
        }
        response
    }

    fn create(&self, state: &mut State) -> Result<Response<Body>, Refusal> {
        let options = self.options()?;
        let body = body::read(request::content_type(&self.asked.headers), &self.asked.body)?;
        if self.kind.is_review() {
            return Ok(self.written(&reviews::create(
                state,
                self.kind,
                &self.key.namespace,
                body,
                &options,
            )?));
        }
        if self.part == "token" {
            return Ok(self.written(&reviews::create_token(state, &self.key, &body.0, &options)?));
        }
        if self.subresource != Subresource::None {
            return Err(Refusal::not_built("Subresources that are created"));
        }
        let written = rest::create(state, self.kind, &self.key.namespace, body, &options)?;
        Ok(self.written(&written))
    }

    fn update(&self, state: &mut State) -> Result<Response<Body>, Refusal> {
        let options = self.options()?;
        let form = request::content_type(&self.asked.headers);
        let (edit, twice) = self.edit(form)?;
        let written = match self.subresource {
            Subresource::Scale => rest::write_scale(state, self.kind, &self.key, edit, &options)?,
            Subresource::Finalize => {
                return Err(Refusal::not_built(
                    "Subresources other than `/status` and `/scale`",
                ));
            }
            _ => rest::update(state, self.kind, &self.key, (edit, twice), &options)?,
        };
        Ok(self.written(&written))
    }

    fn edit(&self, form: &str) -> Result<(Edit, Vec<String>), Refusal> {
        let query = &self.asked.query;
        if self.asked.method == Method::PUT {
            let (object, twice) = body::read(form, &self.asked.body)?;
            return Ok((Edit::Replace(object), twice));
        }
        let kinds = [
            "application/json-patch+json",
            "application/merge-patch+json",
            "application/strategic-merge-patch+json",
            "application/apply-patch+yaml",
        ];
        if !kinds.contains(&form) {
            return Err(Refusal::unsupported_media_type(&kinds.join(", ")));
        }
        let is_apply = form == "application/apply-patch+yaml";
        if query.has("force") && !is_apply {
            let error =
                crate::refusal::FieldError::forbidden("force", "may not be specified for non-apply patch");
            let about = crate::refusal::About::new("meta.k8s.io", "PatchOptions", "");
            return Err(Refusal::invalid(about, &[error]));
        }
        if is_apply && query.text("fieldManager").is_empty() {
            let error = crate::refusal::FieldError::required("fieldManager", "is required for apply patch");
            let about = crate::refusal::About::new("meta.k8s.io", "PatchOptions", "");
            return Err(Refusal::invalid(about, &[error]));
        }
        let (patch, twice) = body::read(form, &self.asked.body)?;
        let edit = match form {
            "application/json-patch+json" => Edit::JsonPatch(patch),
            "application/merge-patch+json" => Edit::MergePatch(patch),
            "application/strategic-merge-patch+json" => Edit::StrategicPatch(patch),
            _ => Edit::Apply {
                config: patch,
                force: query.flag("force"),
            },
        };
        Ok((edit, twice))
    }

    fn delete_options(&self) -> Result<DeleteOptions, Refusal> {
        let body = match self.asked.body.is_empty() {
            true => Json::Null,
            false => body::read(request::content_type(&self.asked.headers), &self.asked.body)?.0,
        };
        DeleteOptions::read(&body, &self.asked.query)
    }

    fn delete(&self, state: &mut State, options: &DeleteOptions) -> Result<Response<Body>, Refusal> {
        let (object, _) = rest::delete(state, self.kind, &self.key, options)?;
        Ok(self.shown(StatusCode::OK, &object))
    }

    /// Deletes all objects that are selected, and answers with them as they were.
    fn delete_all(&self, state: &mut State, options: &DeleteOptions) -> Result<Response<Body>, Refusal> {
        let selection = Selection::of(self.kind, &self.key.namespace, "", &self.asked.query)?;
        let listed = listing::list(state, self.kind, &selection, &self.asked.query)?;
        for object in &listed.objects {
            rest::delete(state, self.kind, &Key::of(object), options)?;
        }
        Ok(answered(
            StatusCode::OK,
            &answer::many(self.kind, listed, &self.form, Include::Metadata),
        ))
    }
}

/// What the API server says of Jobs that are deleted without a policy.
const PODS_STAY: &str = "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to \
    remove them or set propagationPolicy=Orphan to suppress this warning";

fn warn(response: &mut Response<Body>, warning: &str) {
    let quoted = warning.replace('\\', "\\\\").replace('"', "\\\"");
    if let Ok(value) = HeaderValue::try_from(format!("299 - \"{quoted}\"")) {
        response.headers_mut().append(header::WARNING, value);
    }
}

fn at_kind(object: &Json) -> &str {
    object.get("kind").and_then(Json::as_str).unwrap_or_default()
}

fn answered(status: StatusCode, json: &Json) -> Response<Body> {
    let mut text = json.to_string();
    text.push('\n');
    let mut response = json_response(status, full(text));
    if at_kind(json) == "Status" {
        response.extensions_mut().insert(audit::Status(json.clone()));
    }
    response
}

fn full(text: impl Into<Bytes>) -> Body {
    Full::new(text.into()).boxed_unsync()
}

fn json_response(status: StatusCode, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    date(&mut response);
    response
}

/// Clients read the time of the server from each answer.
fn date(response: &mut Response<Body>) {
    let now = jiff::Timestamp::now()
        .strftime("%a, %d %b %Y %H:%M:%S GMT")
        .to_string();
    if let Ok(now) = HeaderValue::try_from(now) {
        response.headers_mut().insert(header::DATE, now);
    }
}

fn discovered(document: &Json) -> Response<Body> {
    let mut response = answered(StatusCode::OK, document);
    let form = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(form));
    response
}

fn openapi_v2() -> Response<Body> {
    let mut response = Response::new(full(openapi::EMPTY_V2));
    let form = HeaderValue::from_static(openapi::PROTOBUF_V2);
    response.headers_mut().insert(header::CONTENT_TYPE, form);
    response
}

/// What no part of the server answers.
fn no_page() -> Response<Body> {
    let mut response = text("404 page not found\n");
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

fn text(text: &'static str) -> Response<Body> {
    let mut response = Response::new(full(text));
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, plain);
    response
}

pub(crate) fn refused(refusal: &Refusal) -> Response<Body> {
    let status = StatusCode::from_u16(refusal.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = answered(status, &refusal.status());
    if let Some(seconds) = refusal.retry_after {
        response
            .headers_mut()
            .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

#[cfg(test)]
mod tests;
