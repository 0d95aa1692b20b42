//! Evaluates random rules of random schemas for random values, and compares the outcomes of this repository with those
//! of the API server.
//!
//! `KRATOR_RULES` sets how many schemas are tried, and `KRATOR_SEED` the seed.

#[path = "../../../../crates/krator-schema/tests/support/random_rules/mod.rs"]
mod random_rules;
#[path = "../../../../crates/krator-schema/tests/support/random_values.rs"]
mod random_values;

use super::{create, definition, delete, meant};
use crate::cluster::{self, say};
use crate::dice::{Dice, number};
use crate::differential::api::Judge;
use krator_schema::{Path, Schema, cel};
use serde_json::{Value, json};

/// How many schemas are created at once.
const AT_ONCE: usize = 20;
/// The number of values that are validated for each schema.
const VALUES: usize = 8;

/// Removes the rules that the API server would refuse, and numbers the others by their messages.
fn number_rules(schema: &mut Value, at: &Path, refused: &[String], numbered: &mut usize) {
    if let Some(rules) = schema["x-kubernetes-validations"].as_array().cloned() {
        let own = at.field("x-kubernetes-validations");
        let kept = rules.into_iter().enumerate().filter(|(index, _)| {
            let path = own.index(*index).to_string();
            !refused.iter().any(|refused| refused.starts_with(&path))
        });
        let kept = kept.map(|(_, mut rule)| {
            *numbered += 1;
            // These keys would only change the reported field and the type of the error.
            if let Some(rule) = rule.as_object_mut() {
                rule.retain(|key, _| !matches!(&**key, "fieldPath" | "reason"));
            }
            rule["message"] = json!(format!("#{numbered}"));
            // The number makes the text of the rule unique, because the API server identifies rules by their texts.
            rule["rule"] = json!(format!(
                "({}) || {numbered} < 0",
                rule["rule"].as_str().unwrap_or_default()
            ));
            rule
        });
        schema["x-kubernetes-validations"] = kept.collect();
    }
    for key in ["items", "additionalProperties"] {
        if schema[key].is_object() {
            number_rules(&mut schema[key], &at.field(key), refused, numbered);
        }
    }
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        for (name, property) in properties {
            number_rules(property, &at.field("properties").key(name), refused, numbered);
        }
    }
}

/// A schema with rules that the API server accepts, and the number of the rules.
fn draw(dice: &mut Dice) -> (Value, usize) {
    let mut schema = random_rules::schema(&mut |bound| dice.below(bound));
    let root = Path::root().field("openAPIV3Schema");
    let mut rules = 0;
    // Repeated, because valid rules may be too costly, and a removed rule may have hidden the error of another one.
    loop {
        let read: Schema = serde_json::from_value(schema.clone()).expect("a schema of the test");
        let problems = cel::check_rules(&read, &root).into_iter();
        let costs = cel::costs(&read, &root).into_iter();
        let costly = costs.filter(|found| found.cost > found.limit / 100 && found.path != root);
        let paths = problems.map(|found| found.problem.path.to_string());
        let refused: Vec<String> = paths.chain(costly.map(|found| found.path.to_string())).collect();
        if rules > 0 && refused.is_empty() {
            return (schema, rules);
        }
        rules = 0;
        number_rules(&mut schema, &root, &refused, &mut rules);
        if rules == 0 {
            return (schema, 0);
        }
    }
}

/// The messages of this repository for a value, or `None` if the value violates the rest of the schema.
fn here(schema: &Value, object: &Value) -> Option<Vec<(String, String)>> {
    let schema: Schema = serde_json::from_value(schema.clone()).expect("a schema of the test");
    if !krator_schema::validate(&schema, object).is_empty() {
        return None;
    }
    let outcomes = cel::evaluate(&schema, &Path::root().field("openAPIV3Schema"), object, None);
    let said = outcomes.into_iter().filter_map(|outcome| {
        let field = match outcome.value.to_string() {
            root if root.is_empty() => "<nil>".to_owned(),
            field => field,
        };
        Some((
            field,
            match outcome.outcome {
                cel::Outcome::Holds => return None,
                cel::Outcome::Violated(said) | cel::Outcome::Failed(said) => said,
                cel::Outcome::Unknown(why) => format!("unknown: {why}"),
            },
        ))
    });
    Some(said.collect())
}

#[tokio::test]
async fn random_rules_have_the_outcomes_that_they_have_there() {
    let Some(cluster) = cluster::shared() else { return };
    let judge = Judge::of(cluster).await;
    let mut dice = Dice::new(number("KRATOR_SEED", 3));
    let (mut compared, mut broken, mut wrong) = (0, 0, Vec::new());
    let mut left = number("KRATOR_RULES", 40);
    while left > 0 {
        let mut group = Vec::new();
        while left > 0 && group.len() < AT_ONCE {
            let (schema, rules) = draw(&mut dice);
            let (resource, definition) = definition(&format!("rules{left}"), &schema);
            let read = serde_json::from_value(definition["spec"].clone()).expect("a definition of the test");
            // The API server would decode an object with a field `items` as a list.
            let is_list = schema["properties"]["items"].is_object();
            if rules > 0 && !is_list && krator_schema::validate_definition(&read, None).is_empty() {
                group.push((resource, definition, schema));
                left -= 1;
            }
        }
        let definitions: Vec<&Value> = group.iter().map(|(_, definition, _)| definition).collect();
        let Some(names) = create(cluster, &definitions, &mut wrong) else {
            continue;
        };
        for (resource, _, schema) in &group {
            for _ in 0..VALUES {
                let mut object = random_values::value(schema, &mut |bound| dice.below(bound));
                object["apiVersion"] = json!(resource.api_version);
                object["kind"] = json!(resource.kind);
                object["metadata"] = json!({"name": "a"});
                let Some(here) = here(schema, &object) else {
                    continue;
                };
                let verdicts = judge.verdicts(resource, std::slice::from_ref(&object)).await;
                let causes = verdicts[0].as_ref().err().into_iter().flatten();
                let there = causes.map(|cause| (cause.field.clone(), cause.message.clone()));
                let there: Vec<(String, String)> = there.collect();
                compared += 1;
                broken += here.len();
                // The messages of the API server begin with the value.
                let mut left = there.clone();
                let mut is_there = |(field, said): &(String, String)| {
                    let same = |(other, there): &(String, String)| {
                        field == other && meant(there, there).ends_with(&meant(said, there))
                    };
                    let at = left.iter().position(same);
                    at.map(|at| left.swap_remove(at)).is_some()
                };
                if !here.iter().all(&mut is_there) || !left.is_empty() {
                    wrong.push(format!(
                        "{object}\n  here  {here:?}\n  there {there:?}\n  {schema}"
                    ));
                }
            }
        }
        delete(cluster, &names);
    }
    say(&format!(
        "rules: {compared} values were compared, which break {broken} rules"
    ));
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 100 && broken > 100, "{compared} {broken}");
}
