//! Calls every overload of CEL's functions with random operands, and compares the value or error of this repository
//! with that of the API server.
//!
//! `KRATOR_CALLS` sets how many calls of each overload are tried, and `KRATOR_SEED` the seed.

mod operands;
mod rules;

use crate::cluster::{self, Cluster, say};
use crate::dice::{Dice, number};
use crate::differential::api::Judge;
use krator_schema::{Path, Schema, cel};
use kube::api::ApiResource;
use operands::{Overload, overloads};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The number of rules in a definition: the API server limits the total cost.
const RULES: usize = 60;
/// How many definitions are created at once.
const AT_ONCE: usize = 10;

/// A definition of a kind with a schema, and its API resource.
fn definition(plural: &str, schema: &Value) -> (ApiResource, Value) {
    let (group, kind) = ("calls.example.com", format!("A{plural}"));
    let version =
        json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}});
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {
            "group": group, "scope": "Cluster", "versions": [version], "names": {"plural": plural, "kind": kind},
        },
    });
    let resource = ApiResource {
        group: group.to_owned(),
        version: "v1".to_owned(),
        api_version: format!("{group}/v1"),
        kind,
        plural: plural.to_owned(),
    };
    (resource, definition)
}

/// Creates definitions, and returns them as arguments of kubectl; `None` if the API server refuses one.
fn create(cluster: &Cluster, definitions: &[&Value], wrong: &mut Vec<String>) -> Option<Vec<String>> {
    let list = json!({"apiVersion": "v1", "kind": "List", "items": definitions});
    let apply = ["apply", "--server-side", "--filename=-"];
    if let Err(why) = cluster.try_kubectl("admin", &apply, &list.to_string()) {
        // The API server panics over a few constants that cel-go cannot use as keys of a map.
        if !why.contains("INTERNAL_ERROR") {
            wrong.push(format!("only the API server refuses this: {why}"));
        }
        return None;
    }
    let names = definitions
        .iter()
        .filter_map(|definition| definition["metadata"]["name"].as_str());
    let names: Vec<String> = names.map(|name| format!("crd/{name}")).collect();
    cluster.wait_established(&names.iter().map(String::as_str).collect::<Vec<_>>());
    Some(names)
}

fn delete(cluster: &Cluster, definitions: &[String]) {
    let names: Vec<&str> = definitions.iter().map(String::as_str).collect();
    cluster.kubectl(&[&["delete", "--wait=false"], &names[..]].concat());
}

/// A message without the value at its beginning.
fn without_value(message: &str) -> &str {
    ["object", "array", "string", "integer", "number", "boolean"]
        .iter()
        .find_map(|of| message.strip_prefix(&format!("\"{of}\": ")))
        .unwrap_or(message)
}

/// Calls that are evaluated together, as rules of one definition.
struct Batch {
    kind: ApiResource,
    definition: Value,
    schema: Value,
    object: Value,
    /// The expressions, each with its overload. Their indexes are their numbers.
    calls: Vec<(String, &'static str)>,
}

impl Batch {
    fn new(number: usize, calls: Vec<(String, &'static str, String)>, dice: &mut Dice) -> Batch {
        let rules = calls.iter().enumerate().map(|(at, (call, _, shown))| {
            json!({
                // The number distinguishes the rule from others with the same call.
                "rule": format!("[{call}].size() < 0 || {at} < 0"),
                "message": format!("#{at}"),
                "messageExpression": shown.replacen('\'', &format!("'#{at} "), 1),
            })
        });
        let mut spec = operands::schema();
        spec["x-kubernetes-validations"] = rules.collect();
        let schema = json!({"type": "object", "properties": {"spec": spec}});
        let (kind, definition) = definition(&format!("calls{number}"), &schema);
        Batch {
            object: json!({
                "apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "a"},
                "spec": operands::values(dice),
            }),
            definition,
            kind,
            schema,
            calls: calls
                .into_iter()
                .map(|(call, overload, _)| (call, overload))
                .collect(),
        }
    }

    /// The messages of this repository, by the numbers of the calls.
    fn here(&self) -> BTreeMap<usize, String> {
        let schema: Schema = serde_json::from_value(self.schema.clone()).expect("a schema of the test");
        let outcomes = cel::evaluate(
            &schema,
            &Path::root().field("openAPIV3Schema"),
            &self.object,
            None,
        );
        assert_eq!(outcomes.len(), self.calls.len());
        let said = |outcome| match outcome {
            cel::Outcome::Holds => "holds".to_owned(),
            cel::Outcome::Violated(said) | cel::Outcome::Failed(said) => said,
            cel::Outcome::Unknown(why) => format!("unknown: {why}"),
        };
        let said = outcomes.into_iter().map(|outcome| said(outcome.outcome));
        said.enumerate().collect()
    }
}

/// A message without the differences that do not matter: this repository uses other words for why Go's parsers reject
/// an address or a URL, for types of Go that cannot be keys, and for missing overloads. Where cel-go panics, which the
/// API server reports as an internal error, the error that caused the panic is returned.
fn meant(said: &str, there: &str) -> String {
    const CAUSES: [(&str, &str); 3] = [
        (
            "parse error during conversion from string: ",
            " evaluating rule: ",
        ),
        ("invalid qualifier type: ", " evaluating rule: "),
        ("'no such overload", "': "),
    ];
    let said = if there.contains("internal error: ") {
        there
    } else {
        said
    };
    for (cause, rule) in CAUSES {
        if let Some((before, after)) = said.split_once(cause) {
            let rule = after.rsplit_once(rule).map_or("", |(_, rule)| rule);
            return format!("{before}{cause}{rule}");
        }
    }
    said.to_owned()
}

/// The messages of the API server, by the numbers of the calls in them.
fn there(causes: &[crate::differential::api::Cause]) -> BTreeMap<usize, String> {
    let said = causes.iter().filter_map(|cause| {
        let message = cause
            .message
            .split_once(": ")
            .map_or(&*cause.message, |(_, message)| message);
        let message = without_value(message);
        let number = message
            .strip_prefix('#')
            .or_else(|| Some(message.rsplit_once("rule: #")?.1))?;
        let digits = number.split(|c: char| !c.is_ascii_digit()).next()?;
        Some((digits.parse().ok()?, message.to_owned()))
    });
    said.collect()
}

fn refusal(call: &str, shown: &str) -> Option<String> {
    let mut spec = operands::schema();
    spec["x-kubernetes-validations"] =
        json!([{"rule": format!("[{call}].size() < 0"), "messageExpression": shown}]);
    let schema = json!({"type": "object", "properties": {"spec": spec}});
    let schema: Schema = serde_json::from_value(schema).expect("a schema of the test");
    let root = Path::root().field("openAPIV3Schema");
    let problems = cel::check_rules(&schema, &root).into_iter();
    let costs = cel::costs(&schema, &root).into_iter();
    let problems = problems.map(|found| found.problem.to_string());
    let costs = costs.filter(|found| found.cost > found.limit / 10);
    problems
        .chain(costs.map(|found| format!("it may cost {}", found.cost)))
        .next()
}

#[tokio::test]
async fn each_overload_has_the_values_and_the_errors_that_it_has_there() {
    let Some(cluster) = cluster::shared() else { return };
    let judge = Judge::of(cluster).await;
    let mut dice = Dice::new(number("KRATOR_SEED", 5));
    let each = number("KRATOR_CALLS", 2);
    let all: Vec<Overload> = overloads();
    let mut calls = Vec::new();
    for overload in &all {
        // Calls with literals that the API server would check and refuse at compile time are skipped.
        let mut found = 0;
        let mut refused = String::new();
        for _ in 0..each * 20 {
            let (call, shown) = overload.call(&mut dice);
            if let Some(why) = refusal(&call, &shown) {
                refused = format!("{call}: {why}");
                continue;
            }
            calls.push((call, overload.id, shown));
            found += 1;
            if found == each {
                break;
            }
        }
        assert_eq!(found, each, "{} is not called: {refused}", overload.id);
    }
    let mut batches = Vec::new();
    let count = calls.len();
    while !calls.is_empty() {
        let rest = calls.split_off(calls.len().min(RULES));
        batches.push(Batch::new(
            batches.len(),
            std::mem::replace(&mut calls, rest),
            &mut dice,
        ));
    }
    let mut wrong = Vec::new();
    for group in batches.chunks(AT_ONCE) {
        let definitions: Vec<&Value> = group.iter().map(|batch| &batch.definition).collect();
        let Some(names) = create(cluster, &definitions, &mut wrong) else {
            continue;
        };
        for batch in group {
            let verdicts = judge
                .verdicts(&batch.kind, std::slice::from_ref(&batch.object))
                .await;
            let causes = match &verdicts[0] {
                Ok(_) => &[][..],
                Err(causes) => causes,
            };
            let (here, there) = (batch.here(), there(causes));
            for (at, (call, overload)) in batch.calls.iter().enumerate() {
                let of = |said: &BTreeMap<usize, String>| said.get(&at).cloned().unwrap_or_default();
                let (here, there) = (of(&here), of(&there));
                if meant(&here, &there) != meant(&there, &there) {
                    wrong.push(format!(
                        "{overload}: {call}\n    here  {here:?}\n    there {there:?}"
                    ));
                }
            }
            if there.len() < causes.len() {
                wrong.push(format!("the object is refused otherwise: {causes:?}"));
            }
        }
        delete(cluster, &names);
    }
    say(&format!(
        "calls: {count} of {} overloads were compared",
        all.len()
    ));
    assert!(
        wrong.is_empty(),
        "{} calls differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
