//! Random descriptions of machines, with every key of a state and of the machine, and their minimization.

use crate::dice::Dice;
use std::collections::BTreeSet;

/// The keys of a machine as text, so that each of them can be removed. States are called `S0`, `S1` and so on.
#[derive(Clone)]
pub struct RandomMachine {
    machine: Vec<String>,
    states: Vec<State>,
}

#[derive(Clone, Default)]
struct State {
    next: BTreeSet<usize>,
    keys: Vec<String>,
}

const HEAD: &str = "\
krator: 1
resource: {group: example.com, version: v1, kind: Thing}
owns: [core/v1.ConfigMap]
watches: [{kind: core/v1.Secret, all: true}]
spec:
  patience: optional duration
  interval: optional duration
  seconds: optional integer
  times: optional integer
  storage: {optional: true, properties: {size: optional integer, class: optional string}}
conditions: {Tired: Set by handlers}
allow: {broad-access: it is a test}
";

impl RandomMachine {
    /// A machine of up to five states in ordinary life, and up to three more on a deletion path.
    pub fn new(dice: &mut Dice) -> RandomMachine {
        let ordinary = 1 + dice.below(5);
        let path = if dice.below(3) == 0 { 0 } else { 1 + dice.below(3) };
        let mut machine = RandomMachine {
            machine: Vec::new(),
            states: vec![State::default(); ordinary + path],
        };
        let lives: Vec<usize> = (0..ordinary).collect();
        let leaves: Vec<usize> = (ordinary..ordinary + path).collect();
        for at in 0..ordinary {
            machine.states[at] = random_state(dice, at, &lives, &leaves, false);
            // Most states can be chosen by the handler of an earlier state.
            if at > 0 && dice.below(8) > 0 {
                let before = dice.below(at);
                machine.states[before].next.insert(at);
            }
        }
        for at in leaves.clone() {
            machine.states[at] = random_state(dice, at, &leaves, &leaves, true);
        }
        if let Some(end) = leaves.last() {
            let end = *end;
            machine.states[end] = State::default();
            machine.states[end].keys = vec!["kind: final".to_owned()];
            if dice.below(4) == 0 {
                let retry = ["{limit: unlimited}", "{limit: 2}", "{initial: 10ms, limit: 0}"];
                machine.states[end]
                    .keys
                    .push(format!("retry: {}", one_of(dice, &retry)));
            }
            for at in ordinary..end {
                machine.states[at].next.insert(at + 1);
            }
            machine.machine.push(format!("deletion: S{ordinary}"));
        }
        if dice.below(3) == 0 {
            machine.machine.push(format!("retry: {}", retry(dice, &lives)));
        }
        if dice.below(3) == 0 {
            machine
                .machine
                .push(format!("onSpecChange: {}", on_spec_change(dice, &lives)));
        }
        if dice.below(3) == 0 {
            machine
                .machine
                .push(format!("onDelete: {}", one_of(dice, &["interrupt", "wait"])));
        }
        machine
    }

    /// The description.
    pub fn text(&self) -> String {
        let mut text = format!("{HEAD}machine:\n  initial: S0\n");
        for key in &self.machine {
            text += &format!("  {key}\n");
        }
        text += "states:\n";
        for (at, state) in self.states.iter().enumerate() {
            let next: Vec<String> = state.next.iter().map(|to| format!("S{to}")).collect();
            let next = if next.is_empty() {
                None
            } else {
                Some(format!("next: [{}]", next.join(", ")))
            };
            let keys: Vec<&str> = state.keys.iter().chain(&next).map(String::as_str).collect();
            text += &format!("  S{at}: {{{}}}\n", keys.join(", "));
        }
        text
    }

    /// Whether it has rules for changes of single fields.
    pub fn tells_apart(&self) -> bool {
        let keys = self.states.iter().flat_map(|state| &state.keys);
        self.machine.iter().chain(keys).any(|key| key.contains("{of: "))
    }

    /// Every machine that lacks one part of this one. Some of them are invalid descriptions.
    fn smaller(&self) -> Vec<RandomMachine> {
        let mut all = Vec::new();
        let mut add = |change: &dyn Fn(&mut RandomMachine)| {
            let mut machine = self.clone();
            change(&mut machine);
            all.push(machine);
        };
        if self.states.len() > 1 {
            add(&|machine| {
                let last = machine.states.len() - 1;
                machine.states.pop();
                machine.states.iter_mut().for_each(|state| {
                    state.next.remove(&last);
                });
            });
        }
        for at in 0..self.machine.len() {
            add(&|machine| drop(machine.machine.remove(at)));
        }
        for (at, state) in self.states.iter().enumerate() {
            for key in 0..state.keys.len() {
                add(&|machine| drop(machine.states[at].keys.remove(key)));
            }
            for to in &state.next {
                add(&|machine| {
                    machine.states[at].next.remove(to);
                });
            }
        }
        all
    }

    /// The smallest machine that still `fails`, found by removing parts.
    pub fn shrink(mut self, fails: impl Fn(&RandomMachine) -> bool) -> RandomMachine {
        while let Some(smaller) = self.smaller().into_iter().find(|machine| fails(machine)) {
            self = smaller;
        }
        self
    }
}

fn one_of<'a>(dice: &mut Dice, items: &[&'a str]) -> &'a str {
    dice.pick(items).copied().unwrap_or_default()
}

fn state_of(dice: &mut Dice, states: &[usize]) -> String {
    format!("S{}", dice.pick(states).copied().unwrap_or_default())
}

/// Fields with rules for their changes. No field covers a later one.
const TOLD_APART: [&str; 4] = [
    ".spec.times",
    ".spec.storage.size",
    ".spec.storage",
    ".spec.seconds",
];

fn on_spec_change(dice: &mut Dice, states: &[usize]) -> String {
    let mut entries = Vec::new();
    let mut paths: Vec<&str> = Vec::new();
    if dice.below(2) == 0 {
        for path in TOLD_APART {
            if dice.below(2) == 0 {
                paths.push(path);
            }
            if !paths.is_empty() && dice.below(2) == 0 {
                let (of, to) = (std::mem::take(&mut paths).join(", "), reaction(dice, states));
                entries.push(format!("{{of: [{of}], to: {to}}}"));
            }
        }
    }
    if entries.is_empty() || dice.below(4) > 0 {
        entries.push(reaction(dice, states));
    }
    match &entries[..] {
        [rest] if !rest.starts_with('{') => rest.clone(),
        _ => format!("[{}]", entries.join(", ")),
    }
}

fn reaction(dice: &mut Dice, states: &[usize]) -> String {
    match dice.below(4) {
        0 => "wake".to_owned(),
        1 => "ignore".to_owned(),
        _ => state_of(dice, states),
    }
}

fn retry(dice: &mut Dice, states: &[usize]) -> String {
    let mut keys = Vec::new();
    if dice.below(3) > 0 {
        keys.push(format!(
            "limit: {}",
            one_of(dice, &["0", "1", "2", "7", "unlimited"])
        ));
        keys.push(format!("then: {}", state_of(dice, states)));
    }
    if dice.below(2) == 0 {
        keys.push(format!("initial: {}", one_of(dice, &["10ms", "1s", "90s"])));
    }
    if dice.below(2) == 0 {
        keys.push(format!("factor: {}", one_of(dice, &["1", "1.5", "1000"])));
    }
    if dice.below(2) == 0 {
        keys.push(format!("max: {}", one_of(dice, &["90s", "10m", "30h"])));
    }
    format!("{{{}}}", keys.join(", "))
}

/// A state that leads to some of `states`. `leaves` is the deletion path, which may contain the state.
fn random_state(dice: &mut Dice, at: usize, states: &[usize], leaves: &[usize], on_path: bool) -> State {
    let mut state = State::default();
    let keys = &mut state.keys;
    let kind = if at == 0 {
        one_of(dice, &["working", "working", "working", "ready", "failed"])
    } else {
        one_of(
            dice,
            &["working", "working", "working", "ready", "failed", "final"],
        )
    };
    if kind != "working" || dice.below(6) == 0 {
        keys.push(format!("kind: {kind}"));
    }
    let is_final = kind == "final";
    let once = !on_path && !is_final && dice.below(7) == 0;
    let one_in = |dice: &mut Dice, n: usize| dice.below(n) == 0;
    if once {
        keys.push("effects: once".to_owned());
    }
    if once || one_in(dice, 12) {
        keys.push(format!("resume: {}", state_of(dice, states)));
    }
    if !is_final {
        for _ in 0..dice.below(3) {
            state.next.extend(dice.pick(states).filter(|to| **to != at));
        }
        if !once && one_in(dice, 2) {
            let poll = ["100ms", "1s", "1m", "40m", ".spec.interval", ".spec.seconds"];
            let watch = [
                "self",
                "owned",
                "watched",
                "core/v1.Secret",
                "[self, core/v1.ConfigMap]",
            ];
            let mut wait = Vec::new();
            if one_in(dice, 2) {
                wait.push(format!("poll: {}", one_of(dice, &poll)));
            }
            if one_in(dice, 2) {
                wait.push(format!("watch: {}", one_of(dice, &watch)));
            }
            state.keys.push(format!("wait: {{{}}}", wait.join(", ")));
        }
        if one_in(dice, 4) {
            let after = [
                "1ms",
                "900ms",
                "10s",
                "10m",
                "8h",
                ".spec.patience",
                ".spec.seconds",
            ];
            let (after, to) = (one_of(dice, &after), state_of(dice, states));
            state.keys.push(format!("timeout: {{after: {after}, to: {to}}}"));
        }
    }
    if !once && !is_final && one_in(dice, 4) {
        state.keys.push(format!("retry: {}", retry(dice, states)));
    }
    if one_in(dice, 5) {
        let times = one_of(dice, &["1", "2", "5", ".spec.times"]);
        let then = state_of(dice, states);
        state
            .keys
            .push(format!("limit: {{times: {times}, then: {then}}}"));
    }
    if one_in(dice, 4) {
        state
            .keys
            .push(format!("onSpecChange: {}", on_spec_change(dice, states)));
    }
    if !leaves.is_empty() && !on_path && one_in(dice, 5) {
        let does = match dice.below(3) {
            0 => "interrupt".to_owned(),
            1 => "wait".to_owned(),
            _ => state_of(dice, leaves),
        };
        state.keys.push(format!("onDelete: {does}"));
    }
    if one_in(dice, 6) {
        let conditions = [
            "{Fed: \"True\"}",
            "{Fed: \"False\", Ready: keep}",
            "{Tired: Unknown}",
        ];
        state
            .keys
            .push(format!("conditions: {}", one_of(dice, &conditions)));
    }
    if one_in(dice, 8) {
        state.keys.push("checkpoint: false".to_owned());
    }
    if one_in(dice, 12) {
        state.keys.push(format!("renamedFrom: Old{at}"));
    }
    if one_in(dice, 16) {
        state.keys.push("legacy: true".to_owned());
    }
    if one_in(dice, 8) {
        state.keys.push(format!("message: \"in S{at}\""));
    }
    if one_in(dice, 8) {
        state.keys.push(format!("phase: Phase{at}"));
    }
    state
}
