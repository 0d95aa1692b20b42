//! Statuses of the kinds of `apps/v1`: counts are not negative, and no part is more than the whole.

use super::super::report::{Report, root};
use crate::builtin::json::int;
use serde_json::Value as Json;

const REPLICAS: &str = "cannot be greater than status.replicas";

fn more_than(report: &mut Report, status: &Json, part: &str, whole: &str, detail: &str) {
    let count = |field: &str| int(status, field).unwrap_or_default();
    if count(part) > count(whole) {
        report.invalid(&root("status").field(part), count(part), detail);
    }
}

fn collision_count(report: &mut Report, object: &Json, old: &Json) {
    let (new, before) = (
        int(object, "status.collisionCount"),
        int(old, "status.collisionCount"),
    );
    if before.is_some() && new.unwrap_or_default() < before.unwrap_or_default() {
        report.invalid(
            &root("status.collisionCount"),
            new.unwrap_or_default(),
            "cannot be decremented",
        );
    }
}

pub(in super::super) fn deployment_status(report: &mut Report, object: &Json, old: &Json) {
    let status = &object["status"];
    const COUNTS: [&str; 8] = [
        "observedGeneration",
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
        "unavailableReplicas",
        "terminatingReplicas",
        "collisionCount",
    ];
    report.all_non_negative(&root("status"), status, &COUNTS);
    for part in ["updatedReplicas", "readyReplicas", "availableReplicas"] {
        more_than(report, status, part, "replicas", REPLICAS);
    }
    more_than(
        report,
        status,
        "availableReplicas",
        "readyReplicas",
        "cannot be greater than readyReplicas",
    );
    collision_count(report, object, old);
}

pub(in super::super) fn replica_set_status(report: &mut Report, object: &Json) {
    let status = &object["status"];
    const COUNTS: [&str; 6] = [
        "replicas",
        "fullyLabeledReplicas",
        "readyReplicas",
        "availableReplicas",
        "observedGeneration",
        "terminatingReplicas",
    ];
    report.all_non_negative(&root("status"), status, &COUNTS);
    for part in ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"] {
        more_than(report, status, part, "replicas", REPLICAS);
    }
    more_than(
        report,
        status,
        "availableReplicas",
        "readyReplicas",
        "cannot be greater than readyReplicas",
    );
}

pub(in super::super) fn stateful_set_status(report: &mut Report, object: &Json, old: &Json) {
    let status = &object["status"];
    const COUNTS: [&str; 7] = [
        "replicas",
        "readyReplicas",
        "currentReplicas",
        "updatedReplicas",
        "availableReplicas",
        "observedGeneration",
        "collisionCount",
    ];
    report.all_non_negative(&root("status"), status, &COUNTS);
    for part in [
        "readyReplicas",
        "currentReplicas",
        "updatedReplicas",
        "availableReplicas",
    ] {
        more_than(report, status, part, "replicas", REPLICAS);
    }
    let detail = "cannot be greater than status.readyReplicas";
    more_than(report, status, "availableReplicas", "readyReplicas", detail);
    collision_count(report, object, old);
}

pub(in super::super) fn daemon_set_status(report: &mut Report, object: &Json, old: &Json) {
    const COUNTS: [&str; 9] = [
        "currentNumberScheduled",
        "numberMisscheduled",
        "desiredNumberScheduled",
        "numberReady",
        "observedGeneration",
        "updatedNumberScheduled",
        "numberAvailable",
        "numberUnavailable",
        "collisionCount",
    ];
    report.all_non_negative(&root("status"), &object["status"], &COUNTS);
    collision_count(report, object, old);
}
