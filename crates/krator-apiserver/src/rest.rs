//! The verbs that change objects, after `pkg/registry/rest` and `pkg/registry/generic/registry` of `k8s.io/apiserver`.

mod create;
mod delete;
mod read;
mod scale;
mod scaled;
mod update;

pub(crate) use create::create;
pub(crate) use delete::{DeleteOptions, FOREGROUND, ORPHAN, Propagation, admit, delete, remove_finalizer};
pub(crate) use read::{decode, read, read_patch};
pub(crate) use scale::{read_scale, write_scale};
pub(crate) use update::{Edit, update};

use crate::{
    admission::{Attributes, Operation},
    builtin,
    kinds::Kind,
    managed::Manager,
    object::{finalizers, meta, set_meta, size},
    parameters::Unknown,
    refusal::{FieldError, Refusal},
    request::Subresource,
    store::Key,
    users::User,
};
use serde_json::Value as Json;
use std::sync::Arc;

/// The options of a write.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// The user that sends the request.
    pub user: Arc<User>,
    /// The name of the field manager.
    pub manager: String,
    /// The subresource that is written.
    pub subresource: Subresource,
    /// Whether nothing is stored.
    pub dry_run: bool,
    /// The options of the client's request. None for writes by the server itself, which skip webhooks and policies.
    pub sent: Option<Json>,
    /// The treatment of unknown fields.
    pub unknown: Unknown,
}

/// The result of a write.
pub(crate) struct Written {
    pub object: Arc<Json>,
    /// Whether the object is new.
    pub created: bool,
}

impl Options {
    /// The attributes of the write for webhooks and policies.
    fn attributes<'a>(&'a self, kind: &'a Kind, operation: Operation, key: Key) -> Attributes<'a> {
        Attributes {
            kind,
            subresource: match self.subresource {
                Subresource::Status => "status",
                Subresource::Scale => "scale",
                Subresource::None | Subresource::Other => "",
            },
            operation,
            key,
            user: &self.user,
            dry_run: self.dry_run,
            options: self.sent.as_ref(),
        }
    }

    pub fn manager(&self, kind: &Kind) -> Manager {
        Manager {
            name: self.manager.clone(),
            api_version: kind.api_version(),
            subresource: match self.subresource {
                Subresource::None => String::new(),
                Subresource::Status => "status".to_owned(),
                Subresource::Scale => "scale".to_owned(),
                Subresource::Other => "other".to_owned(),
            },
        }
    }
}

/// Sets the namespace of an object to that of the path, and refuses another one.
pub(crate) fn settle_namespace(kind: &Kind, object: &mut Json, namespace: &str) -> Result<(), Refusal> {
    let expected = if kind.namespaced { namespace } else { "" };
    match meta(object, "namespace") {
        _ if !kind.namespaced => set_meta(object, "namespace", Json::Null),
        found if found == expected => {}
        "" => set_meta(object, "namespace", expected.into()),
        _ => {
            return Err(Refusal::bad_request(
                "the namespace of the provided object does not match the namespace sent on the request",
            ));
        }
    }
    Ok(())
}

/// The errors in the metadata of an object.
fn metadata_errors(kind: &Kind, object: &Json) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let generate = meta(object, "generateName");
    let name = meta(object, "name");
    if name.is_empty() {
        errors.push(FieldError::required(
            "metadata.name",
            "name or generateName is required",
        ));
    } else {
        let wrong = kind.validate_name(name, false).into_iter();
        errors.extend(wrong.map(|problem| FieldError::invalid("metadata.name", name, problem)));
    }
    if !generate.is_empty() {
        let wrong = kind.validate_name(generate, true).into_iter();
        errors.extend(wrong.map(|problem| FieldError::invalid("metadata.generateName", generate, problem)));
    }
    let metadata = object.get("metadata").unwrap_or(&Json::Null);
    errors.extend(builtin::label_errors(&metadata["labels"]));
    errors.extend(builtin::finalizer_errors(
        &metadata["finalizers"],
        has_standard_finalizers(kind),
    ));
    errors.extend(
        krator_schema::validate_metadata(metadata)
            .into_iter()
            .filter(|problem| {
                let path = problem.path.to_string();
                path != "metadata.labels"
                    && (path != "metadata.finalizers" || problem.detail.contains("orphan"))
            })
            .map(|problem| {
                let value = problem.path.find(object).cloned();
                FieldError {
                    // The API server treats an absent value as an empty text.
                    value: value.or_else(|| Some("".into())),
                    ..FieldError::from(problem)
                }
            }),
    );
    errors
}

/// Whether finalizers without a domain have to be standard ones of Kubernetes.
fn has_standard_finalizers(kind: &Kind) -> bool {
    !kind.is_custom() && ["", "apps", "batch"].contains(&kind.id.group.as_str())
}

/// Whether a deleted object has to stay: it has finalizers, or is a namespace that is not empty.
fn waits(object: &Json) -> bool {
    let of_namespace = object.pointer("/spec/finalizers").and_then(Json::as_array);
    finalizers(object).next().is_some()
        || object.get("kind").is_some_and(|kind| kind == "Namespace")
            && of_namespace.is_some_and(|names| !names.is_empty())
}

/// The largest stored object, in bytes of JSON: the limit of a request to etcd.
const LARGEST: usize = 3 << 19;

/// Checks the size of an object that is to be stored. Like a real server, drops the managed fields of a larger object.
///
/// # Errors
///
/// If the object is too large even without them.
fn small_enough(mut object: Json) -> Result<Json, Refusal> {
    if size(&object) > LARGEST {
        set_meta(&mut object, "managedFields", Json::Null);
    }
    match size(&object) > LARGEST {
        true => Err(Refusal::failed("etcdserver: request is too large")),
        false => Ok(object),
    }
}

/// Warnings about new finalizers of custom resources whose names may conflict with those of others.
fn finalizer_warnings(kind: &Kind, object: &Json, live: Option<&Json>) -> Vec<String> {
    let is_known = |name: &str| live.is_some_and(|live| finalizers(live).any(|known| known == name));
    finalizers(object)
        .filter(|name| kind.is_custom() && !name.contains('/'))
        .filter(|name| !["orphan", "foregroundDeletion", "kubernetes"].contains(name) && !is_known(name))
        .map(|name| {
            let with_path = if name.contains('.') { " including a path (/)" } else { "" };
            format!(
                "metadata.finalizers: {name:?}: prefer a domain-qualified finalizer name{with_path} to avoid accidental \
                 conflicts with other finalizer writers"
            )
        })
        .collect()
}
