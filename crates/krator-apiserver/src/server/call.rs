//! Requests about objects of a kind.

use super::responses::{answered, at_kind, text, warn};
use super::{Body, ReceivedRequest};
use crate::{
    answer::{self, Include},
    body,
    kinds::Kind,
    listing::{self, Selection},
    object::at,
    refusal::{FieldError, Refusal},
    request::{self, Form, Subresource},
    rest::{self, DeleteOptions, Edit, Options, Unknown, Written},
    reviews,
    state::State,
    store::Key,
};
use http::{Method, Response, StatusCode};
use serde_json::Value as Json;
use std::sync::Arc;

/// A request about objects of a kind.
pub(super) struct Call<'a> {
    pub(super) request: &'a ReceivedRequest,
    pub(super) kind: &'a Arc<Kind>,
    pub(super) key: Key,
    /// The part of the path after the name.
    pub(super) part: &'a str,
    pub(super) subresource: Subresource,
    pub(super) form: Form,
}

impl Call<'_> {
    fn shown(&self, status: StatusCode, object: &Json) -> Response<Body> {
        let include = Include::of(self.request.query.text("includeObject"));
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

    pub(super) fn get(&self, state: &State) -> Result<Response<Body>, Refusal> {
        if self.part == "log" {
            return self.log(state);
        }
        if self.subresource == Subresource::Scale {
            let scale = rest::read_scale(state, self.kind, &self.key)?;
            return Ok(answered(StatusCode::OK, &answer::scale(&scale, &self.form)));
        }
        if self.subresource == Subresource::Other {
            return Err(Refusal::not_built(
                "Subresources other than `/status` and `/scale`",
            ));
        }
        let object = state.store.get(&self.kind.id, &self.key);
        let object = object.ok_or_else(|| Refusal::not_found(self.kind.about(&self.key.name)))?;
        Ok(self.shown(StatusCode::OK, object))
    }

    pub(super) fn list(&self, state: &State) -> Result<Response<Body>, Refusal> {
        let query = &self.request.query;
        let selection = Selection::of(self.kind, &self.key.namespace, "", query)?;
        let listed = listing::list(state, self.kind, &selection, query)?;
        let include = Include::of(query.text("includeObject"));
        Ok(answered(
            StatusCode::OK,
            &answer::many(self.kind, listed, &self.form, include),
        ))
    }

    fn options(&self) -> Result<Options, Refusal> {
        let query = &self.request.query;
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
            dry_run: query.dry_run()?,
            unknown: match query.text("fieldValidation") {
                "Ignore" => Unknown::Ignore,
                "Strict" => Unknown::Strict,
                "" | "Warn" => Unknown::Warn,
                other => {
                    let all = ["Ignore", "Strict", "Warn"];
                    let error = FieldError::not_supported("fieldValidation", other, &all);
                    return Err(Refusal::option("CreateOptions", error));
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

    pub(super) fn create(&self, state: &mut State) -> Result<Response<Body>, Refusal> {
        let options = self.options()?;
        let body = body::read(request::content_type(&self.request.headers), &self.request.body)?;
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
            return Ok(self.written(&reviews::create_token(state, &self.key, &body.0)?));
        }
        if self.subresource != Subresource::None {
            return Err(Refusal::not_built("Subresources that are created"));
        }
        let written = rest::create(state, self.kind, &self.key.namespace, body, &options)?;
        Ok(self.written(&written))
    }

    pub(super) fn update(&self, state: &mut State) -> Result<Response<Body>, Refusal> {
        let options = self.options()?;
        let form = request::content_type(&self.request.headers);
        let (edit, twice) = self.edit(form)?;
        let written = match self.subresource {
            Subresource::Scale => rest::write_scale(state, self.kind, &self.key, edit, &options)?,
            Subresource::Other => {
                return Err(Refusal::not_built(
                    "Subresources other than `/status` and `/scale`",
                ));
            }
            _ => rest::update(state, self.kind, &self.key, (edit, twice), &options)?,
        };
        Ok(self.written(&written))
    }

    fn edit(&self, form: &str) -> Result<(Edit, Vec<String>), Refusal> {
        let query = &self.request.query;
        if self.request.method == Method::PUT {
            let (object, twice) = body::read(form, &self.request.body)?;
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
            let error = FieldError::forbidden("force", "may not be specified for non-apply patch");
            return Err(Refusal::option("PatchOptions", error));
        }
        if is_apply && query.text("fieldManager").is_empty() {
            let error = FieldError::required("fieldManager", "is required for apply patch");
            return Err(Refusal::option("PatchOptions", error));
        }
        let (patch, twice) = body::read(form, &self.request.body)?;
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

    pub(super) fn delete_options(&self) -> Result<DeleteOptions, Refusal> {
        let body = match self.request.body.is_empty() {
            true => Json::Null,
            false => body::read(request::content_type(&self.request.headers), &self.request.body)?.0,
        };
        let options = DeleteOptions::read(&body, &self.request.query)?;
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
        let (object, _) = rest::delete(state, self.kind, &self.key, options)?;
        Ok(self.shown(StatusCode::OK, &object))
    }

    /// Deletes all objects that are selected, and answers with them as they were.
    pub(super) fn delete_all(
        &self,
        state: &mut State,
        options: &DeleteOptions,
    ) -> Result<Response<Body>, Refusal> {
        let selection = Selection::of(self.kind, &self.key.namespace, "", &self.request.query)?;
        let listed = listing::list(state, self.kind, &selection, &self.request.query)?;
        // Whether all webhooks have answered is to be known before the first object is gone.
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
        Ok(answered(
            StatusCode::OK,
            &answer::many(self.kind, listed, &self.form, Include::Metadata),
        ))
    }
}
