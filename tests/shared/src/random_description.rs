//! Random descriptions that use every key and every type of the language: valid by construction, apart from the values
//! that `Size::risks` adds. They are a fixture of tests.

mod foreign;
mod kind;
mod leaves;
mod machine;
mod mutate;
mod names;
mod resource;
mod rules;
mod schema;

use krator::model::Extra;
use krator::names::{HANDLER_IMPORTS, TYPE_IMPORTS};
use serde_json::{Map, Value, json};

use crate::dice::Dice;
pub use leaves::KUBERNETES;
pub use mutate::mutate;
use names::Names;
use schema::Schemas;

/// The maximum size of a description.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    /// The maximum number of kinds.
    pub kinds: usize,
    /// The maximum number of named types.
    pub types: usize,
    /// The maximum number of fields of an object.
    pub fields: usize,
    /// The maximum nesting of lists, maps and objects.
    pub depth: usize,
    /// The maximum number of states of a kind.
    pub states: usize,
    /// The number of changes that may break the description.
    pub risks: usize,
}

impl Size {
    /// One kind with few fields, for tests that try many.
    pub const SMALL: Size = Size {
        kinds: 1,
        types: 3,
        fields: 4,
        depth: 2,
        states: 3,
        risks: 0,
    };
    /// Several kinds with many fields and states.
    pub const LARGE: Size = Size {
        kinds: 3,
        types: 9,
        fields: 9,
        depth: 4,
        states: 40,
        risks: 0,
    };
}

/// A description: one mapping for each of its documents.
#[derive(Debug, Clone, PartialEq)]
pub struct Documents(pub Vec<Value>);

impl Documents {
    /// A random description.
    pub fn random(dice: &mut Dice, size: Size) -> Documents {
        let mut schemas = Schemas::new(size);
        let mut names = Names::default();
        for taken in RESERVED.concat() {
            names.take(taken);
        }
        let types = dice.below(size.types + 1);
        schemas.named_types(types, &mut names, dice);
        let count = 1 + dice.below(size.kinds);
        let mut described = Vec::new();
        let mut documents = Vec::new();
        for at in 0..count {
            let mut document = Map::from_iter([("krator".to_owned(), json!(1))]);
            if at == 0 && dice.one_in(2) {
                document.insert(
                    "operator".into(),
                    json!(*dice.among(&["moose-tracker", "a", "k8s-9-lives"])),
                );
            }
            if at == 0 && dice.one_in(3) {
                document.insert("deploy".into(), deploy(dice));
            }
            document.extend(kind::kind(size, &mut schemas, &names, &mut described, dice));
            if dice.one_in(6) {
                document.insert("webhooks".into(), webhooks(dice));
            }
            if at == 0 && !schemas.named.is_empty() {
                let types = schemas
                    .named
                    .iter()
                    .map(|(name, drawn)| (name.clone(), drawn.node.clone()));
                document.insert("types".into(), Value::Object(types.collect()));
            }
            documents.push(Value::Object(document));
        }
        let mut documents = Documents(documents);
        for _ in 0..size.risks {
            mutate(&mut documents, dice);
        }
        documents
    }

    /// The description as text: one line for each key of a document, and for each field, type and state.
    pub fn text(&self) -> String {
        let documents: Vec<String> = self.0.iter().map(document_text).collect();
        documents.join("---\n")
    }
}

/// A random description as text.
pub fn describe(dice: &mut Dice, size: Size) -> String {
    Documents::random(dice, size).text()
}

/// Names that generated code uses itself, which is a finding. Names that differ only in case are left out, too.
const RESERVED: &[&[&str]] = &[
    HANDLER_IMPORTS,
    TYPE_IMPORTS,
    &[
        "GRAPH", "STATES", "Self", "Mod", "Con", "Aux", "Nul", "Prn", "Super", "Crate",
    ],
];

fn webhooks(dice: &mut Dice) -> Value {
    let mut validate = json!({"operations": ["create", "update"], "timeout": "5s"});
    if dice.one_in(2) {
        validate["operations"] = json!(["update", "delete"]);
        validate["failurePolicy"] = json!("Ignore");
    }
    if dice.one_in(2) {
        let expression = "request.operation == 'DELETE' || object.metadata.name != 'herd'";
        validate["matchConditions"] = json!([{"name": "not-the-herd", "expression": expression}]);
    }
    match dice.below(3) {
        0 => json!({"validate": validate}),
        1 => json!({"mutate": {}}),
        _ => json!({"validate": validate, "mutate": {"failurePolicy": "Ignore"}}),
    }
}

fn deploy(dice: &mut Dice) -> Value {
    let mut deploy = json!({"resources": {"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"memory": "128Mi", "example.com/gpu": 1}}});
    // No key has its own random numbers: each new one would change the results of all later ones.
    let has_namespaces = dice.one_in(2);
    if has_namespaces {
        deploy["namespaces"] = json!(["forest", "marsh"]);
    } else {
        deploy["events"] = json!("warnings");
        deploy["migrate"] = json!(true);
        deploy["runbook"] = json!("https://git.example.com/zoo/docs/runbook.md");
        deploy["image"] = json!("localhost:5000/acme/zoo:1.2.0");
        deploy["nodeSelector"] = json!({"kubernetes.io/arch": "arm64", "on": "true"});
        deploy["tolerations"] = json!([{"key": "example.com/zoo", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60}]);
    }
    if dice.one_in(4) {
        deploy["replicas"] = json!(2);
        deploy["certificates"] = json!("mounted");
        deploy["args"] = json!(["--log-format=json", "--selector=a in (b, {{c}})"]);
        deploy["env"] = json!([
            {"name": "RUST_LOG", "value": "{{ .Values.x }}\n- not: a list\n"},
            {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "zoo", "key": "token", "optional": true}}},
        ]);
        deploy["affinity"] = json!({"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 1, "podAffinityTerm": {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"control-plane": "zoo"}}}},
        ]}});
    } else if has_namespaces {
        deploy["leaderElection"] = json!(false);
    }
    for extra in Extra::ALL {
        if dice.one_in(2) {
            deploy[extra.key()] = json!(true);
        }
    }
    deploy
}

fn document_text(document: &Value) -> String {
    let mut text = String::new();
    for (key, value) in document.as_object().into_iter().flatten() {
        match value {
            Value::Object(entries) if !entries.is_empty() => {
                text += &format!("{key}:\n");
                for (name, entry) in entries {
                    text += &format!("  {}: {}\n", in_ascii(&json!(name)), in_ascii(entry));
                }
            }
            value => text += &format!("{key}: {}\n", in_ascii(value)),
        }
    }
    text
}

/// A value as JSON, which is YAML, too.
fn in_ascii(value: &Value) -> String {
    crate::hostile_texts::text_of(value)
}
