//! Compares what a real API server does with stored objects after an edit with krator's predictions.
//!
//! The objects of all cases are created under their old schemas. Then all schemas are replaced, and for each object the
//! test tries possible requests as dry runs: create it again, change something outside of its spec, apply its status,
//! and change a field of its spec that the edit does not concern.

mod requests;
mod versions;

use crate::accept::lost;
use crate::cluster::{Cluster, shared, until};
use crate::edit_case::{EditCase, cases};
use crate::yaml::documents;
use krator::compare::{Breaks, Change, Comparison, SchemaPath, ServerOutcome, Stored};
use krator::model::Description;
use requests::{Key, accepted, applied, key, list, without_nulls};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// The minimum number of cases with objects.
const CASES: usize = 40;

/// Arguments of kubectl for requests that the server handles without storing anything.
const DRY_RUN: &str = "--dry-run=server";

/// How the server handles writes of an object.
#[derive(Debug, PartialEq, Eq)]
struct WriteOutcomes {
    /// When it is created again.
    created: ServerOutcome,
    /// When something outside of its spec is written.
    updated: ServerOutcome,
    /// Whether a write of another field of its spec is refused.
    is_other_field_refused: bool,
}

/// krator's prediction; none if only the API server can decide. Changes of other versions than that of the object do
/// not count.
fn predicted(comparison: &Comparison, object: &Value) -> Option<WriteOutcomes> {
    let version = object["apiVersion"]
        .as_str()
        .and_then(|version| version.split('/').nth(1));
    let is_about = |change: &&Change| {
        change.versions.is_empty() || change.versions.iter().any(|of| Some(of.as_str()) == version)
    };
    let note = SchemaPath::root("spec").field("note");
    let mut outcome = WriteOutcomes {
        created: ServerOutcome::Kept,
        updated: ServerOutcome::Kept,
        is_other_field_refused: false,
    };
    for change in comparison.changes.iter().filter(is_about) {
        let Stored::May(verdict) = &change.stored else {
            continue;
        };
        match change.breaks(object) {
            Breaks::No => {}
            Breaks::Maybe => return None,
            Breaks::Yes => {
                outcome.created = outcome.created.max(verdict.anew);
                outcome.updated = outcome.updated.max(verdict.updated);
                let breaks_others = verdict.unchanged.holds(&note) && verdict.anew == ServerOutcome::Refused;
                outcome.is_other_field_refused |= breaks_others || verdict.updated == ServerOutcome::Refused;
            }
        }
    }
    Some(outcome)
}

fn is_definition_refused(case: &EditCase) -> bool {
    let mut changes = case.comparison.changes.iter();
    changes.any(|change| change.stored == Stored::DefinitionRefused)
}

fn definition(description: &Description) -> Value {
    let mut definitions = krator::render::crd::crd(description);
    assert_eq!(definitions.len(), 1, "a case has one kind");
    definitions.remove(0)
}

/// A field that is added to the new schemas only. Once the server validates its values, the new schema is in force.
const MARKER: &str = "schemaMarker";

fn replace_definitions(cluster: &Cluster, definitions: Vec<Value>, objects: &[Value]) {
    let apply = ["apply", "--server-side", "--validate=strict", "-f", "-"];
    let marked = definitions.into_iter().map(|mut definition| {
        let versions = definition["spec"]["versions"].as_array_mut();
        for version in versions.into_iter().flatten() {
            let schema = &mut version["schema"]["openAPIV3Schema"];
            schema["properties"][MARKER] = json!({"type": "string", "enum": ["in force"]});
        }
        definition
    });
    let marked: Vec<Value> = marked.collect();
    cluster
        .try_kubectl("admin", &apply, &list(&marked))
        .expect("the new definitions are accepted");
    let judged: Vec<Value> = objects
        .iter()
        .map(|object| {
            let mut object = object.clone();
            object[MARKER] = "not yet".into();
            object["metadata"]["name"] = "marked".into();
            object
        })
        .collect();
    let groups: BTreeSet<String> = judged.iter().map(|object| key(object).0).collect();
    let input = list(&judged);
    until("the new schemas are in force", || {
        let create = ["create", DRY_RUN, "--validate=ignore", "-f", "-"];
        let output = cluster.kubectl_output("admin", &create, &input);
        let printed = String::from_utf8(output.stderr).expect("kubectl writes UTF-8");
        let is_judged = |group: &String| {
            let mut errors = printed.split("Error from server");
            errors.any(|error| error.contains(&format!(".{group} ")) && error.contains(MARKER))
        };
        groups.iter().all(is_judged).then_some(())
    });
}

/// The objects of the cases, by the name of the case.
fn objects_of<'a>(cases: &'a [EditCase], namespace: &str) -> BTreeMap<&'a str, Vec<Value>> {
    let mut objects = BTreeMap::new();
    for case in cases {
        let Some(text) = case.file.optional("objects.yaml") else {
            continue;
        };
        let mut documents = documents(text.as_bytes());
        for object in &mut documents {
            object["metadata"]["namespace"] = namespace.into();
        }
        objects.insert(case.name(), documents);
    }
    objects
}

/// The status of each object, with this state, in the form in which an operator writes it.
fn statuses(state: &str, objects: &[Value]) -> Vec<Value> {
    let with_state = |object: &Value| {
        let mut status = json!({"state": state});
        if let (Some(fields), Some(more)) = (status.as_object_mut(), object["status"].as_object()) {
            fields.extend(more.clone());
        }
        let (name, namespace) = (&object["metadata"]["name"], &object["metadata"]["namespace"]);
        json!({
            "apiVersion": object["apiVersion"], "kind": object["kind"], "status": status,
            "metadata": {"name": name, "namespace": namespace},
        })
    };
    objects.iter().map(with_state).collect()
}

/// Stores the objects under the old definitions, with a status each, and returns them as stored.
fn store(cluster: &Cluster, definitions: &[Value], objects: &[Value]) -> BTreeMap<Key, Value> {
    let definitions = list(definitions);
    cluster.apply(&definitions, &[]);
    let wait = ["wait", "--for=condition=Established", "--timeout=60s", "-f", "-"];
    // kubectl fails at once for a CRD that has no conditions yet.
    until("the old definitions are served", || {
        cluster.try_kubectl("admin", &wait, &definitions).ok()
    });
    let created = accepted(cluster, &["create", "--validate=ignore"], objects);
    let refused: Vec<Key> = objects
        .iter()
        .map(key)
        .filter(|key| !created.contains_key(key))
        .collect();
    assert_eq!(refused, [], "the old CRD accepts all objects");
    applied(cluster, &[], &statuses("Before", objects));
    let stored = accepted(cluster, &["get"], objects);
    for object in objects {
        let stored = &stored[&key(object)];
        assert_eq!(stored["status"]["state"], "Before", "{object}");
        assert_eq!(
            lost(&without_nulls(&object["spec"]), &stored["spec"], ""),
            [""; 0],
            "{object}"
        );
    }
    stored
}

/// The server's answers to the dry runs under the new schemas. An object that is missing was refused.
struct DryRuns {
    created: BTreeMap<Key, Value>,
    labelled: BTreeMap<Key, Value>,
    note_changed: BTreeMap<Key, Value>,
    status_applied: BTreeSet<Key>,
}

impl DryRuns {
    fn to(cluster: &Cluster, objects: &[Value], stored: &BTreeMap<Key, Value>) -> DryRuns {
        // An object is created again as it is stored, under another name.
        let copies: Vec<Value> = objects
            .iter()
            .map(|object| {
                let stored = &stored[&key(object)];
                let namespace = &object["metadata"]["namespace"];
                json!({
                    "apiVersion": object["apiVersion"], "kind": object["kind"], "spec": stored["spec"],
                    "metadata": {"name": format!("{}-copy", key(object).1), "namespace": namespace},
                })
            })
            .collect();
        let patch = |patch: &'static str| {
            let args = ["patch", "--type=merge", "--patch", patch, DRY_RUN];
            accepted(cluster, &args, objects)
        };
        // The operator applies a status without the fields that it does not set.
        let bare: Vec<Value> = objects
            .iter()
            .map(|object| {
                let mut bare = object.clone();
                bare["status"] = Value::Null;
                bare
            })
            .collect();
        DryRuns {
            created: accepted(cluster, &["create", "--validate=ignore", DRY_RUN], &copies),
            labelled: patch(r#"{"metadata": {"labels": {"touched": "yes"}}}"#),
            note_changed: patch(r#"{"spec": {"note": "touched"}}"#),
            status_applied: applied(cluster, &[DRY_RUN], &statuses("After", &bare)),
        }
    }

    /// The outcomes for one object, which is stored as `stored`.
    fn outcome(&self, key: &Key, stored: &Value) -> WriteOutcomes {
        let fate = |now: Option<&Value>, parts: &[&str]| match now {
            None => ServerOutcome::Refused,
            Some(now) => {
                let is_lost = |part: &&str| !lost(&without_nulls(&stored[*part]), &now[*part], "").is_empty();
                if parts.iter().any(is_lost) {
                    ServerOutcome::Lost
                } else {
                    ServerOutcome::Kept
                }
            }
        };
        let mut updated = fate(self.labelled.get(key), &["spec", "status"]);
        if updated < ServerOutcome::ApplyFails && !self.status_applied.contains(key) {
            updated = ServerOutcome::ApplyFails;
        }
        let copy = (key.0.clone(), format!("{}-copy", key.1));
        WriteOutcomes {
            created: fate(self.created.get(&copy), &["spec"]),
            updated,
            is_other_field_refused: !self.note_changed.contains_key(key),
        }
    }
}

#[test]
fn an_api_server_does_with_stored_objects_what_krator_says() {
    let Some(cluster) = shared() else { return };
    let namespace = cluster.namespace("compare");
    let all = cases();
    let mut objects = objects_of(&all, &namespace);
    let judged: Vec<&EditCase> = all
        .iter()
        .filter(|case| objects.contains_key(case.name()))
        .collect();
    assert!(judged.len() >= CASES, "only {} cases have objects", judged.len());
    let before: Vec<Value> = objects.values().flatten().cloned().collect();
    let definitions: Vec<Value> = judged.iter().map(|case| definition(&case.old.1)).collect();
    let stored = store(cluster, &definitions, &before);
    for case in &judged {
        counts_what_breaks(cluster, case, &stored);
    }

    let (never, edited): (Vec<&EditCase>, Vec<&EditCase>) =
        judged.into_iter().partition(|case| is_definition_refused(case));
    for case in never {
        let new = definition(&case.new.1).to_string();
        let apply = ["apply", "--server-side", "--force-conflicts", "-f", "-"];
        let answer = cluster.try_kubectl("admin", &apply, &new);
        assert!(
            answer.is_err(),
            "{}: the new definition is accepted: {answer:?}",
            case.name()
        );
        objects.remove(case.name());
    }
    let remaining: Vec<Value> = objects.values().flatten().cloned().collect();
    let definitions = edited.iter().map(|case| definition(&case.new.1)).collect();
    replace_definitions(cluster, definitions, &remaining);
    let answers = DryRuns::to(cluster, &remaining, &stored);

    let mut wrong = Vec::new();
    for case in edited {
        let mut stays_valid = true;
        for object in &objects[case.name()] {
            let key = key(object);
            let stored = &stored[&key];
            let observed = answers.outcome(&key, stored);
            stays_valid &= (observed.created, observed.updated) == (ServerOutcome::Kept, ServerOutcome::Kept);
            if let Some(predicted) =
                predicted(&case.comparison, stored).filter(|predicted| *predicted != observed)
            {
                wrong.push(format!(
                    "{}/{}: krator says {predicted:?}, the server does {observed:?}",
                    case.name(),
                    key.1
                ));
            }
        }
        let predicted = case.comparison.keeps_valid();
        if predicted != stays_valid {
            wrong.push(format!(
                "{}: objects stay valid: krator says {predicted}, the server {stays_valid}",
                case.name()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Asserts that `krator diff --against cluster` counts as many objects as the section `counted` of the case, such as
/// `breaking 1, doubtful 0`. An object is doubtful if only the API server can decide whether it breaks.
fn counts_what_breaks(cluster: &Cluster, case: &EditCase, stored: &BTreeMap<Key, Value>) {
    let Some(counted) = case.file.optional("counted") else {
        return;
    };
    let (breaking, doubtful) = counted.trim().split_once(", ").expect("two numbers");
    let number = |text: &str, name: &str| -> u64 {
        let number = text
            .strip_prefix(name)
            .and_then(|number| number.trim().parse().ok());
        number.unwrap_or_else(|| panic!("{}: no number of {name} in {counted}", case.name()))
    };
    let (breaking, doubtful) = (number(breaking, "breaking"), number(doubtful, "doubtful"));
    let group = format!("{}.example.com", case.name());
    let objects = stored.keys().filter(|(of, _)| *of == group).count();
    let output = Command::new(krator_tests::program())
        .current_dir(case.folder().path())
        .args([
            "diff",
            "old.yaml",
            "new.yaml",
            "--against",
            "cluster",
            "--format",
            "json",
        ])
        .env("KUBECONFIG", cluster.kubeconfig("admin"))
        // Ensures that krator runs no other program.
        .env("PATH", "")
        .output()
        .expect("krator runs");
    let report = crate::outputs::printed("diff", &output.stdout);
    let counted = &report["cluster"][0];
    let expected = json!({"objects": objects, "breaking": breaking, "doubtful": doubtful});
    for (key, expected) in expected.as_object().expect("made above") {
        assert_eq!(&counted[key], expected, "{}: {key}: {counted:#}", case.name());
    }
}
