//! The expected results in `testdata/patches.json` are those of the Go libraries, `strategicpatch` of
//! `k8s.io/apimachinery` 0.36.3 and `gopkg.in/evanphx/json-patch.v4`.

use super::*;
use crate::types::{Type, Types};
use serde_json::json;

/// The changes from one object to another, as a merge patch that names removed fields.
fn changes(old: &Json, new: &Json) -> Json {
    let (Json::Object(old_map), Json::Object(new_map)) = (old, new) else {
        return new.clone();
    };
    let mut out = Map::new();
    for (key, value) in new_map {
        match old_map.get(key) {
            Some(old) if old == value => {}
            Some(old) => {
                out.insert(key.clone(), changes(old, value));
            }
            None => {
                out.insert(key.clone(), value.clone());
            }
        }
    }
    for key in old_map.keys().filter(|key| !new_map.contains_key(*key)) {
        out.insert(key.clone(), json!("<removed>"));
    }
    Json::Object(out)
}

fn apply(kind: &str, live: &Json, patch: &Json, type_: &Type) -> Result<Json, Refusal> {
    match kind {
        "strategic" => strategic_merge_patch(live, patch, type_),
        "json" => json_patch(live, patch),
        _ => merge_patch(live, patch),
    }
}

#[test]
fn patches_do_what_the_go_libraries_do() {
    let data: Json =
        serde_json::from_str(include_str!("../../testdata/patches.json")).expect("the cases are JSON");
    let types = Types::from_openapi(std::slice::from_ref(&data));
    let type_ = types
        .find("apps", "v1", "Deployment")
        .expect("the excerpt has the kind");
    let live = &data["live"];
    let mut wrong = Vec::new();
    for case in data["cases"].as_array().expect("there are cases") {
        let kind = case["kind"].as_str().unwrap_or_default();
        let answer = match apply(kind, live, &case["patch"], type_) {
            Ok(object) => json!({"changes": changes(live, &object)}),
            // The API server gives no details about a failed JSON patch.
            Err(refusal) if kind == "json" => json!({"code": refusal.code}),
            Err(refusal) => json!({"code": refusal.code, "message": refusal.message}),
        };
        if answer != case["expect"] {
            wrong.push(format!(
                "{kind}, {}: {answer}\ninstead of {}",
                case["name"], case["expect"]
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn malformed_patches_are_refused_as_go_decodes_them() {
    let live = json!({"a": 1});
    for patch in [json!({}), json!([1])] {
        assert_eq!(
            json_patch(&live, &patch).expect_err("a malformed patch").code,
            400
        );
    }
    let no_map =
        "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}";
    for (patch, message) in [(json!([]), no_map), (Json::Null, "Invalid JSON Patch")] {
        let refused = merge_patch(&live, &patch).expect_err("a malformed patch");
        assert_eq!((refused.code, refused.message.as_str()), (400, message));
    }
    let long = vec![json!({"op": "test", "path": "/a", "value": 1}); 10_001];
    assert_eq!(
        json_patch(&live, &Json::from(long))
            .expect_err("too many operations")
            .code,
        413
    );
}
