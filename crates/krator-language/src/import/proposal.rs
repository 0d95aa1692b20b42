//! A graph that is proposed from an `enum` under `.status`.

use krator_schema::Path;
use serde_json::Value as Json;

use super::Findings;
use crate::names::{
    HANDLER_IMPORTS, KIND_ENDINGS, MACHINE_STATICS, StateName, is_rust_keyword, pascal, unusable_module,
};
use crate::starter::{ProposedState, graph};
use crate::text::shown;

/// A proposed graph.
pub(super) struct Proposal {
    /// `machine` and `states`, with a comment that explains them.
    pub text: String,
    /// Whether the states have phases, so that the machine keeps `.status.phase`.
    pub names_phases: bool,
}

/// Proposes a graph for a kind with such a status.
pub(super) fn propose(kind: &str, status: &Json, path: &Path, findings: &mut Findings) -> Proposal {
    let Some((field, values)) = source(status) else {
        // The only machine field that the CRD may have and that the default states do not write.
        if status["properties"].get("phase").is_some() {
            findings.add(
                &path.field("properties").key("phase"),
                "the machine writes this field only if states have a `phase`",
            );
        }
        return Proposal {
            text: format!(
                "# A proposal, because the CRD does not contain the states of its objects: replace it by your own.\n{}",
                graph(&[])
            ),
            names_phases: false,
        };
    };
    let names_phases = field == "phase";
    let mut states: Vec<ProposedState> = Vec::new();
    for value in &values {
        let name = state_name(kind, value, &states);
        if field == "state" && name.as_str() != *value {
            findings.add(
                &path.field("properties").key("state").field("enum"),
                format!("the state `{}` becomes `{}`", shown(value), name.as_str()),
            );
        }
        states.push(ProposedState {
            name,
            phase: names_phases.then(|| (*value).to_owned()),
        });
    }
    Proposal {
        text: format!(
            "# A proposal from the `enum` of `.status.{field}`: the names are from the CRD, but the edges and the \
             kinds of the\n\
             # states are guesses. Replace them by those of your operator.\n{}",
            graph(&states)
        ),
        names_phases,
    }
}

/// The field whose `enum` names states, and its values: `phase` or `state`, or otherwise the first field with a similar
/// name.
fn source(status: &Json) -> Option<(&str, Vec<&str>)> {
    let fields = status["properties"].as_object()?;
    let named = |name: &str| fields.get_key_value(name);
    let others = fields.iter().filter(|(name, _)| {
        ["status", "health"]
            .iter()
            .any(|word| name.to_lowercase().ends_with(word))
    });
    [named("phase"), named("state")]
        .into_iter()
        .flatten()
        .chain(others)
        .find_map(|(name, field)| {
            let mut values: Vec<&str> = Vec::new();
            for value in field["enum"].as_array()?.iter().filter_map(Json::as_str) {
                if !values.contains(&value) && !crate::text::printable(value).contains('\\') {
                    values.push(value);
                }
            }
            (values.len() > 1 && values.len() <= 100).then_some((name.as_str(), values))
        })
}

/// A name for a state with this value: the value itself if it is a valid name.
fn state_name(kind: &str, value: &str, taken: &[ProposedState]) -> StateName {
    let mut base = match StateName::parse(value) {
        Ok(name) => name.as_str().to_owned(),
        Err(_) => pascal(value),
    };
    if base.is_empty() {
        base = if value.is_empty() { "New" } else { "Other" }.to_owned();
    }
    if !base.starts_with(|c: char| c.is_ascii_uppercase()) {
        base.insert_str(0, "In");
    }
    base.truncate(50);
    let is_of_kind = |name: &str| {
        let ending = name.strip_prefix(kind);
        ending.is_some_and(|ending| KIND_ENDINGS.contains(&ending) || ending == "Spec")
    };
    let is_free = |name: &StateName| {
        let text = name.as_str();
        let is_taken = |other: &ProposedState| other.name.module() == name.module();
        let is_trait = text.starts_with("NextOf") || text.starts_with("WaitOf");
        !(HANDLER_IMPORTS.contains(&text)
            || MACHINE_STATICS.contains(&text)
            || is_rust_keyword(text)
            || is_trait
            || is_of_kind(text)
            || unusable_module(&name.module()).is_some()
            || taken.iter().any(is_taken))
    };
    let numbered = (2..).map(|number| format!("{base}Phase{number}"));
    let candidates = [base.clone(), format!("{base}Phase")].into_iter().chain(numbered);
    let mut names = candidates.filter_map(|text| StateName::parse(&text).ok());
    // Each number gives another module, and the number of taken modules is finite.
    names.find(is_free).expect("there are more numbers than names")
}
