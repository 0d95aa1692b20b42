//! The common part of the statuses of both kinds.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};

/// The conditions Ready, Reconciling and Stalled. The transition time of each changes only with its status.
pub fn conditions(
    former: &[Condition],
    generation: Option<i64>,
    state: &str,
    message: &str,
    ready: bool,
) -> Vec<Condition> {
    let condition = |kind: &str, holds: bool| {
        let status = if holds { "True" } else { "False" };
        let same = former.iter().find(|c| c.type_ == kind && c.status == status);
        Condition {
            type_: kind.to_owned(),
            status: status.to_owned(),
            reason: state.to_owned(),
            message: message.to_owned(),
            observed_generation: generation,
            last_transition_time: same
                .map_or_else(|| Time(Timestamp::now()), |c| c.last_transition_time.clone()),
        }
    };
    vec![
        condition("Ready", ready),
        condition("Reconciling", !ready),
        condition("Stalled", false),
    ]
}
