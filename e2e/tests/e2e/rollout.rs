//! A rollout from one description to another one and back, by replicas of which one leads, with the CustomResourceDefinition
//! before the operator and after it. The newer description has a state, values of enums, a field of the spec and a field of the
//! status that the older one lacks.

use crate::cluster::{self, Cluster, until};
use crate::dice::number;
use crate::operator::{Crate, OperatorProcess, PROBES, ShownOnPanic};
use crate::probes::{get_as, logged_address};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const OLDER: &str = "
krator: 1
operator: stepper
resource: {group: roll.example.com, version: v1, kind: Step}
spec:
  stage: {type: integer, default: 0}
  mood: {enum: [calm], default: calm}
status:
  seen: integer
  pace: {enum: [slow]}
machine: {initial: First}
states:
  First: {next: [Last], wait: {poll: 300ms}}
  Last: {kind: ready}
";

const NEWER: &str = "
krator: 1
operator: stepper
resource: {group: roll.example.com, version: v1, kind: Step}
spec:
  stage: {type: integer, default: 0}
  mood: {enum: [calm, wild], default: calm}
  level: {type: string, default: info}
status:
  seen: integer
  noted: string
  pace: {enum: [slow, fast]}
machine: {initial: First}
states:
  First: {next: [Middle, Last], wait: {poll: 300ms}}
  Middle: {next: [Last], wait: {poll: 300ms}}
  Last: {kind: ready}
";

/// A handler that leaves its state when the spec says so, and sets fields of the status in each run.
fn handler(state: &str, fields: &str, edges: &[(i64, &str)]) -> String {
    let others: Vec<&str> = edges.iter().map(|(_, next)| *next).collect();
    let goes: String = edges
        .iter()
        .map(|(stage, next)| {
            format!(
                "        if stage >= {stage} {{\n            return Ok(Transition::to({next}));\n        }}\n"
            )
        })
        .collect();
    format!(
        "use super::{{{state}, {}}};\nuse crate::step::prelude::*;\n\n\
         impl State for {state} {{\n    \
             async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {{\n        \
                 let stage = cx.manifest().spec.stage;\n        {fields}\n{goes}        \
                 Ok(Transition::stay())\n    \
             }}\n\
         }}\n",
        others.join(", ")
    )
}

/// An operator, and the definition that it was built with.
struct Version {
    binary: PathBuf,
    definition: String,
}

/// Builds the operator of a description whose states have these handlers, and installs what it needs.
fn build(cluster: &Cluster, description: &str, name: &str, handlers: &[(&str, String)]) -> Version {
    let krate = Crate::generate(description, |dir: &Path| {
        for (state, text) in handlers {
            fs::write(dir.join(format!("src/step/states/{state}.rs")), text).expect("a generated folder");
        }
    });
    krate.install(cluster);
    let binary = cluster.dir().join(name);
    krate.build(&binary);
    let definition = fs::read_to_string(krate.dir().join("deploy/crd.yaml")).expect("generated");
    Version { binary, definition }
}

struct Steps<'a> {
    cluster: &'a Cluster,
    namespace: &'a str,
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
        self.wait_until(&format!("in {state}"), count, |step| {
            step["status"]["state"] == state
        })
    }
    /// Waits until this is true of so many objects.
    fn wait_until(&self, what: &str, count: usize, is: impl Fn(&Value) -> bool) -> Vec<Value> {
        until(&format!("{count} objects are {what}"), || {
            let mut all = self.all();
            all.retain(&is);
            (all.len() == count).then_some(all)
        })
    }
    fn create(&self, names: &[String]) {
        let steps = names.iter().map(|name| {
            json!({"apiVersion": "roll.example.com/v1", "kind": "Step", "metadata": {"name": name}, "spec": {}})
        });
        let list = json!({"apiVersion": "v1", "kind": "List", "items": steps.collect::<Vec<_>>()});
        self.cluster.apply(&list.to_string(), &self.here);
    }
    fn patch(&self, names: &[String], spec: Value) {
        let patch = json!({"spec": spec}).to_string();
        let patch = ["patch", "--type=merge", "--patch", &patch, "step"];
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        self.cluster.kubectl(&[&patch[..], &names, &self.here].concat());
    }
    fn define(&self, version: &Version) {
        self.cluster.apply(&version.definition, &["--force-conflicts"]);
    }
    /// The answers to writes of statuses, by object.
    fn writes(&self) -> BTreeMap<String, Vec<u64>> {
        let mut writes = BTreeMap::<String, Vec<u64>>::new();
        for request in self.cluster.writes(self.namespace) {
            if request.resource == "steps/status" {
                writes.entry(request.name).or_default().push(request.code);
            }
        }
        writes
    }
    /// The notes of all events with a reason.
    fn notes(&self, reason: &str) -> Vec<String> {
        let events = ["get", "events", "--output=json"];
        let events = self.cluster.kubectl(&[&events[..], &self.here].concat());
        let events: Value = serde_json::from_str(&events).expect("kubectl writes JSON");
        let events = events["items"].as_array().into_iter().flatten();
        let notes = events.filter(|event| event["reason"] == reason);
        notes
            .map(|event| event["message"].as_str().unwrap_or_default().to_owned())
            .collect()
    }
}

/// The successful writes since `before`, by object.
fn stored<'w>(
    before: &BTreeMap<String, Vec<u64>>,
    now: &'w BTreeMap<String, Vec<u64>>,
) -> impl Iterator<Item = (&'w str, usize)> {
    now.iter().map(|(name, codes)| {
        let since = before.get(name).map_or(0, Vec::len);
        let stored = codes[since..].iter().filter(|code| **code == 200).count();
        (name.as_str(), stored)
    })
}

/// `KRATOR_ROLLOUT` is the number of objects.
#[test]
fn a_rollout_to_another_description_and_back_loses_nothing() {
    let Some(cluster) = cluster::own(&[]) else { return };
    let count = number("KRATOR_ROLLOUT", 30) as usize;
    let seen = "cx.status_mut().seen = Some(stage);";
    let noted = "let level = cx.manifest().spec.level.clone();
        cx.status_mut().seen = Some(stage);
        cx.status_mut().noted = Some(level);
        if stage == 1 {
            cx.status_mut().pace = Some(crate::step::StepStatusPace::Fast);
        }";
    // An operator that does not know the pace could not read the objects.
    let slowed = "cx.status_mut().seen = Some(stage);
        cx.status_mut().pace = None;";
    let newer = [
        ("first", handler("First", noted, &[(2, "Last"), (1, "Middle")])),
        ("middle", handler("Middle", slowed, &[(2, "Last")])),
    ];
    let newer = build(cluster, NEWER, "newer", &newer);
    let older = [("first", handler("First", seen, &[(2, "Last")]))];
    let older = build(cluster, OLDER, "older", &older);
    let namespace = cluster.namespace("rollout");
    let steps = Steps {
        cluster,
        namespace: &namespace,
        here: ["--namespace", &namespace],
    };
    let log = cluster.dir().join("stepper.log");
    let _log = ShownOnPanic(&log);
    let start = |version: &Version| {
        let lease = "--leader-elect-resource-namespace=stepper";
        let probes = format!("{PROBES}=127.0.0.1:0");
        let args = ["--namespace", &namespace, "--leader-elect", lease, &probes];
        OperatorProcess::start(cluster, &version.binary, &args, &log)
    };
    // As a Deployment does it that rolls out: the next one is there before the former one ends.
    let roll_out = |former: OperatorProcess, version: &Version| {
        let next = start(version);
        assert!(former.terminate().success());
        next
    };
    let read_log = || fs::read_to_string(&log).unwrap_or_default();

    let names: Vec<String> = (0..count).map(|number| format!("step-{number}")).collect();
    let third = count / 3;
    let (early, late, others) = (&names[..third], &names[third..2 * third], &names[2 * third..]);
    steps.create(&names);
    let operator = start(&older);
    steps.wait_for("First", count);

    // The operator first: objects that need the new value wait, and nothing else does.
    let before = steps.writes();
    let length = read_log().len();
    let operator = roll_out(operator, &newer);
    steps.patch(late, json!({"stage": 2}));
    steps.wait_for("Last", late.len());
    steps.patch(early, json!({"stage": 1}));
    let refused = |codes: &Vec<u64>| codes.iter().filter(|code| **code == 422).count();
    until("each of the early ones was refused four times", || {
        let writes = steps.writes();
        let patient = early
            .iter()
            .all(|name| writes.get(name).is_some_and(|codes| refused(codes) >= 4));
        patient.then_some(())
    });
    let writes = steps.writes();
    for (name, written) in stored(&before, &writes) {
        assert!(written <= 5, "{name}: a write is repeated: {:?}", writes[name]);
    }
    for name in late.iter().chain(others) {
        assert_eq!(refused(&writes[name]), 0, "{name} needs nothing new");
    }
    for step in steps.all() {
        assert_eq!(
            step["status"].get("attempts"),
            None,
            "no run has failed: {step:#}"
        );
    }
    let missing = "the CRD in the cluster has no field `.spec.level`, no value `wild` of `.spec.mood`, \
                   no field `.status.noted`, no value `fast` of `.status.pace`; apply deploy/crd.yaml";
    assert!(read_log().contains(missing), "{missing}");
    let waits = "the CRD in the cluster has no value `fast` of `.status.pace`; apply deploy/crd.yaml";
    until("events say it", || {
        let notes = steps.notes("OlderDefinition");
        (notes.iter().any(|note| note == waits) && notes.iter().any(|note| note == missing)).then_some(())
    });
    let address = logged_address(|| read_log()[length..].to_owned(), "serving probes");
    let ready = get_as(&address, "/readyz?verbose", &[("Host", &address)]);
    assert_eq!(ready, (200, format!("ok\nsteps.roll.example.com: {missing}\n")));
    // The rights of the ServiceAccount are enough to see that.
    let account = [
        "--as=system:serviceaccount:stepper:stepper",
        "--as-group=system:authenticated",
    ];
    let path = ["get", "--raw", "/openapi/v3/apis/roll.example.com/v1"];
    cluster.kubectl(&[&path[..], &account].concat());

    // They go on by themselves when the definition is there, and the fields that were left out are stored.
    steps.define(&newer);
    steps.wait_until("in Middle, and slow", early.len(), |step| {
        step["status"]["state"] == "Middle" && step["status"].get("pace").is_none()
    });
    steps.wait_until("noted", others.len(), |step| {
        step["status"]["state"] == "First" && step["status"]["noted"] == "info"
    });
    until("nothing is missing", || {
        let (_, body) = get_as(&address, "/readyz?verbose", &[("Host", &address)]);
        (body == "ok\n").then_some(())
    });
    let wild = &others[..2];
    steps.patch(wild, json!({"mood": "wild"}));

    // Back, the operator first: the older one leaves alone what it does not know, and says so.
    let before = steps.wait_for("Middle", early.len());
    let operator = roll_out(operator, &older);
    steps.patch(early, json!({"stage": 2}));
    let condition = ["wait", "--for=condition=Stalled", "--timeout=60s", "step"];
    let parked: Vec<&str> = early.iter().map(String::as_str).collect();
    cluster.kubectl(&[&condition[..], &parked, &steps.here].concat());
    let check_parked = || {
        let parked = steps.wait_for("Middle", early.len());
        for (before, parked) in before.iter().zip(&parked) {
            let is_parked =
                |condition: &Value| condition["type"] == "Stalled" && condition["reason"] == "UnknownState";
            let conditions = parked["status"]["conditions"].as_array();
            assert!(conditions.into_iter().flatten().any(is_parked), "{parked:#}");
            for field in ["state", "entry", "stateEnteredTime", "message"] {
                assert_eq!(before["status"][field], parked["status"][field], "{field}");
            }
        }
    };
    check_parked();
    // And the older definition: what needs nothing new goes on.
    let operator = {
        steps.define(&older);
        let more: Vec<String> = (0..3).map(|number| format!("more-{number}")).collect();
        steps.create(&more);
        steps.patch(&more, json!({"stage": 2}));
        steps.patch(&others[2..], json!({"stage": 2}));
        steps.wait_for("Last", late.len() + others.len() - 2 + more.len());
        check_parked();
        operator
    };

    // Forth again, the definition first: they go on from where they were.
    steps.define(&newer);
    let operator = roll_out(operator, &newer);
    steps.patch(wild, json!({"stage": 2}));
    let all = steps.wait_for("Last", count + 3);
    for step in &all {
        let conditions = step["status"]["conditions"].as_array();
        let status = |kind: &str| {
            let mut conditions = conditions.into_iter().flatten();
            conditions
                .find(|one| one["type"] == kind)
                .map(|one| one["status"].clone())
        };
        assert_eq!(status("Ready"), Some("True".into()), "{step:#}");
        assert_eq!(status("Stalled"), Some("False".into()), "{step:#}");
        let is_wild = wild.iter().any(|name| step["metadata"]["name"] == name.as_str());
        assert_eq!(
            step["spec"]["mood"],
            if is_wild { "wild" } else { "calm" },
            "{step:#}"
        );
        assert_eq!(step["spec"]["level"], "info", "{step:#}");
    }
    assert!(operator.terminate().success());
    let writes = steps.writes();
    let most = writes.values().map(Vec::len).max();
    println!("{} objects, at most {most:?} writes of a status", all.len());
}
