//! The builtin kinds of Kubernetes: their data, how their objects are decoded, completed and validated, and how
//! `kubectl get` prints them. All functions are pure. `tools/openapi/kinds.json` lists the kinds.
//!
//! A request that creates or updates an object goes through [`Builtin::decode`], [`Builtin::default`], the admission of
//! the kind's rules, [`Builtin::allocate`], [`Builtin::prepare_create`] or [`Builtin::prepare_update`], and
//! [`Builtin::validate_create`] or [`Builtin::validate_update`], in this order. `metadata` is validated elsewhere, as
//! for custom kinds.

mod admission;
mod allocate;
mod convert;
mod decode;
mod defaults;
mod documents;
mod fields;
mod json;
pub mod names;
mod prepare;
mod known;
mod report;
mod rules;
mod tables;
mod times;
mod types;
mod validate;

pub use documents::{ServedKind, ServedSubresource, kinds, openapi, schemas};
pub use tables::Column;
pub use times::human_duration;

pub use names::NameRule;

use crate::refusal::{About, FieldError, Refusal};
use crate::request::Subresource;
pub(crate) use rules::{Rules, StoredAs};
use serde_json::Value as Json;
use std::sync::LazyLock;

/// A builtin kind of Kubernetes, and how the server treats its objects.
#[derive(Debug)]
pub struct Builtin {
    kind: &'static ServedKind,
    type_name: &'static str,
    /// The treatment of its objects beyond their schema.
    pub(crate) rules: &'static Rules,
}

/// The errors of the labels of an object.
pub(crate) fn label_errors(labels: &Json) -> Vec<FieldError> {
    validate::label_errors(labels)
}

/// The errors of finalizers. With `standard`, only qualified names and the finalizers of Kubernetes are allowed.
pub(crate) fn finalizer_errors(finalizers: &Json, standard: bool) -> Vec<FieldError> {
    let names = finalizers
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Json::as_str);
    let names: Vec<&str> = names.collect();
    let mut errors = Vec::new();
    for name in &names {
        let wrong = names::qualified(name).into_iter();
        errors.extend(wrong.map(|why| FieldError::invalid("metadata.finalizers", *name, why)));
    }
    for (at, name) in names.iter().enumerate().filter(|_| standard) {
        if !name.contains('/') && !["kubernetes", "orphan", "foregroundDeletion"].contains(name) {
            let why = "name is neither a standard finalizer name nor is it fully qualified";
            errors.push(FieldError::invalid(
                format!("metadata.finalizers[{at}]"),
                *name,
                why,
            ));
        }
    }
    errors
}

/// An empty object of a kind, as Go encodes it.
pub(crate) fn empty(group: &str, version: &str, kind: &str) -> Json {
    decode::zero(types::of_kind(group, version, kind))
}

/// All builtin kinds of Kubernetes that this server has.
pub fn all() -> &'static [Builtin] {
    static BUILTINS: LazyLock<Vec<Builtin>> = LazyLock::new(|| {
        let builtin = |kind: &'static ServedKind| {
            let type_name = types::of_kind(&kind.group, &kind.version, &kind.kind);
            let rules = known::of(type_name);
            Builtin {
                kind,
                type_name,
                rules,
            }
        };
        kinds().iter().map(builtin).collect()
    });
    &BUILTINS
}

/// The builtin kind of a resource, if this server has it.
#[cfg(test)]
pub fn of(group: &str, resource: &str) -> Option<&'static Builtin> {
    all()
        .iter()
        .find(|builtin| builtin.kind.group == group && builtin.kind.resource == resource)
}

impl Builtin {
    /// The names of the kind and the verbs of its requests.
    pub fn kind(&self) -> &'static ServedKind {
        self.kind
    }

    /// Decodes an object as Go does, and encodes it as Go would: see the module `decode`. Also returns a message for
    /// each unknown field, such as `unknown field "spec.replica"`.
    ///
    /// # Errors
    ///
    /// 400 if a field has a value of a wrong type.
    pub fn decode(&self, object: &Json) -> Result<(Json, Vec<String>), Refusal> {
        let (mut read, unknown) = decode::decode(self.type_name, object).map_err(|error| {
            let ServedKind { kind, version, .. } = self.kind;
            Refusal::bad_request(format!(
                "{kind} in version {version:?} cannot be handled as a {kind}: {error}"
            ))
        })?;
        (self.rules.read)(&mut read);
        Ok((read, unknown))
    }

    /// Fills in the defaults of a decoded object.
    pub fn default(&self, object: &mut Json) {
        defaults::fill(self.type_name, object);
        self.put_in_order(object);
    }

    /// Sets the fields that clients cannot set: the status is reset, the generation is 1. The object must already have
    /// its name and uid, but must not have had a uid when its defaults were set.
    ///
    /// `now` is for kinds that store a time, such as PersistentVolume.
    pub fn prepare_create(&self, object: &mut Json, now: &str) {
        prepare::create(self.type_name, self.rules, object, now);
        self.default(object);
    }

    /// Restores the fields that this kind of update cannot change, and increments the generation if the desired state
    /// has changed.
    pub fn prepare_update(&self, object: &mut Json, old: &Json, subresource: Subresource) {
        prepare::update(self.type_name, self.rules, object, old, subresource);
        self.default(object);
    }

    /// Allocates the addresses and node ports of a Service, before it is prepared. `others` are all other Services of
    /// the server, and `old` is the Service as it was. Other kinds need no allocation.
    ///
    /// # Errors
    ///
    /// The errors of requested addresses and ports that cannot be allocated.
    pub fn allocate<'a>(
        &self,
        object: &mut Json,
        old: Option<&Json>,
        others: impl IntoIterator<Item = &'a Json>,
    ) -> Result<(), Vec<FieldError>> {
        if !self.rules.allocates {
            return Ok(());
        }
        allocate::allocate(object, old, others)
    }

    /// The errors of a new object, without those of its `metadata`.
    pub fn validate_create(&self, object: &Json) -> Vec<FieldError> {
        validate::create(self.type_name, self.rules, object)
    }

    /// The errors of a changed object, without those of its `metadata`.
    pub fn validate_update(&self, object: &Json, old: &Json, subresource: Subresource) -> Vec<FieldError> {
        validate::update(self.type_name, self.rules, object, old, subresource)
    }

    /// The kind in refusals of invalid objects. The API server has one internal kind for the Events of both groups, so
    /// Events of `events.k8s.io` are named without their group.
    pub fn about_invalid(&self, name: &str) -> About {
        let group = if self.type_name == "events/v1.Event" {
            ""
        } else {
            &self.kind.group
        };
        About::new(group, &self.kind.kind, name)
    }

    /// The label selector of an object's pods, as `/scale` shows it.
    pub fn selector_text(&self, object: &Json) -> String {
        tables::selector_of(&object["spec"]["selector"])
    }

    /// The value of a field for a field selector, such as `status.phase` of pods.
    ///
    /// # Errors
    ///
    /// The message of the API server if the field is not selectable for this kind.
    pub fn selectable_field(&self, object: &Json, field: &str) -> Result<String, String> {
        fields::value(self.rules.selectable, object, field)
    }

    /// The seconds that a deletion waits for a node to stop the object; none for kinds that do not run on nodes.
    /// `asked` is from the request. After `CheckGracefulDelete` in `pkg/registry/core/pod/strategy.go`.
    pub fn grace_seconds(&self, object: &Json, asked: Option<i64>) -> Option<i64> {
        let has_ended = matches!(json::text(object, "status.phase"), "Failed" | "Succeeded");
        if !self.rules.graceful {
            return None;
        }
        if has_ended || json::text(object, "spec.nodeName").is_empty() {
            return Some(0);
        }
        let own = json::int(object, "spec.terminationGracePeriodSeconds");
        match asked.or(own).unwrap_or_default() {
            seconds if seconds < 0 => Some(1),
            seconds => Some(seconds),
        }
    }

    /// The paths that a request for a subresource does not change, so that it does not own their fields; after
    /// `GetResetFields` of the strategies.
    pub fn reset_fields(&self, subresource: Subresource) -> Vec<&'static str> {
        match subresource {
            Subresource::None if prepare::has_status(self.type_name) && !self.is_review() => vec!["status"],
            Subresource::Status => [&["spec"], self.rules.kept_by_status].concat(),
            _ => Vec::new(),
        }
    }

    /// Whether objects are created only to be answered, and never stored.
    fn is_review(&self) -> bool {
        self.kind.verbs == ["create"]
    }

    /// The columns of tables of these objects. Kinds without a list request have none.
    pub fn columns(&self) -> Vec<&'static Column> {
        tables::columns(self.kind, self.rules)
    }

    /// The cells of an object in a table, one for each column. `now` is in seconds since 1970, and is the end of ages.
    pub fn cells(&self, object: &Json, now: i64) -> Vec<Json> {
        tables::cells(&self.columns(), self.rules, object, now)
    }

    /// Encodes the object as Go does: fields in Go's order, with the empty ones that Go writes.
    fn put_in_order(&self, object: &mut Json) {
        if let Ok((ordered, _)) = decode::decode(self.type_name, object) {
            *object = ordered;
        }
    }
}

/// A message for each unknown field of an object's metadata.
///
/// # Errors
///
/// If a field has a value of a wrong type.
pub fn unknown_metadata(metadata: &Json) -> Result<Vec<String>, String> {
    decode::unknown_below("meta/v1.ObjectMeta", "metadata", metadata)
}

#[cfg(test)]
mod tests;
