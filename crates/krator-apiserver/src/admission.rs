//! Admission of writes: webhooks and policies, after `pkg/admission/plugin` of `k8s.io/apiserver`.
//!
//! A request has the state alone, and webhooks must not be waited for meanwhile. Where one is to be asked, the request
//! therefore ends before it has changed anything, the webhook is called, and the request begins anew with the response at hand. If
//! the object has changed in between, the call is another one and is made again.

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

/// The group of the configurations, whose own writes nobody else decides about.
const GROUP: &str = "admissionregistration.k8s.io";

/// The configurations of a kind, in the order of their names.
fn configurations(state: &State, resource: &str) -> Vec<Arc<Json>> {
    let id = id(GROUP, resource);
    let found = state.store.list(&id, "");
    found.map(|(_, object)| Arc::clone(object)).collect()
}

/// Lets webhooks change an object that is to be stored. `old` is the object before.
///
/// # Errors
///
/// If one of them refuses it, or has to be asked first.
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

/// Lets policies and webhooks judge a write. `object` is the new object, and `old` the object before.
///
/// # Errors
///
/// If one of them refuses it, or has to be asked first.
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

/// Lets webhooks and policies judge a deletion.
///
/// # Errors
///
/// If one of them refuses it, or has to be asked first.
pub(crate) fn delete(state: &mut State, about: &Attributes<'_>, old: &Json) -> Result<(), Refusal> {
    if about.is_exempt() {
        return Ok(());
    }
    webhooks::mutate(state, about, None, Some(old))?;
    validate(state, about, None, Some(old))
}
