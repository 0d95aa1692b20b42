//! Random types without nested types.

use super::schema::{Drawn, Shape};
use crate::dice::Dice;
use crate::random_value::decimal;
use serde_json::{Value, json};

const PATTERNS: &[(&str, &str)] = &[
    ("^[a-z]+$", "moose"),
    ("^[A-Z]{2}[0-9]+$", "AB12"),
    (r"^([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}$", "aa:bb:cc:dd:ee:ff"),
    (r"^(([0-9]+(s|m|h))+|Never)$", "1h30m"),
    (r"^[^/]+$", "name"),
    (r"^v[0-9]+(alpha|beta)?$", "v1beta"),
    (r"^\d{4}-\d{2}$", "2030-01"),
    (r"^(?i)true|false$", "true"),
    (r"^\w+([.-]\w+)*$", "a.b-c"),
    (r"^$|^x{2}$", "xx"),
    (r"^.*$", "any"),
    (r"\S", "x"),
];

/// Formats of strings that the API server checks, each with a value; the last two are unknown to it.
const FORMATS: &[(&str, &str)] = &[
    ("byte", "a3JhdG9y"),
    ("cidr", "192.0.2.0/24"),
    ("date", "2030-01-01"),
    ("date-time", "2030-01-01T00:00:00Z"),
    ("duration", "1h"),
    ("hostname", "example.com"),
    ("ipv4", "192.0.2.1"),
    ("ipv6", "2001:db8::1"),
    ("mac", "00:00:5e:00:53:01"),
    ("uri", "https://example.com"),
    ("uuid", "123e4567-e89b-42d3-a456-426614174000"),
    ("password", "secret"),
    ("k8s-short-name", "moose"),
];

/// Values of an `enum`. Several have the same name in Rust.
const WORDS: &[&str] = &[
    "female",
    "male",
    "raw",
    "RAW",
    "Raw",
    "r-a-w",
    "live-iso",
    "liveIso",
    "LiveIso",
    "",
    " ",
    "!",
    "?",
    "12:30",
    "self",
    "Self",
    "super",
    "crate",
    "type",
    "None",
    "Some",
    "Ok",
    "Err",
    "Default",
    "Clone",
    "true",
    "false",
    "null",
    "~",
    "on",
    "yes",
    "1",
    "01",
    "1e3",
    "0o7",
    "-1",
    "a b",
    "a.b",
    "a/b",
    "Empty",
    "Other",
    "V1",
    "SelfValue",
    "Raw2",
    "Always",
    "Never",
    "IfNotPresent",
    "\"",
    "\\",
    "'",
    "ünïcode",
    "ﬁ",
    "字",
];

/// Small types of Kubernetes, each with a value, which is `null` if no accepted value is known.
pub const KUBERNETES: &[(&str, &str)] = &[
    ("core/v1.LocalObjectReference", r#"{"name":"a"}"#),
    ("core/v1.Toleration", r#"{"key":"a","operator":"Exists"}"#),
    ("core/v1.Taint", r#"{"effect":"NoSchedule","key":"a"}"#),
    ("core/v1.ResourceRequirements", r#"{"limits":{"cpu":"1"}}"#),
    ("core/v1.SecretKeySelector", r#"{"key":"a","name":"b"}"#),
    ("core/v1.EnvVar", r#"{"name":"A"}"#),
    ("core/v1.ObjectReference", "{}"),
    ("core/v1.HTTPGetAction", r#"{"port":80}"#),
    ("core/v1.ServicePort", r#"{"port":80}"#),
    ("core/v1.NodeSelectorTerm", "{}"),
    ("core/v1.SecurityContext", "{}"),
    ("meta/v1.LabelSelector", r#"{"matchLabels":{"a":"b"}}"#),
    ("meta/v1.ObjectMeta", "null"),
    ("meta/v1.Condition", "null"),
    ("meta/v1.Time", "null"),
    ("meta/v1.MicroTime", "null"),
    ("meta/v1.OwnerReference", "null"),
    ("rbac.authorization.k8s.io/v1.PolicyRule", r#"{"verbs":["get"]}"#),
    ("apps/v1.DeploymentStrategy", r#"{"type":"Recreate"}"#),
    ("batch/v1.PodFailurePolicy", r#"{"rules":[]}"#),
    ("networking.k8s.io/v1.IngressBackend", "{}"),
    ("core/v1.ConfigMap", "null"),
];

pub fn limited_string(dice: &mut Dice) -> Drawn {
    match dice.below(3) {
        0 => {
            let least = dice.below(4);
            let value = "text";
            let node = json!({"type": "string", "minLength": least, "maxLength": 4 + dice.below(40)});
            Drawn::of(node, Shape::String, Some(json!(value)))
        }
        1 => {
            let (pattern, value) = *dice.among(PATTERNS);
            let mut node = json!({"type": "string", "pattern": pattern});
            if dice.one_in(3) {
                node["maxLength"] = json!(value.len() + 20);
            }
            Drawn::of(node, Shape::String, Some(json!(value)))
        }
        _ => {
            let (format, value) = *dice.among(FORMATS);
            // CEL has its own types for some formats.
            let shape = match format {
                "date-time" => Shape::DateTime,
                "byte" | "date" | "duration" => Shape::Other,
                _ => Shape::String,
            };
            Drawn::of(
                json!({"type": "string", "format": format}),
                shape,
                Some(json!(value)),
            )
        }
    }
}

pub fn enumeration(dice: &mut Dice) -> Drawn {
    let mut words: Vec<&str> = Vec::new();
    for _ in 0..1 + dice.below(8) {
        let word = if dice.one_in(8) {
            *dice.among(crate::hostile_texts::VECTORS)
        } else {
            *dice.among(WORDS)
        };
        if !words.contains(&word) {
            words.push(word);
        }
    }
    let value = *dice.among(&words);
    let mut node = json!({"enum": words});
    if dice.one_in(3) {
        node["type"] = json!("string");
    }
    Drawn::of(node, Shape::Enum, Some(json!(value)))
}

pub fn integer(dice: &mut Dice) -> Drawn {
    let kind = *dice.among(&["integer", "int32"]);
    let most: i64 = if kind == "int32" {
        i64::from(i32::MAX)
    } else {
        i64::MAX
    };
    let (node, value) = match dice.below(7) {
        0 => (json!({"type": kind, "minimum": 0}), 3),
        1 => (
            json!({"type": kind, "minimum": -5, "maximum": 5, "exclusiveMaximum": true}),
            -5,
        ),
        2 => (
            json!({"type": kind, "minimum": 0, "exclusiveMinimum": true, "multipleOf": 5}),
            5,
        ),
        3 => (json!({"type": kind, "enum": [1, 2, 4]}), 2),
        4 => (json!({"type": kind, "maximum": 1e6}), 0),
        5 => (
            json!({"type": "integer", "format": *dice.among(&["int32", "int64"])}),
            7,
        ),
        _ => (json!(kind), *dice.among(&[0, -1, 42, most / 3])),
    };
    Drawn::of(node, Shape::Integer, Some(json!(value)))
}

pub fn number(dice: &mut Dice) -> Drawn {
    let (node, value) = match dice.below(6) {
        0 => (json!({"type": "number", "minimum": 0}), json!(0.5)),
        1 => (
            json!({"type": "number", "minimum": -1.5, "maximum": 2.5, "exclusiveMinimum": true}),
            json!(2),
        ),
        2 => {
            let step = *dice.among(&[0.5, 0.01, 0.1, 0.3, 0.007, 2.5]);
            // The API server parses a step without decimals as an integer.
            let value = decimal(step, dice.below(400) as f64 - 200.0);
            let value = if value.fract() == 0.0 { step } else { value };
            (json!({"type": "number", "multipleOf": step}), json!(value))
        }
        3 => (json!({"type": "number", "enum": [0.5, 1, 2.25]}), json!(1)),
        4 => (
            json!({"type": "number", "format": *dice.among(&["double", "float"])}),
            json!(0.25),
        ),
        _ => (
            json!("number"),
            dice.among(&[json!(300), json!(-0.5), json!(1e30), json!(0)])
                .clone(),
        ),
    };
    Drawn::of(node, Shape::Number, Some(value))
}

pub fn int_or_string(dice: &mut Dice) -> Drawn {
    let node = if dice.one_in(3) {
        json!({"x-kubernetes-int-or-string": true})
    } else {
        json!("int-or-string")
    };
    Drawn::of(
        node,
        Shape::Other,
        Some(dice.among(&[json!("25%"), json!(3)]).clone()),
    )
}

pub fn free_form(dice: &mut Dice) -> Drawn {
    match dice.below(5) {
        0 => Drawn::of(
            "any",
            Shape::Other,
            Some(
                dice.among(&[json!({}), json!(1), json!("a"), json!([true])])
                    .clone(),
            ),
        ),
        1 => {
            let node = json!({"type": "object", "x-kubernetes-embedded-resource": true});
            let value = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
            Drawn::of(node, Shape::Other, Some(value))
        }
        2 => {
            let node = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
            Drawn::of(node, Shape::Other, Some(json!({"a": {"b": 1}})))
        }
        3 => Drawn::of(
            json!({"x-kubernetes-preserve-unknown-fields": true}),
            Shape::Other,
            Some(json!({"a": 1})),
        ),
        _ => Drawn::of("object", Shape::Other, Some(json!({"a": 1}))),
    }
}

pub fn kubernetes(dice: &mut Dice) -> Drawn {
    if dice.one_in(12) {
        let is_usable = |reference: &&str| {
            // These expand to thousands of values, and the schemas of resource definitions are recursive.
            ![
                "Pod",
                "Deployment",
                "Set",
                "Job",
                "Replica",
                "JSON",
                "CustomResource",
                "List",
            ]
            .iter()
            .any(|word| reference.contains(word))
        };
        let usable: Vec<&str> = krator::model::kubernetes::references()
            .filter(is_usable)
            .collect();
        let reference = dice.among(&usable).to_string();
        return Drawn::of(reference, Shape::Other, None);
    }
    let (reference, value) = *dice.among(KUBERNETES);
    let value: Value = serde_json::from_str(value).expect("JSON");
    Drawn::of(reference, Shape::Other, (!value.is_null()).then_some(value))
}
