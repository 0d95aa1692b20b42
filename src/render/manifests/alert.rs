//! An alert, and its section of the runbook.

use crate::model::{Description, Kind, State};
use crate::render::RUNBOOK;

/// An alert.
pub(in crate::render) struct Alert {
    /// Its name.
    pub name: String,
    /// The heading of its section in the runbook.
    pub section: String,
    /// The problem, in a sentence.
    pub summary: String,
    /// The advice, in Markdown.
    pub advice: String,
    /// The kind and the state that it is about, if any.
    pub about: (Option<String>, Option<String>),
    /// `critical` if objects are not reconciled at all, otherwise `warning`.
    pub severity: &'static str,
    /// The condition, in PromQL.
    pub expression: String,
    /// How long the condition must hold before the alert fires.
    pub hold: &'static str,
}

/// The section of the runbook about the operator as a whole.
pub(in crate::render) const OPERATOR: &str = "The operator";

/// The section of the runbook about a kind as a whole.
pub(in crate::render) fn kind_section(kind: &Kind) -> String {
    format!("{}: any state", kind.resource.kind.as_str())
}

/// The section of the runbook about a state.
pub(in crate::render) fn state_section(kind: &Kind, state: &State) -> String {
    format!("{}: {}", kind.resource.kind.as_str(), state.name.as_str())
}

/// The address of a section of the runbook.
pub(super) fn address(description: &Description, section: &str) -> String {
    let page = description.deploy.runbook.as_ref();
    let page = page.map_or(RUNBOOK, |page| page.as_str());
    format!("{page}#{}", fragment(section))
}

/// The fragment that renderers of Markdown give a heading. Headings of the runbook have only letters, digits, spaces and colons.
fn fragment(heading: &str) -> String {
    let heading = heading.to_lowercase().replace(' ', "-");
    heading.replace(':', "")
}

/// The labels of a kind in a query.
pub(super) fn labels(kind: &Kind) -> String {
    let resource = &kind.resource;
    format!(
        "group=\"{}\",kind=\"{}\"",
        resource.group.as_str(),
        resource.kind.as_str()
    )
}
