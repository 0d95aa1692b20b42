use super::FieldSet;
use serde_json::{Value as Json, json};

fn set(json: &Json) -> FieldSet {
    FieldSet::from_json(json).expect("a test has a valid set")
}

#[test]
fn what_is_read_is_written_again() {
    let json = json!({
        "f:a": {},
        "f:b": {".": {}, "k:{\"name\":\"x\",\"port\":80}": {".": {}, "f:name": {}}, "v:\"text\"": {}, "v:1.5": {}, "i:3": {}},
        "f:c": {"f:d": {"f:e": {}}},
    });
    assert_eq!(set(&json).to_json(), json);
    assert_eq!(
        set(&json!({"f:a": {}, "x:unknown": {}})),
        set(&json!({"f:a": {}}))
    );
    assert_eq!(
        set(&json!({"f:b": {}, "f:a": {}})).to_json().to_string(),
        r#"{"f:a":{},"f:b":{}}"#
    );
    for malformed in [
        json!({"f": {}}),
        json!({"k:{": {}}),
        json!({"i:x": {}}),
        json!({"f:a": 1}),
        json!([]),
    ] {
        assert!(FieldSet::from_json(&malformed).is_err(), "{malformed}");
    }
}

#[test]
fn sets_combine() {
    let (both, left, right) = (
        json!({"f:both": {}}),
        json!({"f:l": {"f:x": {}}}),
        json!({"f:r": {}}),
    );
    let a = set(&both).union(set(&left));
    let b = set(&both).union(set(&right));
    assert_eq!(
        a.clone().union(b.clone()),
        set(&both).union(set(&left)).union(set(&right))
    );
    assert_eq!(a.intersection(&b), set(&both));
    assert_eq!(a.difference(&b), set(&left));
    assert_eq!(set(&left).difference(&set(&json!({"f:l": {}}))), set(&left));
    assert!(
        set(&left)
            .recursive_difference(&set(&json!({"f:l": {}})))
            .is_empty()
    );
    assert_eq!(FieldSet::of(&[&["l", "x"]]), set(&left));
}

#[test]
fn paths_are_listed_level_by_level() {
    let paths = set(&json!({"f:a": {".": {}, "f:z": {}}, "f:b": {}})).paths();
    let texts: Vec<String> = paths.iter().map(|path| super::display_path(path)).collect();
    assert_eq!(texts, [".a", ".b", ".a.z"]);
}
