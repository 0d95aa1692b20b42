//! Authentication, impersonation and authorization, after the filters of
//! `pkg/endpoints/filters` of `k8s.io/apiserver`.

use crate::{
    rbac::{self, Attributes},
    refusal::Refusal,
    request::{decoded, header_text},
    state::{State, core},
    store::Key,
    users::{ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED, User, service_account_groups, split_service_account},
    values::go_strings,
};
use http::{HeaderMap, header};
use std::collections::BTreeMap;

/// The user of a token. An error if the token is unknown or expired, or if its ServiceAccount was deleted.
pub(crate) fn of_token(state: &State, token: &str) -> Result<User, Refusal> {
    let known = state
        .users
        .find(token, state.world.now())
        .ok_or_else(Refusal::unauthorized)?;
    if let Some(account) = &known.account {
        let object = state.store.get(
            &core("serviceaccounts"),
            &Key::new(&account.namespace, &account.name),
        );
        let exists = object.is_some_and(|object| crate::object::meta(object, "uid") == account.uid);
        if !exists {
            return Err(Refusal::unauthorized());
        }
    }
    Ok(known.user.clone())
}

/// The sender of a request, by its token, or `caller` if there is no token. If RBAC is off, anonymous requests are
/// refused.
///
/// # Errors
///
/// If the token is invalid, or a token is required.
pub(crate) fn authenticate(state: &State, headers: &HeaderMap, caller: &User) -> Result<User, Refusal> {
    let given = header_text(headers, header::AUTHORIZATION.as_str());
    match given.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => of_token(state, token.trim()),
        _ if caller.name == ANONYMOUS && !state.rbac => Err(Refusal::unauthorized()),
        _ => Ok(caller.clone()),
    }
}

/// The user as which a request is executed: the sender itself, or the user that the impersonation headers name.
///
/// # Errors
///
/// If the sender may not impersonate that user.
pub(crate) fn acting(state: &State, user: &User, headers: &HeaderMap) -> Result<User, Refusal> {
    let wanted = wanted(headers);
    if wanted == User::default() {
        return Ok(user.clone());
    }
    if wanted.name.is_empty() {
        return Err(Refusal::bad_request(format!(
            "requested {} without impersonating a user name",
            go_text(&wanted)
        )));
    }
    for asked in rights(&wanted) {
        let decision = rbac::authorize(state, user, &asked);
        if !decision.allowed {
            return Err(rbac::forbidden(user, &asked, &decision.reason));
        }
    }
    Ok(completed(wanted))
}

/// The user that the headers `Impersonate-...` name; empty if there are none.
fn wanted(headers: &HeaderMap) -> User {
    let text = |name: &str| header_text(headers, name).to_owned();
    let groups = headers.get_all("impersonate-group").iter();
    let mut extra: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in headers {
        if let Some(key) = name.as_str().strip_prefix("impersonate-extra-") {
            let values = extra.entry(decoded(key)).or_default();
            values.extend(value.to_str().ok().map(str::to_owned));
        }
    }
    User {
        name: text("impersonate-user"),
        uid: text("impersonate-uid"),
        groups: groups
            .filter_map(|group| Some(group.to_str().ok()?.to_owned()))
            .collect(),
        extra,
    }
}

/// A user as Go's `%#v` prints it.
fn go_text(user: &User) -> String {
    let list = |texts: &[String]| match texts {
        [] => "[]string(nil)".to_owned(),
        texts => go_strings(&texts.iter().map(String::as_str).collect::<Vec<_>>()),
    };
    let extra: Vec<String> = user
        .extra
        .iter()
        .map(|(key, values)| format!("{key:?}:{}", list(values)))
        .collect();
    let extra = match extra.as_slice() {
        [] => "(nil)".to_owned(),
        extra => format!("{{{}}}", extra.join(", ")),
    };
    format!(
        "&user.DefaultInfo{{Name:{:?}, UID:{:?}, Groups:{}, Extra:map[string][]string{extra}}}",
        user.name,
        user.uid,
        list(&user.groups)
    )
}

/// The rights that are needed to impersonate a user. Each part of the user needs a rule of its own.
fn rights(user: &User) -> Vec<Attributes> {
    let right = |group: &str, resource: &str, name: &str| Attributes {
        verb: "impersonate".to_owned(),
        group: group.to_owned(),
        resource: resource.to_owned(),
        name: name.to_owned(),
        ..Attributes::default()
    };
    let mut rights = vec![match split_service_account(&user.name) {
        Some((namespace, name)) => Attributes {
            namespace: namespace.to_owned(),
            ..right("", "serviceaccounts", name)
        },
        None => right("", "users", &user.name),
    }];
    let authentication = "authentication.k8s.io";
    rights.extend(user.groups.iter().map(|group| right("", "groups", group)));
    for (key, values) in &user.extra {
        rights.extend(values.iter().map(|value| Attributes {
            subresource: key.clone(),
            ..right(authentication, "userextras", value)
        }));
    }
    if !user.uid.is_empty() {
        rights.push(right(authentication, "uids", &user.uid));
    }
    rights
}

/// An impersonated user, with the groups that every such user has.
fn completed(mut user: User) -> User {
    if user.groups.is_empty()
        && let Some((namespace, _)) = split_service_account(&user.name)
    {
        user.groups.extend(service_account_groups(namespace));
    }
    let is_anonymous = user.name == ANONYMOUS;
    let group = if is_anonymous {
        UNAUTHENTICATED
    } else {
        AUTHENTICATED
    };
    if !user.is_in(UNAUTHENTICATED) && !user.is_in(group) {
        user.groups.push(group.to_owned());
    }
    user
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::id;
    use serde_json::json;

    fn headers(all: &[(&'static str, &'static str)]) -> HeaderMap {
        let pairs = all
            .iter()
            .map(|(name, value)| (name.parse().expect("a name"), value.parse().expect("a value")));
        pairs.collect()
    }

    /// A server where jane may impersonate some users.
    fn state() -> State {
        let mut state = State::new(std::sync::Arc::default());
        state.rbac = true;
        let rules = json!([
            {"apiGroups": [""], "resources": ["users"], "resourceNames": ["joe"], "verbs": ["impersonate"]},
            {"apiGroups": [""], "resources": ["groups"], "resourceNames": ["park"], "verbs": ["impersonate"]},
        ]);
        let role = json!({"metadata": {"name": "actor"}, "rules": rules});
        let subjects = json!([{"kind": "User", "name": "jane"}]);
        let role_ref = json!({"kind": "ClusterRole", "name": "actor"});
        let binding = json!({"metadata": {"name": "actor"}, "roleRef": role_ref, "subjects": subjects});
        state.store.put(&id(rbac::GROUP, "clusterroles"), role);
        state.store.put(&id(rbac::GROUP, "clusterrolebindings"), binding);
        state
    }

    #[test]
    fn users_act_as_those_whom_they_may() {
        let state = state();
        let joe = ("impersonate-user", "joe");
        let cases = [
            (headers(&[]), Ok("jane system:authenticated")),
            (headers(&[joe]), Ok("joe system:authenticated")),
            (
                headers(&[joe, ("impersonate-group", "park")]),
                Ok("joe park,system:authenticated"),
            ),
            (
                headers(&[joe, ("impersonate-group", "zoo")]),
                Err((403, "groups \"zoo\" is forbidden")),
            ),
            (
                headers(&[joe, ("impersonate-uid", "7")]),
                Err((403, "uids.authentication.k8s.io \"7\" is")),
            ),
            (
                headers(&[joe, ("impersonate-extra-a%2fb", "c")]),
                Err((403, "resource \"userextras/a/b\"")),
            ),
            (
                headers(&[("impersonate-user", "jim")]),
                Err((403, "cannot impersonate resource \"users\"")),
            ),
            (
                headers(&[("impersonate-user", "system:serviceaccount:a:b")]),
                Err((403, "cannot impersonate resource \"serviceaccounts\"")),
            ),
            (
                headers(&[("impersonate-group", "park")]),
                Err((400, "without impersonating a user name")),
            ),
        ];
        for (headers, expected) in cases {
            let found = acting(&state, &User::new("jane", &[]), &headers);
            match (&found, expected) {
                (Ok(user), Ok(shown)) => {
                    assert_eq!(format!("{} {}", user.name, user.groups.join(",")), shown)
                }
                (Err(refusal), Err((code, words))) => {
                    assert_eq!(refusal.code, code, "{refusal}");
                    assert!(refusal.message.contains(words), "{refusal}");
                }
                _ => panic!("{headers:?}: {found:?} instead of {expected:?}"),
            }
        }
    }

    #[test]
    fn those_who_are_acted_as_have_their_groups() {
        let cases = [
            ("joe", vec![], "system:authenticated"),
            ("system:anonymous", vec![], "system:unauthenticated"),
            ("joe", vec!["system:unauthenticated"], "system:unauthenticated"),
            (
                "system:serviceaccount:a:b",
                vec![],
                "system:serviceaccounts,system:serviceaccounts:a,system:authenticated",
            ),
            (
                "system:serviceaccount:a:b",
                vec!["park"],
                "park,system:authenticated",
            ),
        ];
        for (name, groups, expected) in cases {
            let user = User {
                name: name.to_owned(),
                groups: groups.into_iter().map(str::to_owned).collect(),
                ..User::default()
            };
            assert_eq!(completed(user).groups.join(","), expected, "{name}");
        }
    }
}
