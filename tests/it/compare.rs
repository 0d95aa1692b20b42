//! What krator says of an edit, held to what somebody has read and to what a real API server does.
//!
//! `testdata/compare/<case>.txt` has a description before and after an edit, in the sections `old.yaml` and `new.yaml`.
//! `expected` is what `krator diff` says of them; `KRATOR_UPDATE=1 cargo test compare` rewrites it. `objects.yaml` has
//! objects that the old CRD takes: where the edit breaks objects, at least one that breaks. `counted` is what
//! `krator diff --against cluster` counts of these objects; it is asked only for the few cases that have the section. Each
//! case has an API group of its own, and in its spec a field `note` that no edit touches.

use crate::accept::{documents, lost};
use crate::case_file::{CaseFile, case_files};
use crate::cluster::{Cluster, shared, until};
use krator::compare::{Breaks, Comparison, Fate, SchemaPath, Stored, Texts, compare, to_text};
use krator::finding::{Source, Style, has_errors};
use krator::model::Description;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// How many pairs of schemas a real API server judges at least.
const PAIRS: usize = 40;

struct Case {
    file: CaseFile,
    old: (Source, Description),
    new: (Source, Description),
    comparison: Comparison,
}

impl Case {
    fn read(file: CaseFile) -> Case {
        let description = |section: &str| {
            let checked = krator::check(section, file.section(section).as_bytes());
            assert!(!has_errors(&checked.findings), "{}: {section}", file.name());
            let description = checked.description.expect("no errors, so there is a description");
            (checked.source, description)
        };
        let (old, new) = (description("old.yaml"), description("new.yaml"));
        Case {
            comparison: compare(&old.1, &new.1),
            file,
            old,
            new,
        }
    }

    fn name(&self) -> &str {
        self.file.name()
    }

    /// A folder with both descriptions, as somebody has them who runs krator.
    fn folder(&self) -> TempDir {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for description in ["old.yaml", "new.yaml"] {
            fs::write(folder.path().join(description), self.file.section(description))
                .expect("a folder of our own");
        }
        folder
    }
}

fn cases() -> Vec<Case> {
    let sections = ["old.yaml", "new.yaml", "objects.yaml", "counted", "expected"];
    let files = case_files("compare", &sections);
    files.into_iter().map(Case::read).collect()
}

fn case(name: &str) -> Case {
    let mut cases = cases().into_iter();
    let case = cases.find(|case| case.name() == name);
    case.unwrap_or_else(|| panic!("there is no case {name}"))
}

#[test]
fn comparisons_are_as_they_were_read() {
    let mut differ = Vec::new();
    for case in cases() {
        let texts = Texts {
            old: &case.old.0,
            new: &case.new.0,
        };
        let text = to_text(&case.comparison, texts, Style::Plain);
        case.file.expect("expected", &text, &mut differ);
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}

#[test]
fn a_description_does_not_differ_from_itself() {
    for (name, folder) in crate::goldens::cases() {
        let text = fs::read(folder.join("spec.yaml")).expect("a case has a description");
        let description = krator::check("spec.yaml", &text).description.expect("a good one");
        assert_eq!(compare(&description, &description).changes, [], "{name}");
    }
}

fn krator(folder: &Path, args: &[&str], input: &str) -> Output {
    let mut krator = Command::new(env!("CARGO_BIN_EXE_krator"))
        .current_dir(folder)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("krator starts");
    let stdin = krator.stdin.take().expect("a pipe was asked for");
    // krator may refuse its arguments before it reads.
    let _ = { stdin }.write_all(input.as_bytes());
    krator.wait_with_output().expect("krator ends")
}

#[test]
fn the_former_description_may_come_from_git() {
    for (name, code) in [("field-removed", 1), ("default-changed", 1), ("field-added", 0)] {
        let case = case(name);
        let (folder, old) = (case.folder(), case.file.section("old.yaml"));
        let output = krator(folder.path(), &["diff", "-", "new.yaml"], old);
        assert_eq!(output.status.code(), Some(code), "{name}");
        let expected = case.file.section("expected");
        let said = String::from_utf8(output.stdout).expect("krator writes UTF-8");
        assert_eq!(said, expected.replace("old.yaml", "<stdin>"), "{name}");

        let output = krator(folder.path(), &["diff", "-", "new.yaml", "--format", "json"], old);
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(report["changes"].as_array().map(Vec::len), Some(1), "{report:#}");
    }
    let both = krator(Path::new("/"), &["diff", "-", "-"], "");
    assert_eq!(both.status.code(), Some(2));
    let broken = krator(Path::new("/"), &["diff", "-", "/nowhere"], "krator: 1\n");
    assert_eq!(
        broken.status.code(),
        Some(2),
        "what cannot be read is no matter of the description"
    );
}

#[test]
fn a_crate_is_checked_against_itself_as_last_generated() {
    let descriptions = case("states").folder();
    let home = tempfile::tempdir().expect("a temporary folder");
    let folder = home.path().join("crate");
    let out = folder.to_str().expect("temporary folders have plain names");
    let made = krator(descriptions.path(), &["new", "old.yaml", "--out", out], "");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let copy = |from: &str, to: &str| {
        fs::copy(descriptions.path().join(from), folder.join(to)).expect("a file of our own");
    };
    // What the code lacks for the new states is found too, and is no matter of this test.
    let is_state_missed = || {
        let output = krator(&folder, &["check", "--format", "json"], "");
        let findings: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let mut findings = findings.as_array().into_iter().flatten();
        findings.any(|finding| finding["rule"] == "state-removed")
    };
    assert!(!is_state_missed(), "nothing has changed");
    copy("new.yaml", "krator.yaml");
    assert!(is_state_missed());
    copy("new.yaml", ".krator/krator.yaml");
    assert!(!is_state_missed(), "it was generated without the state");
    // A former description that means nothing says nothing.
    fs::write(folder.join(".krator/krator.yaml"), "krator: [").expect("a file of our own");
    assert!(!is_state_missed());
}

/// What becomes of an object.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    /// Created anew.
    anew: Fate,
    /// Something outside of its spec is written.
    updated: Fate,
    /// Whether a write of another field of its spec is refused.
    is_refused_beside: bool,
}

/// What krator says; none where only the API server can tell.
fn predicted(comparison: &Comparison, object: &Value) -> Option<Outcome> {
    let note = SchemaPath::root("spec").field("note");
    let mut outcome = Outcome {
        anew: Fate::Kept,
        updated: Fate::Kept,
        is_refused_beside: false,
    };
    for change in &comparison.changes {
        let Stored::May(verdict) = &change.stored else {
            continue;
        };
        match change.breaks(object) {
            Breaks::No => {}
            Breaks::Maybe => return None,
            Breaks::Yes => {
                outcome.anew = outcome.anew.max(verdict.anew);
                outcome.updated = outcome.updated.max(verdict.updated);
                let is_beside = verdict.unchanged.holds(&note) && verdict.anew == Fate::Refused;
                outcome.is_refused_beside |= is_beside || verdict.updated == Fate::Refused;
            }
        }
    }
    Some(outcome)
}

/// Group and name of an object.
type Key = (String, String);

fn key(object: &Value) -> Key {
    let text = |value: &Value| {
        value
            .as_str()
            .unwrap_or_else(|| panic!("no name: {object}"))
            .to_owned()
    };
    let version = text(&object["apiVersion"]);
    let group = version.split('/').next().unwrap_or_default().to_owned();
    (group, text(&object["metadata"]["name"]))
}

/// Several objects as kubectl reads them.
fn together(objects: &[Value]) -> String {
    json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string()
}

/// The objects that kubectl was allowed to do something with, as the server then had them.
fn allowed(cluster: &Cluster, args: &[&str], objects: &[Value]) -> BTreeMap<Key, Value> {
    let args = [args, &["--output=json", "-f", "-"]].concat();
    let output = cluster.kubectl_output("admin", &args, &together(objects));
    // Shown when the test fails.
    println!("{}", String::from_utf8_lossy(&output.stderr));
    let said = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>();
    said.map(|value| value.expect("kubectl writes JSON"))
        .flat_map(|value| match value["kind"].as_str() {
            Some("List") => value["items"].as_array().cloned().unwrap_or_default(),
            _ => vec![value],
        })
        .map(|object| (key(&object), object))
        .collect()
}

/// The objects whose status an operator was allowed to apply. kubectl shows none of them when one is refused, so they
/// are told by the names that it prints: `kind.group/name`.
fn applied(cluster: &Cluster, args: &[&str], statuses: &[Value]) -> BTreeSet<Key> {
    let apply = [
        "apply",
        "--server-side",
        "--subresource=status",
        "--field-manager=operator",
        "--force-conflicts",
        "--validate=ignore",
        "--output=name",
        "-f",
        "-",
    ];
    let output = cluster.kubectl_output("admin", &[&apply[..], args].concat(), &together(statuses));
    println!("{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8(output.stdout).expect("kubectl writes UTF-8");
    said.lines()
        .filter_map(|line| {
            let (resource, name) = line.split_once('/')?;
            let (_, group) = resource.split_once('.')?;
            Some((group.to_owned(), name.to_owned()))
        })
        .collect()
}

fn is_definition_refused(case: &Case) -> bool {
    let mut changes = case.comparison.changes.iter();
    changes.any(|change| change.stored == Stored::DefinitionRefused)
}

fn definition(description: &Description) -> Value {
    let mut definitions = documents(krator::render::crd::crd(description).as_bytes());
    assert_eq!(definitions.len(), 1, "a case has one kind");
    definitions.remove(0)
}

/// A field that the new schemas have and nothing else does: once its values are judged, the new schema is in force.
const MARKER: &str = "schemaMarker";

fn replace_definitions(cluster: &Cluster, cases: &[&Case], objects: &[Value]) {
    let apply = ["apply", "--server-side", "--validate=strict", "-f", "-"];
    let marked: Vec<Value> = cases
        .iter()
        .map(|case| {
            let mut definition = definition(&case.new.1);
            let schema = &mut definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
            schema["properties"][MARKER] = json!({"type": "string", "enum": ["in force"]});
            definition
        })
        .collect();
    cluster
        .try_kubectl("admin", &apply, &together(&marked))
        .expect("the new definitions are taken");
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
    let input = together(&judged);
    until("the new schemas are in force", || {
        let create = ["create", "--dry-run=server", "--validate=ignore", "-f", "-"];
        let said = cluster.kubectl_output("admin", &create, &input);
        let said = String::from_utf8(said.stderr).expect("kubectl writes UTF-8");
        let is_judged = |group: &String| {
            let mut errors = said.split("Error from server");
            errors.any(|error| error.contains(&format!(".{group} ")) && error.contains(MARKER))
        };
        groups.iter().all(is_judged).then_some(())
    });
}

#[test]
fn an_api_server_does_with_stored_objects_what_krator_says() {
    let Some(cluster) = shared() else { return };
    let namespace = cluster.namespace("compare");
    let all = cases();
    let mut objects: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for case in &all {
        let Some(text) = case.file.optional("objects.yaml") else {
            continue;
        };
        let mut documents = documents(text.as_bytes());
        for object in &mut documents {
            object["metadata"]["namespace"] = namespace.as_str().into();
        }
        objects.insert(case.name(), documents);
    }
    let judged: Vec<&Case> = all
        .iter()
        .filter(|case| objects.contains_key(case.name()))
        .collect();
    assert!(judged.len() >= PAIRS, "only {} pairs", judged.len());

    // Before the edit.
    let definitions: Vec<Value> = judged.iter().map(|case| definition(&case.old.1)).collect();
    let definitions = together(&definitions);
    cluster.apply(&definitions, &[]);
    let wait = ["wait", "--for=condition=Established", "--timeout=60s", "-f", "-"];
    cluster
        .try_kubectl("admin", &wait, &definitions)
        .expect("the old definitions are served");
    let written: Vec<Value> = objects.values().flatten().cloned().collect();
    let created = allowed(cluster, &["create", "--validate=ignore"], &written);
    let refused: Vec<Key> = written
        .iter()
        .map(key)
        .filter(|key| !created.contains_key(key))
        .collect();
    assert_eq!(refused, [], "the old CRD takes all objects");
    // As operators write it.
    let status_of = |state: &str, objects: &[Value]| -> Vec<Value> {
        let with = |object: &Value| {
            let mut status = json!({"state": state});
            if let (Some(fields), Some(more)) = (status.as_object_mut(), object["status"].as_object()) {
                fields.extend(more.clone());
            }
            json!({
                "apiVersion": object["apiVersion"], "kind": object["kind"], "status": status,
                "metadata": {"name": object["metadata"]["name"], "namespace": namespace},
            })
        };
        objects.iter().map(with).collect()
    };
    applied(cluster, &[], &status_of("Before", &written));
    let stored = allowed(cluster, &["get"], &written);
    for object in &written {
        let stored = &stored[&key(object)];
        assert_eq!(stored["status"]["state"], "Before", "{object}");
        assert_eq!(
            lost(&without_nulls(&object["spec"]), &stored["spec"], ""),
            [""; 0],
            "{object}"
        );
    }

    for case in &judged {
        counts_what_breaks(cluster, case, &stored);
    }

    // The edit.
    let (never, edited): (Vec<&Case>, Vec<&Case>) =
        judged.into_iter().partition(|case| is_definition_refused(case));
    for case in never {
        let new = definition(&case.new.1).to_string();
        let apply = ["apply", "--server-side", "--force-conflicts", "-f", "-"];
        let answer = cluster.try_kubectl("admin", &apply, &new);
        assert!(
            answer.is_err(),
            "{}: the new definition is taken: {answer:?}",
            case.name()
        );
        objects.remove(case.name());
    }
    let written: Vec<Value> = objects.values().flatten().cloned().collect();
    replace_definitions(cluster, &edited, &written);

    // Created anew: as stored, under another name.
    let anew: Vec<Value> = written
        .iter()
        .map(|object| {
            let stored = &stored[&key(object)];
            json!({
                "apiVersion": object["apiVersion"], "kind": object["kind"], "spec": stored["spec"],
                "metadata": {"name": format!("{}-anew", key(object).1), "namespace": namespace},
            })
        })
        .collect();
    let dry = ["--dry-run=server"];
    let anew = allowed(
        cluster,
        &[&["create", "--validate=ignore"][..], &dry].concat(),
        &anew,
    );
    // Written elsewhere, by anybody and by the operator; and beside, in the spec.
    let patch = |patch: &'static str| {
        let args = [&["patch", "--type=merge", "--patch", patch][..], &dry].concat();
        allowed(cluster, &args, &written)
    };
    let labelled = patch(r#"{"metadata": {"labels": {"touched": "yes"}}}"#);
    let beside = patch(r#"{"spec": {"note": "touched"}}"#);
    let statuses: Vec<Value> = written
        .iter()
        .map(|object| {
            let mut bare = object.clone();
            bare["status"] = Value::Null;
            bare
        })
        .collect();
    let applied = applied(cluster, &dry, &status_of("After", &statuses));

    let mut wrong = Vec::new();
    for case in edited {
        let mut stays_valid = true;
        for object in &objects[case.name()] {
            let (group, name) = key(object);
            let of = |objects: &BTreeMap<Key, Value>, name: &str| {
                objects.get(&(group.clone(), name.to_owned())).cloned()
            };
            let then = &stored[&(group.clone(), name.clone())];
            let fate = |now: Option<Value>, parts: &[&str]| match now {
                None => Fate::Refused,
                Some(now) => {
                    let is_lost =
                        |part: &&str| !lost(&without_nulls(&then[*part]), &now[*part], "").is_empty();
                    if parts.iter().any(is_lost) {
                        Fate::Lost
                    } else {
                        Fate::Kept
                    }
                }
            };
            let mut updated = fate(of(&labelled, &name), &["spec", "status"]);
            if updated < Fate::ApplyFails && !applied.contains(&(group.clone(), name.clone())) {
                updated = Fate::ApplyFails;
            }
            let observed = Outcome {
                anew: fate(of(&anew, &format!("{name}-anew")), &["spec"]),
                updated,
                is_refused_beside: of(&beside, &name).is_none(),
            };
            stays_valid &= (observed.anew, observed.updated) == (Fate::Kept, Fate::Kept);
            if let Some(predicted) = predicted(&case.comparison, then).filter(|said| *said != observed) {
                wrong.push(format!(
                    "{}/{name}: said {predicted:?}, was {observed:?}",
                    case.name()
                ));
            }
        }
        if case.comparison.keeps_valid() != stays_valid {
            let said = case.comparison.keeps_valid();
            wrong.push(format!(
                "{}: objects stay valid: said {said}, was {stays_valid}",
                case.name()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `--against cluster` counts the objects of a case that break, and those that may. A case says in its section `counted`
/// how many these are, as `breaking 1, doubtful 0`; asking for a few cases is enough.
fn counts_what_breaks(cluster: &Cluster, case: &Case, stored: &BTreeMap<Key, Value>) {
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
    let mut path = vec![cluster.assets().to_owned()];
    path.extend(std::env::split_paths(
        &std::env::var_os("PATH").unwrap_or_default(),
    ));
    let output = Command::new(env!("CARGO_BIN_EXE_krator"))
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
        // kubectl keeps what it has learned in there.
        .env("HOME", cluster.dir())
        .env("PATH", std::env::join_paths(path).expect("it was one"))
        .output()
        .expect("krator runs");
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    let counted = &report["cluster"][0];
    let expected = json!({"objects": objects, "breaking": breaking, "doubtful": doubtful});
    for (key, expected) in expected.as_object().expect("made above") {
        assert_eq!(&counted[key], expected, "{}: {key}: {counted:#}", case.name());
    }
}

/// The value without fields that are null: the API server takes them for nothing.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name.clone(), without_nulls(value)))
            .collect(),
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        other => other.clone(),
    }
}
