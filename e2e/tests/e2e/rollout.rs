//! A rollout from one description to another one and back, by replicas with an elected leader. The
//! CustomResourceDefinition and the policies are applied before the operator, and after it. The newer description has a
//! state, values of enums, a field of the spec and a field of the status that the older one lacks; in the newest, that
//! state has another name, and an edge of the older one is removed.

use crate::cluster::{self, Cluster, until};
use crate::dice::number;
use crate::operator::{Crate, OperatorProcess, PROBES, ShownOnPanic, install};
use crate::probes::{get_as, logged_address};
use crate::regenerate::generate;
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
admission: {status: operator, transitions: true}
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
admission: {status: operator, transitions: true}
";

/// The newer description with another name for the new state, which every object has to pass.
fn newest() -> String {
    NEWER
        .replace("[Middle, Last]", "[Halfway]")
        .replace("  Middle: {", "  Halfway: {renamedFrom: Middle, ")
}

/// A handler that leaves its state depending on the spec, and sets fields of the status in each run.
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

/// An operator, and the definition and policies of its release.
struct Version {
    binary: PathBuf,
    definition: String,
    policies: String,
}

/// Generates the next release of a crate, and builds its operator if there are handlers for it.
fn release(
    cluster: &Cluster,
    krate: &Crate,
    description: &str,
    name: &str,
    handlers: &[(&str, String)],
) -> Version {
    let dir = krate.dir();
    fs::write(dir.join("krator.yaml"), description).expect("a generated folder");
    let output = generate(&dir, &["--allow-breaking"]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let binary = cluster.dir().join(name);
    for (state, text) in handlers {
        fs::write(dir.join(format!("src/step/states/{state}.rs")), text).expect("a generated folder");
    }
    if !handlers.is_empty() {
        krate.build(&binary);
    }
    let read = |file: &str| fs::read_to_string(dir.join("deploy").join(file)).expect("generated");
    Version {
        binary,
        definition: read("crd.yaml"),
        policies: read("policies.yaml"),
    }
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
    /// Waits until this number of objects are in a state.
    fn wait_for(&self, state: &str, count: usize) -> Vec<Value> {
        self.wait_until(&format!("in {state}"), count, |step| {
            step["status"]["state"] == state
        })
    }
    /// Waits until this condition is true for this number of objects.
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
    fn guard(&self, version: &Version) {
        self.cluster.apply(&version.policies, &["--force-conflicts"]);
    }
    /// Whether policies refuse this state for an object in `First`.
    fn is_refused(&self, name: &str, state: &str) -> bool {
        let metadata = json!({"name": name, "namespace": self.namespace});
        let status = json!({"state": state});
        let step = json!({"apiVersion": "roll.example.com/v1", "kind": "Step", "metadata": metadata, "status": status});
        let dry = ["--force-conflicts", "--dry-run=server"];
        let answer = self.cluster.try_apply_status(&step.to_string(), &dry);
        answer.is_err_and(|error| error.contains("no edge of the machine"))
    }
    /// The response codes of status writes, by object.
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
    let Some(cluster) = &cluster::own(&[]) else { return };
    let count = number("KRATOR_ROLLOUT", 30) as usize;
    let seen = "cx.status_mut().seen = Some(stage);";
    let noted = "let level = cx.manifest().spec.level.clone();
        cx.status_mut().seen = Some(stage);
        cx.status_mut().noted = Some(level);
        if stage == 1 {
            cx.status_mut().pace = Some(crate::step::StepStatusPace::Fast);
        }";
    // An operator without the field `pace` could not read the objects.
    let slowed = "cx.status_mut().seen = Some(stage);
        cx.status_mut().pace = None;";
    let newer = [
        ("first", handler("First", noted, &[(2, "Last"), (1, "Middle")])),
        ("middle", handler("Middle", slowed, &[(2, "Last")])),
    ];
    let older = [("first", handler("First", seen, &[(2, "Last")]))];
    let krate = Crate::generate(OLDER, |_: &Path| ());
    let older = release(cluster, &krate, OLDER, "older", &older);
    install(&krate, cluster);
    let newer = release(cluster, &krate, NEWER, "newer", &newer);
    // Back and forth again, like an author who reverts the edit. The newest release supports the stored states of the
    // newer one.
    let back = release(cluster, &krate, OLDER, "older", &[]);
    let newest = [
        ("first", handler("First", noted, &[(1, "Halfway")])),
        ("halfway", handler("Halfway", slowed, &[(2, "Last")])),
    ];
    let newest = release(cluster, &krate, &self::newest(), "newest", &newest);
    let namespace = cluster.namespace("rollout");
    let steps = Steps {
        cluster,
        namespace: &namespace,
        here: ["--namespace", &namespace],
    };
    let log = cluster.dir().join("stepper.log");
    let _log = ShownOnPanic(&log);
    let start = |version: &Version| {
        let lease = "--leader-elect-resource-namespace=stepper-system";
        let probes = format!("{PROBES}=127.0.0.1:0");
        let args = ["--namespace", &namespace, "--leader-elect", lease, &probes];
        OperatorProcess::start(cluster, &version.binary, &args, &log)
    };
    // Like the rollout of a Deployment: the next replica starts before the former one ends.
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

    // The operator first: only objects that need the new value wait.
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
    let missing = "the CRD in the cluster has no field `.status.noted`, no value `fast` of `.status.pace`; \
                   apply deploy/crd.yaml";
    assert!(read_log().contains(missing), "{missing}");
    let waits = "the CRD in the cluster has no value `fast` of `.status.pace`; apply deploy/crd.yaml";
    until("events say it", || {
        let notes = steps.notes("OlderDefinition");
        let left_out = "no field `.status.noted`";
        (notes.iter().any(|note| note == waits) && notes.iter().any(|note| note.contains(left_out)))
            .then_some(())
    });
    let address = logged_address(|| read_log()[length..].to_owned(), "serving probes");
    let ready = get_as(&address, "/readyz?verbose", &[("Host", &address)]);
    assert_eq!(ready, (200, format!("ok\nsteps.roll.example.com: {missing}\n")));
    // The policies of the previous release refuse the new edge, and the operator reports it.
    steps.define(&newer);
    until("the edge is refused", || {
        let notes = steps.notes("WriteRefused");
        let from_first = |note: &String| note.contains("leads from the state 'First' to 'Middle'");
        notes.iter().any(from_first).then_some(())
    });
    for name in late.iter().chain(others) {
        assert!(!steps.writes()[name].contains(&403), "{name} takes no new edge");
    }

    // The objects continue by themselves after the definition and policies were applied, and the omitted fields are
    // stored.
    steps.guard(&newer);
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
    let refused = |writes: BTreeMap<String, Vec<u64>>| {
        let codes = writes.into_values().flatten();
        codes.filter(|code| *code == 403).count()
    };
    let refused_before = refused(steps.writes());
    let wild = &others[..2];
    steps.patch(wild, json!({"mood": "wild"}));

    // Back, the operator first: the older one does not handle objects in an unknown state, and reports them.
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
    // Then the older definition, with the policies of the release that reverts the edit: objects without new values
    // continue.
    let operator = {
        steps.define(&older);
        steps.guard(&back);
        let more: Vec<String> = (0..3).map(|number| format!("more-{number}")).collect();
        steps.create(&more);
        steps.patch(&more, json!({"stage": 2}));
        steps.patch(&others[2..], json!({"stage": 2}));
        steps.wait_for("Last", late.len() + others.len() - 2 + more.len());
        check_parked();
        operator
    };

    // Forth again, to the newest description, the definition and the policies first: the objects continue from their
    // states.
    steps.define(&newest);
    steps.guard(&newest);
    until("the policy is in force", || {
        (!steps.is_refused(&wild[0], "Halfway")).then_some(())
    });
    // The operator of the previous release can still take the removed edge.
    let last = ["last".to_owned()];
    steps.create(&last);
    steps.patch(&last, json!({"stage": 2}));
    steps.wait_for("Last", count - early.len() - wild.len() + 4);
    let operator = roll_out(operator, &newest);
    steps.patch(wild, json!({"stage": 2}));
    let all = steps.wait_for("Last", count + 4);
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
    assert_eq!(
        refused(steps.writes()),
        refused_before,
        "no write is refused by policies that came before the operator"
    );
    let writes = steps.writes();
    let most = writes.values().map(Vec::len).max();
    println!("{} objects, at most {most:?} writes of a status", all.len());
}
