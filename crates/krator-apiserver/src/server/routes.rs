//! The requests that are served at each path. Builtin kinds have routes of go-restful, and custom resources a handler
//! of `k8s.io/apiextensions-apiserver`. Both differ in the messages and the order of their checks.

use crate::{kinds::Kind, negotiation, refusal::Refusal, request::Target};
use http::{HeaderMap, Method};

/// Refuses a request that is not served at its path.
///
/// # Errors
///
/// If the path does not exist, or does not support the method or the media types.
pub(super) fn check(
    kind: &Kind,
    target: &Target,
    verb: &str,
    method: &Method,
    headers: &HeaderMap,
) -> Result<(), Refusal> {
    match kind.is_custom() {
        true => check_custom(kind, target, verb),
        false => {
            check_builtin(kind, target, verb, method)?;
            negotiation::check_route(verb, headers)
        }
    }
}

/// The verbs of the objects or of their subresource; `None` if the subresource does not exist.
fn allowed<'a>(kind: &'a Kind, target: &Target) -> Option<&'a [String]> {
    if target.subresource.is_empty() {
        return Some(&kind.verbs);
    }
    let mut known = kind.subresources.iter();
    let found = known.find(|sub| sub.name == target.subresource);
    found.map(|sub| sub.verbs.as_slice())
}

fn check_custom(kind: &Kind, target: &Target, verb: &str) -> Result<(), Refusal> {
    let is_of_all = ["list", "watch"].contains(&verb);
    let has_namespace = !target.namespace.is_empty();
    if has_namespace && !kind.namespaced || !has_namespace && kind.namespaced && !is_of_all {
        return Err(Refusal::no_such_path());
    }
    let allowed = allowed(kind, target).ok_or_else(|| Refusal::not_found(kind.about(&target.name)))?;
    if !allowed.iter().any(|allowed| allowed == verb) {
        return Err(Refusal::method_not_supported(kind.about(""), verb));
    }
    Ok(())
}

fn check_builtin(kind: &Kind, target: &Target, verb: &str, method: &Method) -> Result<(), Refusal> {
    let has_namespace = !target.namespace.is_empty();
    if target.is_deeper || !kind.namespaced && has_namespace {
        return Err(Refusal::no_such_path());
    }
    let allowed = allowed(kind, target).ok_or_else(Refusal::no_such_path)?;
    // The path of all namespaces contains no names, and is read-only.
    let is_of_all = kind.namespaced && !has_namespace && !kind.is_review();
    if is_of_all && !target.name.is_empty() {
        return Err(Refusal::no_such_path());
    }
    let needs_name = ["update", "patch"].contains(&verb);
    let is_at_place = match verb {
        "create" => target.name.is_empty() || !target.subresource.is_empty(),
        _ => !needs_name || !target.name.is_empty(),
    };
    let is_allowed = allowed.iter().any(|allowed| allowed == verb)
        && is_at_place
        && *method != Method::HEAD
        && (!is_of_all || ["list", "watch"].contains(&verb));
    match is_allowed {
        true => Ok(()),
        false => Err(Refusal::method_not_allowed()),
    }
}
