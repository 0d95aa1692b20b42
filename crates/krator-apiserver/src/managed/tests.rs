//! The expected results in `testdata/managed.json` are those of the Go library, `managedfields` of
//! `k8s.io/apimachinery` 0.36.3, with `now` for times.

use super::*;
use crate::conversion::Converter;
use serde_json::json;

const NOW: &str = "2026-01-31T12:00:00Z";
const LATER: &str = "2026-01-31T13:00:00Z";

fn manager(name: &str, subresource: &str) -> Manager {
    Manager {
        name: name.to_owned(),
        api_version: "g/v1".to_owned(),
        subresource: subresource.to_owned(),
    }
}

fn fields(paths: &Json) -> FieldSet {
    let mut set = FieldSet::default();
    for path in paths.as_array().into_iter().flatten() {
        let path: Vec<&str> = path
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Json::as_str)
            .collect();
        set.add(FieldSet::of(&[&path]));
    }
    set
}

fn text<'a>(json: &'a Json, key: &str) -> &'a str {
    json[key].as_str().unwrap_or_default()
}

/// The result of a step, in the form of the expectations.
fn run(step: &Json, live: Option<&Json>, type_: &Type) -> Json {
    let by = manager(text(step, "manager"), text(step, "subresource"));
    let ignored = fields(&step["ignored"]);
    let object = &step["object"];
    let answer = match text(step, "op") {
        "apply" => apply(live, object, type_, &by, step["force"] == true, NOW, &ignored),
        _ => Ok(update(live, object.clone(), type_, &by, NOW, &ignored)),
    };
    match answer {
        Ok(object) => json!({"object": object}),
        Err(refusal) => json!({"code": refusal.code, "message": refusal.message}),
    }
}

/// The object with another time in the entries that have one.
fn replaced(object: &Json, from: &str, to: &str) -> Json {
    let mut object = object.clone();
    for entry in object
        .pointer_mut("/metadata/managedFields")
        .and_then(Json::as_array_mut)
        .into_iter()
        .flatten()
    {
        if entry["time"] == from {
            entry["time"] = json!(to);
        }
    }
    object
}

#[test]
fn managers_own_what_the_go_library_says() {
    let data: Json =
        serde_json::from_str(include_str!("../../testdata/managed.json")).expect("the cases are JSON");
    let type_ = Type::of_custom_resource(Some(&data["schema"]));
    let mut wrong = Vec::new();
    for case in data["cases"].as_array().expect("there are cases") {
        let mut live: Option<Json> = None;
        for (at, step) in case["steps"].as_array().into_iter().flatten().enumerate() {
            let mut answer = run(step, live.as_ref(), &type_);
            if let Some(object) = answer.get("object").cloned() {
                answer = json!({"object": replaced(&object, NOW, "now")});
                live = Some(object);
            }
            if answer != step["expect"] {
                wrong.push(format!(
                    "{}, step {at}:\n  {answer}\ninstead of\n  {}",
                    case["name"], step["expect"]
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn object(spec: Json) -> Json {
    json!({"apiVersion": "g/v1", "kind": "T", "metadata": {"name": "t"}, "spec": spec})
}

fn times(object: &Json) -> Vec<&str> {
    object["metadata"]["managedFields"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|entry| text(entry, "time"))
        .collect()
}

#[test]
fn a_manager_that_changes_nothing_keeps_its_time() {
    let type_ = Type::of_custom_resource(None);
    let none = FieldSet::default();
    let by = |name| manager(name, "");
    let config = object(json!({"a": 1, "b": 2}));
    let first = apply(None, &config, &type_, &by("m"), false, NOW, &none).expect("nobody owns anything");
    assert_eq!(times(&first), [NOW]);
    let same =
        apply(Some(&first), &config, &type_, &by("m"), false, LATER, &none).expect("the owner applies");
    assert_eq!(same, first);
    let mut patched = first.clone();
    patched["spec"]["b"] = json!(3);
    let updated = update(Some(&first), patched, &type_, &by("u"), LATER, &none);
    assert_eq!(times(&updated), [NOW, LATER]);
}

#[test]
fn only_a_change_of_times_is_undone() {
    let type_ = Type::of_custom_resource(None);
    let by = manager("m", "");
    let live = update(
        None,
        object(json!({"a": 1})),
        &type_,
        &by,
        NOW,
        &FieldSet::default(),
    );
    let mut newer = replaced(&live, NOW, LATER);
    keep_times(&live, &mut newer);
    assert_eq!(newer, live);
    let mut changed = replaced(&live, NOW, LATER);
    changed["spec"]["a"] = json!(2);
    keep_times(&live, &mut changed);
    assert_eq!(times(&changed), [LATER]);
}

#[test]
fn sets_follow_a_schema_that_becomes_atomic() {
    let schema = |kind: &str| {
        let map = json!({"type": "object", "x-kubernetes-map-type": kind, "additionalProperties": {"type": "string"}});
        let spec = json!({"type": "object", "properties": {"map": map}});
        json!({"type": "object", "properties": {"spec": spec}})
    };
    let (granular, atomic) = (schema("granular"), schema("atomic"));
    let (granular, atomic) = (
        Type::of_custom_resource(Some(&granular)),
        Type::of_custom_resource(Some(&atomic)),
    );
    let none = FieldSet::default();
    let config = object(json!({"map": {"a": "1"}}));
    let live =
        apply(None, &config, &granular, &manager("m", ""), false, NOW, &none).expect("nobody owns anything");
    let now = apply(
        Some(&live),
        &config,
        &atomic,
        &manager("n", ""),
        false,
        NOW,
        &none,
    )
    .expect("values are equal");
    for entry in now["metadata"]["managedFields"].as_array().expect("two managers") {
        assert_eq!(entry["fieldsV1"], json!({"f:spec": {"f:map": {}}}), "{entry}");
    }
}

#[test]
fn managers_in_other_versions_keep_their_fields_only_if_the_version_is_known() {
    let none = FieldSet::default();
    let v1 = Type::of_custom_resource(None);
    let by_v2 = Manager {
        api_version: "g/v2".to_owned(),
        ..manager("n", "")
    };
    let mut config = object(json!({"b": 1}));
    config["apiVersion"] = json!("g/v2");
    let live = apply(
        None,
        &object(json!({"a": 1})),
        &v1,
        &manager("m", ""),
        false,
        NOW,
        &none,
    )
    .expect("a new object");
    let mut live_in_v2 = live;
    live_in_v2["apiVersion"] = json!("g/v2");
    let managers = |type_: &Type| {
        let object = apply(Some(&live_in_v2), &config, type_, &by_v2, false, NOW, &none)?;
        Ok::<_, Refusal>(entries_of(&object).map(|entries| entries.len()))
    };
    // For builtin kinds, such managers are dropped. For custom resources, an apply fails.
    assert_eq!(managers(&v1).ok(), Some(Some(1)));
    let of_definition = |names: &[&str]| {
        let types = names.iter().map(|name| ((*name).to_owned(), v1.clone()));
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let converter = Converter::new(&json!({}), names, None);
        v1.clone().with_versions(types.collect(), converter)
    };
    assert_eq!(managers(&of_definition(&["g/v1", "g/v2"])).ok(), Some(Some(2)));
    let unknown = managers(&of_definition(&["g/v2"])).expect_err("a version that is not known");
    assert_eq!(
        (unknown.code, unknown.message.as_str()),
        (500, "request to convert CR to an invalid group/version: g/v1")
    );
}

#[test]
fn replicas_are_owned_in_the_object_and_in_its_scale() {
    let fields = ScaleFields {
        api_version: "apps/v1".to_owned(),
        replicas: [(
            "apps/v1".to_owned(),
            vec!["spec".to_owned(), "replicas".to_owned()],
        )]
        .into(),
    };
    let entry = |name: &str, version: &str, fields: Json| {
        json!({"manager": name, "operation": "Apply", "apiVersion": version, "time": NOW, "fieldsType": "FieldsV1",
               "fieldsV1": fields})
    };
    let replicas = || json!({"f:spec": {"f:replicas": {}}});
    let of_m = entry(
        "m",
        "apps/v1",
        json!({"f:spec": {"f:paused": {}, "f:replicas": {}}}),
    );
    let deployment = json!({"metadata": {"managedFields": [of_m]}});
    let scale = fields
        .to_scale(&deployment, &json!({"metadata": {}}))
        .expect("valid entries");
    assert_eq!(
        scale["metadata"]["managedFields"],
        json!([entry("m", "autoscaling/v1", replicas())])
    );
    let mut scaled = entry("n", "autoscaling/v1", replicas());
    scaled["subresource"] = json!("scale");
    let scale = json!({"metadata": {"managedFields": [scaled]}});
    let after = fields.to_object(&scale, &deployment).expect("valid entries");
    let mut of_n = entry("n", "apps/v1", replicas());
    of_n["subresource"] = json!("scale");
    of_n.as_object_mut().expect("an entry").shift_remove("time");
    let expected = json!([of_n, entry("m", "apps/v1", json!({"f:spec": {"f:paused": {}}}))]);
    assert_eq!(after["metadata"]["managedFields"], expected);
}

#[test]
fn a_configuration_has_to_be_of_the_kind() {
    let config = json!({"apiVersion": "v1", "kind": "Pod"});
    assert!(check_kind(&config, "v1", "Pod").is_ok());
    let refused = check_kind(&config, "v1", "Secret").expect_err("another kind");
    assert_eq!(
        (refused.code, refused.message.as_str()),
        (400, "invalid object type: /v1, Kind=Pod")
    );
}
