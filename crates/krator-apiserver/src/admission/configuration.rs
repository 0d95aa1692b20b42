//! Admission configurations: their compiled expressions, and the checks when they are written.

use super::{GROUP, review::Attributes};
use crate::{
    expressions::{Compiled, list, text},
    kinds::Kind,
    object::{at, meta},
    rbac,
    refusal::{FieldError, Refusal},
    state::State,
    users::{AUTHENTICATED, SERVICE_ACCOUNT, User, service_account_groups},
};
use krator_schema::cel::{
    AccessCheck,
    admission::{Rejection, Request, Scope},
};
use serde_json::Value as Json;
use std::sync::Arc;

/// The expressions of a stored configuration, compiled once for each of its versions. They were checked when it was
/// written.
pub(super) fn compiled(
    state: &mut State,
    owner: &Json,
    part: &str,
    configuration: &Json,
) -> Result<Arc<Compiled>, Refusal> {
    let key = format!("{} {part}", meta(owner, "uid"));
    let version = meta(owner, "resourceVersion");
    if let Some((known, compiled)) = state.compiled.get(&key)
        && known == version
    {
        return Ok(Arc::clone(compiled));
    }
    let compiled = Compiled::of(configuration)
        .map_err(|(_, text, _)| Refusal::not_built(&format!("The expression '{text}'")))?;
    let compiled = Arc::new(compiled);
    state
        .compiled
        .insert(key, (version.to_owned(), Arc::clone(&compiled)));
    Ok(compiled)
}

/// Drops the compiled expressions of a deleted object.
pub(crate) fn forget(state: &mut State, last: &Json) {
    let uid = meta(last, "uid");
    state.compiled.retain(|key, _| !key.starts_with(uid));
}

/// The values of all variables for a write.
pub(super) fn scope<'a>(
    compiled: &Compiled,
    state: &State,
    about: &Attributes<'_>,
    request: &'a Json,
    objects: [&'a Json; 2],
    namespace: &'a Json,
) -> Scope<'a> {
    compiled.environment.scope(Request {
        object: objects[0],
        old_object: objects[1],
        request,
        namespace,
        decide: decide(state, about.user),
        asked: AccessCheck {
            group: about.kind.group.clone(),
            resource: about.kind.id.resource.clone(),
            subresource: about.subresource.to_owned(),
            namespace: about.namespace().to_owned(),
            name: about.key.name.clone(),
            ..AccessCheck::default()
        },
    })
}

/// A function that authorizes access by the present roles.
fn decide(state: &State, user: &User) -> Arc<krator_schema::cel::Decide> {
    let (roles, user) = (rbac::Roles::of(state), user.clone());
    Arc::new(move |check: &AccessCheck| {
        let asked = rbac::Attributes {
            verb: check.verb.clone(),
            group: check.group.clone(),
            resource: check.resource.clone(),
            subresource: check.subresource.clone(),
            namespace: check.namespace.clone(),
            name: check.name.clone(),
            path: check.path.clone(),
        };
        let account = check.service_account.as_ref().map(|(namespace, name)| User {
            name: format!("{SERVICE_ACCOUNT}{namespace}:{name}"),
            groups: service_account_groups(namespace)
                .into_iter()
                .chain([AUTHENTICATED.to_owned()])
                .collect(),
            ..User::default()
        });
        let decision = roles.decide(account.as_ref().unwrap_or(&user), &asked);
        (decision.allowed, decision.reason)
    })
}

/// Refuses a configuration that is invalid, or that this server cannot evaluate.
///
/// # Errors
///
/// If the configuration is invalid, or needs a feature that this server lacks.
pub(crate) fn check(kind: &Kind, object: &Json) -> Result<(), Refusal> {
    if kind.group != GROUP {
        return Ok(());
    }
    let compile = |path: &str, configuration: &Json| match Compiled::of(configuration) {
        Ok(_) => Ok(()),
        Err((field, text, Rejection::Refused(why))) => {
            let why = format!("compilation failed: {why}");
            let error = FieldError::invalid(format!("{path}.{field}"), text, why);
            Err(Refusal::invalid(kind.about_kind(meta(object, "name")), &[error]))
        }
        Err((field, text, Rejection::Unknown(why))) => Err(Refusal::not_built(&format!(
            "Policies with the expression '{text}' at {path}.{field} ({why})"
        ))),
    };
    let spec = at(object, &["spec"]);
    match kind.id.resource.as_str() {
        "validatingadmissionpolicies" if spec.get("paramKind").is_some() => {
            Err(Refusal::not_built("Policies with parameters (`spec.paramKind`)"))
        }
        "validatingadmissionpolicies" => compile("spec", spec),
        "validatingwebhookconfigurations" | "mutatingwebhookconfigurations" => {
            let webhooks = list(object, "webhooks").enumerate();
            for (at, webhook) in webhooks {
                let path = format!("webhooks[{at}]");
                Refusal::unless_valid(kind.about_kind(meta(object, "name")), &errors(&path, webhook))?;
                compile(&path, webhook)?;
            }
            Ok(())
        }
        "validatingadmissionpolicybindings" => {
            let has = |action: &str| list(spec, "validationActions").any(|it| it == action);
            let why = "must not contain both Deny and Warn (repeating the same validation failure information in the API \
                response and headers serves no purpose)";
            let actions = at(spec, &["validationActions"]).clone();
            let error = FieldError::invalid("spec.validationActions", actions, why);
            let errors = (has("Deny") && has("Warn")).then_some(error);
            Refusal::unless_valid(kind.about_kind(meta(object, "name")), errors.as_slice())
        }
        _ => Ok(()),
    }
}

/// The errors of a webhook besides those of its expressions.
fn errors(path: &str, webhook: &Json) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let url = text(at(webhook, &["clientConfig"]), "url");
    if !url.is_empty() && !url.starts_with("https://") {
        let why = "'https' is the only allowed URL scheme; desired format: https://host[/path]";
        errors.push(FieldError::invalid(format!("{path}.clientConfig.url"), url, why));
    }
    let (effects, supported) = (text(webhook, "sideEffects"), ["None", "NoneOnDryRun"]);
    if !effects.is_empty() && !supported.contains(&effects) {
        errors.push(FieldError::not_supported(
            format!("{path}.sideEffects"),
            effects,
            &supported,
        ));
    }
    errors
}
