//! Admission of writes by webhooks and policies, after `pkg/admission/plugin` of `k8s.io/apiserver`.
//!
//! A request has exclusive access to the state, so it must not wait for a webhook. If a webhook has to be called, the
//! request ends before it has changed anything, the webhook is called, and the request starts again with the response
//! at hand. If the object has changed in between, the webhook is called again, for the new object.

mod call;
mod configuration;
mod matching;
mod policies;
mod review;
mod webhooks;

pub(crate) use call::call;
pub(crate) use configuration::{check, forget};
pub(crate) use review::{Attributes, Operation};

use crate::{
    refusal::Refusal,
    state::{State, id},
};
use serde_json::Value as Json;
use std::sync::Arc;

/// The group of the admission configurations, whose own writes skip webhooks and policies.
const GROUP: &str = "admissionregistration.k8s.io";

/// The configurations of a kind, in the order of their names.
fn configurations(state: &State, resource: &str) -> Vec<Arc<Json>> {
    let id = id(GROUP, resource);
    let found = state.store.list(&id, "");
    found.map(|(_, object)| Arc::clone(object)).collect()
}

/// Runs the mutating webhooks for an object that is to be stored. `old` is the object before.
///
/// # Errors
///
/// If a webhook or policy denies the write, or a webhook has to be called first.
pub(crate) fn mutate(
    state: &mut State,
    about: &Attributes<'_>,
    object: Json,
    old: Option<&Json>,
) -> Result<Json, Refusal> {
    if about.is_exempt() {
        return Ok(object);
    }
    policies::mutate(state, about, [Some(&object), old])?;
    let changed = webhooks::mutate(state, about, Some(object), old)?;
    Ok(changed.unwrap_or_default())
}

/// Runs the validating policies and webhooks for a write. `object` is the new object, and `old` the object before.
///
/// # Errors
///
/// If a webhook or policy denies the write, or a webhook has to be called first.
pub(crate) fn validate(
    state: &mut State,
    about: &Attributes<'_>,
    object: Option<&Json>,
    old: Option<&Json>,
) -> Result<(), Refusal> {
    if about.is_exempt() {
        return Ok(());
    }
    policies::validate(state, about, object, old)?;
    webhooks::validate(state, about, object, old)
}

/// Runs webhooks and policies for a deletion.
///
/// # Errors
///
/// If a webhook or policy denies the deletion, or a webhook has to be called first.
pub(crate) fn delete(state: &mut State, about: &Attributes<'_>, old: &Json) -> Result<(), Refusal> {
    if about.is_exempt() {
        return Ok(());
    }
    webhooks::mutate(state, about, None, Some(old))?;
    validate(state, about, None, Some(old))
}
