//! Texts and names with a special meaning in generated files, under the compiler and on a real API server.

use crate::accept::lost;
use crate::cluster;
use crate::hostile_names::{kind, long, named};
use crate::hostile_texts::{VECTORS, generated, text_of, with_all_vectors};
use crate::operator::{Crate, files};
use crate::yaml::documents;
use serde_json::{Value, json};
use std::path::Path;

/// Descriptions whose crates have to compile, each with the name of its folder in the workspace.
pub fn compiled() -> [(&'static str, String); 3] {
    [
        ("names-of-generated-types", states_and_kinds_named_like_types()),
        ("names-of-no-identifier", fields_named_like_keywords()),
        ("hostile-texts", text_of(&with_all_vectors())),
    ]
}

/// The longest names, and those of one letter.
pub fn long_names() -> String {
    let (a, b, c) = (long('A', 63), long('B', 63), long('C', 63));
    // With the suffix `List`, the kind's name has 63 letters.
    let wide = kind(
        &long('K', 59),
        &[&a, &b, "S", &c, "T", "X1", "X10", "X9", "DeleteVM"],
    );
    let narrow = kind("K", &["A", &b, "DB"]);
    named(&long('o', 40).to_lowercase(), vec![wide, narrow])
}

fn states_and_kinds_named_like_types() -> String {
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
    let others = |kind: &str| -> Vec<&str> {
        states
            .iter()
            .copied()
            .filter(|state| !state.starts_with(kind))
            .collect()
    };
    let kinds = ["Machine", "Status", "Local", "Error"].map(|name| kind(name, &others(name)));
    named("aaa", kinds.into())
}

fn fields_named_like_keywords() -> String {
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
    named("zzz", vec![vm])
}

#[test]
fn hostile_texts_write_no_file_outside_of_the_crate() {
    let krate = Crate::untouched(&text_of(&with_all_vectors()));
    let written = files(krate.dir().parent().expect("the folder of the test"));
    let outside: Vec<_> = written.keys().filter(|path| !path.starts_with("crate")).collect();
    assert_eq!(outside, [Path::new("spec.yaml")]);
}

#[test]
fn the_api_server_reads_every_hostile_text_as_a_string() {
    let Some(cluster) = cluster::shared() else { return };
    let (_, plan) = generated(&with_all_vectors());
    let file = |name: &str| documents(plan.get(name).expect("generated").contents.as_bytes());
    let text = |name: &str| &plan.get(name).expect("generated").contents;
    cluster.apply(text("deploy/crd.yaml"), &[]);
    let crd = "crd/vessels.hostile.example.com";
    cluster.wait_established(&[crd]);
    cluster.apply(text("deploy/sample.yaml"), &[]);

    let get = |object: &str| -> Value {
        let json = cluster.kubectl(&["get", object, "--namespace", "default", "--output=json"]);
        serde_json::from_str(&json).expect("kubectl writes JSON")
    };
    let lost_crd = lost(&file("deploy/crd.yaml")[0], &get(crd), "");
    assert!(lost_crd.is_empty(), "{lost_crd:#?}");
    let sample = get("vessels.hostile.example.com/vessel-sample");
    for (at, vector) in VECTORS.iter().enumerate() {
        for field in ["field", "choice"] {
            assert_eq!(sample["spec"][format!("{field}{at}")], *vector);
        }
    }
    assert_eq!(sample["spec"]["any"], "");
    assert_eq!(sample["spec"]["empty"], "");
    assert_eq!(sample["spec"]["many"], json!(VECTORS));

    // Each value of the enum is accepted in an object.
    for vector in ["on", "yes", "null", "1e3", "0o7", "12:30", ""] {
        let mut object = file("deploy/sample.yaml")[0].clone();
        object["spec"]["any"] = vector.into();
        cluster.apply(&object.to_string(), &["--dry-run=server"]);
    }
}
