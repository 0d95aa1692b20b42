//! The samples of random descriptions: the API server accepts each one, or `krator check` has warned.

use super::api::Judge;
use super::{count, dice};
use crate::cluster::{self, say};
use crate::random_description::{Documents, Size};
use crate::yaml::documents;
use kube::api::ApiResource;
use serde_json::Value;

/// The number of descriptions of the other tests for each sample here, because each sample needs its own kind in the
/// API server.
const SHARE: u64 = 50;

/// The number of descriptions that are installed at once. A server needs seconds to serve new kinds, whether one or
/// many, and each change takes longer the more kinds it has.
const BATCH: u64 = 20;

/// A description with its installed definitions.
struct Attempt {
    text: String,
    is_warned: bool,
    definitions: Vec<Value>,
    samples: Vec<Value>,
}

impl Attempt {
    /// The random description of this number. None if it has errors, or is refused for another reason than its sample.
    fn draw(number: u64) -> Option<Attempt> {
        let mut documents_of = Documents::random(&mut dice(number), Size::SMALL);
        // Kinds of different descriptions need different groups in the API server.
        for document in &mut documents_of.0 {
            document["resource"]["group"] = format!("sample{number}.example.com").into();
        }
        let text = documents_of.text();
        let checked = krator::check("krator.yaml", text.as_bytes());
        let is_warned = |rule: &str| checked.findings.iter().any(|finding| finding.rule.name == rule);
        let description = checked.sound().filter(|_| !is_warned("costly-rule"))?;
        let definitions = krator::render::crd::crd(description);
        let samples = documents(krator::render::sample::sample(description).as_bytes());
        let samples = definitions.iter().zip(samples).map(|(definition, mut sample)| {
            if definition["spec"]["scope"] == "Namespaced" {
                sample["metadata"]["namespace"] = "default".into();
            }
            sample
        });
        Some(Attempt {
            is_warned: is_warned("refused-sample"),
            samples: samples.collect(),
            definitions,
            text,
        })
    }
}

/// The names of the kinds for kubectl.
fn names(batch: &[Attempt]) -> Vec<String> {
    let definitions = batch.iter().flat_map(|attempt| &attempt.definitions);
    let name = |definition: &Value| definition["metadata"]["name"].as_str().map(str::to_owned);
    definitions
        .map(|definition| format!("crd/{}", name(definition).expect("a CRD has a name")))
        .collect()
}

#[test]
fn samples_are_accepted_or_a_finding_says_why_not() {
    let Some(cluster) = cluster::shared() else {
        return;
    };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let judge = runtime.block_on(Judge::of(cluster));
    let (mut tried, mut warned, mut false_alarms) = (0, 0, 0);
    let mut refused = Vec::new();
    let mut drawn = (1..).filter_map(Attempt::draw);
    while tried < count() / SHARE {
        let wanted = BATCH.min(count() / SHARE - tried);
        let batch: Vec<Attempt> = drawn.by_ref().take(wanted as usize).collect();
        tried += wanted;
        let definitions = batch.iter().flat_map(|attempt| &attempt.definitions);
        let manifests: Vec<String> = definitions
            .map(|definition| format!("---\n{definition}\n"))
            .collect();
        cluster.apply(&manifests.concat(), &[]);
        let names = names(&batch);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        cluster.wait_established(&names);
        for attempt in batch {
            let is_warned = attempt.is_warned;
            warned += u64::from(is_warned);
            for (definition, sample) in attempt.definitions.iter().zip(attempt.samples) {
                let verdict = runtime
                    .block_on(judge.verdicts(&resource(definition), &[sample]))
                    .remove(0);
                match verdict {
                    Err(causes) if !is_warned => refused.push(format!("{causes:#?}\n{}", attempt.text)),
                    Ok(_) if is_warned => false_alarms += 1,
                    _ => {}
                }
            }
        }
        cluster.kubectl(&[&["delete", "--wait=false"], &names[..]].concat());
    }
    say(&format!(
        "{tried} samples, {warned} with a finding, of which {false_alarms} are accepted"
    ));
    assert!(refused.is_empty(), "{}", refused.join("\n\n"));
}

fn resource(definition: &Value) -> ApiResource {
    let spec = &definition["spec"];
    let text = |value: &Value| value.as_str().expect("a CRD has names").to_owned();
    let (group, version) = (text(&spec["group"]), text(&spec["versions"][0]["name"]));
    ApiResource {
        api_version: format!("{group}/{version}"),
        group,
        version,
        kind: text(&spec["names"]["kind"]),
        plural: text(&spec["names"]["plural"]),
    }
}
