//! Defaults of added fields that the newer version would refuse.

use krator_machine::versions::{Change, Direction, Step, nested, nested_value, path_text};
use krator_schema::{Items, Properties, Schema, validate};
use serde_json::Value as Json;

use super::{Check, RuleHit, Subject};
use crate::catalog::CONVERSION_INVALID;
use crate::finding::Finding;

pub(super) const CHECK: Check = Check {
    needs_sound_schemas: true,
    ..Check::of_kind(&CONVERSION_INVALID, find)
};

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    // The changes of a version lead to the next newer one.
    let versions = subject.kind.versions.iter().zip(subject.schemas());
    let changes = versions.flat_map(|(version, (newer, _))| {
        let changes = version.changes.iter().enumerate();
        changes.map(move |(index, change)| (version, newer, change, &version.changes[index + 1..]))
    });
    changes
        .filter_map(|(version, newer, change, later)| {
            let Change::Added {
                at,
                default: Some(default),
            } = &change.value
            else {
                return None;
            };
            let (mut path, mut object) = (at.clone(), nested(at, default.clone()));
            for change in later {
                change.value.follow(Direction::Up, &mut path);
                change.value.apply_without_functions(&mut object, Direction::Up);
            }
            let why = refusal(newer, &path, nested_value(&mut object, &path)?)?;
            let message = format!(
                "`{}` cannot be {default} in objects of `{}`: {why}",
                path_text(at),
                version.name.value
            );
            let finding = Finding::new(&CONVERSION_INVALID, change.span, message);
            let help = "write a `default` that the newer version accepts";
            Some(RuleHit::of_document(finding.help(help)))
        })
        .collect()
}

/// The reason why a version would refuse a value, if it would. A field that a later change removes has no schema there.
fn refusal(schema: &Schema, at: &[Step], value: &Json) -> Option<String> {
    let schema = at.iter().try_fold(schema, |schema, step| match step {
        Step::Field(name) => schema.properties.as_ref()?.get(name),
        Step::Each | Step::Index(_) => match (&schema.items, &schema.additional_properties) {
            (Some(Items::All(items)), _) => Some(&**items),
            (_, Some(Properties::Schema(values))) => Some(&**values),
            _ => None,
        },
    })?;
    Some(validate(schema, value).first()?.detail.clone())
}
