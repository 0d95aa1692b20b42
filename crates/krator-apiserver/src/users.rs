//! Users and their tokens, after `pkg/authentication` of `k8s.io/apiserver`.

use crate::{object::of_texts, world::World};
use jiff::Timestamp;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// The group whose users may do everything.
pub(crate) const MASTERS: &str = "system:masters";
/// The group of all authenticated users.
pub(crate) const AUTHENTICATED: &str = "system:authenticated";
/// The group of unauthenticated users.
pub(crate) const UNAUTHENTICATED: &str = "system:unauthenticated";
/// The name of the user without credentials.
pub(crate) const ANONYMOUS: &str = "system:anonymous";
/// The prefix of the user names of service accounts, before the namespace and the name.
pub(crate) const SERVICE_ACCOUNT: &str = "system:serviceaccount:";
/// The extra field with the id of a service account's token.
const CREDENTIAL_ID: &str = "authentication.kubernetes.io/credential-id";

/// The sender of a request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct User {
    pub name: String,
    pub uid: String,
    pub groups: Vec<String>,
    pub extra: BTreeMap<String, Vec<String>>,
}

impl User {
    /// An authenticated user.
    pub fn new(name: &str, groups: &[&str]) -> Self {
        let mut groups: Vec<String> = groups.iter().map(|&group| group.to_owned()).collect();
        if !groups.iter().any(|group| group == AUTHENTICATED) {
            groups.push(AUTHENTICATED.to_owned());
        }
        Self {
            name: name.to_owned(),
            groups,
            ..Self::default()
        }
    }

    /// A user that may do everything.
    pub fn admin() -> Self {
        Self::new("admin", &[MASTERS])
    }

    /// The user without credentials.
    pub fn anonymous() -> Self {
        Self {
            name: ANONYMOUS.to_owned(),
            groups: vec![UNAUTHENTICATED.to_owned()],
            ..Self::default()
        }
    }

    fn service_account(account: &Account, token: &str) -> Self {
        let Account { namespace, name, uid } = account;
        Self {
            name: format!("{SERVICE_ACCOUNT}{namespace}:{name}"),
            uid: uid.clone(),
            groups: service_account_groups(namespace)
                .into_iter()
                .chain([AUTHENTICATED.to_owned()])
                .collect(),
            extra: BTreeMap::from([(CREDENTIAL_ID.to_owned(), vec![format!("JTI={token}")])]),
        }
    }

    pub fn is_in(&self, group: &str) -> bool {
        self.groups.iter().any(|known| known == group)
    }

    /// The user as `UserInfo` of `authentication.k8s.io/v1`.
    pub fn info(&self) -> Json {
        let mut info = Json::Object(of_texts([("username", self.name.as_str()), ("uid", &self.uid)]));
        if !self.groups.is_empty() {
            info["groups"] = json!(self.groups);
        }
        if !self.extra.is_empty() {
            info["extra"] = json!(self.extra);
        }
        info
    }
}

/// The groups of a service account, except for the group of all authenticated users.
pub(crate) fn service_account_groups(namespace: &str) -> [String; 2] {
    [
        "system:serviceaccounts".to_owned(),
        format!("system:serviceaccounts:{namespace}"),
    ]
}

/// The namespace and the name of a service account, from its user name.
pub(crate) fn split_service_account(user: &str) -> Option<(&str, &str)> {
    let (namespace, name) = user.strip_prefix(SERVICE_ACCOUNT)?.split_once(':')?;
    let is_valid = !namespace.is_empty() && !name.is_empty() && !name.contains(':');
    is_valid.then_some((namespace, name))
}

/// A service account. The uid distinguishes it from a former account with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Account {
    pub namespace: String,
    pub name: String,
    pub uid: String,
}

/// The owner of a token.
#[derive(Debug, Clone)]
pub(crate) struct TokenOwner {
    pub user: User,
    /// The service account, which must still exist.
    pub account: Option<Account>,
    until: Option<Timestamp>,
}

/// The tokens and their owners.
#[derive(Debug, Default)]
pub(crate) struct Users(BTreeMap<String, TokenOwner>);

impl Users {
    /// Creates a token for a user.
    pub fn add(&mut self, user: User) -> String {
        let token = token();
        let known = TokenOwner {
            user,
            account: None,
            until: None,
        };
        self.0.insert(token.clone(), known);
        token
    }

    /// Creates a token for a service account, which expires at a time.
    pub fn add_account(&mut self, account: Account, until: Timestamp, world: &World) -> String {
        let token = token();
        let id = world.uid();
        let known = TokenOwner {
            user: User::service_account(&account, &id),
            account: Some(account),
            until: Some(until),
        };
        self.0.insert(token.clone(), known);
        token
    }

    /// The owner of a token, unless the token has expired.
    pub fn find(&self, token: &str, now: Timestamp) -> Option<&TokenOwner> {
        let known = self.0.get(token)?;
        known.until.is_none_or(|until| now < until).then_some(known)
    }
}

fn token() -> String {
    format!(
        "{}{}",
        uuid::Uuid::new_v4().simple(),
        uuid::Uuid::new_v4().simple()
    )
}
