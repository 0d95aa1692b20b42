//! The users of requests to a server.

use super::Server;
use crate::{
    access, audit,
    rbac::{self, Attributes},
    refusal::Refusal,
    state::lock,
    users::User,
};
use http::HeaderMap;
use std::sync::Arc;

impl Server {
    /// Adds a user, and returns its token. The user is in the groups and in `system:authenticated`; the group
    /// `system:masters` may do everything.
    pub fn add_user(&self, name: &str, groups: &[&str]) -> String {
        lock(&self.state).users.add(User::new(name, groups))
    }

    /// The same server, for requests of a user from this process without a token.
    pub fn acting_as(&self, name: &str, groups: &[&str]) -> Self {
        Self {
            caller: Arc::new(User::new(name, groups)),
            ..self.clone()
        }
    }

    /// The same server, for remote requests, which are anonymous without credentials.
    pub(crate) fn for_anybody(&self) -> Self {
        Self {
            caller: Arc::new(User::anonymous()),
            ..self.clone()
        }
    }

    /// The user as which a request is executed, after impersonation.
    pub(super) fn user(
        &self,
        headers: &HeaderMap,
        wanted: &Attributes,
        mut entry: Option<&mut audit::AuditEvent>,
    ) -> Result<User, Refusal> {
        let state = lock(&self.state);
        let sender = access::authenticate(&state, headers, &self.caller)?;
        if let Some(entry) = &mut entry {
            entry.by(&sender);
        }
        let user = access::acting(&state, &sender, headers)?;
        let decision = rbac::authorize(&state, &user, wanted);
        if let Some(entry) = entry {
            if user != sender {
                entry.acting_as(&user);
            }
            entry.decided(&decision);
        }
        if !decision.allowed {
            return Err(rbac::forbidden(&user, wanted, &decision.reason));
        }
        Ok(user)
    }
}
