//! Replicas that would work on the same objects at the same time.

use super::Check;
use crate::catalog::UNELECTED_REPLICAS;
use crate::finding::Finding;
use crate::model::Description;

pub(super) const CHECK: Check = Check::of_description(&UNELECTED_REPLICAS, find);

fn find(description: &Description) -> Vec<Finding> {
    let deploy = &description.deploy;
    if deploy.replicas.value <= 1 || deploy.leader_election.value {
        return Vec::new();
    }
    let message = format!(
        "each of {} replicas would work on every object",
        deploy.replicas.value
    );
    vec![
        Finding::new(&UNELECTED_REPLICAS, deploy.replicas.span, message)
            .help("elect a leader: remove `leaderElection: false`"),
    ]
}
