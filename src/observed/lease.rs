//! Finds the leader by a Lease. The times in a Lease are those of its holder's clock. They are first compared with the
//! API server's clock, and if they do not match it, a second look shows whether the Lease is being renewed.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value as Json;

use super::{between, text, time};

/// The duration of a Lease that has none.
const DURATION: u64 = 15;

/// The delay of the second look: an operator renews its Lease every three seconds.
pub(crate) const SECOND_LOOK: Duration = Duration::from_secs(7);

/// The leader by a Lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Leader {
    /// This process, which renews the Lease.
    Is(String),
    /// No process: the last leader has released the Lease.
    Nobody,
    /// This process held the Lease last, and has not renewed it for this long.
    Gone(String, Duration),
}

/// Whether the times of a Lease do not suffice to show that it is being renewed.
pub(crate) fn is_doubtful(lease: &Json, now: Timestamp) -> bool {
    let Some(renewed) = time(lease, "/spec/renewTime") else {
        return true;
    };
    let duration = lease["spec"]["leaseDurationSeconds"].as_u64().unwrap_or(DURATION);
    // The `Date` of a response has no fractions of a second.
    between(renewed, now).as_secs() > duration || between(now, renewed) > Duration::from_secs(2)
}

/// The leader by a first look and, if that was doubtful, by a second one.
pub(crate) fn leader(lease: &Json, later: Option<&Json>, now: Timestamp) -> Leader {
    let shown = later.unwrap_or(lease);
    let holder = text(shown, "/spec/holderIdentity").to_owned();
    if holder.is_empty() {
        return Leader::Nobody;
    }
    let is_renewed = later.is_some_and(|later| later["spec"] != lease["spec"]);
    if is_renewed || !is_doubtful(lease, now) {
        return Leader::Is(holder);
    }
    let since = time(shown, "/spec/renewTime").map_or(Duration::ZERO, |renewed| between(renewed, now));
    Leader::Gone(holder, since)
}

/// The host of a holder, which is the name of its pod, without the random number that follows.
pub(crate) fn host(holder: &str) -> &str {
    holder.rsplit_once('_').map_or(holder, |(host, _)| host)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn lease(holder: &str, renewed: &str) -> Json {
        json!({"spec": {"holderIdentity": holder, "renewTime": renewed, "leaseDurationSeconds": 15}})
    }

    #[test]
    fn a_lease_that_changes_is_held_whatever_its_times_say() {
        let now: Timestamp = "2026-01-01T00:01:00Z".parse().expect("a time");
        let (fresh, old) = ("2026-01-01T00:00:58.5Z", "2026-01-01T00:00:30Z");
        let ahead = "2026-01-01T01:00:00Z";
        let is = Leader::Is("a".to_owned());
        let gone = |seconds| Leader::Gone("a".to_owned(), Duration::from_secs(seconds));
        for (first, second, expected) in [
            (lease("a", fresh), None, is.clone()),
            (lease("a", old), Some(lease("a", old)), gone(30)),
            (lease("a", ahead), Some(lease("a", ahead)), gone(0)),
            (lease("a", old), Some(lease("a", "2026-01-01T00:00:33Z")), is),
            (lease("", old), None, Leader::Nobody),
            (lease("b", old), Some(lease("", fresh)), Leader::Nobody),
        ] {
            assert_eq!(
                leader(&first, second.as_ref(), now),
                expected,
                "{first} {second:?}"
            );
        }
        assert!(is_doubtful(&lease("a", ahead), now) && !is_doubtful(&lease("a", fresh), now));
        assert_eq!(host("moose-7d9f_0123456789abcdef"), "moose-7d9f");
    }
}
