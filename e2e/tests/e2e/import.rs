//! The CRD of an import and the original one accept and refuse the same values of `.spec` on a real API server.
//!
//! `KRATOR_CRDS` is a folder with CRDs of other projects and objects of their kinds, which are not part of this
//! repository; without it the test is skipped. `KRATOR_MUTANTS` sets how many mutants of each object are tried.

mod announced;
mod mutants;
mod status;
mod stored;

use crate::cluster::{self, Cluster, say};
use crate::dice::{Dice, number};
use crate::differential::api::{Judge, Verdict};
use announced::Announced;
use krator::import::{Imported, Refusal, import};
use kube::api::ApiResource;
use mutants::{grown, mutant};
use serde::Deserialize as _;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The prefix of the group of an imported CRD, which is installed beside the original one.
const PREFIX: &str = "imported.";

/// The documents of a file.
fn documents(text: &str) -> Vec<Value> {
    let documents = serde_yaml::Deserializer::from_str(text);
    // Templates and links in such folders do not parse and are skipped.
    documents
        .filter_map(|document| Value::deserialize(document).ok())
        .collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("KRATOR_CRDS is a folder") {
        let path = entry.expect("KRATOR_CRDS can be read").path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn group_and_kind(crd: &Value) -> (&str, &str) {
    (text(&crd["spec"]["group"]), text(&crd["spec"]["names"]["kind"]))
}

/// The original CRD without the parts that an import leaves out and that do not concern `.spec`: other versions,
/// required fields and rules at the root, and metadata.
fn reduced(crd: &Value) -> Value {
    let mut crd = crd.clone();
    let mut versions = crd["spec"]["versions"].as_array().cloned().unwrap_or_default();
    versions.retain(|version| version["storage"] == true);
    for version in &mut versions {
        version["served"] = true.into();
        let root = &mut version["schema"]["openAPIV3Schema"];
        let requires_spec = root["required"]
            .as_array()
            .is_some_and(|names| names.contains(&json!("spec")));
        root["required"] = if requires_spec { json!(["spec"]) } else { json!([]) };
        if let Some(root) = root.as_object_mut() {
            root.remove("x-kubernetes-validations");
        }
        root["properties"]["metadata"] = json!({"type": "object"});
    }
    crd["spec"]["versions"] = versions.into();
    if let Some(spec) = crd["spec"].as_object_mut() {
        spec.remove("conversion");
    }
    let approval = crd["metadata"]["annotations"]["api-approved.kubernetes.io"].clone();
    let annotations = match approval.is_string() {
        true => json!({ "api-approved.kubernetes.io": approval }),
        false => json!({}),
    };
    crd["metadata"] = json!({"name": crd["metadata"]["name"], "annotations": annotations});
    if let Some(crd) = crd.as_object_mut() {
        crd.remove("status");
    }
    crd
}

fn renamed(crd: &Value) -> Value {
    let mut crd = crd.clone();
    let group = format!("{PREFIX}{}", text(&crd["spec"]["group"]));
    crd["metadata"]["name"] = format!("{}.{group}", text(&crd["spec"]["names"]["plural"])).into();
    crd["spec"]["group"] = group.into();
    crd
}

fn resource(crd: &Value) -> ApiResource {
    let spec = &crd["spec"];
    let (group, version) = (
        text(&spec["group"]).to_owned(),
        text(&spec["versions"][0]["name"]).to_owned(),
    );
    ApiResource {
        api_version: format!("{group}/{version}"),
        group,
        version,
        kind: text(&spec["names"]["kind"]).to_owned(),
        plural: text(&spec["names"]["plural"]).to_owned(),
    }
}

fn object(crd: &Value, spec: &Value) -> Value {
    let resource = resource(crd);
    let mut metadata = json!({"name": "a"});
    if crd["spec"]["scope"] == "Namespaced" {
        metadata["namespace"] = "default".into();
    }
    json!({"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, "spec": spec})
}

/// Both CRDs of a kind, and its import.
struct Pair {
    original: Value,
    ours: Value,
    imported: Imported,
}

fn pair(crd: &Value) -> Result<Option<Pair>, String> {
    let written = serde_yaml::to_string(crd).map_err(|error| error.to_string())?;
    let imported = match import(&written, None) {
        Ok(imported) => imported,
        // Such objects have no `.spec` to compare.
        Err(Refusal::NoSpec(_)) => return Ok(None),
        Err(refusal) => return Err(refusal.to_string()),
    };
    let checked = krator::check("krator.yaml", imported.description.as_bytes());
    let Some(description) = checked.sound() else {
        return Err(format!("the description has errors: {:#?}", checked.findings));
    };
    let ours = krator::render::crd::crd(description).remove(0);
    Ok(Some(Pair {
        original: reduced(crd),
        ours: renamed(&ours),
        imported,
    }))
}

/// The values to try for a kind.
fn values(samples: &[Value], schema: &Value, dice: &mut Dice) -> Vec<Value> {
    let mutants = number("KRATOR_MUTANTS", 40) as usize;
    let mut values = samples.to_vec();
    values.extend((0..mutants).map(|_| grown(schema, dice)));
    for seed in values.clone().iter() {
        values.extend((0..mutants.min(30)).map(|_| mutant(seed, schema, dice)));
    }
    values
}

fn causes(verdict: &Verdict) -> BTreeSet<(&str, &str)> {
    match verdict {
        Err(causes) => causes
            .iter()
            .map(|cause| (cause.field.as_str(), cause.message.as_str()))
            .collect(),
        Ok(_) => BTreeSet::new(),
    }
}

#[derive(Default)]
struct Tally {
    values: usize,
    samples: usize,
    accepted: usize,
    samples_accepted: usize,
    announced: usize,
    other_causes: usize,
    disagreements: Vec<String>,
}

fn compare(
    judge: &Judge,
    runtime: &tokio::runtime::Runtime,
    pair: &Pair,
    samples: &[Value],
    dice: &mut Dice,
) -> Tally {
    let schema = &pair.original["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
    let values = values(samples, schema, dice);
    let verdicts = |crd: &Value| {
        let objects: Vec<Value> = values.iter().map(|value| object(crd, value)).collect();
        runtime.block_on(judge.verdicts(&resource(crd), &objects))
    };
    let (theirs, ours) = (verdicts(&pair.original), verdicts(&pair.ours));
    let announced = Announced::by(&pair.imported);
    let mut tally = Tally {
        values: values.len(),
        samples: samples.len(),
        ..Tally::default()
    };
    for (at, (value, (theirs, ours))) in values.iter().zip(theirs.iter().zip(&ours)).enumerate() {
        tally.accepted += usize::from(theirs.is_ok());
        // The samples come first.
        tally.samples_accepted += usize::from(theirs.is_ok() && at < samples.len());
        let difference = match (theirs, ours) {
            (Ok(theirs), Ok(ours)) if theirs["spec"] != ours["spec"] => Some((
                announced.covers_difference(&theirs["spec"], &ours["spec"]),
                format!("stored: {}\nours:   {}", theirs["spec"], ours["spec"]),
            )),
            (Ok(_), Err(causes)) => Some((
                announced.covers_refusal(causes),
                format!("only ours refuses: {causes:?}"),
            )),
            (Err(causes), Ok(_)) => Some((
                announced.covers_refusal(causes),
                format!("only the original refuses: {causes:?}"),
            )),
            (Err(_), Err(_)) if causes(theirs) != causes(ours) => {
                tally.other_causes += 1;
                if std::env::var_os("KRATOR_CAUSES").is_some() {
                    say(&format!("other causes: {theirs:?}\nours: {ours:?}\n{value}"));
                }
                None
            }
            _ => None,
        };
        match difference {
            Some((true, _)) => tally.announced += 1,
            Some((false, difference)) => tally.disagreements.push(format!("{difference}\nvalue: {value}")),
            None => {}
        }
    }
    tally
}

fn establish(cluster: &Cluster, crd: &Value) {
    cluster.apply(&crd.to_string(), &["--force-conflicts"]);
    cluster.wait_established(&["crd", text(&crd["metadata"]["name"])]);
}

#[test]
fn imports_accept_and_refuse_what_the_original_does() {
    let Some(folder) = std::env::var_os("KRATOR_CRDS") else {
        say("imports_accept_and_refuse_what_the_original_does: skipped: KRATOR_CRDS is not set");
        return;
    };
    let Some(cluster) = cluster::shared() else {
        return;
    };
    let all: Vec<Value> = files(Path::new(&folder))
        .iter()
        .filter_map(|path| fs::read_to_string(path).ok())
        .flat_map(|text| documents(&text))
        .collect();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let judge = runtime.block_on(Judge::of(cluster));
    let mut failures = Vec::new();
    let is_crd = |document: &&Value| document["kind"] == "CustomResourceDefinition";
    for (at, crd) in all.iter().filter(is_crd).enumerate() {
        let (group, kind) = group_and_kind(crd);
        let mut versions = crd["spec"]["versions"].as_array().into_iter().flatten();
        if !versions.any(|version| version["schema"]["openAPIV3Schema"]["properties"]["spec"].is_object()) {
            say(&format!("{group}/{kind}: its objects have no `.spec`"));
            continue;
        }
        let pair = match pair(crd) {
            Ok(Some(pair)) => pair,
            Ok(None) => continue,
            Err(why) => {
                failures.push(format!("{group}/{kind}: {why}"));
                continue;
            }
        };
        let samples = all.iter().filter(|object| {
            let version = text(&object["apiVersion"]);
            object["kind"] == kind && version.split('/').next() == Some(group)
        });
        let samples: Vec<Value> = samples.map(|object| object["spec"].clone()).collect();
        establish(cluster, &pair.original);
        establish(cluster, &pair.ours);
        let mut dice = Dice::new(number("KRATOR_SEED", 11).wrapping_add(at as u64));
        let tally = compare(&judge, &runtime, &pair, &samples, &mut dice);
        say(&format!(
            "{group}/{kind}: {} values, {} accepted, of {} samples {}; {} findings; {} disagree, {} more where a finding says \
             so, {} are refused for other causes",
            tally.values,
            tally.accepted,
            tally.samples,
            tally.samples_accepted,
            pair.imported.not_imported.len(),
            tally.disagreements.len(),
            tally.announced,
            tally.other_causes,
        ));
        let first = tally.disagreements.iter().take(2);
        failures.extend(first.map(|difference| format!("{group}/{kind}: {difference}")));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
