//! What the API server asks before it stores a `Moose`.

use krator_runtime::{Review, Validate, Verdict};

use super::prelude::*;

impl Validate for Moose {
    async fn validate(review: &Review<'_, Self>) -> Verdict {
        let spec = &review.object.spec;
        let has_moved = review.old.as_ref().is_some_and(|old| old.spec.zone != spec.zone);
        if spec.height > 3.0 && has_moved {
            let why = format!("a moose of {} m stays in {}", spec.height, spec.zone);
            return Verdict::deny_field(".spec.zone", why);
        }
        Verdict::allow()
    }
}
