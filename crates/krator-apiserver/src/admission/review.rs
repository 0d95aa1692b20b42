//! The attributes of a write for webhooks and policies, after `admission.Attributes` and `CreateAdmissionObjects`.

use super::GROUP;
use crate::{
    kinds::{Kind, api_version},
    object::{meta, set},
    refusal::{Cause, Refusal},
    store::Key,
    users::User,
};
use serde_json::{Value as Json, json};

/// The operation of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Create,
    Update,
    Delete,
}

impl Operation {
    pub fn name(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }

    fn options(self) -> &'static str {
        match self {
            Self::Create => "CreateOptions",
            Self::Update => "UpdateOptions",
            Self::Delete => "DeleteOptions",
        }
    }
}

/// A requested write.
pub(crate) struct Attributes<'a> {
    pub kind: &'a Kind,
    /// `status` or `scale`, or empty.
    pub subresource: &'static str,
    pub operation: Operation,
    /// The namespace and the name in the request. The name is empty if it has to be generated first.
    pub key: Key,
    pub user: &'a User,
    pub dry_run: bool,
    /// The other options of the client's request; none for writes by the server itself.
    pub options: Option<&'a Json>,
}

/// The version of a resource that a rule has matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Matched {
    pub version: String,
}

impl Attributes<'_> {
    /// Whether the write skips webhooks and policies, because it is made by the server itself, or changes an admission
    /// configuration.
    pub(super) fn is_exempt(&self) -> bool {
        self.options.is_none() || self.kind.group == GROUP
    }

    pub(super) fn is_namespace(&self) -> bool {
        self.kind.group.is_empty() && self.kind.id.resource == "namespaces"
    }

    /// The namespace of the request. For a Namespace this is its own name.
    pub(super) fn namespace(&self) -> &str {
        match self.is_namespace() {
            true => &self.key.name,
            false => &self.key.namespace,
        }
    }

    fn kind_in(&self, version: &str) -> Json {
        match self.subresource {
            "scale" => json!({"group": "autoscaling", "version": "v1", "kind": "Scale"}),
            _ => json!({"group": self.kind.group, "version": version, "kind": self.kind.kind}),
        }
    }

    /// The `AdmissionRequest` without its uid and its objects.
    pub(super) fn request(&self, matched: &Matched) -> Json {
        let resource = |version: &str| json!({"group": self.kind.group, "version": version, "resource": self.kind.id.resource});
        let mut options = self.options.cloned().unwrap_or_default();
        set(&mut options, "kind", self.operation.options().into());
        set(&mut options, "apiVersion", "meta.k8s.io/v1".into());
        if self.dry_run {
            set(&mut options, "dryRun", json!(["All"]));
        }
        let mut request = json!({
            "kind": self.kind_in(&matched.version),
            "resource": resource(&matched.version),
            "requestKind": self.kind_in(&self.kind.version),
            "requestResource": resource(&self.kind.version),
            "operation": self.operation.name(),
            "userInfo": self.user.info(),
            "dryRun": self.dry_run,
            "options": options,
        });
        for (key, value) in [
            ("subResource", self.subresource),
            ("requestSubResource", self.subresource),
            ("name", &self.key.name),
            ("namespace", self.namespace()),
        ] {
            if !value.is_empty() {
                request[key] = value.into();
            }
        }
        request
    }

    /// An object in the version that a rule has matched.
    ///
    /// # Errors
    ///
    /// If it cannot be converted.
    pub(super) fn in_version(&self, object: Option<&Json>, matched: &Matched) -> Result<Json, String> {
        let Some(object) = object.filter(|object| object.is_object()) else {
            return Ok(Json::Null);
        };
        let is_other = self.subresource != "scale" && matched.version != self.kind.version;
        let version = api_version(&self.kind.group, &matched.version);
        match self.kind.versions().filter(|_| is_other) {
            // Fields that the other version lacks are not pruned here, only when the object is stored.
            Some(versions) => versions.converter.convert(object, &version),
            None => Ok(object.clone()),
        }
    }

    /// A 403 for this write. It contains the name or `generateName` of the object if it has one.
    pub(super) fn forbidden(&self, object: Option<&Json>, why: &str) -> Refusal {
        let of_object = |key| object.map_or("", |object| meta(object, key));
        let names = [
            &self.key.name,
            of_object("name"),
            of_object("generateName"),
            "Unknown",
        ];
        let name = names
            .into_iter()
            .find(|name| !name.is_empty())
            .unwrap_or_default();
        Refusal::forbidden(self.kind.about(name), why)
    }
}

/// A text that identifies a call. It omits the metadata that the server sets anew in each attempt.
pub(super) fn key_of(request: &Json) -> String {
    let mut request = request.clone();
    if let Some(metadata) = request
        .pointer_mut("/object/metadata")
        .and_then(Json::as_object_mut)
    {
        for key in ["managedFields", "creationTimestamp", "deletionTimestamp"] {
            metadata.shift_remove(key);
        }
    }
    request.to_string()
}

/// A 500 with the cause that a real server adds to it.
pub(super) fn internal(message: &str) -> Refusal {
    Refusal {
        causes: vec![Cause {
            reason: String::new(),
            message: message.to_owned(),
            field: String::new(),
        }],
        ..Refusal::internal(message)
    }
}
