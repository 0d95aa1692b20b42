//! Floating-point numbers in `.spec`.

use super::{Check, RuleHit, Subject, spec_fields};
use crate::catalog::FLOAT_IN_SPEC;
use crate::finding::Finding;
use crate::model::Shape;

pub(super) const CHECK: Check = Check::of_kind(&FLOAT_IN_SPEC, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let fields = spec_fields::fields(subject.description, subject.kind).into_iter();
    let is_float = |shape: &Shape| matches!(shape, Shape::Number);
    fields
        .filter(|field| is_float(&subject.description.resolve(&field.schema).shape))
        .map(|field| {
            let message = format!("`{}` is a floating-point number", field.name.value);
            let finding = Finding::new(&FLOAT_IN_SPEC, field.name.span, message)
                .help("use `integer` with a smaller unit, such as millimetres, or `quantity`");
            RuleHit::of_document(finding)
        })
        .collect()
}
