//! Names at the limits of what the language allows.

use super::text_of;
use crate::operator::{Crate, OWN_CHECKS};
use serde_json::{Map, Value, json};

/// A kind with these states in a row.
fn kind(name: &str, states: &[&str]) -> Value {
    let mut all = Map::new();
    for (at, state) in states.iter().enumerate() {
        let wait = if at % 2 == 0 {
            json!({"poll": "1s"})
        } else {
            json!({"watch": "self"})
        };
        let value = match states.get(at + 1) {
            Some(next) => json!({"next": [{"to": next, "when": "so it is"}], "wait": wait}),
            None => json!({"kind": "ready"}),
        };
        all.insert((*state).to_owned(), value);
    }
    all.insert("Gone".to_owned(), json!({"kind": "final"}));
    json!({
        "krator": 1,
        "resource": {"group": "edge.example.com", "version": "v1", "kind": name},
        "spec": {},
        "machine": {"initial": states[0], "deletion": "Gone"},
        "states": all,
    })
}

/// The description of an operator of that name with these kinds.
fn named(operator: &str, kinds: Vec<Value>) -> String {
    let mut kinds = kinds.into_iter();
    let first = kinds.next().expect("a kind");
    // The first document has the name of the operator.
    let mut text = json!({"krator": 1, "operator": operator});
    let fields = text.as_object_mut().expect("an object");
    fields.extend(first.as_object().expect("an object").clone());
    let rest = kinds.map(|kind| format!("\n---\n{}", text_of(&kind)));
    text_of(&text) + &rest.collect::<String>()
}

fn passes(description: &str) {
    Crate::untouched(description).cargo(OWN_CHECKS);
}

/// A name with that many letters.
fn long(first: char, letters: usize) -> String {
    std::iter::once(first)
        .chain("wordy".chars().cycle())
        .take(letters)
        .collect()
}

#[test]
fn long_names_and_names_of_one_letter_compile() {
    let (a, b, c) = (long('A', 63), long('B', 63), long('C', 63));
    // With the suffix `List` the name of the kind has 63 letters.
    let wide = kind(
        &long('K', 59),
        &[&a, &b, "S", &c, "T", "X1", "X10", "X9", "DeleteVM"],
    );
    let narrow = kind("K", &["A", &b, "DB"]);
    passes(&named(&long('o', 40).to_lowercase(), vec![wide, narrow]));
}

#[test]
fn states_and_kinds_named_like_types_of_generated_code_compile() {
    let states = [
        "Error",
        "Duration",
        "Policy",
        "Graph",
        "Retry",
        "Kind",
        "Node",
        "Machine",
        "Never",
        "Dispatch",
        "StateId",
        "Clone",
        "Copy",
        "Debug",
        "Default",
        "Send",
        "Fallible",
        "Status",
        "Spec",
        "Type",
        "Match",
        "Async",
        "Dyn",
        "Try",
        "Gen",
        "Union",
        "Static",
        "Ref",
        "Object",
        "Changes",
        "Arc",
        "Kube",
        "Serde",
        "Manifest",
        "MachineStatus",
        "ObjectStatus",
        "Serialize",
        "Deserialize",
        "CustomResource",
    ];
    // `aaa` is sorted before all packages of the lock file.
    let others = |kind: &str| -> Vec<&str> {
        states
            .iter()
            .copied()
            .filter(|state| !state.starts_with(kind))
            .collect()
    };
    let kinds = ["Machine", "Status", "Local", "Error"].map(|name| kind(name, &others(name)));
    passes(&named("aaa", kinds.into()));
}

#[test]
fn fields_named_like_keywords_or_unlike_rust_identifiers_compile() {
    let fields = [
        "type",
        "match",
        "async",
        "dyn",
        "try",
        "gen",
        "abstract",
        "fn",
        "impl",
        "macro_rules",
        "union",
        "static",
        "raw",
        "r",
        "_hidden",
        "with-dash",
        "camelCase",
        "URL",
        "x1",
        "A",
        "status",
        "spec",
        "metadata",
        "String",
        "Option",
        "machineStatus",
        "default",
        "clone",
        "api_version",
    ];
    let mut vm = kind("Vm", &["VmSpecChoice", "VmSpecType", "Vm2"]);
    for field in fields {
        vm["spec"][field] = json!({"type": "string", "optional": true, "description": "As said."});
    }
    vm["spec"][long('f', 63)] =
        json!({"type": "object", "properties": {long('g', 63): {"enum": ["a", "b"]}}});
    vm["spec"]["choice"] = json!({"enum": ["a", "A", "a-", "a b", "", "!", "1", "self", "Self", "super", "crate", "type", "Ok", "None", "Some", "String", "é"]});
    vm["spec"]["nested"] = json!({"properties": {"choice": {"enum": ["x"]}, "self1": {"enum": ["x", "X"]}}});
    vm["spec"]["nestedChoice"] = json!({"enum": ["y"]});
    vm["spec"]["named"] = "optional Debug".into();
    vm["spec"]["other"] = "optional list of Policy".into();
    vm["spec"]["third"] = "optional map of Graph".into();
    vm["types"] = json!({
        "Debug": {"properties": {"a": "string"}},
        "Policy": {"properties": {"a": "string"}},
        "Graph": {"properties": {"a": "string"}},
        "Clone": {"enum": ["Clone", "Copy"]},
    });
    vm["status"] =
        json!({"type": "string", "match": "optional string", "machine": "string", "with-dash": "integer"});
    // `zzz` is sorted after all packages of the lock file.
    passes(&named("zzz", vec![vm]));
}

/// The names of the errors that are found in a description.
fn errors(description: &str) -> Vec<&'static str> {
    let checked = krator::check("krator.yaml", description.as_bytes());
    let is_error =
        |finding: &&krator::finding::Finding| krator::finding::has_errors(std::slice::from_ref(*finding));
    checked
        .findings
        .iter()
        .filter(is_error)
        .map(|finding| finding.rule.name)
        .collect()
}

#[test]
fn names_that_would_not_compile_are_errors() {
    let good = |change: &dyn Fn(&mut Value)| {
        let mut vm = kind("Vm", &["A", "B"]);
        change(&mut vm);
        errors(&named("vm", vec![vm]))
    };
    assert_eq!(good(&|_| ()), [""; 0]);
    for state in [
        "Self",
        "Vec",
        "Option",
        "Ok",
        "Vm",
        "VmSpec",
        "VmStatus",
        "VmMachine",
        "VmState",
        "VmOperator",
        "Con",
        "NextOfA",
        "WaitOfA",
    ] {
        let found = errors(&named("vm", vec![kind("Vm", &["A", state])]));
        assert_eq!(found, ["name-collision"], "{state}");
    }
    for field in ["self", "Self", "super", "crate", "_"] {
        let found = good(&|vm| vm["spec"] = json!({field: "string"}));
        assert_eq!(found, ["name-collision"], "{field}");
    }
    for (one, other) in [("a-b", "a_b"), ("aB", "a_b"), ("URL", "url"), ("type", "Type")] {
        let found = good(&|vm| vm["spec"] = json!({one: "string", other: "string"}));
        assert_eq!(found, ["name-collision"], "{one} and {other}");
    }
    for name in ["Serialize", "Default", "Vec", "Vm", "VmSpec", "VmStatus"] {
        let found = good(&|vm| vm["types"] = json!({name: {"properties": {"a": "string"}}}));
        assert_eq!(found, ["name-collision"], "{name}");
    }
    for name in [
        "Object", "Operator", "Arc", "Context", "Shared", "Self", "Lib", "Con",
    ] {
        let found = errors(&named("vm", vec![kind(name, &["A", "B"])]));
        assert_eq!(found, ["name-collision"], "{name}");
    }
    let found = errors(&named("vm", vec![kind(&long('K', 60), &["A", "B"])]));
    assert_eq!(found, ["invalid-name"]);
    for name in [
        "std", "match", "deps", "kube", "build", "core", "tokio", "con", "serde", "x-", "-x", "1x", "X",
    ] {
        let found = errors(&named(name, vec![kind("Vm", &["A", "B"])]));
        assert!(
            matches!(found[..], ["name-collision" | "invalid-name"]),
            "{name}: {found:?}"
        );
    }
}
