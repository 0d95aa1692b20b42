//! Looks at the Lease of an operator, twice if one look cannot tell whether somebody renews it.

use serde_json::Value as Json;

use super::{Cluster, Request, resource_path};
use crate::observed::{Found, lease, text};

/// The Lease of an operator, and what has become of it a moment later if the first look cannot tell whether somebody renews it.
pub fn look_at_lease(cluster: &Cluster, namespace: &str, operator: &str) -> (Found, Option<Json>) {
    let path = resource_path("coordination.k8s.io", "v1", "leases", Some(namespace));
    let request = || Request::get(format!("{path}/{operator}"));
    let (first, time) = match cluster.ask(request()) {
        Ok(answer) => {
            let time = answer.time;
            (answer.into_found(), time)
        }
        Err(error) => (Found::Unknown(format!("{error:#}")), None),
    };
    let is_doubtful = first.object().zip(time).is_some_and(|(seen, time)| {
        !text(seen, "/spec/holderIdentity").is_empty() && lease::is_doubtful(seen, time)
    });
    if !is_doubtful {
        return (first, None);
    }
    std::thread::sleep(lease::SECOND_LOOK);
    let later = cluster.ask(request()).ok().map(|answer| answer.into_found());
    (first, later.and_then(|later| later.object().cloned()))
}
