//! Whether the parts of a status agree with each other and with the description: phase, message, conditions, attempts,
//! generations and times.

use super::{Oracle, TOLERANCE, View};
use crate::contract::kstatus::{Reading, reading};
use krator::model::{Ready, RetryLimit, State, StateId, StateKind};
use serde_json::Value;

impl Oracle {
    pub(super) fn judge_status(&self, before: View, now: View, at: StateId, problems: &mut Vec<String>) {
        let state = self.kind.state(at);
        let is_new = before.entry() != now.entry();
        judge_times(before, now, is_new, problems);
        judge_attempts(before, now, state, is_new, problems);
        judge_generations(before, now, problems);
        let phase = self.kind.names_phases().then(|| state.shown_phase());
        if now.text("/status/phase") != phase.unwrap_or_default() {
            problems.push("its phase is not that of its state".to_owned());
        }
        let own = state
            .message
            .as_ref()
            .map_or("", |message| message.value.as_str());
        let message = now.text("/status/message");
        // The message of the state may be followed by the cause of the edge that the runtime has taken, in parentheses.
        let is_own = message
            .strip_prefix(own)
            .is_some_and(|cause| cause.is_empty() || (cause.starts_with(" (") && cause.ends_with(')')));
        if now.attempts() == 0 && !own.is_empty() && !is_own {
            problems.push("its message is not that of its state".to_owned());
        }
        if now.attempts() > 0 && message.is_empty() {
            problems.push("it does not say what failed".to_owned());
        }
        self.judge_conditions(before, now, state, problems);
        let expected = match (state.kind.value, is_retrying(now, state)) {
            _ if now.is_deleted() => Reading::Terminating,
            _ if now.generation() != now.observed() => Reading::InProgress,
            (StateKind::Failed, _) => Reading::Failed,
            (StateKind::Ready, false) if asked(now).is_none() => Reading::Current,
            _ => Reading::InProgress,
        };
        let read = reading(now.0);
        if read != expected {
            problems.push(format!("kstatus reads {read:?}, and it is {expected:?}"));
        }
    }

    fn judge_conditions(&self, before: View, now: View, state: &State, problems: &mut Vec<String>) {
        let retrying = is_retrying(now, state);
        let word = |holds: bool| if holds { "True" } else { "False" };
        let core = &state.standard_conditions;
        let ready = match core.ready {
            _ if retrying => "False",
            Ready::Keep => {
                condition(before, "Ready").map_or("Unknown", |c| c["status"].as_str().unwrap_or_default())
            }
            ready => word(ready == Ready::True),
        };
        let ask = asked(now);
        let gated = ask.and_then(|to| self.kind.state_named(to));
        let at = self.kind.state_named(now.text("/status/state"));
        let waits_for = |to| at.is_some_and(|at| self.kind.gates_between(at, to).next().is_some());
        if ask.is_some() && !gated.is_some_and(waits_for) {
            problems.push(format!("it asks for {ask:?}, which has no gate"));
        }
        let core = [
            ("Ready", ready),
            ("Reconciling", word(core.reconciling || retrying || ask.is_some())),
            ("Stalled", word(core.stalled && !retrying)),
        ];
        let reason = if retrying { "Retrying" } else { state.name.as_str() };
        for (kind, status) in core {
            let Some(found) = condition(now, kind) else {
                problems.push(format!("the condition {kind} is missing"));
                continue;
            };
            // A failing handler takes precedence over a wait in the condition.
            let waits = ask.filter(|_| kind == "Reconciling" && !retrying);
            let reason = waits.map_or(reason, |_| "WaitsForGate");
            if found["status"] != status || found["reason"] != reason {
                problems.push(format!(
                    "the condition {kind} should be {status} for {reason}: {found}"
                ));
            }
            let message = waits.map(|to| {
                let gated = self.kind.limits.iter().filter(|limit| {
                    let counts = |state: Option<StateId>| state.is_some_and(|state| limit.counts(state));
                    counts(gated) && !counts(at)
                });
                let limits = gated.map(|limit| format!("the limit {}", limit.name.value));
                let needs = self
                    .kind
                    .state_named(to)
                    .map(|to| self.kind.state(to).needs_approval());
                let approval = needs.filter(|needs| *needs).map(|_| "an approval".to_owned());
                let parts: Vec<String> = approval.into_iter().chain(limits).collect();
                match &parts[..] {
                    [] => format!("waits for the gate of {to}"),
                    _ => format!("waits for the gate of {to}: {}", parts.join(" and ")),
                }
            });
            if found["message"] != message.as_deref().unwrap_or(now.text("/status/message")) {
                problems.push(format!(
                    "the condition {kind} has another message than the status: {found}"
                ));
            }
            let observed = found["observedGeneration"].as_i64();
            if observed.is_none_or(|observed| observed > now.generation()) {
                problems.push(format!(
                    "the condition {kind} is of a generation that does not exist: {found}"
                ));
            }
        }
        for kind in self.kind.condition_types() {
            let set = state.conditions.iter().find(|set| set.name.as_str() == kind);
            let former =
                condition(before, kind).map_or("Unknown", |c| c["status"].as_str().unwrap_or_default());
            let status = set.map_or(former, |set| set.status.value.as_str());
            if condition(now, kind).is_none_or(|found| found["status"] != status) {
                problems.push(format!("the condition {kind} should be {status}"));
            }
        }
        for found in now.0["status"]["conditions"].as_array().into_iter().flatten() {
            let Some(former) = condition(before, found["type"].as_str().unwrap_or_default()) else {
                continue;
            };
            let moved = former["lastTransitionTime"] != found["lastTransitionTime"];
            if former["status"] == found["status"] && moved {
                problems.push(format!(
                    "lastTransitionTime moved without the status: {former} to {found}"
                ));
            }
        }
    }
}

fn is_retrying(object: View, state: &State) -> bool {
    object.attempts() > 0 && state.kind.value != StateKind::Failed
}

fn condition<'a>(object: View<'a>, kind: &str) -> Option<&'a Value> {
    let all = object.0["status"]["conditions"].as_array()?;
    all.iter().find(|condition| condition["type"] == kind)
}

fn judge_times(before: View, now: View, is_new: bool, problems: &mut Vec<String>) {
    let Some(entered) = now.entered_at() else {
        return problems.push("it does not say when its state was entered".to_owned());
    };
    if !is_new {
        if before.entered_at() != Some(entered) {
            problems.push("stateEnteredTime changed without an entry".to_owned());
        }
        return;
    }
    let former = before.entered_at().or(now.time("/metadata/creationTimestamp"));
    if former.is_some_and(|former| entered + TOLERANCE < former) {
        problems.push("stateEnteredTime went back".to_owned());
    }
    if now
        .written_at()
        .is_some_and(|written| written + TOLERANCE < entered)
    {
        problems.push("stateEnteredTime is in the future".to_owned());
    }
}

fn judge_attempts(before: View, now: View, state: &State, is_new: bool, problems: &mut Vec<String>) {
    let (former, attempts) = (before.attempts(), now.attempts());
    if is_new {
        // If nothing is written before the handler runs, the first write may report its failure.
        let unwritten = !state.checkpoint.value || state.on_deletion_path;
        if attempts != 0 && !unwritten {
            problems.push("it has failed in a state that it has just entered".to_owned());
        }
    } else if attempts != former
        && attempts != former + 1
        && attempts != 0
        && !(state.on_deletion_path && attempts > former)
    {
        problems.push(format!("attempts went from {former} to {attempts}"));
    }
    let limit = state
        .retry
        .as_ref()
        .filter(|retry| retry.then.is_some())
        .map(|retry| retry.limit.value);
    if let Some(RetryLimit::Times(limit)) = limit
        && attempts > i64::from(limit)
    {
        problems.push(format!("it was tried again after {limit} failures"));
    }
}

fn judge_generations(before: View, now: View, problems: &mut Vec<String>) {
    if now.observed() < before.observed() {
        problems.push("observedGeneration went back".to_owned());
    }
    if now.observed() > now.generation() {
        problems.push("observedGeneration is of a generation that does not exist".to_owned());
    }
}

/// The state that an object asks to enter.
fn asked(object: View<'_>) -> Option<&str> {
    Some(object.text("/status/ask/to")).filter(|to| !to.is_empty())
}
