//! Handlers that a restart could run twice although they must run once, and states that a restart could lose.

use super::{Check, RuleHit, Subject};
use crate::catalog::RESUME_HAZARD;
use crate::finding::Finding;
use crate::graph::StateGraph;
use crate::model::{Effects, Kind, StateId, StateKind};

pub(super) const CHECK: Check = Check {
    unless: &[&super::deletion_escape::RULE],
    ..Check::of_kind(&RESUME_HAZARD, find)
};

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let mut found = Vec::new();
    for (id, state) in subject.kind.state_ids() {
        let name = &state.name.value;
        if state.effects.value == Effects::Once {
            let once = state.effects.span;
            let hazard = |span, message: String| {
                Finding::new(&RESUME_HAZARD, span, message).related(once, "once here")
            };
            if let Some(wait) = state.wait.as_ref().filter(|wait| wait.is_written) {
                let finding = hazard(
                    wait.span,
                    format!("`{name}` has `effects: once`, so it cannot `wait`"),
                )
                .label("waiting runs the handler again")
                .help("move the `wait` to the next state");
                found.push(RuleHit::of(id, finding));
            }
            if state.on_deletion_path {
                let finding = Finding::new(
                    &RESUME_HAZARD,
                    once,
                    format!("`{name}` has `effects: once`, but is on the deletion path"),
                )
                .label("after a crash, deletion has to continue")
                .help("make the handler idempotent");
                found.push(RuleHit::of(id, finding));
            }
            match &state.resume {
                None if state.lacks_edges => {}
                None => {
                    let finding = Finding::new(
                        &RESUME_HAZARD,
                        once,
                        format!("`{name}` has `effects: once`, but no `resume`"),
                    )
                    .label("its handler cannot run again after a crash")
                    .help("name a state whose handler finds out what was done: `resume: STATE`");
                    found.push(RuleHit::of(id, finding));
                }
                Some(resume) if resume.value == id => {
                    let finding = hazard(
                        resume.span,
                        format!("`{name}` has `effects: once`, so it cannot resume in itself"),
                    )
                    .help("name another state, whose handler finds out what was done");
                    found.push(RuleHit::of(id, finding));
                }
                Some(resume) if is_once(subject, resume.value) => {
                    let other = subject.kind.state(resume.value);
                    let message = format!(
                        "`{name}` resumes in `{}`, which also has `effects: once`",
                        other.name.value
                    );
                    let finding = Finding::new(&RESUME_HAZARD, resume.span, message)
                        .related(other.effects.span, "once here")
                        .help("name a state whose handler finds out what was done before it acts");
                    found.push(RuleHit::of(id, finding));
                }
                Some(_) => {}
            }
        }
        if !state.checkpoint.value
            && let Some(reason) = must_be_saved(subject.kind, subject.graph, id)
        {
            let message = format!("`{name}` must be saved before its handler runs: {reason}");
            let finding = Finding::new(&RESUME_HAZARD, state.checkpoint.span, message)
                .help("remove `checkpoint: false`");
            found.push(RuleHit::of(id, finding));
        }
    }
    found
}

/// The reason why a state has to be saved before its handler runs; `None` if `checkpoint: false` would be harmless.
pub fn must_be_saved(kind: &Kind, graph: &StateGraph, id: StateId) -> Option<String> {
    let state = kind.state(id);
    if state.kind.value != StateKind::Working {
        return Some(format!("its kind is `{}`", state.kind.value.as_str()));
    }
    if state.effects.value == Effects::Once {
        return Some("it has `effects: once`".to_owned());
    }
    if state.may_stay() {
        return Some("its handler may stay".to_owned());
    }
    if state.timeout.is_some() {
        return Some("it has a `timeout`, which is measured from the saved time of entry".to_owned());
    }
    if state.limit.is_some() {
        return Some("it has a `limit`, which counts saved entries".to_owned());
    }
    // The state itself has no such effects, so only the states before it matter.
    let once = graph
        .entering(id)
        .find(|step| kind.state(step.from).effects.value == Effects::Once)?;
    let from = &kind.state(once.from).name.value;
    Some(format!("it is entered from `{from}`, which has `effects: once`"))
}

fn is_once(subject: &Subject<'_>, id: StateId) -> bool {
    subject.kind.state(id).effects.value == Effects::Once
}
