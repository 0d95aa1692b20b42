//! Determines what an object waits for, by the graph of its kind.

mod gate;
mod rest;

use jiff::{SignedDuration, Timestamp};

use krator_machine::FieldValue;
use krator_machine::engine::{When, opens, slot, when};
use krator_machine::graph::{Effects, Graph, Policy, Timeout};
use krator_machine::status::TimeoutFired;
use serde::Deserialize as _;

use super::{Facts, Waiting, Why};
use crate::machine;
use crate::model::{Description, Kind, State, StateId, StateKind, format_duration};
use crate::observed::lease::{Leader, leader};
use crate::observed::{Lookup, condition, items, rounded, text, time};
use crate::render::rust::handlers::handler_file;

/// Collects what an object waits for.
struct Waits<'a> {
    kind: &'a Kind,
    /// The graph by which an operator decides.
    graph: &'a Graph<'a>,
    /// The values of the fields that the graph refers to.
    field_values: Vec<Option<FieldValue>>,
    facts: &'a Facts,
    why: &'a Why,
    all: Vec<Waiting>,
}

/// Everything that an object waits for. A wait that blocks all others comes first.
pub(super) fn of(description: &Description, kind: &Kind, facts: &Facts, why: &Why) -> Vec<Waiting> {
    machine::with_graph(kind, |graph| {
        let mut waits = Waits {
            kind,
            graph,
            field_values: machine::field_values(kind, &facts.object),
            facts,
            why,
            all: Vec::new(),
        };
        waits.collect(description);
        waits.all
    })
}

impl Waits<'_> {
    fn collect(&mut self, description: &Description) {
        match &self.facts.development {
            Some(development) if development.acts => {}
            Some(development) => {
                let who = development.actor();
                let text =
                    format!("{who} is not running an operator at the moment; its last output says why");
                self.add("leader", text, None);
            }
            None if description.deploy.leader_election.value => self.leader(description),
            None => {}
        }
        self.deletion();
        self.machine();
    }

    fn add(&mut self, reason: &'static str, text: impl Into<String>, due: Option<Timestamp>) {
        let text = text.into();
        self.all.push(Waiting { reason, text, due });
    }

    fn name(&self, state: StateId) -> &str {
        self.kind.state(state).name.as_str()
    }

    /// Adds a wait if no process of the operator is active.
    fn leader(&mut self, description: &Description) {
        let operator = description.operator.as_str();
        let why = match &self.facts.lease {
            Lookup::Unknown(_) => return,
            Lookup::Absent => "its Lease has never been held".to_owned(),
            Lookup::There(lease) => match leader(lease, self.facts.lease_later.as_ref(), self.facts.now) {
                Leader::Is(_) => return,
                Leader::Nobody => "its Lease has no holder".to_owned(),
                Leader::Gone(holder, since) => {
                    format!("{holder} renewed its Lease last, {} ago", rounded(since))
                }
            },
        };
        self.add(
            "leader",
            format!("no pod of the operator {operator} is active: {why}; `krator doctor` shows more"),
            None,
        );
    }

    /// The obstacles to a deletion, in addition to its deletion path.
    fn deletion(&mut self) {
        let metadata = &self.facts.object["metadata"];
        if metadata["deletionTimestamp"].is_null() {
            return;
        }
        let ours = machine::finalizer(self.kind);
        let finalizers: Vec<&str> = items(metadata, "/finalizers")
            .iter()
            .filter_map(|it| it.as_str())
            .collect();
        if finalizers.contains(&"foregroundDeletion") {
            let children: Vec<String> = self
                .why
                .children
                .iter()
                .map(|it| format!("{} {}", it.kind, it.name))
                .collect();
            let which = if children.is_empty() {
                "none is left".to_owned()
            } else {
                children.join(", ")
            };
            self.add(
                "childrenDeletion",
                format!("it is being deleted; the garbage collector deletes its children first: {which}"),
                None,
            );
        }
        let standard = ["foregroundDeletion", "orphan"];
        let others = finalizers
            .iter()
            .filter(|it| **it != ours && !standard.contains(it));
        let others: Vec<&str> = others.copied().collect();
        if !others.is_empty() {
            let text = format!(
                "it is being deleted, and other finalizers hold it: {}",
                others.join(", ")
            );
            self.add("finalizers", text, None);
        }
        if finalizers.contains(&&*ours) {
            let state = self
                .why
                .state
                .as_deref()
                .and_then(|state| self.stored_state(state));
            let is_on_path = state.is_some_and(|state| self.kind.state(state).on_deletion_path);
            let text = match (is_on_path, self.kind.machine.deletion) {
                (true, _) => format!(
                    "it is being deleted; the finalizer {ours} holds it until the end of its deletion path"
                ),
                (false, Some(entry)) => format!(
                    "it is being deleted, but the operator has still to move it to {}; the finalizer {ours} holds it until the end of its deletion path",
                    self.name(entry.value)
                ),
                (false, None) => format!(
                    "it is being deleted; the finalizer {ours} of a former description holds it until the operator removes that"
                ),
            };
            self.add("deletionPath", text, None);
        }
    }

    /// The waits of the machine.
    fn machine(&mut self) {
        let object = &self.facts.object;
        let (group, resource) = (self.kind.resource.group.as_str(), &self.kind.resource);
        let annotation = |key: &str| object["metadata"]["annotations"].get(format!("{group}/{key}"));
        if annotation("paused").is_some_and(|paused| paused == "true") {
            let namespace = self
                .why
                .namespace
                .as_ref()
                .map_or(String::new(), |it| format!(" -n {it}"));
            return self.add(
                "pause",
                format!(
                    "the annotation {group}/paused is set, and no handler runs until it is removed: kubectl annotate {} {}{namespace} {group}/paused-",
                    resource.plural.value, self.why.name
                ),
                None,
            );
        }
        let stalled = condition(object, "Stalled").filter(|stalled| stalled["status"] == "True");
        let stalled = stalled.map(|stalled| (text(stalled, "/reason"), text(stalled, "/message")));
        let Some(stored) = self.why.state.as_deref() else {
            return match stalled {
                Some(("Undecodable", message)) => self.add("undecodable", message, None),
                _ => self.add("operator", "no operator has seen it yet", None),
            };
        };
        let Some(id) = self.stored_state(stored) else {
            let text = format!(
                "krator.yaml has no state {stored}, so no handler runs until an operator that has the state is deployed, or until the object is deleted"
            );
            return self.add("unknownState", text, None);
        };
        match stalled {
            Some(("UnknownState", message)) => return self.add("unknownState", message, None),
            Some(("Undecodable", message)) => return self.add("undecodable", message, None),
            _ => {}
        }
        let state = self.kind.state(id);
        self.timeout(state);
        self.gate();
        let requested = annotation("requestedAt").and_then(|it| it.as_str());
        let handled = object["status"]["lastHandledRequest"].as_str();
        if stalled.is_some_and(|(reason, _)| reason == "NotWritten") {
            let text = format!(
                "the handler of {stored} is not written: {}",
                handler_file(self.kind, state)
            );
            return self.add("notWritten", text, None);
        }
        if requested.is_some() && requested != handled {
            let text = format!("its handler will run because of the annotation {group}/requestedAt");
            self.add("request", text, None);
        }
        if object["status"]["attempts"]
            .as_u64()
            .is_some_and(|attempts| attempts > 0)
        {
            return self.retry(state);
        }
        let generations = (
            object["metadata"]["generation"].as_i64(),
            object["status"]["observedGeneration"].as_i64(),
        );
        if let (Some(generation), Some(observed)) = generations
            && observed < generation
            && state.kind.value != StateKind::Working
        {
            let text = format!("the operator has still to process generation {generation} of the spec");
            self.add("specChange", text, None);
        }
        self.rest(state);
    }

    /// The state with this name, which may be a former name.
    fn stored_state(&self, name: &str) -> Option<StateId> {
        let mut states = self.kind.state_ids();
        states
            .find(|(_, state)| state.names().any(|known| known == name))
            .map(|(id, _)| id)
    }

    /// The policy by which an operator decides in a state.
    fn policy(&self, state: &State) -> Option<&Policy<'_>> {
        let number = self.graph.find(state.name.as_str())?;
        Some(self.graph.state(number))
    }

    /// The timeout of a state.
    fn timeout(&mut self, state: &State) {
        let Some((timeout, to)) = self.policy(state).and_then(|policy| policy.timeout) else {
            return;
        };
        let when = match (timeout, self.why.since) {
            (Timeout::After(period), _) => when(period, &self.field_values),
            (Timeout::At(starts, deadline), Some(since)) => {
                match slot(&starts, deadline, &self.field_values, since, self.facts.now) {
                    Ok(slot) => slot.map(When::At),
                    Err(wrong) => {
                        let text = format!("the schedule of {} never starts: {wrong}", state.name.value);
                        return self.add("timeout", text, None);
                    }
                }
            }
            (Timeout::At(..), None) => None,
        };
        let Some(when) = when else {
            return;
        };
        if matches!(when, When::At(time) if self.has_fired(state, time)) {
            return;
        }
        let due = self.why.since.and_then(|since| from(when, since));
        let is_limited = !self.limits(to).is_empty();
        let to = self.graph.state(to);
        let due = due.and_then(|due| {
            let at = due.max(self.facts.now);
            let open = opens(to, &self.field_values, at).ok().flatten()?;
            // With limits, the object only begins to wait at that time.
            Some(if open == at || is_limited { due } else { open })
        });
        let to = to.name;
        let text = match when {
            When::After(after) => format!(
                "{} may last {}; then the object goes to {to}",
                state.name.value,
                format_duration(after)
            ),
            When::At(_) if matches!(timeout, Timeout::At(..)) => {
                format!("a schedule leads from {} to {to}", state.name.value)
            }
            When::At(_) => format!(
                "{} may last until a time in the object; then the object goes to {to}",
                state.name.value
            ),
        };
        self.add("timeout", text, due);
    }

    /// Whether the timeout of a state has already fired at this time. It fires only once.
    fn has_fired(&self, state: &State, time: Timestamp) -> bool {
        let fired = items(&self.facts.object, "/status/firedTimeouts").iter();
        let mut fired = fired.filter_map(|fired| TimeoutFired::deserialize(fired).ok());
        fired.any(|fired| state.names().any(|name| name == fired.state) && fired.at == time)
    }

    /// A handler that has failed.
    fn retry(&mut self, state: &State) {
        let attempts = self.facts.object["status"]["attempts"].as_u64().unwrap_or(1);
        let attempts = u32::try_from(attempts).unwrap_or(u32::MAX);
        let policy = self
            .policy(state)
            .filter(|policy| policy.effects != Effects::Once);
        let Some(retry) = policy.map(|policy| policy.retry) else {
            return self.add("retry", "its handler has failed and is retried", None);
        };
        // The jitter, which shortens the delay by up to a tenth, is left out.
        let delay = retry.delay(attempts, 0);
        let failed = written_at(&self.facts.object);
        let due = failed.and_then(|failed| from(When::After(delay), failed));
        let limit = match retry.limit {
            None | Some(u32::MAX) => "without limit".to_owned(),
            Some(times) => {
                let left = times.saturating_sub(attempts.saturating_sub(1));
                let then = retry.then.map_or("and gives up then".to_owned(), |then| {
                    format!("and goes to {} then", self.graph.state(then).name)
                });
                format!("{left} more times at most, {then}")
            }
        };
        let count = if attempts == 1 {
            "once".to_owned()
        } else {
            format!("{attempts} times in a row")
        };
        let text = format!(
            "its handler has failed {count} and is retried {} after the last failure, {limit}",
            format_duration(delay)
        );
        self.add("retry", text, due);
    }
}

/// The end of a period that begins at this time.
fn from(when: When, start: Timestamp) -> Option<Timestamp> {
    match when {
        When::After(after) => start.checked_add(SignedDuration::try_from(after).ok()?).ok(),
        When::At(time) => Some(time),
    }
}

/// The time of the last write of the status: an operator writes it after each failure.
fn written_at(object: &serde_json::Value) -> Option<Timestamp> {
    let entries = items(object, "/metadata/managedFields").iter();
    let of_status = entries.filter(|entry| entry["subresource"] == "status");
    of_status.filter_map(|entry| time(entry, "/time")).max()
}
