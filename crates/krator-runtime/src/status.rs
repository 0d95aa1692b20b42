//! What the machine keeps in `.status`: its memory across restarts, and what people and tools read.
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `.status`: your fields, and those that the machine keeps.
pub trait ObjectStatus: Clone + Default + PartialEq + Send + Sync + 'static {
    /// The machine's fields.
    fn machine(&self) -> &MachineStatus;
    /// The machine's fields. The runtime writes them; what a handler writes here is overwritten.
    fn machine_mut(&mut self) -> &mut MachineStatus;
}

/// The machine's fields of `.status`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MachineStatus {
    /// Where the object is: the machine's own word, resumed from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The same for people; several states may share one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// What there is to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Fresh and random on each entry of a state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
    /// When the state was entered, in the API server's time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_entered_at: Option<Timestamp>,
    /// Failures in a row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
    /// How often states with a limit were entered.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub entries: BTreeMap<String, u32>,
    /// The generation that a handler last dealt with; -1 before the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Ready, Reconciling and Stalled, and those of the description.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

impl MachineStatus {
    /// Whether all of it is stored, too: conditions that are not `ours` are somebody else's.
    pub(crate) fn is_in(&self, stored: &Self, ours: impl Fn(&str) -> bool) -> bool {
        let Self {
            state,
            phase,
            message,
            entry,
            state_entered_at,
            attempts,
            entries,
            observed_generation,
            conditions,
        } = self;
        let theirs = stored.conditions.iter().filter(|c| ours(&c.kind));
        (state, phase, message, entry) == (&stored.state, &stored.phase, &stored.message, &stored.entry)
            && (state_entered_at, attempts) == (&stored.state_entered_at, &stored.attempts)
            && (entries, observed_generation) == (&stored.entries, &stored.observed_generation)
            && theirs.eq(conditions)
    }
}

/// One condition, as `meta/v1.Condition`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// Its name, `Ready` for one.
    #[serde(rename = "type")]
    pub kind: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// A word for programs: the state, or `Retrying`.
    #[serde(default)]
    pub reason: String,
    /// A sentence for people.
    #[serde(default)]
    pub message: String,
    /// When `status` last changed.
    pub last_transition_time: Timestamp,
    /// The generation that it speaks of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
}

/// Texts in `.status` are cut to this many bytes, at a character's end: the API server allows 32 KiB a message,
/// and a status is written often.
const LONGEST_MESSAGE: usize = 1024;

pub(crate) fn truncated(text: &str) -> String {
    if text.len() <= LONGEST_MESSAGE {
        return text.to_owned();
    }
    let end = (0..=LONGEST_MESSAGE)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0);
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(attempts: u32, kinds: &[&str]) -> MachineStatus {
        let condition = |kind: &&str| Condition {
            kind: (*kind).to_owned(),
            status: "True".to_owned(),
            reason: String::new(),
            message: String::new(),
            last_transition_time: Timestamp::UNIX_EPOCH,
            observed_generation: None,
        };
        MachineStatus {
            attempts: Some(attempts),
            conditions: kinds.iter().map(condition).collect(),
            ..MachineStatus::default()
        }
    }

    #[test]
    fn conditions_of_others_make_no_difference() {
        let ours = |kind: &str| kind.starts_with("Our");
        let known = |status: &MachineStatus, stored: &MachineStatus| status.is_in(stored, ours);
        let stored = status(1, &["Theirs", "Our1", "Our2"]);
        assert!(known(&status(1, &["Our1", "Our2"]), &stored));
        assert!(!known(&status(1, &["Our1"]), &stored), "one of ours goes");
        assert!(
            !known(&status(1, &["Our1", "Our2", "Our3"]), &stored),
            "one comes"
        );
        assert!(!known(&status(2, &["Our1", "Our2"]), &stored));
    }
}
