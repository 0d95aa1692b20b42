use super::*;
use serde_json::json;

/// A definition with the versions `v1` and `v2`, whose webhook calls `made`.
fn converter(made: impl Fn(&Json) -> Result<Json, String> + Send + Sync + 'static) -> Converter {
    let spec = json!({"conversion": {"strategy": "Webhook"}});
    let convert: Arc<Convert> = Arc::new(move |object: &Json, to: &str| {
        let mut object = made(object)?;
        if object["apiVersion"] == "g/v1" {
            object["apiVersion"] = to.into();
        }
        Ok(object)
    });
    Converter::new(&spec, versions(), Some(&convert))
}

fn versions() -> BTreeSet<String> {
    ["g/v1", "g/v2"].map(str::to_owned).into()
}

fn object() -> Json {
    json!({
        "apiVersion": "g/v1",
        "kind": "Moose",
        "metadata": {"name": "a", "uid": "1", "labels": {"a": "b"}, "annotations": {"c": "d"}, "finalizers": ["x.y/z"]},
        "spec": {"size": 1},
    })
}

/// The converted object if the webhook replaces the value at a pointer.
fn replaced(pointer: &'static str, value: Json) -> Result<Json, String> {
    let converter = converter(move |object| {
        let mut object = object.clone();
        let (parent, key) = pointer.rsplit_once('/').expect("a pointer has a slash");
        object.pointer_mut(parent).expect("the parent is there")[key] = value.clone();
        Ok(object)
    });
    converter.convert(&object(), "g/v2")
}

#[test]
fn a_conversion_changes_the_object_its_labels_and_its_annotations_only() {
    let converted = replaced("/spec/size", json!("1m")).expect("a conversion");
    assert_eq!(converted["spec"], json!({"size": "1m"}));
    let converted = replaced("/metadata/labels", json!({"n": "m"})).expect("a conversion");
    assert_eq!(converted["metadata"]["labels"], json!({"n": "m"}));
    let converted = replaced("/metadata/annotations", Json::Null).expect("a conversion");
    assert_eq!(converted["metadata"].get("annotations"), None);
    let converted = replaced("/metadata/finalizers", json!([])).expect("a conversion");
    assert_eq!(converted["metadata"], object()["metadata"]);
}

#[test]
fn a_conversion_that_makes_another_object_fails() {
    let why = |pointer, value| replaced(pointer, value).expect_err("it is another object");
    let about = "conversion webhook for g/v1, Kind=Moose returned invalid";
    assert_eq!(
        why("/metadata/name", json!("b")),
        format!("{about} object: must have the same name: a != b")
    );
    assert_eq!(
        why("/metadata/uid", json!("2")),
        format!("{about} object: must have the same UID: 1 != 2")
    );
    assert_eq!(
        why("/kind", json!("Elk")),
        format!("{about} object at index 0: invalid kind (expected Moose, received Elk)")
    );
    assert_eq!(
        why("/apiVersion", json!("g/v3")),
        format!("{about} object at index 0: invalid groupVersion (expected g/v2, received g/v3)")
    );
    assert_eq!(
        why("/metadata/labels/a", json!(1)),
        format!("{about} metadata: metadata.labels[a] must be a string, but is int64 in converted object")
    );
    assert_eq!(
        why("/metadata", json!([])),
        format!("{about} object: must have the same name: a != ")
    );
}

#[test]
fn a_webhook_that_fails_or_is_not_there_says_so() {
    let failing = converter(|_| Err("no antlers".to_owned()));
    let why = failing.convert(&object(), "g/v2").expect_err("it fails");
    assert_eq!(why, "conversion webhook for g/v1, Kind=Moose failed: no antlers");
    let spec = json!({"conversion": {"strategy": "Webhook", "webhook": {"clientConfig": {
        "service": {"name": "w", "namespace": "n", "path": "/convert", "port": 443},
    }}}});
    let absent = Converter::new(&spec, versions(), None);
    let why = absent.convert(&object(), "g/v2").expect_err("nobody answers");
    assert_eq!(
        why,
        "conversion webhook for g/v1, Kind=Moose failed: Post \"https://w.n.svc:443/convert?timeout=30s\": service \"w\" \
         not found"
    );
    let spec = json!({"conversion": {"strategy": "Webhook", "webhook": {"clientConfig": {"url": "https://127.0.0.1:1/convert"}}}});
    let refusing = Converter::new(&spec, versions(), None);
    let why = refusing.convert(&object(), "g/v2").expect_err("nobody listens");
    assert_eq!(
        why,
        "conversion webhook for g/v1, Kind=Moose failed: Post \"https://127.0.0.1:1/convert?timeout=30s\": dial tcp \
         127.0.0.1:1: connect: connection refused"
    );
    // The webhook is not called for an object that already has the version, or is empty.
    assert_eq!(absent.convert(&object(), "g/v1"), Ok(object()));
    let empty = |version: &str| json!({"apiVersion": version, "kind": "Moose"});
    assert_eq!(absent.convert(&empty("g/v1"), "g/v2"), Ok(empty("g/v2")));
}

#[test]
fn versions_that_a_definition_does_not_have_are_refused() {
    let none = Converter::new(&json!({}), versions(), None);
    let why = none.convert(&object(), "g/v3").expect_err("no such version");
    assert_eq!(why, "request to convert CR to an invalid group/version: g/v3");
    let converted = none.convert(&object(), "g/v2").expect("the strategy is None");
    assert_eq!(converted["apiVersion"], "g/v2");
    assert_eq!(converted["spec"], object()["spec"]);
}
