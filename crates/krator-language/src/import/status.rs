//! `.status`: the fields that the machine keeps, and all others.

use krator_schema::Path;
use serde_json::{Map, Value as Json};

use super::schema::{RustNames, called, type_of};
use super::{Findings, Rest, mapping};
use crate::model::machine_status;
use crate::names::FieldName;
use crate::text::shown;

/// The fields of `status` in a description.
pub(super) fn fields(schema: &Json, path: &Path, findings: &mut Findings) -> Map<String, Json> {
    let mut rest = Rest::of(schema);
    rest.take("type");
    let own_words = "`.status` has a fixed description";
    rest.leave_out("description", path, own_words, findings);
    let own_default = "a description cannot set the default of `.status`";
    rest.leave_out("default", path, own_default, findings);
    let required = rest.list("required");
    if !required.is_empty() {
        findings.add(
            &path.field("required"),
            "no field of `.status` is required, because a new status is empty",
        );
    }
    let mut fields = mapping();
    let properties = rest.take("properties").unwrap_or(&Json::Null);
    let mut rust_names = RustNames::of(properties);
    rust_names.reserve(crate::names::MACHINE_FIELD);
    for (name, field) in properties.as_object().into_iter().flatten() {
        let path = path.field("properties").key(name);
        if let Some(kept) = machine_status()["properties"].get(name) {
            kept_by_machine(kept, field, &path, findings);
            continue;
        }
        let Ok(rust_name) = rust_names.of_field(name) else {
            let expected = FieldName::PATTERN.expected;
            findings.add(
                &path,
                format!("the name of a field has to be {expected}; this field is left out"),
            );
            continue;
        };
        let field = type_of(field, &path, false, findings);
        fields.insert(name.clone(), called(field, rust_name));
    }
    findings.unread(path, rest);
    fields
}

/// Adds the differences between the field that the machine keeps and that of the CRD.
fn kept_by_machine(kept: &Json, field: &Json, path: &Path, findings: &mut Findings) {
    let (ours, theirs) = (&kept["type"], &field["type"]);
    if ours != theirs {
        let message = format!(
            "the machine writes this field, with the type {} instead of {}",
            shown(ours.as_str().unwrap_or("a value")),
            shown(theirs.as_str().unwrap_or("any value")),
        );
        findings.add(path, message);
        return;
    }
    let known = kept["items"]["properties"].as_object();
    let others = field["items"]["properties"].as_object().into_iter().flatten();
    for (name, _) in others {
        if known.is_some_and(|known| !known.contains_key(name)) {
            findings.add(
                &path.field("items").field("properties").key(name),
                "the machine writes this list, and its items do not have this field",
            );
        }
    }
}
