//! Requests for objects of a kind.

use super::responses::{answered, at_kind, text};
use super::{Body, ReceivedRequest};
use crate::{
    answer::{self, Include},
    body,
    kinds::Kind,
    listing::{self, Listed, Selection},
    negotiation::{self, MediaType},
    object::at,
    parameters::{self, ListParameters, Write, WriteParameters},
    refusal::Refusal,
    request::{self, Subresource},
    rest::{self, DeleteOptions, Edit, Options, Written},
    reviews,
    state::State,
    store::Key,
};
use http::{Method, Response, StatusCode};
use serde_json::Value as Json;
use std::sync::Arc;

/// A request for objects of a kind.
pub(super) struct Call<'a> {
    pub(super) request: &'a ReceivedRequest,
    pub(super) kind: &'a Arc<Kind>,
    pub(super) key: Key,
    /// The subresource in the path.
    pub(super) part: &'a str,
    pub(super) subresource: Subresource,
    pub(super) form: MediaType,
}

impl Call<'_> {
    /// The response with an object, in the accepted form.
    fn shown(&self, status: StatusCode, object: &Json) -> Result<Response<Body>, Refusal> {
        negotiation::check_table(&self.form, &self.request.query)?;
        let kind = at_kind(object);
        let is_object = kind == self.kind.kind;
        let read;
        let object = match is_object {
            true => {
                read = self.kind.read(object)?;
                &*read
            }
            false => object,
        };
        if kind == "Status" {
            return Ok(answered(status, object));
        }
        // Reviews and scales are not objects of the kind.
        let is_custom = self.kind.is_custom() && is_object;
        let place = if is_object {
            self.kind.id.group.as_str()
        } else {
            "autoscaling"
        };
        negotiation::check_form(&self.form, false, is_custom, &go_kind(place, kind))?;
        if !is_object {
            return Ok(answered(status, object));
        }
        let include = Include::of(self.request.query.text("includeObject"));
        Ok(answered(
            status,
            &answer::one(self.kind, object, &self.form, include),
        ))
    }

    /// The response with a list, in the accepted form.
    fn shown_list(&self, listed: Listed, include: Include) -> Result<Response<Body>, Refusal> {
        let (kind, form) = (self.kind, &self.form);
        negotiation::check_table(form, &self.request.query)?;
        let go_kind = go_kind(&kind.id.group, &kind.kind);
        negotiation::check_form(form, true, kind.is_custom(), &go_kind)?;
        Ok(answered(
            StatusCode::OK,
            &answer::many(kind, listed, form, include),
        ))
    }

    /// The log of a pod, which is empty if the pod has no node.
    fn log(&self, state: &State) -> Result<Response<Body>, Refusal> {
        let pod = state.store.get(&self.kind.id, &self.key);
        let pod = pod.ok_or_else(|| Refusal::not_found(self.kind.about(&self.key.name)))?;
        match at(pod, &["spec", "nodeName"]).as_str().unwrap_or_default() {
            "" => Ok(text("")),
            _ => Err(Refusal::not_built("Logs of pods, which nothing runs here,")),
        }
    }

    pub(super) fn get(&self, state: &State) -> Result<Response<Body>, Refusal> {
        if self.part == "log" {
            return self.log(state);
        }
        if self.subresource == Subresource::Scale {
            self.expect_version(state)?;
            let scale = rest::read_scale(state, self.kind, &self.key)?;
            negotiation::check_table(&self.form, &self.request.query)?;
            negotiation::check_form(&self.form, false, false, &go_kind("autoscaling", "Scale"))?;
            return Ok(answered(StatusCode::OK, &answer::scale(&scale, &self.form)));
        }
        if self.subresource == Subresource::Other {
            return Err(Refusal::not_built(
                "Subresources other than `/status` and `/scale`",
            ));
        }
        self.expect_version(state)?;
        let object = state.store.get(&self.kind.id, &self.key);
        let object = object.ok_or_else(|| Refusal::not_found(self.kind.about(&self.key.name)))?;
        self.shown(StatusCode::OK, object)
    }

    /// Refuses a version that is newer than the current one.
    fn expect_version(&self, state: &State) -> Result<(), Refusal> {
        let version = parameters::version_number(self.request.query.text("resourceVersion"));
        match version.map_err(Refusal::failed)? {
            Some(version) => listing::expect_version(state, version),
            None => Ok(()),
        }
    }

    pub(super) fn list(&self, state: &State) -> Result<Response<Body>, Refusal> {
        let query = &self.request.query;
        let parameters = ListParameters::read(query)?;
        let selection = Selection::of(self.kind, &self.key.namespace, &parameters)?;
        let listed = listing::list(state, self.kind, &selection, &parameters)?;
        self.shown_list(listed, Include::of(query.text("includeObject")))
    }

    fn options(&self, write: Write) -> Result<Options, Refusal> {
        let query = &self.request.query;
        let parameters = WriteParameters::read(write, query)?;
        let mut sent = serde_json::Map::new();
        for key in ["fieldManager", "fieldValidation"] {
            if query.has(key) {
                sent.insert(key.to_owned(), query.text(key).into());
            }
        }
        Ok(Options {
            sent: Some(sent.into()),
            user: Arc::clone(&self.request.user),
            manager: request::manager(query, &self.request.headers),
            subresource: self.subresource,
            dry_run: parameters.dry_run,
            unknown: parameters.unknown,
        })
    }

    fn written(&self, written: &Written) -> Result<Response<Body>, Refusal> {
        let status = if written.created {
            StatusCode::CREATED
        } else {
            StatusCode::OK
        };
        self.shown(status, &written.object)
    }

    pub(super) fn create(&self, state: &mut State) -> Result<Response<Body>, Refusal> {
        let form = negotiation::sent(&self.request.headers)?;
        let body = self.request.body()?;
        let options = self.options(Write::Create)?;
        if self.part == "token" {
            let (body, _) = body::read(form, body).map_err(|why| Refusal::bad_request(why.to_string()))?;
            return self.written(&reviews::create_token(state, &self.key, &body)?);
        }
        if self.subresource != Subresource::None {
            return Err(Refusal::not_built("Subresources that are created"));
        }
        let body = rest::read(self.kind, form, body)?;
        let namespace = &self.key.namespace;
        let written = match self.kind.is_review() {
            true => reviews::create(state, self.kind, namespace, body, &options)?,
            false => rest::create(state, self.kind, namespace, body, &options)?,
        };
        self.written(&written)
    }

    pub(super) fn update(&self, state: &mut State) -> Result<Response<Body>, Refusal> {
        let (edit, options) = self.edit()?;
        let (edit, twice) = edit;
        let written = match self.subresource {
            Subresource::Scale => rest::write_scale(state, self.kind, &self.key, edit, &options)?,
            Subresource::Other => {
                return Err(Refusal::not_built(
                    "Subresources other than `/status` and `/scale`",
                ));
            }
            _ => rest::update(state, self.kind, &self.key, (edit, twice), &options)?,
        };
        self.written(&written)
    }

    fn edit(&self) -> Result<((Edit, Vec<String>), Options), Refusal> {
        let (query, headers) = (&self.request.query, &self.request.headers);
        let body = self.request.body()?;
        if self.request.method == Method::PUT {
            let options = self.options(Write::Update)?;
            let form = negotiation::sent(headers)?;
            let (object, twice) = match self.subresource {
                Subresource::None | Subresource::Status => rest::read(self.kind, form, body)?,
                _ => body::read(form, body).map_err(|why| Refusal::bad_request(why.to_string()))?,
            };
            return Ok(((Edit::Replace(object), twice), options));
        }
        let form = negotiation::patch(headers, self.kind.is_custom())?;
        let applies = form == "application/apply-patch+yaml";
        let options = self.options(if applies { Write::Apply } else { Write::Patch })?;
        let (patch, twice) = match rest::read_patch(form, body) {
            Ok(read) => read,
            Err(refusal) => return Ok(((Edit::Unreadable { refusal, applies }, Vec::new()), options)),
        };
        let edit = match form {
            "application/json-patch+json" => Edit::JsonPatch(patch),
            "application/merge-patch+json" => Edit::MergePatch(patch),
            "application/strategic-merge-patch+json" => Edit::StrategicPatch(patch),
            _ => Edit::Apply {
                config: patch,
                force: query.flag("force"),
            },
        };
        Ok(((edit, twice), options))
    }

    pub(super) fn delete_options(&self) -> Result<DeleteOptions, Refusal> {
        let body = self.request.body()?;
        let body = match body.is_empty() {
            true => None,
            false => {
                let form = negotiation::sent(&self.request.headers)?;
                let read = body::read(form, body);
                let (body, _) = read.map_err(|why| Refusal::bad_request(why.to_string()))?;
                Some(body)
            }
        };
        let options = DeleteOptions::read(body, &self.request.query)?;
        Ok(DeleteOptions {
            user: Some(Arc::clone(&self.request.user)),
            ..options
        })
    }

    pub(super) fn delete(
        &self,
        state: &mut State,
        options: &DeleteOptions,
    ) -> Result<Response<Body>, Refusal> {
        let (object, is_gone) = rest::delete(state, self.kind, &self.key, options)?;
        let status = match !is_gone && options.orphans == Some(false) {
            true => StatusCode::ACCEPTED,
            false => StatusCode::OK,
        };
        self.shown(status, &object)
    }

    /// Deletes all selected objects, and responds with their last state.
    pub(super) fn delete_all(
        &self,
        state: &mut State,
        options: &DeleteOptions,
        (selection, parameters): &(Selection, ListParameters),
    ) -> Result<Response<Body>, Refusal> {
        let listed = listing::list(state, self.kind, selection, parameters)?;
        // All webhooks have to respond before the first object is deleted.
        for object in &listed.objects {
            let admitted = rest::admit(state, self.kind, &Key::of(object), object, options);
            if admitted.is_err() && !state.session.waits() {
                break;
            }
        }
        if state.session.waits() {
            return Err(Refusal::internal("webhooks have to answer first"));
        }
        for object in &listed.objects {
            rest::delete(state, self.kind, &Key::of(object), options)?;
        }
        self.shown_list(listed, Include::Metadata)
    }
}

/// The Go type of a kind.
fn go_kind(group: &str, kind: &str) -> String {
    let place = group.split('.').next().filter(|place| !place.is_empty());
    format!("{}.{kind}", place.unwrap_or("core"))
}
