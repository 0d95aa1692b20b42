//! The edges of a kind, derived from its description. The generated machine is not used, so that each can be tested
//! with the other.

use krator::model::{Effects, Kind, OnSpecChange, RetryLimit, State, StateKind};
use krator_runtime::testing::Cause;
use krator_runtime::{Exit, StateId};

/// The source of an edge, its cause, and its target: `None` if the object is gone then.
pub type Edge = (StateId, Cause, Option<StateId>);

/// Every edge of every state, including those back to the same state.
pub fn edges(kind: &Kind) -> Vec<Edge> {
    let mut names: Vec<&str> = kind.states.iter().map(|state| state.name.as_str()).collect();
    // States are numbered in the order of their names.
    names.sort_unstable();
    let numbered = |name: &str| {
        let at = names.binary_search(&name).expect("a state");
        StateId(u16::try_from(at).expect("few states"))
    };
    let states = kind.states.iter();
    states.flat_map(|state| leaving(kind, state, numbered)).collect()
}

fn leaving(kind: &Kind, state: &State, numbered: impl Fn(&str) -> StateId) -> Vec<Edge> {
    let me = numbered(state.name.as_str());
    let id = |id| numbered(kind.state(id).name.as_str());
    let mut edges = Vec::new();
    let mut add = |cause, to| edges.push((me, cause, to));
    for next in &state.next {
        let to = id(next.to.value);
        add(Cause::Code(Exit::To(to)), Some(to));
    }
    if state.may_stay() {
        add(Cause::Code(Exit::Stay), Some(me));
    }
    if let Some(timeout) = &state.timeout {
        add(Cause::TimesOut, Some(id(timeout.to.value)));
    }
    let is_final = state.kind.value == StateKind::Final;
    let deletion = kind.machine.deletion.as_ref().map(|deletion| deletion.value);
    let deletion = state
        .on_delete
        .value
        .to
        .or(deletion)
        .filter(|_| !state.on_deletion_path)
        .map(id);
    let retry = state.retry.as_ref();
    let retry = retry.filter(|retry| retry.limit.value != RetryLimit::Unlimited);
    if is_final {
        add(Cause::Code(Exit::Done), deletion);
        if retry.is_some() {
            add(Cause::Fails, deletion);
        }
    } else if let Some(then) = retry.and_then(|retry| retry.then.as_ref()) {
        for cause in [Cause::Fails, Cause::FailsForGood] {
            add(cause, Some(id(then.value)));
        }
    }
    let once = state.effects.value == Effects::Once;
    let resume = state.resume.as_ref().map_or(me, |resume| id(resume.value));
    if once {
        add(Cause::Fails, Some(resume));
    }
    if let Some(limit) = &state.limit {
        add(Cause::ExceedsLimit, Some(id(limit.then.value)));
    }
    if deletion.is_some() || kind.machine.deletion.is_none() {
        add(Cause::Deleted, deletion);
    }
    if !once && !is_final && !state.on_deletion_path {
        for path in state.on_spec_change_of.iter().flat_map(|change| &change.of) {
            let does = state.on_change_of(&path.value).value;
            // A cause needs a path with a static lifetime, as in generated code.
            let path: &'static str = path.value.to_string().leak();
            match does {
                OnSpecChange::Enter(to) => add(Cause::ChangesOf(path), Some(id(to))),
                _ => add(Cause::SeesChangesOf(path), Some(me)),
            }
        }
        match state.on_spec_change.value {
            OnSpecChange::Enter(to) => add(Cause::Changes, Some(id(to))),
            _ => add(Cause::SeesChanges, Some(me)),
        }
    }
    add(Cause::Restarts, Some(resume));
    edges
}
