//! Random state machines, as data and as descriptions.

use crate::dice::Dice;
use std::collections::BTreeSet;

/// A state; other states are numbers.
#[derive(Debug, Default, Clone)]
pub struct State {
    pub kind: usize,
    pub next: Vec<usize>,
    pub waits: bool,
    pub timeout: Option<usize>,
    /// Whether the timeout expires at once.
    pub short: bool,
    pub retry: Option<usize>,
    pub limit: Option<usize>,
    pub on_delete: Option<usize>,
    /// If there are several, all but the last are for changes of single fields.
    pub on_spec_change: BTreeSet<usize>,
    pub resume: Option<usize>,
    pub legacy: bool,
    /// The status that the state sets a condition to.
    pub condition: Option<bool>,
}

const KINDS: [&str; 4] = ["working", "ready", "failed", "final"];
pub const FINAL: usize = 3;
pub const FAILED: usize = 2;
pub const READY: usize = 1;
pub const WORKING: usize = 0;

/// A state machine, whose first state is the initial one.
pub struct RandomMachine {
    pub states: Vec<State>,
    pub deletion: Option<usize>,
}

/// A random machine of two to seven states.
pub fn random(dice: &mut Dice) -> RandomMachine {
    let mut below = |bound: usize| dice.below(bound);
    let count = 2 + below(6);
    let states = (0..count)
        .map(|_| {
            let kind = [WORKING, WORKING, WORKING, READY, FAILED, FINAL][below(6)];
            let edges = if kind == FINAL { 0 } else { below(4) };
            let next: BTreeSet<usize> = (0..edges).map(|_| below(count)).collect();
            let mut maybe = |one_in: usize| (below(one_in) == 0).then(|| below(count));
            State {
                kind,
                next: next.into_iter().collect(),
                timeout: maybe(5).filter(|_| kind != FINAL),
                retry: maybe(6).filter(|_| kind != FINAL),
                limit: maybe(8).filter(|_| kind != FINAL),
                on_delete: maybe(10),
                on_spec_change: (0..2)
                    .filter_map(|_| maybe(8))
                    .filter(|_| kind != FINAL)
                    .collect(),
                resume: maybe(8).filter(|_| kind != FINAL),
                waits: below(2) == 0,
                short: below(3) == 0,
                legacy: below(12) == 0,
                condition: [None, None, None, Some(true), Some(false)][below(5)],
            }
        })
        .collect();
    let deletion = (below(3) > 0).then(|| below(count));
    let mut machine = RandomMachine { states, deletion };
    if deletion.is_none() {
        machine.states.iter_mut().for_each(|state| state.on_delete = None);
    }
    machine
}

/// The description of a machine.
pub fn text(machine: &RandomMachine) -> String {
    let mut out = String::from(
        "krator: 1\nresource: {group: a.b, version: v1, kind: Kind}\nspec: {f0: optional integer}\nmachine:\n  initial: S0\n",
    );
    if let Some(deletion) = machine.deletion {
        out += &format!("  deletion: S{deletion}\n");
    }
    out += "states:\n";
    for (at, state) in machine.states.iter().enumerate() {
        let next: Vec<String> = state.next.iter().map(|to| format!("S{to}")).collect();
        out += &format!(
            "  S{at}:\n    kind: {}\n    next: [{}]\n",
            KINDS[state.kind],
            next.join(", ")
        );
        if state.waits {
            out += "    wait: {}\n";
        }
        let mut key = |key: &str, to: Option<usize>, form: fn(usize) -> String| {
            if let Some(to) = to {
                out += &format!("    {key}: {}\n", form(to));
            }
        };
        if state.short {
            key("timeout", state.timeout, |to| {
                format!("{{after: 10ms, to: S{to}}}")
            });
        } else {
            key("timeout", state.timeout, |to| format!("{{after: 1h, to: S{to}}}"));
        }
        key("retry", state.retry, |to| format!("{{limit: 3, then: S{to}}}"));
        key("limit", state.limit, |to| format!("{{times: 3, then: S{to}}}"));
        key("onDelete", state.on_delete, |to| format!("S{to}"));
        key("resume", state.resume, |to| format!("S{to}"));
        key("legacy", state.legacy.then_some(0), |_| "true".to_owned());
        if let Some(status) = state.condition {
            let status = if status { "True" } else { "False" };
            out += &format!("    conditions: {{C: \"{status}\"}}\n");
        }
        match &state.on_spec_change.iter().collect::<Vec<_>>()[..] {
            [of, rest] => out += &format!("    onSpecChange: [{{of: .spec.f0, to: S{of}}}, S{rest}]\n"),
            [to] => out += &format!("    onSpecChange: S{to}\n"),
            _ => {}
        }
    }
    out
}
