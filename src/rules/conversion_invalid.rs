//! Defaults of added fields that the newer version would refuse.

use krator_runtime::versions::{Change, Step, path_text};
use krator_schema::validate;
use serde_json::Value as Json;

use super::{Check, RuleHit, Subject};
use crate::catalog::CONVERSION_INVALID;
use crate::crd;
use crate::finding::Finding;
use crate::model::Kind;

pub(super) const CHECK: Check = Check {
    needs_sound_schemas: true,
    ..Check::of_kind(&CONVERSION_INVALID, find)
};

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let kind = subject.kind;
    let (mut hits, mut newer) = (Vec::new(), kind.clone());
    for version in &kind.versions {
        for change in &version.changes {
            let Change::Added {
                at,
                default: Some(default),
            } = &change.value
            else {
                continue;
            };
            if let Some(why) = refusal(subject, &newer, at, default) {
                let message = format!(
                    "`{}` cannot be {default} in objects of `{}`: {why}",
                    path_text(at),
                    version.name.value
                );
                let finding = Finding::new(&CONVERSION_INVALID, change.span, message);
                let help = "write a `default` that the newer version accepts";
                hits.push(RuleHit::of_document(finding.help(help)));
            }
        }
        newer = kind.in_version(version);
    }
    hits
}

/// Why a version would refuse a value, if so. A field that is elsewhere after a later change has none.
fn refusal(subject: &Subject<'_>, kind: &Kind, at: &[Step], value: &Json) -> Option<String> {
    let mut schema = crd::object_schema(subject.description, kind);
    for step in at {
        let key = match step {
            Step::Field(name) => schema.get_mut("properties")?.get_mut(name)?,
            Step::Each if schema["items"].is_object() => schema.get_mut("items")?,
            Step::Each | Step::Index(_) => schema.get_mut("additionalProperties")?,
        };
        schema = key.take();
    }
    let problems = validate(&crd::as_read(schema), value);
    Some(problems.first()?.detail.clone())
}
