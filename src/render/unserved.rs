//! What a description may ask for that generated operators do not do yet: shards, and webhooks. No rights are
//! granted for it.

use crate::model::Description;

/// A sentence for each such thing that the description asks for.
pub fn unserved(description: &Description) -> Vec<String> {
    let mut notices = Vec::new();
    if description.deploy.shards.is_some() {
        notices.push("shards are not implemented yet: one pod works on all objects".to_owned());
    }
    let mut webhooks = description.kinds.iter().map(|kind| &kind.webhooks);
    if webhooks.any(|webhooks| webhooks.validate.is_some() || webhooks.mutate.is_some()) {
        notices.push("webhooks are not implemented yet: no admission handler is generated".to_owned());
    }
    notices
}
