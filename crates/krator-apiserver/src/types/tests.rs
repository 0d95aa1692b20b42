use super::*;
use serde_json::json;

fn deployment() -> (Types, Type) {
    let data: Json =
        serde_json::from_str(include_str!("../../testdata/patches.json")).expect("the data is JSON");
    let types = Types::from_openapi(&[data]);
    let found = types
        .find("apps", "v1", "Deployment")
        .expect("the excerpt has the kind")
        .clone();
    (types, found)
}

/// The type at a path of fields and items, which are written as `*`.
fn at<'a>(type_: &'a Type, path: &str) -> &'a Atom {
    let mut atom = type_.arena().atom(type_.root());
    for step in path.split('.') {
        let next = match (step, &atom.list, &atom.map) {
            ("*", Some(list), _) => list.element,
            (name, _, Some(map)) => map.type_of(name),
            _ => Arena::NOTHING,
        };
        atom = type_.arena().atom(next);
    }
    atom
}

#[test]
fn kinds_are_found_in_their_version() {
    let (types, _) = deployment();
    assert!(types.find("apps", "v2", "Deployment").is_none());
    assert_eq!(*Type::of_custom_resource(None).empty(), json!({}));
}

#[test]
fn types_come_from_openapi() {
    let (_, deployment) = deployment();
    let containers = at(&deployment, "spec.template.spec.containers")
        .list
        .as_ref()
        .expect("a list");
    assert_eq!(containers.kind, ListKind::Map(vec!["name".to_owned()]));
    let port = at(&deployment, "spec.template.spec.containers.*.ports.*")
        .map
        .as_ref()
        .expect("a map");
    assert_eq!(port.fields["protocol"].default, Some(json!("TCP")));
    assert!(
        at(&deployment, "spec.selector")
            .map
            .as_ref()
            .expect("a map")
            .atomic
    );
    assert_eq!(
        at(&deployment, "metadata.finalizers")
            .list
            .as_ref()
            .expect("a list")
            .kind,
        ListKind::Set
    );
    let strategy = &at(&deployment, "spec").map.as_ref().expect("a map").fields["strategy"];
    assert_eq!(strategy.patch.strategies, ["retainKeys"]);
    assert_eq!(
        at(
            &deployment,
            "spec.template.spec.containers.*.resources.limits.cpu"
        )
        .scalar,
        Some(Scalar::Untyped)
    );
}

#[test]
fn types_come_from_the_schema_of_a_custom_resource() {
    let schema = json!({"type": "object", "properties": {
        "metadata": {"type": "object"},
        "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {
            "known": {"type": "object", "properties": {"a": {"type": "string"}}},
            "object": {"type": "object", "x-kubernetes-embedded-resource": true},
        }},
        "status": {"type": "object", "properties": {"a": {"type": "string", "format": "date"}}},
    }});
    let type_ = Type::of_custom_resource(Some(&schema));
    for metadata in ["metadata", "spec.object.metadata"] {
        let owners = at(&type_, &format!("{metadata}.ownerReferences"))
            .list
            .as_ref()
            .expect("a list");
        assert_eq!(owners.kind, ListKind::Map(vec!["uid".to_owned()]));
    }
    // The setting for unknown fields also applies to the schemas below.
    assert_eq!(
        at(&type_, "spec.known").map.as_ref().expect("a map").element,
        Arena::DEDUCED
    );
    assert_eq!(
        at(&type_, "status").map.as_ref().expect("a map").element,
        Arena::NOTHING
    );
    assert_eq!(at(&type_, "status.a").scalar, Some(Scalar::Untyped));
}

#[test]
fn a_reference_may_make_a_type_atomic() {
    let schemas = json!({
        "T": {"type": "object", "x-kubernetes-group-version-kind": [{"group": "", "version": "v1", "kind": "T"}],
              "properties": {
                  "plain": {"$ref": "#/components/schemas/N"},
                  "whole": {"allOf": [{"$ref": "#/components/schemas/N"}], "x-kubernetes-map-type": "atomic"},
                  "lost": {"$ref": "#/components/schemas/Missing"},
              }},
        "N": {"type": "object", "properties": {"n": {"$ref": "#/components/schemas/N"}}},
    });
    let types = Types::from_openapi(&[json!({"components": {"schemas": schemas}})]);
    let type_ = types.find("", "v1", "T").expect("the document has the kind");
    let atomic = |path: &str| at(type_, path).map.as_ref().map(|map| map.atomic);
    assert_eq!(
        (
            atomic("plain"),
            atomic("whole"),
            atomic("whole.n"),
            atomic("lost")
        ),
        (Some(false), Some(true), Some(false), None)
    );
}
