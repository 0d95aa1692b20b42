//! The machine's part of `.status`: its memory across restarts, and what people and tools read.
use crate::spec_digest::WHOLE;
use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::{borrow::Cow, collections::BTreeMap, fmt, num::ParseIntError, str::FromStr};

/// The status of an object: the fields of its description, and those of the machine.
pub trait ObjectStatus: Clone + Default + PartialEq + Send + Sync + 'static {
    /// The fields of the machine.
    fn machine(&self) -> &MachineStatus;
    /// The fields of the machine. The runtime overwrites whatever a handler writes here.
    fn machine_mut(&mut self) -> &mut MachineStatus;
}

/// The fields of `.status` that the machine maintains.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MachineStatus {
    /// The name of the state that the object is in. A restarted operator resumes from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The state as people see it, where the description names phases; several states may share one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// The message of the state, of its handler, or the last error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Identifies the current stay in the state.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "entry")]
    pub entry: Option<EntryId>,
    /// When the state was entered, by the API server's clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_entered_time: Option<Timestamp>,
    /// The number of consecutive failures of the handler; absent if the last run has not failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
    /// How often each state that has a limit was entered since the last change of the spec.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", with = "entries")]
    pub entries: BTreeMap<String, u32>,
    /// The timeouts at a point in time that have led from their states, where a state has one. Each fires once for each
    /// value of its field.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fired_timeouts: Vec<TimeoutFired>,
    /// The state whose gate the object waits for, where a state has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ask: Option<Ask>,
    /// The measurements for objectives that are under way, where the description has `slo`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub objectives: Vec<ObjectiveStart>,
    /// The generation of the spec that a handler dealt with last; -1 before the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Where the description tells changes of fields of the spec apart: a digest of each of these fields, by its path, as the
    /// spec was when its changes were judged last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spec_digests: Option<Box<BTreeMap<String, String>>>,
    /// The last value of the annotation `requestedAt` that a run has dealt with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_handled_request: Option<String>,
    /// `Ready`, `Reconciling` and `Stalled`, followed by the conditions of the description.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

/// A timeout at a point in time that has led from its state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimeoutFired {
    /// The name of the state.
    pub state: String,
    /// The value of the field.
    pub at: Timestamp,
}

/// An object waits for the gate of a state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    /// The name of the state.
    pub to: String,
    /// Since when, by the API server's clock.
    pub since: Timestamp,
    /// What an approval names, where the state needs one. It is another one for each ask and each spec, so nobody approves anything
    /// but what was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The replica of the operator that may grant it, where a limit counts the objects in the state: a random number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leader: Option<String>,
}

/// A measurement of how long an object takes from one state to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObjectiveStart {
    /// The names of both states, with a `-` between them.
    pub name: String,
    /// When the object entered the first state, by the API server's clock.
    pub since: Timestamp,
}

/// Identifies one stay of an object in a state: a random number that is drawn whenever a state is entered, written
/// as 16 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryId(u64);

impl EntryId {
    /// Makes an id of these bits.
    pub const fn new(random: u64) -> Self {
        Self(random)
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl FromStr for EntryId {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        u64::from_str_radix(text, 16).map(Self)
    }
}

impl Serialize for EntryId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Deserializes an id. Invalid text counts as absent, so that no value makes the object undecodable.
fn entry<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<EntryId>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    Ok(text.and_then(|text| text.parse().ok()))
}

/// Serializes a map by state as a list of objects with the key `state`, as the API conventions of Kubernetes
/// recommend.
mod entries {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::collections::BTreeMap;

    #[derive(Serialize, Deserialize)]
    struct Entered<S> {
        state: S,
        count: u32,
    }

    pub(super) fn serialize<S: Serializer>(
        entries: &BTreeMap<String, u32>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(
            entries
                .iter()
                .map(|(state, count)| Entered { state, count: *count }),
        )
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<String, u32>, D::Error> {
        let entries = Vec::<Entered<String>>::deserialize(deserializer)?;
        Ok(entries
            .into_iter()
            .map(|entered| (entered.state, entered.count))
            .collect())
    }
}

impl MachineStatus {
    /// The latest generation to which the machine had reacted when this status was written; -1 if there was none.
    /// It is the later one of the generation of the last run and of the one at the entry into the state, which is
    /// stored in the condition `Reconciling`. So no process reacts to a change twice, or misses one.
    pub fn judged_generation(&self) -> i64 {
        let mut conditions = self.conditions.iter();
        let reconciling = conditions.find(|condition| condition.kind == "Reconciling");
        let entered_for = reconciling.and_then(|condition| condition.observed_generation);
        let observed = self.observed_generation.unwrap_or(-1);
        // A runtime that did not store the generation left 0 there.
        observed.max(entered_for.filter(|generation| *generation > 0).unwrap_or(-1))
    }

    /// Whether `stored` has the same values. Conditions of types for which `is_ours` is false belong to other
    /// clients and are ignored.
    pub fn is_in(&self, stored: &Self, is_ours: impl Fn(&str) -> bool) -> bool {
        let Self {
            state,
            phase,
            message,
            entry,
            state_entered_time,
            attempts,
            entries,
            fired_timeouts,
            ask,
            objectives,
            observed_generation,
            // Only the digest of the whole spec is compared: the others change with a generation.
            spec_digests,
            last_handled_request,
            conditions,
        } = self;
        let ours = stored.conditions.iter().filter(|c| is_ours(&c.kind));
        (state, phase, message, entry) == (&stored.state, &stored.phase, &stored.message, &stored.entry)
            && *state_entered_time == stored.state_entered_time
            && attempts.unwrap_or(0) == stored.attempts.unwrap_or(0)
            && (entries, objectives) == (&stored.entries, &stored.objectives)
            && *fired_timeouts == stored.fired_timeouts
            && *ask == stored.ask
            && *observed_generation == stored.observed_generation
            && *last_handled_request == stored.last_handled_request
            && ours.eq(conditions)
            && has_same_spec(spec_digests.as_deref(), stored.spec_digests.as_deref())
    }
}

/// Whether the stored digests are of the same spec, as far as both have digests.
fn has_same_spec(ours: Option<&BTreeMap<String, String>>, stored: Option<&BTreeMap<String, String>>) -> bool {
    let (ours, stored) = (
        ours.and_then(|ours| ours.get(WHOLE)),
        stored.and_then(|stored| stored.get(WHOLE)),
    );
    ours.zip(stored).is_none_or(|(ours, stored)| ours == stored)
}

/// A condition, as `meta/v1.Condition`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// Its type, for example `Ready`.
    #[serde(rename = "type", deserialize_with = "known_word")]
    pub kind: Cow<'static, str>,
    /// `True`, `False` or `Unknown`.
    #[serde(deserialize_with = "known_word")]
    pub status: Cow<'static, str>,
    /// A word for programs: the name of the state, or `Retrying`.
    #[serde(default)]
    pub reason: String,
    /// A sentence for people.
    #[serde(default)]
    pub message: String,
    /// When `status` last changed.
    pub last_transition_time: Timestamp,
    /// The generation of the spec that the condition is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
}

impl Condition {
    /// A condition without the time and the generation, which the runtime adds.
    pub fn unstamped(
        kind: &str,
        status: &str,
        reason: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            kind: word(kind),
            status: word(status),
            reason: reason.into(),
            message: message.into(),
            last_transition_time: Timestamp::UNIX_EPOCH,
            observed_generation: None,
        }
    }
}

/// Common types and statuses of conditions. They are not allocated, because an operator keeps the status of
/// each object in memory.
const KNOWN_WORDS: [&str; 6] = ["Ready", "Reconciling", "Stalled", "True", "False", "Unknown"];

/// A type or a status of a condition, allocated only if it is not in [`KNOWN_WORDS`].
fn word(text: &str) -> Cow<'static, str> {
    let known = KNOWN_WORDS.into_iter().find(|known| *known == text);
    known.map_or_else(|| Cow::Owned(text.to_owned()), Cow::Borrowed)
}

fn known_word<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Cow<'static, str>, D::Error> {
    String::deserialize(deserializer).map(|text| word(&text))
}

/// The most bytes of a message in `.status` or in an event. An event may have 1 KiB; a status may have more,
/// but it is written often.
const LONGEST_MESSAGE: usize = 1024;

/// Removes the middle of a text that is too long. The beginning says what failed, and the end says why: the
/// API server repeats a whole value before it reports the error in it.
pub fn truncated(text: &str) -> String {
    if text.len() <= LONGEST_MESSAGE {
        return text.to_owned();
    }
    const MARK: char = '…';
    let begin = cut(text, LONGEST_MESSAGE / 2);
    let most = LONGEST_MESSAGE - MARK.len_utf8() - begin.len();
    let fits = |at: &usize| text.is_char_boundary(*at);
    let end = (text.len() - most..text.len()).find(fits).unwrap_or(text.len());
    format!("{begin}{MARK}{}", &text[end..])
}

/// The beginning of the text, of at most `most` bytes.
pub fn cut(text: &str, most: usize) -> &str {
    let fits = |at: &usize| text.is_char_boundary(*at);
    let end = (0..=most.min(text.len())).rev().find(fits).unwrap_or(0);
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_message_keeps_its_reason() {
        let template = "container: {image: nginx, añb}, ".repeat(100);
        for shift in 0..4 {
            let text = format!(
                "{}Job.batch \"q\" is invalid: spec.template: Invalid value: {template}: field is immutable",
                "x".repeat(shift)
            );
            let short = truncated(&text);
            assert!(
                short.len() <= LONGEST_MESSAGE && short.len() > LONGEST_MESSAGE - 8,
                "{}",
                short.len()
            );
            assert!(
                short.contains("Job.batch \"q\" is invalid: spec.template"),
                "{short}"
            );
            assert!(short.ends_with("}, : field is immutable"), "{short}");
        }
        assert_eq!(truncated("short"), "short");
    }

    fn status(attempts: u32, kinds: &[&str]) -> MachineStatus {
        let condition = |kind: &&str| Condition {
            kind: word(kind),
            status: "True".into(),
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
    fn an_entry_id_is_stored_as_hexadecimal_digits() {
        let status = |entry: Option<EntryId>| MachineStatus {
            entry,
            ..MachineStatus::default()
        };
        let read = |text: &str| serde_json::from_str::<MachineStatus>(text).expect("a status");
        let stored = r#"{"entry":"00000000000000ff"}"#;
        assert_eq!(read(stored), status(Some(EntryId(255))));
        let written = serde_json::to_string(&status(Some(EntryId(255)))).expect("a status is JSON");
        assert_eq!(written, stored);
        for other in [r#"{}"#, r#"{"entry": null}"#, r#"{"entry": "edited by hand"}"#] {
            assert_eq!(read(other), status(None), "{other}");
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
