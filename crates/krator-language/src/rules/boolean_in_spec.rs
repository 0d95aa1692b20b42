//! Booleans in `.spec` that may need a third value later.

use super::{Check, RuleHit, Subject, spec_fields};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;
use crate::model::Shape;

pub(super) static RULE: Rule = Rule {
    name: "boolean-in-spec",
    severity: Severity::Info,
    summary: "a field of `.spec` is a boolean",
    explanation: "Many fields that begin as a boolean need a third value later, and a boolean cannot get one: existing clients would
ignore an additional field. An `enum` can get more values, and the names of its values explain them.

Bad:

    spec: {public: boolean}

Good:

    spec: {visibility: {enum: [Public, Private], default: Private}}",
};

pub(super) const CHECK: Check = Check::of_kind(&RULE, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let fields = spec_fields::fields(subject.description, subject.kind).into_iter();
    fields
        .filter(|field| matches!(subject.description.resolve(&field.schema).shape, Shape::Boolean))
        .map(|field| {
            let message = format!("`{}` can only ever be true or false", field.name.value);
            let finding = Finding::new(&RULE, field.name.span, message)
                .help("consider an `enum` with a name for each value, such as `enum: [Enabled, Disabled]`");
            RuleHit::of_document(finding)
        })
        .collect()
}
