//! CEL rules of schemas: their acceptance, costs and evaluation.

#[path = "support/random_rules/mod.rs"]
mod random_rules;
#[path = "support/random_values.rs"]
mod random_values;

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

fn evaluate(schema: &Json, value: &Json, old: Option<&Json>) -> Vec<cel::RuleOutcome> {
    let schema: Schema = serde_json::from_value(schema.clone()).expect("a schema of the tests");
    cel::evaluate(&schema, &Path::root().field("openAPIV3Schema"), value, old)
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
fn rules_are_judged_by_their_places() {
    let cases: Vec<Json> = serde_json::from_str(include_str!("cel/places.json")).expect("JSON");
    for case in cases {
        let schema = json!({"type": "object", "properties": {"spec": case["spec"]}});
        let paths = problems(&schema)
            .into_iter()
            .map(|found| found.problem.path.to_string());
        let prefix = "openAPIV3Schema.properties[spec].";
        let mut found: Vec<String> = paths.map(|path| path.replacen(prefix, "", 1)).collect();
        found.sort();
        assert_eq!(json!(found), case["refused"], "{}", case["about"]);
    }
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
fn values_are_judged_as_the_api_server_judges_them() {
    let mut schema: Json = serde_json::from_str(include_str!("cel/schema.json")).expect("JSON");
    let cases = include_str!("cel/values.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut wrong = Vec::new();
    for case in cases {
        let mut parts = case.splitn(3, '|').map(str::trim);
        let mut part = || parts.next().expect("a verdict, a value and a rule");
        let (verdict, value, rule) = (part(), part(), part());
        schema["x-kubernetes-validations"] = json!([{"rule": rule, "message": "no"}]);
        let value: Json = serde_json::from_str(value).expect("JSON");
        let outcomes = evaluate(&schema, &json!({"spec": value}), None);
        let [outcome] = outcomes.as_slice() else {
            panic!("{case}: {outcomes:?}");
        };
        let said = match &outcome.outcome {
            cel::Outcome::Holds => "holds",
            cel::Outcome::Violated(_) => "broken",
            cel::Outcome::Failed(_) => "fails",
            cel::Outcome::Unknown(_) => "unknown",
        };
        if said != verdict {
            wrong.push(format!("{case}\n    {outcome:?}"));
        }
    }
    assert!(wrong.is_empty(), "these are not:\n{}", wrong.join("\n"));
}

#[test]
fn rules_judge_values_at_all_depths_and_updates() {
    let schema = json!({"type": "object", "properties": {
        "list": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": {
            "type": "object",
            "properties": {"k": {"type": "string"}, "n": {"type": "integer"}},
            "x-kubernetes-validations": [{"rule": "self.n >= oldSelf.n", "messageExpression": "self.k + ' shrinks'"}],
        }},
        "map": {"type": "object", "additionalProperties": {
            "type": "integer", "x-kubernetes-validations": [{"rule": "self > 0"}],
        }},
    }});
    let value = json!({"list": [{"k": "new", "n": 1}, {"k": "a", "n": 1}], "map": {"x": 0}});
    let old = json!({"list": [{"k": "a", "n": 2}]});
    let said = |old: Option<&Json>| -> Vec<(String, cel::Outcome)> {
        let outcomes = evaluate(&schema, &value, old).into_iter();
        outcomes
            .map(|outcome| (outcome.value.to_string(), outcome.outcome))
            .collect()
    };
    let map = (
        "map[x]".to_string(),
        cel::Outcome::Violated("failed rule: self > 0".to_string()),
    );
    assert_eq!(said(None), std::slice::from_ref(&map));
    let shrinks = cel::Outcome::Violated("a shrinks".to_string());
    assert_eq!(said(Some(&old)), [("list[1]".to_string(), shrinks), map]);
}

#[test]
fn objects_and_lists_are_compared_as_a_whole() {
    let text = json!({"type": "string"});
    let schema = |type_: Json| {
        json!({"type": "object", "properties": {"x": type_, "y": text}, "x-kubernetes-validations": [{
            "rule": "!has(self.x) || self.x == oldSelf.x",
        }]})
    };
    let object = json!({"type": "object", "properties": {"a": text, "b": {"type": "array", "items": text}}});
    let time = json!({"type": "object", "properties": {"at": {"type": "string", "format": "date-time"}}});
    let set = json!({"type": "array", "x-kubernetes-list-type": "set", "items": text});
    let dashed = json!({"type": "object", "properties": {"a-b": text}});
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    for (type_, is, was, verdict) in [
        (
            &object,
            json!({"a": "1", "b": ["2"]}),
            json!({"a": "1", "b": ["2"]}),
            "holds",
        ),
        (&object, json!({"a": "1"}), json!({"a": "2"}), "broken"),
        (
            &object,
            json!({"b": ["1", "2"]}),
            json!({"b": ["2", "1"]}),
            "broken",
        ),
        (&object, json!({"a": "1"}), json!({"a": "1", "b": []}), "broken"),
        // A time can be written in two ways.
        (
            &time,
            json!({"at": "2020-01-01T00:00:00Z"}),
            json!({"at": "2020-01-01T00:00:00Z"}),
            "holds",
        ),
        (
            &time,
            json!({"at": "2020-01-01T00:00:00Z"}),
            json!({"at": "2020-01-01T01:00:00+01:00"}),
            "holds",
        ),
        (&set, json!(["1", "2"]), json!(["1", "2"]), "holds"),
        (&set, json!(["1", "2"]), json!(["2", "1"]), "holds"),
        (&open, json!({"any": 1}), json!({"any": 1}), "holds"),
        (&open, json!({"any": 1}), json!({"any": 2}), "broken"),
        (&dashed, json!({"a-b": "1"}), json!({"a-b": "2"}), "broken"),
        (&dashed, json!({"a-b": "1"}), json!({"a-b": "1"}), "holds"),
        (&object, json!({"a": null}), json!({"a": null}), "holds"),
    ] {
        let outcomes = evaluate(
            &schema(type_.clone()),
            &json!({"x": is}),
            Some(&json!({"x": was})),
        );
        let said = match &outcomes[0].outcome {
            cel::Outcome::Holds => "holds",
            cel::Outcome::Violated(_) => "broken",
            cel::Outcome::Failed(_) => "fails",
            cel::Outcome::Unknown(_) => "unknown",
        };
        assert_eq!(said, verdict, "{type_}: {is} {was} {outcomes:?}");
    }
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

#[test]
fn random_rules_are_judged_alike_each_time() {
    let mut state = 1_u64;
    let mut below = |bound: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    let (mut right, mut wrong) = (0, 0);
    for _ in 0..60 {
        let schema = random_rules::schema(&mut below);
        let value = random_values::value(&schema, &mut below);
        let found = problems(&schema);
        assert_eq!(found, problems(&schema));
        assert_eq!(evaluate(&schema, &value, None), evaluate(&schema, &value, None));
        wrong += found.len();
        // The last cost is the total.
        right += costs(&schema).len() - 1;
    }
    // Both must be frequent, so that comparisons with the API server are meaningful.
    assert!(right > 40 && wrong > 40, "{right} {wrong}");
}

#[test]
fn deep_and_long_expressions_are_no_danger() {
    let nested = |open: &str, inner: &str, close: &str, times: usize| {
        format!("{}{inner}{}", open.repeat(times), close.repeat(times))
    };
    for times in [100, 1_000, 20_000] {
        let expressions = [
            nested("(", "true", ")", times),
            nested("[", "true", "]", times),
            nested("{1:", "true", "}", times),
            nested("self.kind.all(x, ", "true", ")", times),
            nested("dyn(", "true", ")", times),
            nested("true ? true : ", "true", "", times),
            nested("!", "true", "", times),
            nested("! ", "true", "", times),
            nested("-", "1", " == 1", times),
            nested("true && ", "true", "", times),
            nested("1 + ", "1", " == 1", times),
            nested("true == ", "true", "", times),
            nested("self", "", ".kind", times),
            nested("self", "", "[0]", times),
            nested("self", "", ".size()", times),
            nested("[1]", "", ".map(x, x)", times),
            nested("[1].map(x, ", "x", ").sum()", times),
        ];
        for expression in expressions {
            let schema = json!({"type": "object", "x-kubernetes-validations": [{"rule": expression}]});
            problems(&schema);
            costs(&schema);
            evaluate(&schema, &json!({}), None);
        }
    }
}
