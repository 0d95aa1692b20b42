//! Random state graphs that the rules accept: each state is reachable and has an exit, and no cycle is without a wait.

use serde_json::{Map, Value, json};

use super::kind::Surroundings;
use super::names::{Names, text};
use crate::dice::Dice;

/// The parts of a machine: states of ordinary life, states of the deletion path, final states and legacy states.
struct Layout {
    ordinary: Vec<String>,
    deletion: Vec<String>,
    finals: Vec<String>,
    legacy: Vec<String>,
}

/// Features of states that exclude each other in a machine.
#[derive(Clone, Copy, PartialEq)]
enum Special {
    Once,
    Unsaved,
    Gated,
}

const POLLS: &[&str] = &["1s", "30s", "1m30s", "1h"];
const PERIODS: &[&str] = &["5s", "10m", "8h", "90m"];

/// `machine`, `states`, `properties` and `slo` of a kind.
pub fn machine(most: usize, names: &mut Names, around: &Surroundings, dice: &mut Dice) -> Map<String, Value> {
    let count = 1 + dice.below(most);
    let has_deletion = count > 2 && !dice.one_in(3);
    let path = if has_deletion {
        1 + dice.below(count.div_ceil(4))
    } else {
        0
    };
    let finals = if has_deletion {
        1 + dice.below(2)
    } else {
        usize::from(count > 3 && dice.one_in(6))
    };
    let legacy = usize::from(count > 6 && dice.one_in(4));
    let rest = count.saturating_sub(path + finals + legacy).max(1);
    let mut several =
        |count: usize, dice: &mut Dice| -> Vec<String> { (0..count).map(|_| names.pascal(dice)).collect() };
    let layout = Layout {
        ordinary: several(rest, dice),
        deletion: several(path, dice),
        finals: several(finals, dice),
        legacy: several(legacy, dice),
    };
    let former: Vec<String> = several(3, dice);
    // A state without a checkpoint must not be entered from a state with `effects: once`, and neither may lead to a
    // gate.
    let special = *dice.among(&[
        Special::Once,
        Special::Once,
        Special::Unsaved,
        Special::Unsaved,
        Special::Gated,
    ]);

    let mut states: Vec<(String, Value)> = Vec::new();
    for at in 0..layout.ordinary.len() {
        states.push((
            layout.ordinary[at].clone(),
            ordinary(at, &layout, special, around, dice),
        ));
    }
    for at in 0..layout.deletion.len() {
        states.push((layout.deletion[at].clone(), deletion(at, &layout, dice)));
    }
    for name in &layout.finals {
        let mut state = json!({"kind": "final"});
        if dice.one_in(4) {
            state["retry"] = json!({"limit": 1 + dice.below(9), "initial": "2s"});
        }
        if dice.one_in(4) {
            state["retry"] = json!({"limit": "unlimited"});
        }
        states.push((name.clone(), state));
    }
    for name in &layout.legacy {
        let to = dice.among(&layout.ordinary);
        states.push((
            name.clone(),
            json!({"legacy": true, "next": [to], "wait": {"poll": "1m"}}),
        ));
    }
    // Every final state has an incoming edge.
    enter_finals(&layout, &mut states, dice);
    for (_, state) in &mut states {
        decorate(state, around, dice);
    }
    for (at, former) in former.into_iter().enumerate() {
        if dice.one_in(5) && at < states.len() {
            let form = if dice.one_in(2) {
                json!(former)
            } else {
                json!([former])
            };
            states[at].1["renamedFrom"] = form;
        }
    }

    let mut document = Map::new();
    if special == Special::Gated && layout.ordinary.len() > 1 && dice.one_in(2) {
        document.insert("limits".into(), limits(&layout, dice));
    }
    document.insert("machine".into(), whole(&layout, around, dice));
    document.insert("states".into(), Value::Object(states.into_iter().collect()));
    if dice.one_in(3) {
        document.insert("properties".into(), properties(&layout, dice));
    }
    if layout.ordinary.len() > 1 && dice.one_in(3) {
        document.insert("slo".into(), slo(&layout, dice));
    }
    document
}

/// Nested limits: each counts a subset of the previous one's states, so that objects of two limits cannot wait for each
/// other.
fn limits(layout: &Layout, dice: &mut Dice) -> Value {
    let states = &layout.ordinary;
    let most = 1 + dice.below(states.len() - 1);
    let limit = |name: &str, counted: usize, dice: &mut Dice| {
        let mut limit = json!({
            "name": name, "states": states[states.len() - counted..], "atMost": 1 + dice.below(5),
        });
        if dice.one_in(2) {
            limit["per"] = json!(".metadata.namespace");
        }
        limit
    };
    if dice.one_in(2) {
        return json!([limit("rollout", most, dice)]);
    }
    let fewer = 1 + dice.below(most);
    json!([limit("rollout", most, dice), limit("one-by-one", fewer, dice)])
}

/// Objectives that can be met: the first state leads to all others, and the last but one to the last.
fn slo(layout: &Layout, dice: &mut Dice) -> Value {
    let states = &layout.ordinary;
    let to = 1 + dice.below(states.len() - 1);
    let objective = |from: &String, to: &String, dice: &mut Dice| {
        json!({
            "from": from, "to": to, "within": *dice.among(PERIODS),
            "objective": *dice.among(&[90.0, 99.0, 99.9]),
        })
    };
    let one = objective(&states[0], &states[to], dice);
    if states.len() == 2 || dice.one_in(2) {
        return one;
    }
    let other = objective(&states[states.len() - 2], &states[states.len() - 1], dice);
    json!([one, other])
}

fn ordinary(at: usize, layout: &Layout, special: Special, around: &Surroundings, dice: &mut Dice) -> Value {
    let states = &layout.ordinary;
    let is_last = at + 1 == states.len();
    let kind = match (states.len(), dice.below(8)) {
        (1, _) => *dice.among(&["ready", "failed"]),
        (_, 0..=1) => "ready",
        (_, 2) => "failed",
        _ => "working",
    };
    let mut state = Map::new();
    if kind != "working" || dice.one_in(8) {
        state.insert("kind".into(), json!(kind));
    }
    // A spine through all states makes each of them reachable.
    let mut next: Vec<usize> = if is_last { Vec::new() } else { vec![at + 1] };
    for _ in 0..dice.below(3) {
        next.push(dice.below(states.len()));
    }
    if is_last && kind == "working" {
        next.push(dice.below(at));
    }
    next.retain(|to| *to != at);
    next.sort_unstable();
    next.dedup();
    let mut leads_back = next.iter().any(|to| *to < at);
    let other = |dice: &mut Dice| {
        let to = dice.below(states.len().max(2) - 1);
        let to = if to >= at { to + 1 } else { to };
        states.get(to).cloned()
    };
    let is_once = special == Special::Once && kind == "working" && dice.one_in(4);
    if is_once {
        // The first and the last state never have `effects: once`, so that one of them can find out which effects have
        // happened.
        let resume = if at + 1 < states.len() && at > 0 {
            states.last()
        } else {
            None
        };
        if let Some(resume) = resume {
            state.insert("effects".into(), json!("once"));
            state.insert("resume".into(), json!(resume));
        }
    } else if dice.one_in(8) {
        state.insert("effects".into(), json!("idempotent"));
        if let Some(to) = other(dice) {
            leads_back = true;
            state.insert("resume".into(), json!(to));
        }
    }
    let is_once = state.get("effects") == Some(&json!("once"));
    let mut is_bounded = false;
    if let Some(to) = other(dice).filter(|_| dice.one_in(4) || is_once && leads_back) {
        is_bounded = true;
        let timeout = match special == Special::Gated && dice.one_in(2) {
            true => json!({"at": around.slots(dice), "to": to}),
            false => json!({"after": around.period(PERIODS, dice), "to": to}),
        };
        state.insert("timeout".into(), timeout);
    }
    // Beyond its limit a state is left at once, so only a later state avoids a loop.
    if let Some(then) = dice
        .pick(&states[at + 1..])
        .filter(|_| !is_once && dice.one_in(6))
    {
        state.insert("limit".into(), json!({"times": around.times(dice), "then": then}));
    }
    if !is_once && (leads_back && !is_bounded || dice.one_in(3) || is_last && kind == "working") {
        is_bounded = true;
        state.insert("wait".into(), around.wait(POLLS, dice));
    }
    if !is_once && dice.one_in(5) {
        let mut retry = json!({"initial": "500ms", "factor": 1.5, "max": "1m"});
        if let Some(then) = other(dice).filter(|_| dice.one_in(2)) {
            retry["limit"] = json!(1 + dice.below(9));
            retry["then"] = json!(then);
        }
        state.insert("retry".into(), retry);
    }
    if dice.one_in(4) {
        let target = if dice.one_in(6) {
            Some(states[at].clone()).filter(|_| !is_once)
        } else {
            other(dice)
        };
        let mut reactions = vec![json!("wake"), json!("ignore")];
        if let Some(to) = target {
            reactions.extend([json!(to), json!(to)]);
        }
        state.insert("onSpecChange".into(), around.on_spec_change(&reactions, dice));
    }
    if dice.one_in(5) {
        let on_delete = match dice.pick(&layout.deletion) {
            Some(entry) if dice.one_in(2) => json!(entry),
            _ => json!(*dice.among(&["interrupt", "wait"])),
        };
        state.insert("onDelete".into(), on_delete);
    }
    let is_unsaved = special == Special::Unsaved
        && kind == "working"
        && !is_bounded
        && !state.contains_key("limit")
        && dice.one_in(3);
    if is_unsaved {
        state.insert("checkpoint".into(), json!(false));
    } else if dice.one_in(12) {
        state.insert("checkpoint".into(), json!(true));
    }
    if special == Special::Gated && dice.one_in(4) {
        state.insert("gate".into(), around.gate(dice));
    }
    let next: Vec<Value> = next.iter().map(|to| edge(&states[*to], dice)).collect();
    if !next.is_empty() {
        state.insert("next".into(), next.into());
    }
    Value::Object(state)
}

fn edge(to: &str, dice: &mut Dice) -> Value {
    if dice.one_in(3) {
        json!({"to": to, "when": text(dice)})
    } else {
        json!(to)
    }
}

/// States of the deletion path only lead to later states, and the last one to a final state.
fn deletion(at: usize, layout: &Layout, dice: &mut Dice) -> Value {
    let later = &layout.deletion[at + 1..];
    let last = &layout.finals[0];
    let mut state = json!({"next": [edge(later.first().unwrap_or(last), dice)]});
    if dice.one_in(2) {
        state["wait"] = json!({"poll": *dice.among(POLLS)});
    }
    let target = dice.pick(later).unwrap_or(last).clone();
    match dice.below(4) {
        0 => state["timeout"] = json!({"after": *dice.among(PERIODS), "to": target}),
        1 => state["retry"] = json!({"limit": 1 + dice.below(9), "then": target}),
        2 => state["limit"] = json!({"times": 1 + dice.below(9), "then": target}),
        _ => state["allow"] = json!({"deletion-no-bailout": text_with_a_word(dice)}),
    }
    state
}

/// A reason must not be blank.
fn text_with_a_word(dice: &mut Dice) -> String {
    format!("because {}", text(dice))
}

fn enter_finals(layout: &Layout, states: &mut [(String, Value)], dice: &mut Dice) {
    let from = if layout.deletion.is_empty() {
        layout.ordinary.len()
    } else {
        layout.ordinary.len() + layout.deletion.len()
    };
    for name in &layout.finals {
        // The last state of the deletion path, or an ordinary one without such a path.
        let at = if layout.deletion.is_empty() {
            dice.below(from)
        } else {
            from - 1
        };
        let state = &mut states[at].1;
        let is_there = |edges: &Vec<Value>| edges.iter().any(|edge| edge == name || edge["to"] == **name);
        match state["next"].as_array_mut() {
            Some(edges) if is_there(edges) => {}
            Some(edges) => edges.push(json!(name)),
            None => state["next"] = json!([name]),
        }
    }
}

/// Adds keys that any state may have.
fn decorate(state: &mut Value, around: &Surroundings, dice: &mut Dice) {
    for key in ["doc", "phase", "message", "group"] {
        if dice.one_in(5) {
            state[key] = json!(text(dice));
        }
    }
    let mut conditions = Map::new();
    for condition in &around.conditions {
        if dice.one_in(4) {
            conditions.insert(
                condition.clone(),
                json!(*dice.among(&["True", "False", "Unknown"])),
            );
        }
    }
    if dice.one_in(12) {
        conditions.insert("Ready".into(), json!("keep"));
    }
    if !conditions.is_empty() {
        state["conditions"] = Value::Object(conditions);
    }
    if state["kind"] == "failed" && dice.one_in(2) {
        state["allow"] = json!({"failure-trap": text_with_a_word(dice)});
    }
}

fn whole(layout: &Layout, around: &Surroundings, dice: &mut Dice) -> Value {
    let mut machine = json!({"initial": layout.ordinary[0]});
    if let Some(first) = layout.deletion.first() {
        machine["deletion"] = json!(first);
    } else if let Some(last) = layout.finals.first().filter(|_| dice.one_in(2)) {
        machine["deletion"] = json!(last);
    }
    if dice.one_in(3) {
        machine["retry"] = json!({"initial": "2s", "factor": 3, "max": "10m"});
        if dice.one_in(2) {
            machine["retry"]["limit"] = json!(2 + dice.below(20));
            machine["retry"]["then"] = json!(dice.among(&layout.ordinary));
        } else if dice.one_in(2) {
            machine["retry"]["limit"] = json!("unlimited");
        }
    }
    if dice.one_in(4) {
        let reactions = [json!("wake"), json!("ignore"), json!(layout.ordinary[0])];
        machine["onSpecChange"] = around.on_spec_change(&reactions, dice);
    }
    if dice.one_in(4) {
        machine["onDelete"] = json!(*dice.among(&["interrupt", "wait"]));
    }
    machine
}

/// Properties that follow from the form of the graph.
fn properties(layout: &Layout, dice: &mut Dice) -> Value {
    let (first, last) = (
        &layout.ordinary[0],
        layout.ordinary.last().expect("a first state"),
    );
    let mut properties = vec![
        json!({"canReach": last, "from": if dice.one_in(2) { json!(first) } else { json!([first, last]) }}),
    ];
    properties.push(json!({"only": last, "through": first}));
    if let (Some(at), Some(end)) = (layout.deletion.first(), layout.finals.first()) {
        properties.push(json!({"never": format!("{at} -> {first}"), "specChanges": dice.one_in(2)}));
        if layout.finals.len() == 1 {
            properties.push(json!({"leadsTo": end, "from": at}));
        }
    }
    json!(properties)
}
