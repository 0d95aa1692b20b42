//! A rollout from one description to another one and back, by replicas of which one leads. The newer description has a state
//! that the older one does not know.

use crate::cluster::{self, Cluster, until};
use crate::operator::{Crate, OperatorProcess, ShownOnPanic};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

const OLDER: &str = "
krator: 1
operator: stepper
resource: {group: roll.example.com, version: v1, kind: Step}
spec:
  stage: {type: integer, default: 0}
machine: {initial: First}
states:
  First: {next: [Last], wait: {poll: 300ms}}
  Last: {kind: ready}
";

/// A handler that leaves its state when the spec says so.
fn handler(state: &str, next: &str, stage: i64) -> String {
    format!(
        "use super::{{{state}, {next}}};\nuse crate::step::prelude::*;\n\n\
         impl State for {state} {{\n    \
             async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {{\n        \
                 let goes = cx.manifest().spec.stage >= {stage};\n        \
                 Ok(if goes {{ Transition::to({next}) }} else {{ Transition::stay() }})\n    \
             }}\n\
         }}\n"
    )
}

/// Builds the operator of a description whose states have these handlers.
fn build(cluster: &Cluster, description: &str, name: &str, handlers: &[(&str, String)]) -> PathBuf {
    let krate = Crate::generate(description, |dir: &Path| {
        for (state, text) in handlers {
            fs::write(dir.join(format!("src/step/states/{state}.rs")), text).expect("a generated folder");
        }
    });
    krate.install(cluster);
    let binary = cluster.dir().join(name);
    krate.build(&binary);
    binary
}

struct Steps<'a> {
    cluster: &'a Cluster,
    here: [&'a str; 2],
}

impl Steps<'_> {
    fn all(&self) -> Vec<Value> {
        let list = self
            .cluster
            .kubectl(&[&["get", "steps", "--output=json"], &self.here[..]].concat());
        let list: Value = serde_json::from_str(&list).expect("kubectl writes JSON");
        list["items"].as_array().cloned().unwrap_or_default()
    }
    /// Waits until so many objects are in a state.
    fn wait_for(&self, state: &str, count: usize) -> Vec<Value> {
        until(&format!("{count} objects are in {state}"), || {
            let mut all = self.all();
            all.retain(|step| step["status"]["state"] == state);
            (all.len() == count).then_some(all)
        })
    }
    fn set_stage(&self, names: &[String], stage: i64) {
        let patch = json!({"spec": {"stage": stage}}).to_string();
        let patch = ["patch", "--type=merge", "--patch", &patch, "step"];
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        self.cluster.kubectl(&[&patch[..], &names, &self.here].concat());
    }
}

#[test]
fn a_rollout_to_another_description_and_back_loses_nothing() {
    let Some(cluster) = cluster::own(&[]) else { return };
    let newer = OLDER
        .replace("First: {next: [Last]", "First: {next: [Middle]")
        .replace(
            "  Last:",
            "  Middle: {next: [Last], wait: {poll: 300ms}}\n  Last:",
        );
    let older = build(cluster, OLDER, "older", &[("first", handler("First", "Last", 2))]);
    let handlers = [
        ("first", handler("First", "Middle", 1)),
        ("middle", handler("Middle", "Last", 2)),
    ];
    let newer = build(cluster, &newer, "newer", &handlers);
    let namespace = cluster.namespace("rollout");
    let steps = Steps {
        cluster,
        here: ["--namespace", &namespace],
    };
    let log = cluster.dir().join("stepper.log");
    let _log = ShownOnPanic(&log);
    let start = |binary: &Path| {
        let lease = "--leader-elect-resource-namespace=stepper";
        let args = ["--namespace", &namespace, "--leader-elect", lease];
        OperatorProcess::start(cluster, binary, &args, &log)
    };
    // As a Deployment does it that rolls out: the next one is there before the former one ends.
    let roll_out = |former: OperatorProcess, binary: &Path| {
        let next = start(binary);
        assert!(former.terminate().success());
        next
    };

    let names: Vec<String> = (0..10).map(|number| format!("step-{number}")).collect();
    let early = &names[..5];
    for name in &names {
        let step = json!({"apiVersion": "roll.example.com/v1", "kind": "Step", "metadata": {"name": name}, "spec": {}});
        cluster.apply(&step.to_string(), &steps.here);
    }
    let operator = start(&older);
    steps.wait_for("First", 10);
    let operator = roll_out(operator, &newer);
    steps.set_stage(early, 1);
    let before = steps.wait_for("Middle", 5);

    // Back: the older operator leaves alone what it does not know, and says so.
    let operator = roll_out(operator, &older);
    steps.set_stage(&names, 2);
    steps.wait_for("Last", 5);
    let condition = ["wait", "--for=condition=Stalled", "--timeout=60s", "step"];
    let early: Vec<&str> = early.iter().map(String::as_str).collect();
    cluster.kubectl(&[&condition[..], &early, &steps.here].concat());
    let parked = steps.wait_for("Middle", 5);
    for (before, parked) in before.iter().zip(&parked) {
        let is_parked =
            |condition: &Value| condition["type"] == "Stalled" && condition["reason"] == "UnknownState";
        let conditions = parked["status"]["conditions"].as_array();
        assert!(conditions.into_iter().flatten().any(is_parked), "{parked:#}");
        for field in ["state", "entry", "stateEnteredTime", "message"] {
            assert_eq!(before["status"][field], parked["status"][field], "{field}");
        }
    }

    // Forth again: they go on from where they were.
    let operator = roll_out(operator, &newer);
    for step in steps.wait_for("Last", 10) {
        let conditions = step["status"]["conditions"].as_array();
        let status = |kind: &str| {
            let mut conditions = conditions.into_iter().flatten();
            conditions
                .find(|one| one["type"] == kind)
                .map(|one| one["status"].clone())
        };
        assert_eq!(status("Ready"), Some("True".into()), "{step:#}");
        assert_eq!(status("Stalled"), Some("False".into()), "{step:#}");
    }
    assert!(operator.terminate().success());
}
