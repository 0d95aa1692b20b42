//! Maps of objects in `.spec`, where API conventions want lists.

use super::{Check, RuleHit, Subject, spec_fields};
use crate::catalog::MAP_OF_OBJECTS;
use crate::finding::Finding;
use crate::model::Shape;

pub(super) const CHECK: Check = Check::of_kind(&MAP_OF_OBJECTS, find);

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
            RuleHit::of_document(Finding::new(&MAP_OF_OBJECTS, field.name.span, message).help(help))
        })
        .collect()
}
