//! Policies that validate writes by expressions, after `plugin/policy/validating` of `k8s.io/apiserver`.

use super::{
    configuration, configurations, matching,
    review::{Attributes, Matched},
};
use crate::{
    expressions::{Conditions, Validation, failure, list, text, unknown},
    object::{at, meta},
    refusal::{Cause, Refusal},
    state::State,
};
use krator_schema::cel::admission::{Evaluated, Scope};
use serde_json::Value as Json;

/// The longest message of a message expression, in bytes.
const LONGEST_MESSAGE: usize = 5 << 10;

/// The reason and the message with which a policy denies a write.
struct Denial {
    reason: String,
    message: String,
}

/// Refuses a write that a mutating policy matches, because this server cannot evaluate mutating policies.
///
/// # Errors
///
/// If such a policy matches and is bound.
pub(super) fn mutate(
    state: &State,
    about: &Attributes<'_>,
    objects: [Option<&Json>; 2],
) -> Result<(), Refusal> {
    let bindings = configurations(state, "mutatingadmissionpolicybindings");
    let is_bound = |policy: &Json| {
        let mut names = bindings
            .iter()
            .map(|binding| at(binding, &["spec", "policyName"]));
        names.any(|name| *name == meta(policy, "name"))
    };
    let changes = configurations(state, "mutatingadmissionpolicies")
        .iter()
        .any(|policy| {
            let constraints = at(policy, &["spec", "matchConstraints"]);
            is_bound(policy)
                && matching::matches(state, about, constraints, "resourceRules", objects).is_some()
        });
    match changes {
        true => Err(Refusal::not_built("Policies that change objects")),
        false => Ok(()),
    }
}

/// Evaluates all bound policies for a write.
///
/// # Errors
///
/// If a policy denies the write.
pub(super) fn validate(
    state: &mut State,
    about: &Attributes<'_>,
    object: Option<&Json>,
    old: Option<&Json>,
) -> Result<(), Refusal> {
    let policies = configurations(state, "validatingadmissionpolicies");
    if policies.is_empty() {
        return Ok(());
    }
    let bindings = configurations(state, "validatingadmissionpolicybindings");
    let mut refused = None;
    for policy in &policies {
        let constraints = at(policy, &["spec", "matchConstraints"]);
        let Some(matched) = matching::matches(state, about, constraints, "resourceRules", [object, old])
        else {
            continue;
        };
        let mut denials = None;
        for binding in bindings.iter().map(|binding| &**binding) {
            let resources = at(binding, &["spec", "matchResources"]);
            if *at(binding, &["spec", "policyName"]) != meta(policy, "name")
                || matching::matches(state, about, resources, "resourceRules", [object, old]).is_none()
            {
                continue;
            }
            let denials = match &denials {
                Some(known) => known,
                None => denials.insert(evaluate(state, about, policy, &matched, [object, old])?),
            };
            for denial in denials {
                let (name, binding_name) = (meta(policy, "name"), meta(binding, "name"));
                let message = &denial.message;
                for action in list(at(binding, &["spec"]), "validationActions") {
                    match action.as_str() {
                        Some("Deny") => {
                            let why = format!(
                                "ValidatingAdmissionPolicy '{name}' with binding '{binding_name}' denied request: {message}"
                            );
                            refused.get_or_insert_with(|| refusal(about, object, denial, &why));
                        }
                        Some("Warn") => state.session.warn(format!(
                            "Validation failed for ValidatingAdmissionPolicy '{name}' with binding '{binding_name}': \
                             {message}"
                        )),
                        // The action `Audit` has no effect: the audit log contains no annotations of policies.
                        _ => {}
                    }
                }
            }
        }
    }
    refused.map_or(Ok(()), Err)
}

fn refusal(about: &Attributes<'_>, object: Option<&Json>, denial: &Denial, why: &str) -> Refusal {
    let (code, reason) = match denial.reason.as_str() {
        "Unauthorized" => (401, "Unauthorized"),
        "Forbidden" => (403, "Forbidden"),
        "RequestEntityTooLarge" => (413, "RequestEntityTooLarge"),
        _ => (422, "Invalid"),
    };
    Refusal {
        code,
        reason,
        causes: vec![Cause {
            reason: String::new(),
            message: why.to_owned(),
            field: String::new(),
        }],
        ..about.forbidden(object, why)
    }
}

/// Evaluates a policy for a write, and returns its denials.
fn evaluate(
    state: &mut State,
    about: &Attributes<'_>,
    policy: &Json,
    matched: &Matched,
    [object, old]: [Option<&Json>; 2],
) -> Result<Vec<Denial>, Refusal> {
    let spec = at(policy, &["spec"]);
    let compiled = configuration::compiled(state, policy, "", spec)?;
    let namespace = matching::namespace_object(state, about);
    let ignores = text(spec, "failurePolicy") == "Ignore";
    let objects = match [object, old].map(|object| about.in_version(object, matched)) {
        [Ok(object), Ok(old)] => [object, old],
        [Err(_), _] | [_, Err(_)] if ignores => return Ok(Vec::new()),
        [Err(why), _] | [_, Err(why)] => {
            return Ok(vec![Denial {
                reason: String::new(),
                message: format!("failed to configure binding: failed to convert object version: {why}"),
            }]);
        }
    };
    let request = about.request(matched);
    let scope = configuration::scope(&compiled, state, about, &request, objects.each_ref(), &namespace);
    match compiled.conditions(&scope)? {
        Conditions::Hold => {}
        Conditions::DoNotHold => return Ok(Vec::new()),
        Conditions::Failed(_) if ignores => return Ok(Vec::new()),
        Conditions::Failed(message) => {
            let reason = String::new();
            return Ok(vec![Denial { reason, message }]);
        }
    }
    let mut denials = Vec::new();
    for (validation, written) in compiled.validations.iter().zip(list(spec, "validations")) {
        match validation.expression.evaluate(&scope) {
            Evaluated::Bool(true) => {}
            Evaluated::Bool(false) => denials.push(Denial {
                reason: text(written, "reason").to_owned(),
                message: message(validation, written, &scope)?,
            }),
            Evaluated::Failed(_) if ignores => {}
            Evaluated::Failed(why) => denials.push(Denial {
                reason: String::new(),
                message: failure(&validation.text, &why),
            }),
            other => return Err(unknown(&validation.text, &other)),
        }
    }
    Ok(denials)
}

/// The message of a failed validation.
fn message(validation: &Validation, written: &Json, scope: &Scope<'_>) -> Result<String, Refusal> {
    let made = match validation.message.as_ref().map(|message| message.evaluate(scope)) {
        Some(Evaluated::Text(made)) => made.trim().to_owned(),
        Some(other @ Evaluated::Unknown(_)) => {
            return Err(unknown(text(written, "messageExpression"), &other));
        }
        _ => String::new(),
    };
    if !made.is_empty() && made.len() <= LONGEST_MESSAGE && !made.contains('\n') {
        return Ok(made);
    }
    Ok(match text(written, "message").trim() {
        "" => format!("failed expression: {}", validation.text.trim()),
        message => message.to_owned(),
    })
}
