//! Tests the laws of conversions with objects and edits of a kind with three versions.
use super::*;
use serde_json::json;

fn versions() -> Versions {
    let path = |text: &str| -> Value {
        let steps = text.split('.').map(|step| match step {
            "*" => Value::Null,
            step => step.parse::<usize>().map_or_else(|_| step.into(), Value::from),
        });
        steps.collect()
    };
    let of = |version: Value| serde_json::from_value(version).expect("versions");
    of(json!({
        "group": "shops.example.com",
        "kind": "Shop",
        "stored": "v1",
        "newest": {"name": "v1", "spec": {"fields": {"rules": {"keys": ["name"]}}}},
        "older": [
            {"name": "v1beta1", "spec": {"fields": {"rules": {"keys": ["id"]}}}, "changes": [
                {"moved": {"from": path("spec.size"), "fromKept": 1, "to": path("spec.replicas"), "toKept": 1}},
                {"moved": {"from": path("spec.host"), "fromKept": 1, "to": path("spec.hosts.0"), "toKept": 1}},
                {"values": {"at": path("spec.mode"), "map": [["fast", "Turbo"], ["slow", "Eco"], ["slow", "Idle"]]}},
                {"added": {"at": path("spec.tls"), "default": false}},
                {"removed": {"at": path("spec.legacy")}},
                {"duration": {"at": path("spec.timeout"), "unit": "s"}},
                {"moved": {"from": path("spec.rules.*.id"), "fromKept": 3, "to": path("spec.rules.*.name"), "toKept": 3}},
                {"added": {"at": path("spec.rules.*.weight"), "default": 1}},
            ]},
            {"name": "v1alpha1", "spec": {"fields": {"rules": {"keys": ["id"]}}}, "changes": [
                {"moved": {"from": path("spec.cpu"), "fromKept": 1, "to": path("spec.limits.cpu"), "toKept": 1}},
                {"removed": {"at": path("spec.ancient"), "default": "x"}},
                {"added": {"at": path("spec.legacy")}},
            ]},
        ],
    }))
}

fn object(version: &str, spec: Value) -> Value {
    json!({
        "apiVersion": format!("shops.example.com/{version}"), "kind": "Shop",
        "metadata": {"name": "one", "labels": {"a": "b"}}, "spec": spec, "status": {"state": "Open"},
    })
}

fn objects() -> Vec<Value> {
    vec![
        object("v1", json!({})),
        object(
            "v1",
            json!({
                "replicas": 3, "hosts": ["a", "b", "c"], "mode": "Idle", "tls": true, "timeout": "1m30.5s", "limits": {"cpu": 1},
                "rules": [{"name": "x", "weight": 7}, {"name": "y", "weight": 1}],
            }),
        ),
        object(
            "v1",
            json!({"hosts": [], "limits": {}, "timeout": "0", "rules": [], "mode": "Turbo"}),
        ),
        object(
            "v1beta1",
            json!({"size": 1, "host": "a", "mode": "slow", "legacy": "l", "timeout": 5}),
        ),
        object(
            "v1beta1",
            json!({"legacy": null, "limits": {"cpu": 2}, "rules": [{"id": "x"}, {"id": "y"}]}),
        ),
        object(
            "v1alpha1",
            json!({"cpu": 2, "ancient": "old", "size": 4, "rules": [{"id": "x"}]}),
        ),
        object("v1alpha1", json!({})),
    ]
}

fn convert(object: &Value, version: &str) -> Value {
    let to = format!("shops.example.com/{version}");
    versions()
        .convert(object.clone(), &to, &|_, _, value| Ok(value))
        .expect("a version")
}

const ALL: [&str; 3] = ["v1", "v1beta1", "v1alpha1"];

/// All objects, in each version.
fn everywhere() -> impl Iterator<Item = (Value, &'static str)> {
    objects()
        .into_iter()
        .flat_map(|object| ALL.map(|version| (object.clone(), version)))
}

fn version_of(object: &Value) -> String {
    object["apiVersion"]
        .as_str()
        .expect("a version")
        .rsplit('/')
        .next()
        .expect("it has one")
        .to_owned()
}

#[test]
fn an_object_that_returns_is_as_it_was() {
    for (object, version) in everywhere() {
        let there = convert(&object, version);
        assert_eq!(convert(&there, &version_of(&object)), object, "by {there:#}");
        // It may be stored in a third version in between.
        for stored in ALL {
            let read = convert(&convert(&there, stored), version);
            assert_eq!(read, there, "stored as {stored}");
        }
    }
}

#[test]
fn nothing_but_the_annotation_and_the_spec_changes() {
    for (object, version) in everywhere() {
        let mut there = convert(&object, version);
        assert_eq!(there["apiVersion"], format!("shops.example.com/{version}"));
        let metadata = there["metadata"].as_object_mut().expect("it had some");
        if let Some(annotations) = metadata.remove("annotations") {
            let keys: Vec<&String> = annotations.as_object().expect("texts").keys().collect();
            assert_eq!(keys, ["shops.example.com/conversion-data"]);
        }
        assert_eq!(there["metadata"], object["metadata"]);
        assert_eq!(there["status"], object["status"]);
    }
}

#[test]
fn an_edit_wins_and_the_rest_is_as_before() {
    // The edited version, the field, its new value, and the expected change of the newest object.
    for (version, pointer, new, expected, value) in [
        ("v1beta1", "/spec/size", json!(9), "/spec/replicas", json!(9)),
        (
            "v1beta1",
            "/spec/host",
            json!("z"),
            "/spec/hosts",
            json!(["z", "b", "c"]),
        ),
        ("v1beta1", "/spec/host", Value::Null, "/spec/hosts", Value::Null),
        (
            "v1beta1",
            "/spec/mode",
            json!("fast"),
            "/spec/mode",
            json!("Turbo"),
        ),
        (
            "v1beta1",
            "/spec/timeout",
            json!(91),
            "/spec/timeout",
            json!("91s"),
        ),
        (
            "v1beta1",
            "/spec/rules/0/id",
            json!("z"),
            "/spec/rules/0",
            json!({"name": "z", "weight": 1}),
        ),
        (
            "v1alpha1",
            "/spec/cpu",
            json!(5),
            "/spec/limits",
            json!({"cpu": 5}),
        ),
        ("v1alpha1", "/spec/cpu", Value::Null, "/spec/limits", Value::Null),
    ] {
        let newest = &objects()[1];
        let mut edited = convert(newest, version);
        let (above, name) = pointer.rsplit_once('/').expect("a field");
        let fields = edited
            .pointer_mut(above)
            .and_then(Value::as_object_mut)
            .expect("an object");
        match new.is_null() {
            true => drop(fields.remove(name)),
            false => drop(fields.insert(name.to_owned(), new)),
        }
        let mut wanted = newest.clone();
        let (above, name) = expected.rsplit_once('/').expect("a field");
        match (wanted.pointer_mut(above), value) {
            (Some(Value::Object(fields)), Value::Null) => drop(fields.remove(name)),
            (Some(above), value) => match name.parse::<usize>() {
                Ok(at) => above[at] = value,
                Err(_) => above[name] = value,
            },
            (None, _) => panic!("no {above}"),
        }
        // The annotation may still have data that the edit has superseded.
        let mut back = convert(&edited, "v1");
        back["metadata"]
            .as_object_mut()
            .expect("it had some")
            .remove("annotations");
        assert_eq!(back, wanted, "{version} {pointer}");
    }
}

#[test]
fn every_object_has_an_answer() {
    for object in [
        json!({"apiVersion": "shops.example.com/v1", "kind": "Shop"}),
        json!({"apiVersion": "shops.example.com/v1", "spec": null, "metadata": null}),
        json!({"apiVersion": "shops.example.com/v1beta1", "spec": {"host": {"a": 1}, "rules": {"a": 1}, "timeout": "x"}}),
        json!({"apiVersion": "shops.example.com/v1", "spec": {"hosts": "a", "limits": [1], "rules": [1, null, {}]}}),
        json!({"apiVersion": "shops.example.com/v1", "spec": [], "metadata": {"annotations": {"shops.example.com/conversion-data": 7}}}),
        json!({"apiVersion": "shops.example.com/v1", "metadata": {"annotations": {"shops.example.com/conversion-data": "{\"v1beta1\": 7}"}}}),
    ] {
        for version in ALL {
            let there = convert(&object, version);
            assert_eq!(there["apiVersion"], format!("shops.example.com/{version}"));
        }
    }
    let unknown =
        |from: &str, to: &str| versions().convert(json!({"apiVersion": from}), to, &|_, _, value| Ok(value));
    assert!(unknown("shops.example.com/v2", "shops.example.com/v1").is_err());
    assert!(unknown("shops.example.com/v1", "shops.example.com/v2").is_err());
    assert!(unknown("example.com/v1", "shops.example.com/v1").is_err());
}

#[test]
fn durations_are_counted_in_whole_units() {
    let spec = |timeout: &str| {
        convert(&object("v1", json!({"timeout": timeout})), "v1beta1")["spec"]["timeout"].clone()
    };
    for (text, seconds) in [
        ("0", 0),
        ("90s", 90),
        ("1h1m1s", 3661),
        ("1.5m", 90),
        ("999ms", 0),
        (".5h", 1800),
        ("2us", 0),
    ] {
        assert_eq!(spec(text), json!(seconds), "{text}");
    }
}

#[test]
fn what_is_too_long_to_ride_is_not_written_and_stays_readable() {
    let try_convert = |object: &Value, version: &str| {
        versions().convert(
            object.clone(),
            &format!("shops.example.com/{version}"),
            &|_, _, value| Ok(value),
        )
    };
    let long = "x".repeat(LONGEST);
    // `v1`, the storage version, cannot hold `legacy`.
    let refused = try_convert(&object("v1beta1", json!({"legacy": long})), "v1").expect_err("too long");
    assert!(
        refused.contains("128 KiB of data that v1 cannot hold"),
        "{refused}"
    );
    // The older versions cannot hold the second host.
    let stored = object("v1", json!({"hosts": ["a", long]}));
    for version in ["v1beta1", "v1alpha1"] {
        let read = try_convert(&stored, version).expect("it can be read");
        assert_eq!(
            read["metadata"]["annotations"]["shops.example.com/conversion-data"],
            INCOMPLETE
        );
        let refused = try_convert(&read, "v1").expect_err("the second host would be lost");
        assert!(refused.contains("use v1"), "{refused}");
    }
    let oldest = try_convert(&try_convert(&stored, "v1beta1").expect("one"), "v1alpha1").expect("two");
    assert!(try_convert(&oldest, "v1").is_err(), "the mark stays");
}

/// Stored objects have the annotation under its former name until they are written again.
#[test]
fn the_annotation_is_read_under_its_former_name() {
    for (object, version) in everywhere() {
        let back = |there: &Value| convert(there, &version_of(&object));
        let there = convert(&object, version);
        let mut former = there.clone();
        let annotations = former.pointer_mut("/metadata/annotations");
        if let Some(annotations) = annotations.and_then(Value::as_object_mut) {
            let data = annotations.remove("shops.example.com/conversion-data");
            annotations.insert("shops.example.com/held".to_owned(), data.expect("the only one"));
        }
        assert_eq!(back(&former), back(&there));
    }
}

/// A function that refuses or panics leaves a fallback and an error, and no data is lost.
#[test]
fn a_function_that_fails_loses_nothing() {
    let versions: Versions = serde_json::from_value(json!({
        "group": "shops.example.com", "kind": "Shop", "stored": "v1", "newest": {"name": "v1"},
        "older": [{"name": "v1beta1", "changes": [
            {"custom": {"at": ["spec", "selector"], "function": "f", "newer": {"key": "x"}, "older": "x"}},
        ]}],
    }))
    .expect("versions");
    let old = object("v1beta1", json!({"selector": "a=b"}));
    let fail: &Functions<'_> = &|_, direction, _| match direction {
        Direction::Up => panic!("a=b"),
        Direction::Down => Err("no".to_owned()),
    };
    let to = |object: &Value, version: &str| {
        let to = format!("shops.example.com/{version}");
        versions.convert(object.clone(), &to, fail).expect("a version")
    };
    let new = to(&old, "v1");
    assert_eq!(new["spec"]["selector"], json!({"key": "x"}));
    let failed = versions.failed(&new);
    assert_eq!(failed["v1beta1"][".spec.selector"], "the function panicked");
    assert_eq!(to(&new, "v1beta1"), old);
}
