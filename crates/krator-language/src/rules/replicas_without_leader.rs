//! Replicas that would work on the same objects at the same time.

use super::Check;
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;
use crate::model::Description;

pub(super) static RULE: Rule = Rule {
    name: "replicas-without-leader",
    severity: Severity::Error,
    summary: "`replicas` is greater than 1 with `leaderElection: false`",
    explanation: "Without leader election, every replica works on every object, so each handler runs several times at the same time.
Remove `leaderElection: false`: by default the replicas elect a leader.

Bad:

    deploy: {replicas: 2, leaderElection: false}

Good:

    deploy: {replicas: 2}",
};

pub(super) const CHECK: Check = Check::of_description(&RULE, find);

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
        Finding::new(&RULE, deploy.replicas.span, message)
            .help("elect a leader: remove `leaderElection: false`"),
    ]
}
