//! The generated manifests on a real API server: it accepts them with strict validation, stores all written fields, and
//! refuses objects that violate their schema.

mod mutants;
mod rules;

use crate::cluster::{self, Cluster};
use crate::descriptions::{cases, crate_with};
use crate::joint::Joint;
use crate::regenerate::write;
use crate::yaml::documents;
use krator::model::Extra;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The minimum number of invalid objects that are tried for each description.
const BROKEN: usize = 10;

/// A good description whose manifests and samples were applied to the cluster.
struct AppliedCase {
    name: String,
    /// The documents of each generated manifest.
    manifests: BTreeMap<PathBuf, Vec<Value>>,
    /// Its `deploy/`, in a folder of the cluster.
    deploy: PathBuf,
}

impl AppliedCase {
    fn file(&self, name: &str) -> &[Value] {
        &self.manifests[Path::new(name)]
    }

    /// The schema of `.spec` and the sample of each kind.
    fn kinds(&self) -> impl Iterator<Item = (&Value, &Value)> {
        let schema = |crd: &'static str| move |value: &Value| value.pointer(crd).is_some();
        let has_spec = schema("/spec/versions/0/schema/openAPIV3Schema/properties/spec");
        self.file("crd.yaml")
            .iter()
            .zip(self.file("sample.yaml"))
            .map(move |(crd, sample)| {
                assert!(has_spec(crd));
                assert_eq!(crd["spec"]["names"]["kind"], sample["kind"], "in the same order");
                let schema = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
                (&schema["properties"]["spec"], sample)
            })
    }
}

/// An API server to which the manifests of all good descriptions were applied with kubectl. It is not the shared one,
/// because operators of other tests would work on the samples.
fn prepared() -> Option<Arc<(Cluster, Vec<AppliedCase>)>> {
    static PREPARED: Joint<(Cluster, Vec<AppliedCase>)> = Joint::new();
    let assets = cluster::assets()?;
    PREPARED.get(|| {
        let cluster = Cluster::start(&assets);
        let cases: Vec<AppliedCase> = cases()
            .into_iter()
            .map(|(name, folder)| apply(&cluster, name, &folder))
            .collect();
        Some((cluster, cases))
    })
}

fn apply(cluster: &Cluster, name: String, folder: &Path) -> AppliedCase {
    let deploy = cluster.dir().join(&name);
    fs::create_dir_all(&deploy).expect("a folder of our own");
    let mut manifests = BTreeMap::new();
    let mut files = BTreeMap::new();
    for (path, contents) in crate_with(folder, &Extra::ALL) {
        // The chart has a test of its own.
        let is_chart = path.starts_with("deploy/chart");
        let Ok(file) = path.strip_prefix("deploy") else {
            continue;
        };
        if !is_chart {
            manifests.insert(file.to_owned(), documents(&contents));
            files.insert(file.to_owned(), contents);
        }
    }
    write(&files, &deploy);
    let case = AppliedCase {
        name,
        manifests,
        deploy,
    };
    // The generated manifests create only the namespace of the operator. A user creates the other namespaces of the
    // description.
    let namespaces: BTreeSet<&str> = case
        .file("rbac.yaml")
        .iter()
        .filter_map(|object| object["metadata"]["namespace"].as_str())
        .filter(|namespace| *namespace != case.file("namespace.yaml")[0]["metadata"]["name"])
        .collect();
    for namespace in namespaces {
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
        cluster.apply(&namespace.to_string(), &[]);
    }
    let apply = ["apply", "--server-side", "--validate=strict"];
    let at = |file: &str| case.deploy.join(file).to_str().expect("plain names").to_owned();
    cluster.kubectl(&[&apply[..], &["--kustomize", &at("")]].concat());
    let policy = at("components/network-policy/network-policy.yaml");
    cluster.kubectl(&[&apply[..], &["-f", &policy]].concat());
    let crd = at("crd.yaml");
    cluster.wait_established(&["-f", &crd]);
    cluster.kubectl(&[&apply[..], &["-f", &at("sample.yaml")]].concat());
    case
}

#[test]
fn the_api_server_accepts_and_keeps_what_was_written() {
    let Some(prepared) = prepared() else { return };
    let (cluster, cases) = &*prepared;
    for case in cases {
        for file in [
            "namespace.yaml",
            "crd.yaml",
            "rbac.yaml",
            "deployment.yaml",
            "sample.yaml",
        ] {
            let path = case.deploy.join(file);
            let path = path.to_str().expect("temporary folders have plain names");
            let stored = cluster.kubectl(&["get", "-f", path, "--output=json"]);
            let stored: Value = serde_json::from_str(&stored).expect("kubectl writes JSON");
            let stored = match stored["kind"].as_str() {
                Some("List") => stored["items"].as_array().expect("a list").clone(),
                _ => vec![stored],
            };
            let written = case.file(file);
            assert_eq!(written.len(), stored.len(), "{}: {file}", case.name);
            for (written, stored) in written.iter().zip(&stored) {
                let lost = lost(written, stored, "");
                assert!(lost.is_empty(), "{}: {file}: {lost:#?}\n{stored:#}", case.name);
            }
            if file == "sample.yaml" {
                for ((schema, written), stored) in case.kinds().zip(&stored) {
                    let added = added(schema, &written["spec"], &stored["spec"], ".spec");
                    assert!(added.is_empty(), "{}: {added:#?}", case.name);
                    assert_eq!(
                        stored["status"]["observedGeneration"], -1,
                        "kstatus must not take an object for ready that no operator has seen"
                    );
                }
            }
        }
    }
}

/// The places where `stored` lacks a value of `written` or differs from it. It may have further fields.
pub fn lost(written: &Value, stored: &Value, at: &str) -> Vec<String> {
    match (written, stored) {
        (Value::Object(written), Value::Object(stored)) => written
            .iter()
            .flat_map(|(key, value)| match stored.get(key) {
                Some(stored) => lost(value, stored, &format!("{at}.{key}")),
                None => vec![format!("{at}.{key} is not there")],
            })
            .collect(),
        (Value::Array(written), Value::Array(stored)) if written.len() == stored.len() => written
            .iter()
            .zip(stored)
            .enumerate()
            .flat_map(|(n, (written, stored))| lost(written, stored, &format!("{at}[{n}]")))
            .collect(),
        _ if written == stored => Vec::new(),
        _ => vec![format!("{at}: {written} became {stored}")],
    }
}

/// The places where `stored` has a value that is neither in `written` nor a default of the schema.
fn added(schema: &Value, written: &Value, stored: &Value, at: &str) -> Vec<String> {
    let (Some(fields), Some(written)) = (stored.as_object(), written.as_object()) else {
        return Vec::new();
    };
    fields
        .iter()
        .flat_map(|(name, stored)| {
            let (schema, at) = (&schema["properties"][name], format!("{at}.{name}"));
            match written.get(name) {
                Some(written) => added(schema, written, stored, &at),
                // The server fills in defaults within a default, too.
                None if schema.get("default").is_some() => added(schema, &schema["default"], stored, &at),
                None => vec![at],
            }
        })
        .collect()
}

#[test]
fn objects_that_break_the_schema_are_refused_with_the_place_of_the_defect() {
    let Some(prepared) = prepared() else { return };
    let (cluster, cases) = &*prepared;
    for case in cases {
        let mut tried = 0;
        for (schema, sample) in case.kinds() {
            let mutants = mutants::of(schema, sample);
            let kind = format!("{}: {}", case.name, sample["kind"].as_str().expect("a kind"));
            tried += mutants.len();
            let objects: Vec<&Value> = mutants.iter().map(|mutant| &mutant.object).collect();
            let refused = refused(cluster, &objects);
            assert_eq!(
                refused.len(),
                mutants.len(),
                "{kind}: one is accepted\n{refused:#?}"
            );
            for (mutant, error) in mutants.iter().zip(&refused) {
                println!("{kind}: {}", mutant.what);
                assert!(mutant.is_named_by(error), "{kind}: {}: {error}", mutant.what);
            }
        }
        assert!(tried >= BROKEN, "{}: {tried} mutants", case.name);
    }
}

#[test]
fn every_validation_rule_of_a_description_refuses_an_object() {
    let Some(prepared) = prepared() else { return };
    let (cluster, cases) = &*prepared;
    let mut untried = BTreeSet::new();
    for case in cases {
        for (schema, sample) in case.kinds() {
            let kind = sample["kind"].as_str().expect("a kind");
            // The rules of the whole object are about names; the tests of admission try them.
            let messages = messages(&schema["properties"]);
            untried.extend(messages.iter().map(|message| (kind, *message)));
            for (number, rule) in rules::RULES
                .iter()
                .enumerate()
                .filter(|(_, rule)| rule.kind == kind && messages.contains(&rule.message))
            {
                let with = |patch: &str| {
                    let mut object = sample.clone();
                    object["metadata"]["name"] = format!("rule-{number}").into();
                    let patch: Value = serde_json::from_str(patch).expect("a merge patch");
                    merge(&mut object["spec"], &patch);
                    object
                };
                if let Some(before) = rule.before {
                    cluster.apply(&with(before).to_string(), &[]);
                }
                let verb = if rule.before.is_some() {
                    "replace"
                } else {
                    "create"
                };
                let error = tried(cluster, verb, &with(rule.refused).to_string());
                assert!(
                    error.contains(rule.message),
                    "{kind}: {}: {error:?}",
                    rule.message
                );
                untried.remove(&(kind, rule.message));
            }
        }
    }
    assert!(
        untried.is_empty(),
        "these rules need an object in rules.rs that breaks them: {untried:#?}"
    );
}

/// The messages of all rules of a schema.
fn messages(schema: &Value) -> Vec<&str> {
    let of_rules = |rules: &'static str| schema[rules].as_array().into_iter().flatten();
    let own = of_rules("x-kubernetes-validations").filter_map(|rule| rule["message"].as_str());
    let below = match schema {
        Value::Object(fields) => fields.values().collect(),
        Value::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    };
    own.chain(below.into_iter().flat_map(messages)).collect()
}

/// Applies a merge patch, by RFC 7396.
fn merge(to: &mut Value, patch: &Value) {
    let Some(fields) = patch.as_object() else {
        *to = patch.clone();
        return;
    };
    if !to.is_object() {
        *to = json!({});
    }
    for (name, patch) in fields {
        if patch.is_null() {
            to.as_object_mut().expect("made one above").remove(name);
        } else {
            merge(&mut to[name], patch);
        }
    }
}

/// The errors for the objects that the server refuses.
fn refused(cluster: &Cluster, objects: &[&Value]) -> Vec<String> {
    let objects: Vec<String> = objects.iter().map(|object| object.to_string()).collect();
    let printed = tried(cluster, "create", &objects.join("\n---\n"));
    let errors = printed.split("Error from server").skip(1);
    errors.map(|error| error.trim().to_owned()).collect()
}

/// The errors of kubectl when it creates or replaces objects; empty if there are none.
fn tried(cluster: &Cluster, verb: &str, objects: &str) -> String {
    let args = [verb, "--dry-run=server", "--validate=strict", "-f", "-"];
    cluster
        .try_kubectl("admin", &args, objects)
        .err()
        .unwrap_or_default()
}
