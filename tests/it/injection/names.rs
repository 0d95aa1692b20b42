//! Names that would not compile.

use crate::hostile_names::{kind, long, named};
use serde_json::{Value, json};

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
        assert_eq!(found, ["invalid-name"], "{field}");
        let found = good(&|vm| vm["spec"] = json!({field: {"type": "string", "rustName": "named"}}));
        assert_eq!(found, [""; 0], "{field}");
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
        let mut taken = kind(name, &["A", "B"]);
        let found = errors(&named("vm", vec![taken.clone()]));
        assert_eq!(found, ["name-collision"], "{name}");
        taken["resource"]["rustName"] = json!("Another");
        assert_eq!(errors(&named("vm", vec![taken])), [""; 0], "{name}");
    }
    let found = errors(&named("vm", vec![kind("vmPool", &["A", "B"])]));
    assert_eq!(found, ["invalid-name"]);
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
