//! Descriptions for tests of what is rendered.

use serde::Deserialize;
use serde_json::Value as Json;

use crate::catalog::Severity;
use crate::model::Description;

/// The smallest description with a Ready state; `more` stands beside its keys.
pub(super) fn described(more: &str) -> Description {
    from(&format!(
        "krator: 1\nresource: {{group: example.com, version: v1, kind: Thing}}\n\
         spec: {{size: int32}}\nmachine: {{initial: Ready}}\nstates: {{Ready: {{kind: ready}}}}\n{more}\n"
    ))
}

/// A description without errors.
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

/// The documents of a YAML text.
pub(super) fn documents(yaml: &str) -> Vec<Json> {
    serde_yaml::Deserializer::from_str(yaml)
        .map(|document| Json::deserialize(document).expect("YAML"))
        .collect()
}
