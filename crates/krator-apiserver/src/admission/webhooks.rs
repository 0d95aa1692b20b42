//! Webhooks, after `plugin/webhook/mutating` and `plugin/webhook/validating` of `k8s.io/apiserver`.

use super::{
    configuration, configurations, matching,
    review::{Attributes, Matched, internal, key_of},
};
use crate::{
    expressions::{Conditions, list, text},
    object::at,
    patch,
    refusal::Refusal,
    state::State,
    webhook_calls::{WebhookCall, WebhookResponse},
};
use serde_json::{Value as Json, json};
use std::{sync::Arc, time::Duration};

/// A webhook that matches a write.
struct Hook<'a> {
    webhook: &'a Json,
    matched: Matched,
}

/// The result of calling a webhook.
enum Verdict {
    /// The write is allowed, with this patch if there is one.
    Allowed(Option<Json>),
    /// The webhook has to be called first.
    Unknown,
}

/// Runs the mutating webhooks for an object, which is none in a deletion.
///
/// # Errors
///
/// If a webhook denies the write, or has to be called first.
pub(super) fn mutate(
    state: &mut State,
    about: &Attributes<'_>,
    mut object: Option<Json>,
    old: Option<&Json>,
) -> Result<Option<Json>, Refusal> {
    let all = configurations(state, "mutatingwebhookconfigurations");
    let hooks: Vec<(&Arc<Json>, &Json)> = all
        .iter()
        .flat_map(|configuration| {
            list(configuration, "webhooks").map(move |webhook| (configuration, webhook))
        })
        .collect();
    // The object as each webhook has left it; a webhook is reinvoked if others have changed the object since.
    let mut left: Vec<Option<Json>> = vec![None; hooks.len()];
    for again in [false, true] {
        for (at, (configuration, webhook)) in hooks.iter().enumerate() {
            let is_new = match &left[at] {
                _ if !again => true,
                Some(left) => {
                    text(webhook, "reinvocationPolicy") == "IfNeeded" && object.as_ref() != Some(left)
                }
                None => false,
            };
            if !is_new {
                continue;
            }
            let objects = [object.as_ref(), old];
            let Some(hook) = hook(state, about, configuration, webhook, objects)? else {
                continue;
            };
            match ask(state, about, &hook, objects, true)? {
                Verdict::Unknown => return Err(Refusal::internal("a webhook has to answer first")),
                Verdict::Allowed(None) => {}
                Verdict::Allowed(Some(patch)) => {
                    let Some(before) = &object else {
                        let name = text(webhook, "name");
                        return Err(internal(&format!(
                            "admission webhook {name:?} attempted to modify the object, which is not supported for this \
                             operation"
                        )));
                    };
                    object = Some(patched(about, before, &patch, &hook.matched)?);
                }
            }
            left[at] = Some(object.clone().unwrap_or_default());
        }
    }
    Ok(object)
}

/// The patched object, with the defaults of its kind.
fn patched(about: &Attributes<'_>, object: &Json, change: &Json, matched: &Matched) -> Result<Json, Refusal> {
    let shown = in_version(about, Some(object), matched)?;
    let mut made = patch::json_patch(&shown, change).map_err(|refusal| internal(&refusal.message))?;
    if about.subresource == "scale" {
        return Ok(made);
    }
    if let Some(versions) = about.kind.versions()
        && shown["apiVersion"] != object["apiVersion"]
    {
        let converted = versions.convert(&versions.read(made), &about.kind.api_version());
        made = converted.map_err(|refusal| internal(&refusal.message))?;
    }
    let (mut made, _) = about
        .kind
        .decode(made)
        .map_err(|refusal| internal(&refusal.message))?;
    about.kind.default(&mut made);
    Ok(made)
}

/// An object in the version that the rule of a webhook has matched.
fn in_version(about: &Attributes<'_>, object: Option<&Json>, matched: &Matched) -> Result<Json, Refusal> {
    about.in_version(object, matched).map_err(|why| internal(&why))
}

/// Runs the validating webhooks for a write.
///
/// # Errors
///
/// If a webhook denies the write, or has to be called first.
pub(super) fn validate(
    state: &mut State,
    about: &Attributes<'_>,
    object: Option<&Json>,
    old: Option<&Json>,
) -> Result<(), Refusal> {
    let mut refused = None;
    for configuration in configurations(state, "validatingwebhookconfigurations") {
        for webhook in list(&configuration, "webhooks") {
            let Some(hook) = hook(state, about, &configuration, webhook, [object, old])? else {
                continue;
            };
            // All webhooks are called, and the first denial is reported.
            if let Err(refusal) = ask(state, about, &hook, [object, old], false) {
                refused.get_or_insert(refusal);
            }
        }
    }
    if state.session.waits() {
        return Err(Refusal::internal("webhooks have to answer first"));
    }
    refused.map_or(Ok(()), Err)
}

/// A webhook, if it matches a write.
fn hook<'a>(
    state: &mut State,
    about: &Attributes<'_>,
    configuration: &Json,
    webhook: &'a Json,
    objects: [Option<&Json>; 2],
) -> Result<Option<Hook<'a>>, Refusal> {
    let Some(matched) = matching::matches(state, about, webhook, "rules", objects) else {
        return Ok(None);
    };
    if list(webhook, "matchConditions").next().is_some() {
        let compiled = configuration::compiled(state, configuration, text(webhook, "name"), webhook)?;
        let [object, old] = objects.map(|object| in_version(about, object, &matched));
        let shown = [object?, old?];
        let request = about.request(&matched);
        let scope = configuration::scope(&compiled, state, about, &request, shown.each_ref(), &Json::Null);
        match compiled.conditions(&scope)? {
            Conditions::Hold => {}
            Conditions::DoNotHold => return Ok(None),
            Conditions::Failed(_) if ignores_failures(webhook) => return Ok(None),
            Conditions::Failed(why) => return Err(about.forbidden(objects[0], &why)),
        }
    }
    Ok(Some(Hook { webhook, matched }))
}

fn ignores_failures(webhook: &Json) -> bool {
    text(webhook, "failurePolicy") == "Ignore"
}

/// The result of a webhook call, or `Unknown` if the webhook has to be called first.
fn ask(
    state: &mut State,
    about: &Attributes<'_>,
    hook: &Hook<'_>,
    objects: [Option<&Json>; 2],
    mutates: bool,
) -> Result<Verdict, Refusal> {
    let Hook { webhook, matched } = hook;
    let name = text(webhook, "name");
    let mut request = about.request(matched);
    let [object, old] = objects.map(|object| in_version(about, object, matched));
    request["object"] = object?;
    request["oldObject"] = old?;
    let client = at(webhook, &["clientConfig"]);
    let seconds = at(webhook, &["timeoutSeconds"]).as_u64().unwrap_or(10);
    let call = WebhookCall {
        key: format!("{name} {client} {}", key_of(&request)),
        request,
        client: client.clone(),
        timeout: Duration::from_secs(seconds),
        mutates,
    };
    let Some(answer) = state.session.answer(call) else {
        return Ok(Verdict::Unknown);
    };
    let response = match answer {
        Ok(response) => response,
        Err(_) if ignores_failures(webhook) => return Ok(Verdict::Allowed(None)),
        Err(why) => return Err(internal(&format!("failed calling webhook {name:?}: {why}"))),
    };
    for warning in list(&response, "warnings").filter_map(Json::as_str) {
        state.session.warn(warning.to_owned());
    }
    if response["allowed"] != true {
        return Err(denial(name, at(&response, &["status"])));
    }
    Ok(Verdict::Allowed(response.get("patch").cloned()))
}

/// The answer to a client whose request a webhook has denied: the status of the webhook, after `ToStatusErr`.
fn denial(name: &str, given: &Json) -> Refusal {
    let denied = format!("admission webhook {name:?} denied the request");
    let message = match (text(given, "message"), text(given, "reason")) {
        ("", "") => format!("{denied} without explanation"),
        ("", reason) => format!("{denied}: {reason}"),
        (message, _) => format!("{denied}: {message}"),
    };
    let code = at(given, &["code"])
        .as_u64()
        .and_then(|code| u16::try_from(code).ok());
    let code = code.filter(|code| *code >= 400).unwrap_or(400);
    let mut status = given.clone();
    crate::object::set(&mut status, "kind", "Status".into());
    crate::object::set(&mut status, "apiVersion", "v1".into());
    crate::object::set(&mut status, "metadata", json!({}));
    crate::object::set(&mut status, "status", "Failure".into());
    crate::object::set(&mut status, "message", message.as_str().into());
    crate::object::set(&mut status, "code", code.into());
    Refusal {
        code,
        whole: Some(Box::new(status)),
        ..Refusal::failed(message)
    }
}

/// Checks the response of a webhook, after `VerifyAdmissionResponse`, and returns its `response`.
pub(super) fn verified(review: &Json, uid: &str, mutates: bool) -> WebhookResponse {
    let Some(response) = review.get("response").filter(|response| response.is_object()) else {
        return Err("webhook response was absent".to_owned());
    };
    let (group, kind) = (text(review, "apiVersion"), text(review, "kind"));
    if text(response, "uid") != uid {
        return Err(format!(
            "expected response.uid={uid:?}, got {:?}",
            text(response, "uid")
        ));
    }
    if (group, kind) != ("admission.k8s.io/v1", "AdmissionReview") {
        return Err(format!(
            "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got {group}, Kind={kind}"
        ));
    }
    let mut response = response.clone();
    let (patch, patch_type) = (bytes(&response["patch"])?, response.get("patchType").cloned());
    match (mutates, &patch[..], patch_type) {
        (_, [], None) => {}
        (false, [], Some(_)) => return Err("validating webhook may not return response.patchType".to_owned()),
        (false, ..) => return Err("validating webhook may not return response.patch".to_owned()),
        (true, [], Some(_)) => {
            return Err("webhook returned response.patchType but not response.patch".to_owned());
        }
        (true, _, None) => {
            return Err("webhook returned response.patch but not response.patchType".to_owned());
        }
        (true, patch, Some(form)) if form == "JSONPatch" => {
            response["patch"] = serde_json::from_slice(patch).map_err(|error| error.to_string())?;
        }
        (true, _, Some(form)) => {
            return Err(format!("webhook returned invalid response.patchType of {form}"));
        }
    }
    Ok(response)
}

/// Bytes as Go reads them: in base64, or as a list of numbers as kube writes it.
fn bytes(value: &Json) -> Result<Vec<u8>, String> {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    match value {
        Json::Array(_) => serde_json::from_value(value.clone()).map_err(|error| error.to_string()),
        value => STANDARD
            .decode(value.as_str().unwrap_or_default())
            .map_err(|error| error.to_string()),
    }
}
