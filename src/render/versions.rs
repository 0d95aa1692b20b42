//! The conversions between the versions of all kinds, as data for the runtime.

use crate::model::Description;

/// The path of the file.
pub(crate) const DATA: &str = "src/versions.json";

/// `src/versions.json`; `None` if nothing is converted.
pub(crate) fn versions(description: &Description) -> Option<String> {
    let kinds = description.kinds.iter();
    let kinds: Vec<_> = kinds.filter_map(|kind| crate::versions::of(description, kind)).collect();
    // Its keys are texts, so it can be written.
    let text = serde_json::to_string_pretty(&kinds).expect("JSON");
    (!kinds.is_empty()).then(|| text + "\n")
}
