//! Descriptions for the tests of rendering.

use serde::Deserialize;
use serde_json::Value as Json;

use crate::catalog::Severity;
use crate::model::Description;

/// A minimal description with a ready state, and the keys in `more`.
pub(super) fn described(more: &str) -> Description {
    from(&format!(
        "krator: 1\nresource: {{group: example.com, version: v1, kind: Thing}}\n\
         spec: {{size: int32}}\nmachine: {{initial: Ready}}\nstates: {{Ready: {{kind: ready}}}}\n{more}\n"
    ))
}

/// The description of a text that has no errors.
pub(super) fn from(text: &str) -> Description {
    let checked = crate::check("krator.yaml", text.as_bytes());
    let errors = checked
        .findings
        .iter()
        .filter(|finding| finding.rule.severity == Severity::Error);
    let errors: Vec<_> = errors.map(|finding| &finding.message).collect();
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    checked.description.expect("a description without errors")
}

/// The documents of a YAML file.
pub(super) fn documents(yaml: &str) -> Vec<Json> {
    serde_yaml::Deserializer::from_str(yaml)
        .map(|document| Json::deserialize(document).expect("YAML"))
        .collect()
}
