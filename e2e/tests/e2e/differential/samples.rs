//! The samples of random descriptions: the API server accepts each one, or `krator check` has said that it would not.

use super::api::Judge;
use super::{count, dice};
use crate::cluster::{self, say};
use crate::random_description::{Documents, Size};
use crate::yaml::documents;
use kube::api::ApiResource;
use serde_json::Value;

/// One sample for this many descriptions of the other tests: each needs a kind of its own in the API server.
const SHARE: u64 = 50;

#[test]
fn samples_are_accepted_or_a_finding_says_why_not() {
    let Some(cluster) = cluster::shared() else {
        return;
    };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let judge = runtime.block_on(Judge::of(cluster));
    let (mut tried, mut warned, mut false_alarms, mut attempt) = (0, 0, 0, 0);
    let mut refused = Vec::new();
    while tried < count() / SHARE {
        attempt += 1;
        let mut documents_of = Documents::random(&mut dice(attempt), Size::SMALL);
        // Kinds of different descriptions must not meet in the API server.
        for document in &mut documents_of.0 {
            document["resource"]["group"] = format!("sample{attempt}.example.com").into();
        }
        let text = documents_of.text();
        let checked = krator::check("krator.yaml", text.as_bytes());
        let is_warned = |rule: &str| checked.findings.iter().any(|finding| finding.rule.name == rule);
        let Some(description) = checked.sound().filter(|_| !is_warned("costly-rule")) else {
            continue;
        };
        tried += 1;
        warned += u64::from(is_warned("refused-sample"));
        let definitions = krator::render::crd::crd(description);
        let manifests: Vec<String> = definitions
            .iter()
            .map(|definition| format!("---\n{definition}\n"))
            .collect();
        cluster.apply(&manifests.concat(), &[]);
        let samples = documents(krator::render::sample::sample(description).as_bytes());
        for (definition, mut sample) in definitions.iter().zip(samples) {
            let name = definition["metadata"]["name"].as_str().expect("a CRD has a name");
            cluster.wait_established(&["crd", name]);
            if definition["spec"]["scope"] == "Namespaced" {
                sample["metadata"]["namespace"] = "default".into();
            }
            let verdict = runtime
                .block_on(judge.verdicts(&resource(definition), &[sample]))
                .remove(0);
            match verdict {
                Err(causes) if !is_warned("refused-sample") => refused.push(format!("{causes:#?}\n{text}")),
                Ok(_) if is_warned("refused-sample") => false_alarms += 1,
                _ => {}
            }
        }
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
