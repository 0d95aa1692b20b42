//! Access and token reviews, which are created but never stored, and tokens of service accounts, after
//! `pkg/registry/authorization` and `pkg/registry/authentication` of Kubernetes.

use crate::{
    access,
    kinds::Kind,
    managed,
    object::{at, meta, set},
    rbac::{self, Attributes, Rule},
    refusal::{About, FieldError, Refusal},
    rest::{self, Options, Written},
    state::{State, core},
    store::Key,
    users::{Account, User},
};
use jiff::SignedDuration;
use serde_json::{Map, Value as Json, json};
use std::sync::Arc;

const AUTHORIZATION: &str = "authorization.k8s.io";
const AUTHENTICATION: &str = "authentication.k8s.io";

const TOKEN_REQUEST: &str = "authentication.k8s.io/v1";

/// The audience of this server's tokens.
const AUDIENCE: &str = "https://kubernetes.default.svc";

/// The shortest lifetime of service account tokens, in seconds.
const SHORTEST_TOKEN: i64 = 600;

/// Answers a review. The result depends on the kind, and in `Self...` kinds on the sender.
///
/// # Errors
///
/// If the review is invalid.
pub(crate) fn create(
    state: &mut State,
    kind: &Kind,
    namespace: &str,
    body: (Json, Vec<String>),
    options: &Options,
) -> Result<Written, Refusal> {
    let mut object = rest::decode(&mut state.session, kind, body.0, body.1, options.unknown)?;
    rest::settle_namespace(kind, &mut object, namespace)?;
    let by = options.manager(kind);
    let mut object = managed::update(
        None,
        object,
        &kind.types,
        &by,
        &state.world.time(),
        &kind.ignored(options.subresource),
    );
    let object = match kind.kind.as_str() {
        "SelfSubjectReview" => json!({
            "kind": kind.kind,
            "apiVersion": kind.api_version(),
            "metadata": {"creationTimestamp": state.world.time()},
            "status": {"userInfo": options.user.info()},
        }),
        "SelfSubjectRulesReview" => rules_review(state, kind, &object, &options.user)?,
        "TokenReview" => {
            let status = token_review(state, &object)?;
            set(&mut object, "status", status);
            object
        }
        _ => {
            let status = access_review(state, kind, &object, &options.user)?;
            set(&mut object, "status", status);
            object
        }
    };
    Ok(Written {
        object: Arc::new(object),
        created: true,
    })
}

/// The result of an access review. `asks` is the sender.
fn access_review(state: &State, kind: &Kind, object: &Json, asks: &User) -> Result<Json, Refusal> {
    let errors = errors_of(kind, object);
    if !errors.is_empty() {
        return Err(Refusal::invalid(About::new(AUTHORIZATION, "", ""), &errors));
    }
    let spec = at(object, &["spec"]);
    let asked = asked(spec)?;
    let decision = match kind.kind.as_str() {
        "SelfSubjectAccessReview" => rbac::authorize(state, asks, &asked),
        _ => rbac::authorize(state, &subject(spec), &asked),
    };
    let mut status = json!({"allowed": decision.allowed});
    if !decision.reason.is_empty() {
        status["reason"] = decision.reason.into();
    }
    Ok(status)
}

fn errors_of(kind: &Kind, object: &Json) -> Vec<FieldError> {
    let spec = at(object, &["spec"]);
    let path = at(spec, &["nonResourceAttributes"]);
    let mut errors = Vec::new();
    match (at(spec, &["resourceAttributes"]).is_null(), path.is_null()) {
        (false, false) => {
            let shown = json!({"Path": text(path, "path"), "Verb": text(path, "verb")});
            let why = "cannot be specified in combination with resourceAttributes";
            errors.push(FieldError::invalid("spec.nonResourceAttributes", shown, why));
        }
        (true, true) => {
            let why = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
            errors.push(FieldError::invalid("spec.resourceAttributes", Json::Null, why));
        }
        _ => {}
    }
    let asks_for_others = kind.kind != "SelfSubjectAccessReview";
    if asks_for_others && text(spec, "user").is_empty() && texts(spec, "groups").is_empty() {
        let why = "at least one of user or group must be specified";
        errors.push(FieldError::invalid("spec.user", "", why));
    }
    errors
}

fn text<'a>(object: &'a Json, key: &str) -> &'a str {
    at(object, &[key]).as_str().unwrap_or_default()
}

fn texts(object: &Json, key: &str) -> Vec<String> {
    let list = at(object, &[key]).as_array().into_iter().flatten();
    list.filter_map(Json::as_str).map(str::to_owned).collect()
}

/// The attributes that a review asks about.
fn asked(spec: &Json) -> Result<Attributes, Refusal> {
    let path = at(spec, &["nonResourceAttributes"]);
    if !path.is_null() {
        return Ok(Attributes {
            verb: text(path, "verb").to_owned(),
            path: Some(text(path, "path").to_owned()),
            ..Attributes::default()
        });
    }
    let resource = at(spec, &["resourceAttributes"]);
    if ["fieldSelector", "labelSelector"]
        .iter()
        .any(|key| resource.get(key).is_some())
    {
        return Err(Refusal::not_built("Selectors in reviews of access"));
    }
    let own = |key| text(resource, key).to_owned();
    Ok(Attributes {
        verb: own("verb"),
        group: own("group"),
        resource: own("resource"),
        subresource: own("subresource"),
        namespace: own("namespace"),
        name: own("name"),
        path: None,
    })
}

/// The user that a review asks about. Unlike an authenticated user, it is only in the groups that are named.
fn subject(spec: &Json) -> User {
    let extra = at(spec, &["extra"]).as_object().into_iter().flatten();
    User {
        name: text(spec, "user").to_owned(),
        uid: text(spec, "uid").to_owned(),
        groups: texts(spec, "groups"),
        extra: extra
            .map(|(key, _)| (key.to_lowercase(), texts(at(spec, &["extra"]), key)))
            .collect(),
    }
}

/// The rights of the sender in a namespace.
fn rules_review(state: &State, kind: &Kind, object: &Json, asks: &User) -> Result<Json, Refusal> {
    let namespace = text(at(object, &["spec"]), "namespace");
    if namespace.is_empty() {
        return Err(Refusal::bad_request("no namespace on request"));
    }
    let (rules, errors) = if state.rbac {
        let granted = rbac::rules_of(&state.store, asks, namespace);
        (
            granted.rules.into_iter().map(|(_, rule)| rule).collect(),
            granted.errors,
        )
    } else {
        (Rule::everything(), Vec::new())
    };
    let resources = rules
        .iter()
        .filter(|rule| !rule.resources.is_empty())
        .map(|rule| {
            listed(&[
                ("verbs", &rule.verbs),
                ("apiGroups", &rule.api_groups),
                ("resources", &rule.resources),
                ("resourceNames", &rule.resource_names),
            ])
        });
    let paths = rules.iter().filter(|rule| !rule.paths.is_empty());
    let paths = paths.map(|rule| listed(&[("verbs", &rule.verbs), ("nonResourceURLs", &rule.paths)]));
    let mut status = json!({
        "resourceRules": resources.collect::<Vec<_>>(),
        "nonResourceRules": paths.collect::<Vec<_>>(),
        "incomplete": false,
    });
    match errors.as_slice() {
        [] => {}
        [one] => status["evaluationError"] = one.as_str().into(),
        all => status["evaluationError"] = format!("[{}]", all.join(", ")).into(),
    }
    Ok(json!({
        "kind": kind.kind,
        "apiVersion": kind.api_version(),
        "metadata": {},
        "spec": {},
        "status": status,
    }))
}

/// An object of the lists by their names, without empty ones.
fn listed(lists: &[(&str, &Vec<String>)]) -> Json {
    let lists = lists.iter().filter(|(_, list)| !list.is_empty());
    Json::Object(
        lists
            .map(|(name, list)| ((*name).to_owned(), json!(list)))
            .collect::<Map<_, _>>(),
    )
}

/// The user of a token.
fn token_review(state: &State, object: &Json) -> Result<Json, Refusal> {
    let spec = at(object, &["spec"]);
    let token = text(spec, "token");
    if token.is_empty() {
        return Err(Refusal::bad_request(
            "token is required for TokenReview in authentication",
        ));
    }
    let audiences = texts(spec, "audiences");
    let is_for_us = audiences.is_empty() || audiences.iter().any(|audience| audience == AUDIENCE);
    Ok(match access::of_token(state, token) {
        Ok(user) if is_for_us => json!({"authenticated": true, "user": user.info(), "audiences": [AUDIENCE]}),
        _ => json!({"user": {}, "error": "invalid bearer token"}),
    })
}

/// Creates a token for a service account: `serviceaccounts/token`.
///
/// # Errors
///
/// If the account does not exist, or the request is invalid.
pub(crate) fn create_token(state: &mut State, key: &Key, body: &Json) -> Result<Written, Refusal> {
    let account = state.store.get(&core("serviceaccounts"), key);
    let account = account.ok_or_else(|| Refusal::not_found(About::new("", "serviceaccounts", &key.name)))?;
    let account = Account {
        namespace: key.namespace.clone(),
        name: key.name.clone(),
        uid: meta(account, "uid").to_owned(),
    };
    let spec = at(body, &["spec"]);
    if texts(spec, "audiences")
        .iter()
        .any(|audience| audience != AUDIENCE)
    {
        return Err(Refusal::not_built("Tokens for other audiences"));
    }
    if !at(spec, &["boundObjectRef"]).is_null() {
        return Err(Refusal::not_built("Tokens that are bound to objects"));
    }
    let seconds = at(spec, &["expirationSeconds"]).as_i64().unwrap_or(3600);
    let why = match seconds {
        ..SHORTEST_TOKEN => Some("may not specify a duration less than 10 minutes"),
        0x1_0000_0001.. => Some("may not specify a duration larger than 2^32 seconds"),
        _ => None,
    };
    if let Some(why) = why {
        let error = FieldError::invalid("spec.expirationSeconds", seconds, why);
        return Err(Refusal::invalid(
            About::new(AUTHENTICATION, "TokenRequest", ""),
            &[error],
        ));
    }
    let until = state.world.now() + SignedDuration::from_secs(seconds);
    let uid = account.uid.clone();
    let token = state.users.add_account(account, until, &state.world);
    let metadata = json!({
        "name": key.name,
        "namespace": key.namespace,
        "uid": uid,
        "creationTimestamp": state.world.time(),
    });
    let object = json!({
        "kind": "TokenRequest",
        "apiVersion": TOKEN_REQUEST,
        "metadata": metadata,
        "spec": {"audiences": [AUDIENCE], "expirationSeconds": seconds, "boundObjectRef": null},
        "status": {"token": token, "expirationTimestamp": until.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()},
    });
    Ok(Written {
        object: Arc::new(object),
        created: true,
    })
}
