//! Definitions that the API server refuses, with its errors.

use serde_json::{Value as Json, json};

use super::{is_approval, validate_definition};
use crate::Definition;

/// The paths of the problems of a definition whose `spec` has one field.
fn problems(field: Json) -> Vec<String> {
    let definition = json!({
        "group": "animals.com",
        "scope": "Namespaced",
        "names": {"plural": "mooses", "kind": "Moose"},
        "versions": [{
            "name": "v1",
            "served": true,
            "storage": true,
            "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": {
                "type": "object",
                "properties": {"spec": {"type": "object", "properties": {"a": field}}},
            }},
        }],
    });
    let definition: Definition = serde_json::from_value(definition).expect("the definition is one of a CRD");
    let place = |path: String| {
        path.trim_start_matches("spec.validation.openAPIV3Schema.properties[spec].properties[a].")
            .to_string()
    };
    validate_definition(&definition, None)
        .into_iter()
        .map(|problem| format!("{}: {}", place(problem.path.to_string()), problem.detail))
        .collect()
}

#[test]
fn a_good_field_has_no_problems() {
    let field = json!({"type": "array", "items": {"type": "integer", "maximum": 3}, "default": [1, 2]});
    assert_eq!(problems(field), [""; 0]);
}

#[test]
fn defaults_are_checked_in_lists() {
    let field = json!({"type": "array", "items": {"type": "integer", "maximum": 3}, "default": [1, 5]});
    assert_eq!(problems(field), ["default[1]: should be less than or equal to 3"]);
}

#[test]
fn keys_of_a_list_map_are_fields_of_its_items() {
    let field = json!({
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["z"],
        "items": {"type": "object", "properties": {"k": {"type": "string"}}},
    });
    assert_eq!(
        problems(field),
        ["x-kubernetes-list-map-keys: entries must all be names of item properties"]
    );
}

#[test]
fn patterns_are_those_of_go() {
    let field = json!({"type": "string", "pattern": "[a--b]"});
    assert_eq!(
        problems(field),
        [
            "pattern: must be a valid regular expression, but isn't: error parsing regexp: invalid character class \
          range: `a--`"
        ]
    );
}

#[test]
fn defaults_keep_to_rules() {
    let rules = json!([{"rule": "self.size() < 3", "fieldPath": ".b", "reason": "FieldValueForbidden"}]);
    let field = json!({
        "type": "object",
        "properties": {"b": {"type": "string", "x-kubernetes-validations": [{"rule": "self != 'x'"}]}},
        "x-kubernetes-validations": rules,
        "default": {"b": "x"},
    });
    assert_eq!(
        problems(field),
        ["default.b: breaks a rule: failed rule: self != 'x'"]
    );
}

#[test]
fn an_approval_is_a_url_or_begins_with_unapproved() {
    for text in [
        "https://github.com/kubernetes/enhancements/pull/1111",
        "http://a",
        "x://:80/#b",
        "unapproved, experimental-only",
        "unapproved",
    ] {
        assert!(is_approval(text), "{text}");
    }
    for text in [
        "",
        "approved",
        "https://",
        "https:/a",
        "//a/b",
        "example.com/a",
        "https://a b/",
        "https://user@/",
    ] {
        assert!(!is_approval(text), "{text}");
    }
}
