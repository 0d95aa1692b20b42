//! Refusals by the rules of a CRD and by policies on a real API server: for which users, with which messages, and which
//! requests are allowed nevertheless. The tests in `contract` show that policies refuse no write of an operator.

use crate::cluster::{self, Cluster, until};
use crate::operator::krator;
use crate::regenerate::generate;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

const BEFORE: &str = "
krator: 1
operator: doorman
resource:
  group: doors.example.com
  version: v1
  kind: Moose
  plural: moose
  name: {pattern: ^m, message: Mooses may only have names starting with 'M'.}
types:
  Home: {properties: {in: {type: string, maxLength: 9, immutable: true}, a-b: {type: optional string, maxLength: 9, onceSet: true}}}
spec:
  zone: {type: string, immutable: true}
  nick: {type: optional string, immutable: true}
  collar: {type: optional string, onceSet: true}
  permit: {enum: [Asked, \"Gi'ven\", Refused], default: Asked, transition: {Asked: [\"Gi'ven\", Refused]}}
  home: {type: optional Home}
  den: Home
  tags: {type: optional map of Home, maxProperties: 9}
  stops:
    items: {properties: {name: {type: string, maxLength: 9}, place: {type: optional string, maxLength: 9, immutable: true}}}
    x-kubernetes-list-type: map
    x-kubernetes-list-map-keys: [name]
    maxItems: 9
    optional: true
machine: {initial: Roam, deletion: Released}
states:
  Roam: {next: [Eat], wait: {}}
  Eat: {next: [Sleep, Roam], checkpoint: false}
  Sleep: {kind: ready, next: [Roam]}
  Released: {kind: final}
admission: {status: operator, protect: {states: [Sleep]}, transitions: true}
";

/// The description after an edit that renames a state and adds one.
fn after() -> String {
    let text = BEFORE.replace("Sleep", "Doze");
    let states =
        "  Doze: {renamedFrom: Sleep, kind: ready, next: [Play]}\n  Play: {next: [Roam], wait: {}}\n";
    text.replace("  Doze: {kind: ready, next: [Roam]}\n", states)
}

const MOOSE: &str = "
apiVersion: doors.example.com/v1
kind: Moose
metadata: {name: mel}
spec:
  zone: north
  collar: red
  den: {in: x}
  tags: {k: {in: why}}
  stops: [{name: first, place: p}]
";

/// A role with all rights on moose except that to operate them.
const RANGER: &str = "
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: ranger}
rules: [{apiGroups: [doors.example.com], resources: [moose, moose/status], verbs: [get, list, create, patch, update, delete, deletecollection]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: ranger}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: ranger}
subjects: [{kind: User, name: ranger, apiGroup: rbac.authorization.k8s.io}]
";

const OPERATOR: &str = "--as=system:serviceaccount:doorman-system:doorman";
const RANGER_USER: &str = "--as=ranger";

struct Doors<'a> {
    cluster: &'a Cluster,
    namespace: String,
}

impl Doors<'_> {
    fn kubectl(&self, args: &[&str], input: &str) -> Result<String, String> {
        let args = [args, &["--namespace", &self.namespace]].concat();
        self.cluster.try_kubectl("admin", &args, input)
    }
    fn create(&self, moose: &str) -> Result<String, String> {
        self.kubectl(&["create", "-f", "-"], moose)
    }
    fn patch(&self, patch: &str) -> Result<String, String> {
        self.kubectl(&["patch", "moose", "mel", "--type=merge", "--patch", patch], "")
    }
    /// Applies a state as operators do, without reading the object first.
    fn store(&self, user: &str, state: &str, dry: bool) -> Result<String, String> {
        let status = format!(
            "{{apiVersion: doors.example.com/v1, kind: Moose, metadata: {{name: mel, namespace: {}}}, status: {{state: '{state}'}}}}",
            self.namespace
        );
        let mut args = vec!["--force-conflicts", user];
        if dry {
            args.push("--dry-run=server");
        }
        self.cluster.try_apply_status(&status, &args)
    }
    fn delete(&self, user: &str) -> Result<String, String> {
        self.kubectl(&["delete", "moose", "mel", "--wait=false", user], "")
    }
    /// Waits until policies that were just applied are in force.
    fn refuses(&self, user: &str, state: &str) {
        until("the policy is in force", || {
            self.store(user, state, true).is_err().then_some(())
        });
    }
    fn allows(&self, user: &str, state: &str) {
        until("the policy is in force", || self.store(user, state, true).ok());
    }
}

fn refused(answer: Result<String, String>, text: &str) {
    let error = answer.expect_err(text);
    assert!(error.contains(text), "{error}");
}

/// Installs the manifests of a crate.
fn install(cluster: &Cluster, krate: &Path) {
    let deploy = krate.join("deploy");
    let deploy = deploy.to_str().expect("a plain name");
    cluster.kubectl(&[
        "apply",
        "--server-side",
        "--force-conflicts",
        "--validate=strict",
        "--kustomize",
        deploy,
    ]);
    cluster.wait_established(&["crd/moose.doors.example.com"]);
}

fn succeeds(output: &Output) {
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A new crate of a description.
fn generated(cluster: &Cluster, description: &str) -> PathBuf {
    let (text, krate) = (cluster.dir().join("doorman.yaml"), cluster.dir().join("doorman"));
    fs::write(&text, description).expect("a new file");
    succeeds(&krator(&[Path::new("new"), &text, Path::new("--out"), &krate]));
    krate
}

/// Generates the crate again from another description.
fn edit(krate: &Path, text: &str) -> String {
    fs::write(krate.join("krator.yaml"), text).expect("a file of the crate");
    succeeds(&generate(krate, &["--allow-breaking"]));
    let policies = || fs::read_to_string(krate.join("deploy/policies.yaml")).expect("generated");
    let first = policies();
    succeeds(&generate(krate, &["--allow-breaking"]));
    assert_eq!(policies(), first, "a second run changes nothing");
    first
}

#[test]
fn names_fields_states_and_deletions_are_refused_with_words_that_help() {
    let Some(assets) = cluster::assets() else { return };
    let cluster = &Cluster::start(&assets);
    let krate = generated(cluster, BEFORE);
    install(cluster, &krate);
    cluster.apply(RANGER, &[]);
    let doors = Doors {
        cluster,
        namespace: cluster.namespace("doors"),
    };

    let george = MOOSE.replace("mel", "george");
    refused(
        doors.create(&george),
        "Mooses may only have names starting with 'M'.",
    );
    doors.create(MOOSE).expect("a good moose");
    for (patch, text) in [
        (
            r#"{"zone": "south"}"#,
            "spec.zone: Forbidden: .spec.zone cannot change after creation",
        ),
        (r#"{"nick": "Mel"}"#, ".spec.nick cannot change after creation"),
        (r#"{"collar": null}"#, ".spec.collar cannot change once it is set"),
        (
            r#"{"collar": "blue"}"#,
            ".spec.collar cannot change once it is set",
        ),
        (
            r#"{"home": {"in": "h"}}"#,
            "spec.home.in: Forbidden: .spec.home.in cannot change",
        ),
        (
            r#"{"den": {"in": "z"}}"#,
            ".spec.den.in cannot change after creation",
        ),
        (
            r#"{"tags": {"k": {"in": "z"}}}"#,
            "spec.tags[k].in: Forbidden: .spec.tags[*].in cannot change",
        ),
        (
            r#"{"stops": [{"name": "new"}, {"name": "first", "place": "q"}]}"#,
            "spec.stops[1].place: Forbidden: .spec.stops[*].place cannot change",
        ),
    ] {
        refused(doors.patch(&format!("{{\"spec\": {patch}}}")), text);
    }
    for patch in [
        r#"{"den": {"a-b": "x"}}"#,
        r#"{"permit": "Gi'ven"}"#,
        r#"{"stops": []}"#,
    ] {
        doors
            .patch(&format!("{{\"spec\": {patch}}}"))
            .expect("a change that is allowed");
    }
    refused(
        doors.patch(r#"{"spec": {"den": {"a-b": null}}}"#),
        ".spec.den.a-b cannot change once it is set",
    );
    refused(
        doors.patch(r#"{"spec": {"permit": "Refused"}}"#),
        ".spec.permit can change only from Asked to Gi'ven or Refused",
    );

    doors.refuses(RANGER_USER, "Roam");
    refused(
        doors.store(RANGER_USER, "Roam", false),
        "need the verb operate on moose.doors.example.com",
    );
    refused(
        doors.store(OPERATOR, "Sleep", false),
        "leads from the state '' to 'Sleep'",
    );
    doors.store(OPERATOR, "Roam", false).expect("the initial state");
    doors
        .store(OPERATOR, "Sleep", false)
        .expect("Eat has no checkpoint, so it is passed");
    refused(
        doors.store(OPERATOR, "Eat", false),
        "from the state 'Sleep' to 'Eat'",
    );
    refused(doors.store(OPERATOR, "", false), "from the state 'Sleep' to ''");

    let annotate = format!(
        "kubectl annotate -n {} moose.doors.example.com mel doors.example.com/allow-deletion=true",
        doors.namespace
    );
    for user in [RANGER_USER, "--as=admin"] {
        let as_admin = user == "--as=admin";
        let answer = if as_admin {
            doors.delete("--v=0")
        } else {
            doors.delete(user)
        };
        refused(answer, &annotate);
    }
    let all = ["delete", "moose", "--all", "--wait=false", RANGER_USER];
    refused(doors.kubectl(&all, ""), &annotate);
    let held =
        doors.patch(r#"{"metadata": {"finalizers": ["doors.example.com/moose"], "labels": {"a": "b"}}}"#);
    held.expect("metadata and finalizers are written by whoever may");

    // The next release: its policies are applied before its pods are replaced.
    let policies = edit(&krate, &after());
    assert!(policies.contains("variables.before"), "{policies}");
    install(cluster, &krate);
    doors.refuses(OPERATOR, "Eat");
    doors.allows(OPERATOR, "Doze");
    doors.allows(OPERATOR, "Play");
    doors
        .store(OPERATOR, "Roam", true)
        .expect("an edge of the operator before");
    refused(doors.delete(RANGER_USER), "protected in the state Sleep");
    doors.store(OPERATOR, "Doze", false).expect("the new name");
    doors.store(OPERATOR, "Play", false).expect("a new state");
    // A rollback: the former operator does not have the new states, so the object stays in its state until it is
    // deleted.
    let back = edit(&krate, BEFORE);
    assert!(back.contains("variables.before"), "{back}");
    install(cluster, &krate);
    doors.allows(OPERATOR, "Released");
    doors
        .store(OPERATOR, "Roam", true)
        .expect("an edge of the operator that is rolled back");
    refused(
        doors.store(OPERATOR, "Sleep", false),
        "from the state 'Play' to 'Sleep'",
    );

    doors.store(OPERATOR, "Roam", false).expect("an edge");
    doors.store(OPERATOR, "Sleep", false).expect("an edge");
    refused(doors.delete(RANGER_USER), "protected in the state Sleep");
    let allow = [
        "annotate",
        "moose",
        "mel",
        "doors.example.com/allow-deletion=true",
    ];
    doors.kubectl(&allow, "").expect("an annotation");
    doors.delete(RANGER_USER).expect("the annotation allows it");
    doors
        .kubectl(
            &["annotate", "moose", "mel", "doors.example.com/allow-deletion-"],
            "",
        )
        .expect("an annotation");
    doors.delete(RANGER_USER).expect("it is being deleted already");
    doors
        .patch(r#"{"metadata": {"finalizers": null}}"#)
        .expect("the finalizer goes");
}

#[test]
fn a_namespace_that_is_deleted_takes_protected_objects_with_it() {
    let Some(cluster) = Cluster::with_controllers(&["namespace-controller"]) else {
        return;
    };
    let cluster = &cluster;
    install(cluster, &generated(cluster, BEFORE));
    let doors = Doors {
        cluster,
        namespace: cluster.namespace("doors"),
    };
    doors.create(MOOSE).expect("a good moose");
    doors.refuses(OPERATOR, "Sleep");
    doors.store(OPERATOR, "Roam", false).expect("the initial state");
    doors.store(OPERATOR, "Sleep", false).expect("an edge");
    until("the policy is in force", || {
        let dry = ["delete", "moose", "mel", "--dry-run=server"];
        doors.kubectl(&dry, "").is_err().then_some(())
    });
    cluster.kubectl(&["delete", "namespace", &doors.namespace]);
}

/// The API server limits the length and the cost of expressions.
#[test]
fn the_edges_of_a_graph_of_thousands_of_states_are_known() {
    let Some(assets) = cluster::assets() else { return };
    let cluster = &Cluster::start(&assets);
    let count = crate::dice::number("KRATOR_STATES", 3000);
    let states: String = (0..count)
        .map(|at| format!("  State{at}: {{next: [State{}], wait: {{}}}}\n", (at + 1) % count))
        .collect();
    let description = format!(
        "krator: 1\noperator: doorman\nresource: {{group: doors.example.com, version: v1, kind: Moose, plural: moose}}\n\
         spec: {{}}\nmachine: {{initial: State0}}\nadmission: {{transitions: true}}\nstates:\n{states}"
    );
    let krate = generated(cluster, &description);
    install(cluster, &krate);
    let doors = Doors {
        cluster,
        namespace: cluster.namespace("doors"),
    };
    doors
        .create("{apiVersion: doors.example.com/v1, kind: Moose, metadata: {name: mel}, spec: {}}")
        .expect("a moose");
    doors.refuses(OPERATOR, "State7");
    for state in 0..3 {
        doors
            .store(OPERATOR, &format!("State{state}"), false)
            .expect("an edge");
    }
    refused(
        doors.store(OPERATOR, "State7", false),
        "from the state 'State2' to 'State7'",
    );
}
