//! CEL rules of schemas: which ones the API server accepts.

use krator_schema::{Path, Schema, cel};
use serde_json::{Value as Json, json};

fn problems(schema: &Json) -> Vec<cel::CelProblem> {
    let schema: Schema = serde_json::from_value(schema.clone()).expect("a schema of the tests");
    cel::check_rules(&schema, &Path::root().field("openAPIV3Schema"))
}

fn costs(schema: &Json) -> Vec<cel::CostEstimate> {
    let schema: Schema = serde_json::from_value(schema.clone()).expect("a schema of the tests");
    cel::costs(&schema, &Path::root().field("openAPIV3Schema"))
}

#[test]
fn rules_are_judged_as_the_api_server_judges_them() {
    let mut schema: Json = serde_json::from_str(include_str!("cel/schema.json")).expect("JSON");
    let cases = include_str!("cel/rules.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut wrong = Vec::new();
    for case in cases {
        let (verdict, rule) = case.split_once('|').expect("a verdict and a rule");
        let (verdict, rule) = (verdict.trim(), rule.trim());
        schema["x-kubernetes-validations"] = json!([{"rule": rule}]);
        let found = problems(&schema);
        if found.is_empty() != (verdict == "good") {
            wrong.push(format!("{verdict}: {rule}\n    {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "these are not:\n{}", wrong.join("\n"));
}

#[test]
fn costs_are_those_of_the_api_server() {
    let mut schema: Json = serde_json::from_str(include_str!("cel/schema.json")).expect("JSON");
    let cases = include_str!("cel/costs.txt")
        .lines()
        .filter(|line| !line.starts_with('#'));
    for case in cases {
        let (cost, rule) = case.split_once(" | ").expect("a cost and a rule");
        schema["x-kubernetes-validations"] = json!([{"rule": rule}]);
        assert_eq!(costs(&schema)[0].cost.to_string(), cost, "{rule}");
    }
}

#[test]
fn an_expensive_rule_names_what_has_no_bound() {
    let schema = json!({"type": "object", "properties": {"spec": {"type": "array", "items": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "tag": {"type": "string", "maxLength": 10}},
        "x-kubernetes-validations": [{"rule": "self.name.contains('a') && self.tag.contains('b')"}],
    }}}});
    let found = costs(&schema);
    let [rule, total] = found.as_slice() else {
        panic!("one rule and the total are expected, but these were found: {found:?}");
    };
    assert!(
        rule.cost > rule.limit && total.cost == rule.cost && total.cost > total.limit,
        "{found:?}"
    );
    let unbounded: Vec<String> = rule.unbounded.iter().map(Path::to_string).collect();
    let wanted = [
        "openAPIV3Schema.properties[spec].items.properties[name]",
        "openAPIV3Schema.properties[spec]",
    ];
    assert_eq!(unbounded, wanted);
}

#[test]
fn mistakes_are_placed_in_the_expression() {
    let schema =
        json!({"type": "object", "x-kubernetes-validations": [{"rule": "self.kind == 'A' && self.nothing"}]});
    let found = problems(&schema);
    let [found] = found.as_slice() else {
        panic!("one problem is expected, but these were found: {found:?}");
    };
    assert_eq!(found.offset, Some(25));
    assert_eq!(
        found.problem.to_string(),
        "openAPIV3Schema.x-kubernetes-validations[0].rule: there is no field `nothing`"
    );
}
