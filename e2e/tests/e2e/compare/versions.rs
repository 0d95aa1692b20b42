//! The same comparison for random edits of a kind with two versions, with requests in each version.

use super::{DryRuns, ServerOutcome, definition, predicted, replace_definitions, store};
use crate::cluster::shared;
use crate::compare::requests::{Key, accepted, key};
use crate::conformance::webhook::Webhook;
use crate::dice::{Dice, number};
use krator::compare::{Breaks, Comparison, Stored, compare};
use krator::model::Description;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use tokio::runtime::Runtime;

const VERSIONS: [&str; 2] = ["v1", "v1beta1"];

/// The number of pairs of descriptions.
const PAIRS: usize = 40;

/// The possible edits: a text of the description, and its replacement.
const EDITS: [(&str, &str); 16] = [
    ("maximum: 100", "maximum: 5"),
    ("maximum: 100", "maximum: 200"),
    ("enum: [Turbo, Eco, Idle]", "enum: [Turbo, Eco, Idle, Off]"),
    ("enum: [Turbo, Eco, Idle]", "enum: [Turbo, Eco]"),
    ("maxItems: 4", "maxItems: 1"),
    ("maxItems: 4", "maxItems: 9"),
    (
        "other: optional string",
        "other: {type: string, maxLength: 3, optional: true}",
    ),
    ("  other: optional string\n", ""),
    ("other: optional string", "other: optional integer"),
    ("  more: optional integer", "  more: integer"),
    (
        "  more: optional integer",
        "  more: {type: integer, minimum: 2, optional: true}",
    ),
    (
        "type: optional string}",
        "type: {type: string, maxLength: 2, optional: true}}",
    ),
    ("      - {removed: .spec.legacy, type: optional string}\n", ""),
    ("default: 30s", "default: 60s"),
    (
        "{added: .spec.tls, default: false}",
        "{added: .spec.tls, default: true}",
    ),
    (
        "  more: optional integer",
        "  more: optional integer\n  last: optional string",
    ),
];

fn text(group: &str) -> String {
    format!(
        "
krator: 1
resource: {{group: {group}, version: v1, kind: Thing}}
spec:
  note: optional string
  replicas: {{type: integer, default: 1, minimum: 0, maximum: 100}}
  hosts: {{type: list of string, maxItems: 4, optional: true}}
  mode: {{enum: [Turbo, Eco, Idle], default: Eco}}
  tls: {{type: boolean, default: true}}
  timeout: {{type: duration, default: 30s}}
  other: optional string
  more: optional integer
machine: {{initial: Before}}
states:
  Before: {{next: [After]}}
  After: {{kind: ready}}
versions:
  v1beta1:
    changes:
      - {{renamed: .spec.size, to: .spec.replicas}}
      - {{moved: .spec.host, to: '.spec.hosts[0]'}}
      - {{values: .spec.mode, map: {{fast: Turbo, slow: [Eco, Idle]}}}}
      - {{added: .spec.tls, default: false}}
      - {{removed: .spec.legacy, type: optional string}}
      - {{retyped: .spec.timeout, from: integer, unit: seconds}}
"
    )
}

/// An object in one of the versions.
fn object(group: &str, name: usize, namespace: &str, dice: &mut Dice) -> Value {
    let version = *dice.among(&VERSIONS);
    let mut spec = json!({});
    let mut set = |name: &str, values: &[Value]| {
        if dice.one_in(2) {
            spec[name] = dice.among(values).clone();
        }
    };
    set("other", &[json!("ab"), json!("abcdef")]);
    set("more", &[json!(1), json!(3)]);
    if version == "v1" {
        set("replicas", &[json!(0), json!(7)]);
        set("hosts", &[json!(["a"]), json!(["a", "b", "c"])]);
        set("mode", &[json!("Turbo"), json!("Eco"), json!("Idle")]);
        set("tls", &[json!(true), json!(false)]);
        set("timeout", &[json!("90s"), json!("1m30.5s")]);
    } else {
        set("size", &[json!(0), json!(9)]);
        set("host", &[json!("a"), json!("z")]);
        set("mode", &[json!("fast"), json!("slow")]);
        set("legacy", &[json!("x"), json!("old")]);
        set("timeout", &[json!(0), json!(90)]);
    }
    json!({
        "apiVersion": format!("{group}/{version}"), "kind": "Thing",
        "metadata": {"name": format!("thing-{name}"), "namespace": namespace}, "spec": spec,
    })
}

/// A description before and after an edit.
struct Edited {
    group: String,
    what: String,
    old: Description,
    new: Description,
    comparison: Comparison,
}

impl Edited {
    /// None if krator refuses the edited description.
    fn random(group: String, dice: &mut Dice) -> Option<Edited> {
        let edits = [dice.among(&EDITS), dice.among(&EDITS)];
        let old = text(&group);
        let new = edits
            .iter()
            .fold(old.clone(), |text, (from, to)| text.replace(from, to));
        let described = |text: &str| krator::check("krator.yaml", text.as_bytes()).sound().cloned();
        let (old, new) = (described(&old).expect("it is good"), described(&new)?);
        let comparison = compare(&old, &new);
        Some(Edited {
            group,
            what: format!("{edits:?}"),
            old,
            new,
            comparison,
        })
    }
}

#[test]
fn an_api_server_does_with_objects_of_several_versions_what_krator_says() {
    let Some(cluster) = shared() else { return };
    let namespace = cluster.namespace("compare-versions");
    let mut dice = Dice::new(number("KRATOR_SEED", 3));
    let mut pairs = Vec::new();
    while pairs.len() < PAIRS {
        let group = format!("pair-{}.example.com", pairs.len());
        pairs.extend(Edited::random(group, &mut dice));
    }
    let known = Arc::new(Mutex::new(Vec::new()));
    let conversions = Arc::clone(&known);
    let runtime = Runtime::new().expect("a runtime");
    let webhook = runtime.block_on(Webhook::start(Some(Arc::new(move |object: &Value, to: &str| {
        let known = conversions.lock().expect("nobody panics with it");
        krator::versions::convert(&known, object, to, &|_, _, value| Ok(value))
    }))));
    let converted = |description: &Description| {
        let mut definition = definition(description);
        definition["spec"]["conversion"]["webhook"]["clientConfig"] =
            json!({"url": format!("{}/convert", webhook.url), "caBundle": webhook.bundle});
        definition
    };
    let use_conversions = |of: fn(&Edited) -> &Description| {
        let all = pairs.iter().flat_map(|pair| krator::versions::all(of(pair)));
        *known.lock().expect("nobody panics with it") = all.collect();
    };

    use_conversions(|pair| &pair.old);
    let objects: Vec<Value> = pairs
        .iter()
        .flat_map(|pair| {
            (0..4)
                .map(|at| object(&pair.group, at, &namespace, &mut dice))
                .collect::<Vec<_>>()
        })
        .collect();
    let definitions: Vec<Value> = pairs.iter().map(|pair| converted(&pair.old)).collect();
    store(cluster, &definitions, &objects);
    let in_version = |version: &str| -> Vec<Value> {
        let asked = objects.iter().map(|object| {
            let mut object = object.clone();
            let (group, _) = key(&object);
            object["apiVersion"] = format!("{group}/{version}").into();
            object
        });
        asked.collect()
    };
    let stored: BTreeMap<&str, _> = VERSIONS
        .iter()
        .map(|version| (*version, accepted(cluster, &["get"], &in_version(version))))
        .collect();
    let definitions = pairs.iter().map(|pair| converted(&pair.new)).collect();
    replace_definitions(cluster, definitions, &in_version("v1"));
    use_conversions(|pair| &pair.new);

    // Whether a field was removed from another version, in which a manager may have written it.
    let depends_on_managers = |pair: &Edited, key: &Key, asked: &str| {
        let others = stored.iter().filter(|(version, _)| **version != asked);
        let mut others = others.filter_map(|(version, stored)| Some((version, stored.get(key)?)));
        others.any(|(version, object)| {
            pair.comparison.changes.iter().any(|change| {
                let is_lost =
                    matches!(&change.stored, Stored::May(verdict) if verdict.updated == ServerOutcome::Lost);
                let is_there = change.versions.iter().any(|of| of.as_str() == *version);
                is_lost && is_there && change.breaks(object) != Breaks::No
            })
        })
    };
    let (mut wrong, mut judged, mut broken) = (Vec::new(), 0, 0);
    for (version, stored) in &stored {
        let asked = in_version(version);
        let answers = DryRuns::to(cluster, &asked, stored);
        for object in &asked {
            let key = key(object);
            let pair = pairs
                .iter()
                .find(|pair| pair.group == key.0)
                .expect("it is of a pair");
            let stored = &stored[&key];
            let observed = answers.outcome(&key, stored);
            let Some(predicted) =
                predicted(&pair.comparison, stored).filter(|_| !depends_on_managers(pair, &key, version))
            else {
                continue;
            };
            judged += 1;
            broken += usize::from(
                observed.updated != ServerOutcome::Kept || observed.created != ServerOutcome::Kept,
            );
            if predicted != observed {
                let (what, spec) = (&pair.what, &stored["spec"]);
                wrong.push(format!(
                    "{what}: {}/{} in {version}: krator says {predicted:?}, the server does {observed:?}: {spec}",
                    key.0, key.1
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        judged > 200 && broken > 20,
        "{judged} were judged, and {broken} break"
    );
}
