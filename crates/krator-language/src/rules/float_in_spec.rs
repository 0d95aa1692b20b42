//! Floating-point numbers in `.spec`.

use super::{Check, RuleHit, Subject, spec_fields};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;
use crate::model::Shape;

pub(super) static RULE: Rule = Rule {
    name: "float-in-spec",
    severity: Severity::Info,
    summary: "a field of `.spec` is a floating-point number",
    explanation: "Floating-point numbers do not survive a round trip: languages and encodings differ in their precision, so a value can
come back changed, and a controller that compares it with the value that it wrote may update the object forever. The API
conventions therefore forbid them in `.spec`.

Bad:

    spec: {weight: {type: number, description: Weight in kilograms}}

Good:

    spec: {weightGrams: {type: integer, description: Weight in grams}}",
};

pub(super) const CHECK: Check = Check::of_kind(&RULE, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let fields = spec_fields::fields(subject.description, subject.kind).into_iter();
    let is_float = |shape: &Shape| matches!(shape, Shape::Number);
    fields
        .filter(|field| is_float(&subject.description.resolve(&field.schema).shape))
        .map(|field| {
            let message = format!("`{}` is a floating-point number", field.name.value);
            let finding = Finding::new(&RULE, field.name.span, message)
                .help("use `integer` with a smaller unit, such as millimetres, or `quantity`");
            RuleHit::of_document(finding)
        })
        .collect()
}
