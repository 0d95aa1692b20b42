//! Maps of objects in `.spec`, for which API conventions prefer lists.

use super::{Check, RuleHit, Subject, spec_fields};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;
use crate::model::Shape;

pub(super) static RULE: Rule = Rule {
    name: "map-of-objects",
    severity: Severity::Info,
    summary: "a field of `.spec` is a map of objects",
    explanation: "The API conventions prefer lists of objects with a name field. The keys of a map cannot be described or limited, and
tools such as kustomize and server-side apply support lists with keys well. Maps of labels and other strings are fine.

Bad:

    spec: {ports: {additionalProperties: {properties: {port: int32}}}}

Good:

    spec:
      ports:
        maxItems: 16
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [name]
        items: {properties: {name: string, port: int32}}",
};

pub(super) const CHECK: Check = Check::of_kind(&RULE, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let fields = spec_fields::fields(subject.description, subject.kind).into_iter();
    let is_object = |shape: &Shape| matches!(shape, Shape::Object(_));
    let of_objects = |shape: &Shape| match shape {
        Shape::Map(values) => is_object(&subject.description.resolve(values).shape),
        _ => false,
    };
    fields
        .filter(|field| of_objects(&subject.description.resolve(&field.schema).shape))
        .map(|field| {
            let message = format!("`{}` is a map of objects", field.name.value);
            let help = "use a list whose items have the key as a field: `x-kubernetes-list-type: map` with \
                        `x-kubernetes-list-map-keys: [name]`";
            RuleHit::of_document(Finding::new(&RULE, field.name.span, message).help(help))
        })
        .collect()
}
