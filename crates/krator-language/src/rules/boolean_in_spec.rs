//! Booleans in `.spec` that may want a third value one day.

use super::{Check, RuleHit, Subject, spec_fields};
use crate::catalog::BOOLEAN_IN_SPEC;
use crate::finding::Finding;
use crate::model::Shape;

pub(super) const CHECK: Check = Check::of_kind(&BOOLEAN_IN_SPEC, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let fields = spec_fields::fields(subject.description, subject.kind).into_iter();
    fields
        .filter(|field| matches!(subject.description.resolve(&field.schema).shape, Shape::Boolean))
        .map(|field| {
            let message = format!("`{}` can only ever be true or false", field.name.value);
            let finding = Finding::new(&BOOLEAN_IN_SPEC, field.name.span, message)
                .help("consider an `enum` that names both, such as `enum: [Enabled, Disabled]`");
            RuleHit::of_document(finding)
        })
        .collect()
}
