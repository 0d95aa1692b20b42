//! Handlers that run at most once, and states that are not written down.

use std::collections::BTreeMap;

use super::{Check, Found, Subject};
use crate::catalog::{DELETE_INTERRUPTS_ONCE, DELETION_ESCAPE, RESUME_HAZARD, TIMEOUT_INTERRUPTS_ONCE};
use crate::finding::Finding;
use crate::model::{Effects, StateId, StateKind};

pub(super) const CHECKS: &[Check] = &[
    Check {
        rule: &RESUME_HAZARD,
        needs_edges: false,
        unless: &[&DELETION_ESCAPE],
        find: hazards,
    },
    Check {
        rule: &DELETE_INTERRUPTS_ONCE,
        needs_edges: false,
        unless: &[&DELETION_ESCAPE],
        find: deletion_interrupts,
    },
    Check {
        rule: &TIMEOUT_INTERRUPTS_ONCE,
        needs_edges: false,
        unless: &[],
        find: timeout_interrupts,
    },
];

fn is_once(subject: &Subject<'_>, id: StateId) -> bool {
    subject.kind.state(id).effects.value == Effects::Once
}

fn hazards(subject: &Subject<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    let from_once = subject
        .graph
        .steps()
        .filter(|step| step.from != step.to && is_once(subject, step.from));
    let entered_from_once: BTreeMap<StateId, StateId> = from_once.map(|step| (step.to, step.from)).collect();
    for (id, state) in subject.kind.state_ids() {
        let name = &state.name.value;
        if state.effects.value == Effects::Once {
            let once = state.effects.span;
            let hazard = |span, message: String| {
                Finding::new(&RESUME_HAZARD, span, message).related(once, "once here")
            };
            if let Some(wait) = state.wait.as_ref().filter(|wait| wait.is_written) {
                let finding = hazard(wait.span, format!("`{name}` runs once, and cannot wait"))
                    .label("a handler that stays runs again")
                    .help("let it go on to a state that waits");
                found.push(Found::of(id, finding));
            }
            if state.on_deletion_path {
                let finding = Finding::new(
                    &RESUME_HAZARD,
                    once,
                    format!("`{name}` runs once, and is on the deletion path"),
                )
                .label("after a crash the path must go on")
                .help("make the handler idempotent");
                found.push(Found::of(id, finding));
            }
            match &state.resume {
                None if state.lacks_edges => {}
                None => {
                    let finding = Finding::new(
                        &RESUME_HAZARD,
                        once,
                        format!("`{name}` runs once, and has no `resume`"),
                    )
                    .label("after a crash its handler cannot run again")
                    .help("name a state that looks at the world: `resume: STATE`");
                    found.push(Found::of(id, finding));
                }
                Some(resume) if resume.value == id => {
                    let finding = hazard(resume.span, format!("`{name}` runs once, and resumes in itself"))
                        .help("name another state, one that looks at the world");
                    found.push(Found::of(id, finding));
                }
                Some(resume) if is_once(subject, resume.value) => {
                    let other = subject.kind.state(resume.value);
                    let message = format!(
                        "`{name}` runs once, and resumes in `{}`, which runs once too",
                        other.name.value
                    );
                    let finding = Finding::new(&RESUME_HAZARD, resume.span, message)
                        .related(other.effects.span, "once here")
                        .help("name a state that looks at the world before it acts");
                    found.push(Found::of(id, finding));
                }
                Some(_) => {}
            }
        }
        if !state.checkpoint.value {
            let reason = if state.kind.value != StateKind::Working {
                Some(format!("its kind is `{}`", state.kind.value.as_str()))
            } else if state.effects.value == Effects::Once {
                Some("it runs once".to_owned())
            } else if state.may_stay() {
                Some("its handler may stay".to_owned())
            } else if state.timeout.is_some() {
                Some("it has a timeout, which is measured from the written entry".to_owned())
            } else if state.limit.is_some() {
                Some("it has a limit, which counts written entries".to_owned())
            } else {
                entered_from_once
                    .get(&id)
                    .map(|from| format!("it is entered from `{}`, which runs once", subject.name(*from)))
            };
            if let Some(reason) = reason {
                let message = format!("`{name}` must be written down before its handler runs: {reason}");
                let finding = Finding::new(&RESUME_HAZARD, state.checkpoint.span, message)
                    .help("leave out `checkpoint: false`");
                found.push(Found::of(id, finding));
            }
        }
    }
    found
}

fn deletion_interrupts(subject: &Subject<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    for (id, state) in subject.kind.state_ids() {
        if state.effects.value != Effects::Once || state.on_delete.to.is_none() {
            continue;
        }
        let name = &state.name.value;
        if !state.on_delete.waits {
            let finding = Finding::new(
                &DELETE_INTERRUPTS_ONCE,
                state.effects.span,
                format!("deletion may cut the handler of `{name}` short, which runs once"),
            );
            found.push(Found::of(id, finding.help("wait for its end: `onDelete: wait`")));
        } else if state.timeout.is_none() && !state.lacks_edges {
            let finding = Finding::new(
                &DELETE_INTERRUPTS_ONCE,
                state.on_delete.span,
                format!("deletion waits for the handler of `{name}`, however long it hangs"),
            );
            found.push(Found::of(
                id,
                finding.help("bound it: `timeout: {after: 1h, to: STATE}`"),
            ));
        }
    }
    found
}

fn timeout_interrupts(subject: &Subject<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    for (id, state) in subject.kind.state_ids() {
        let Some(timeout) = state
            .timeout
            .as_ref()
            .filter(|_| state.effects.value == Effects::Once)
        else {
            continue;
        };
        // The state that looks at the world is where a handler cut short belongs.
        if state
            .resume
            .is_some_and(|resume| resume.value == timeout.to.value)
        {
            continue;
        }
        let message = format!(
            "the timeout may cut the handler of `{}` short, which runs once",
            state.name.value
        );
        let finding = Finding::new(&TIMEOUT_INTERRUPTS_ONCE, timeout.span, message)
            .related(state.effects.span, "once here")
            .help("let it lead to the state that `resume` names, which looks at the world");
        found.push(Found::of(id, finding));
    }
    found
}
