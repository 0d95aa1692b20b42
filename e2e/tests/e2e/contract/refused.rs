//! A policy that refuses the writes of the operator: the operator reports the refusals, retries, and does not count
//! them as failures of a handler.

use super::session::{Session, resource};
use crate::cluster::until;
use crate::scripted_operator::prepared;
use serde_json::json;

#[test]
fn a_refused_write_is_reported_and_tried_again() {
    let Some(scripted) = &prepared() else { return };
    let kind = scripted.kind("Backup");
    let mut session = Session::new(scripted, "refused", &[kind]);
    let namespace = session.namespace.clone();
    let (group, plural) = (kind.resource.group.as_str(), kind.resource.plural.as_str());
    let admission = "admissionregistration.k8s.io/v1";
    let rules = json!([{
        "apiGroups": [group], "apiVersions": ["*"], "operations": ["UPDATE"], "resources": [format!("{plural}/status")],
    }]);
    let policy = json!({
        "apiVersion": admission, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "it-refused"},
        "spec": {
            "matchConstraints": {"resourceRules": rules},
            "validations": [{"expression": "false", "message": "shut for a test", "reason": "Forbidden"}],
        },
    });
    let binding = json!({
        "apiVersion": admission, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "it-refused"},
        "spec": {
            "policyName": "it-refused", "validationActions": ["Deny"],
            "matchResources": {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}},
        },
    });
    for object in [policy, binding] {
        scripted.cluster.apply(&object.to_string(), &[]);
    }
    let object = scripted
        .program
        .object(kind, &namespace, "held", Some("New>FailedValidation,"));
    scripted.create(std::slice::from_ref(&object));
    let mut status = object;
    let metadata = json!({"name": "held", "namespace": namespace});
    status["metadata"] = metadata;
    status["status"] = json!({"message": "tried"});
    until("the policy is in force", || {
        let dry = ["--dry-run=server"];
        let answer = scripted.cluster.try_apply_status(&status.to_string(), &dry);
        answer.err()?.contains("shut for a test").then_some(())
    });

    let operator = session.start(&json!({}));
    until("the operator says that it is refused", || {
        let events = session.kubectl(&["get", "events", "--output=json"]).ok()?;
        (events.contains("WriteRefused") && events.contains("shut for a test")).then_some(())
    });
    assert!(
        session.files.handler_starts().is_empty(),
        "no handler runs before its state is stored"
    );
    let delete = ["delete", "validatingadmissionpolicybinding", "it-refused"];
    scripted.cluster.kubectl(&delete);
    let stalled = [
        "wait",
        &resource(kind, "held"),
        "--for=condition=Stalled",
        "--timeout=60s",
    ];
    session.kubectl(&stalled).expect("the write is tried again");
    operator.kill();
}
