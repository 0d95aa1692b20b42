//! Each rule over the graph agrees with a naive reference, on 1,000 random small graphs.
//!
//! The reference knows nothing of petgraph: it closes relations by brute force and asks the definitions of
//! LANGUAGE.md about the result.

use std::collections::BTreeSet;

/// splitmix64: the same graphs on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 33) as usize % bound
    }
}

/// A random machine, as data and as text.
#[derive(Debug, Default, Clone)]
struct State {
    kind: usize,
    next: Vec<usize>,
    waits: bool,
    timeout: Option<usize>,
    retry: Option<usize>,
    limit: Option<usize>,
    on_delete: Option<usize>,
    on_spec_change: Option<usize>,
    resume: Option<usize>,
    legacy: bool,
}

const KINDS: [&str; 4] = ["working", "ready", "failed", "final"];
const FINAL: usize = 3;
const FAILED: usize = 2;
const READY: usize = 1;
const WORKING: usize = 0;

struct Machine {
    states: Vec<State>,
    deletion: Option<usize>,
}

fn random(rng: &mut Random) -> Machine {
    let mut below = |bound: usize| rng.below(bound);
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
                on_spec_change: maybe(6).filter(|_| kind != FINAL),
                resume: maybe(8),
                waits: below(2) == 0,
                legacy: below(12) == 0,
            }
        })
        .collect();
    let deletion = (below(3) > 0).then(|| below(count));
    let mut machine = Machine { states, deletion };
    if deletion.is_none() {
        machine.states.iter_mut().for_each(|state| state.on_delete = None);
    }
    machine
}

fn text(machine: &Machine) -> String {
    let mut out = String::from(
        "krator: 1\nresource: {group: a.b, version: v1, kind: Kind}\nspec: {}\nmachine:\n  initial: S0\n",
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
        key("timeout", state.timeout, |to| format!("{{after: 1h, to: S{to}}}"));
        key("retry", state.retry, |to| format!("{{limit: 3, then: S{to}}}"));
        key("limit", state.limit, |to| format!("{{times: 3, then: S{to}}}"));
        key("onDelete", state.on_delete, |to| format!("S{to}"));
        key("onSpecChange", state.on_spec_change, |to| format!("S{to}"));
        key("resume", state.resume, |to| format!("S{to}"));
        key("legacy", state.legacy.then_some(0), |_| "true".to_owned());
    }
    out
}

type Relation = Vec<Vec<bool>>;

/// Edges by name, then the closure of those that are wanted.
struct Reference<'m> {
    machine: &'m Machine,
    count: usize,
    path: Vec<bool>,
    entries: Vec<bool>,
}

impl<'m> Reference<'m> {
    fn of(machine: &'m Machine) -> Self {
        let count = machine.states.len();
        let mut entries = vec![false; count];
        for entry in machine
            .deletion
            .into_iter()
            .chain(machine.states.iter().filter_map(|state| state.on_delete))
        {
            entries[entry] = true;
        }
        let mut reference = Reference {
            machine,
            count,
            path: vec![false; count],
            entries,
        };
        let forward =
            reference.closed(|kind, _, _| matches!(kind, "next" | "timeout" | "retry" | "limit" | "resume"));
        for entry in (0..count).filter(|at| reference.entries[*at]) {
            for (to, reached) in forward[entry].iter().enumerate() {
                reference.path[to] |= *reached;
            }
        }
        reference
    }

    fn edges(&self) -> Vec<(&'static str, usize, usize)> {
        let mut edges = Vec::new();
        for (from, state) in self.machine.states.iter().enumerate() {
            edges.extend(state.next.iter().map(|to| ("next", from, *to)));
            edges.extend(state.timeout.map(|to| ("timeout", from, to)));
            edges.extend(state.retry.map(|to| ("retry", from, to)));
            edges.extend(state.limit.map(|to| ("limit", from, to)));
            edges.extend(
                state
                    .resume
                    .filter(|to| *to != from)
                    .map(|to| ("resume", from, to)),
            );
            if !self.path[from] {
                edges.extend(state.on_spec_change.map(|to| ("spec", from, to)));
                edges.extend(
                    state
                        .on_delete
                        .or(self.machine.deletion)
                        .map(|to| ("delete", from, to)),
                );
            }
        }
        edges
    }

    /// Who reaches whom, itself included, along edges that are wanted.
    fn closed(&self, wanted: impl Fn(&str, usize, usize) -> bool) -> Relation {
        let mut relation = self.stepped(wanted);
        for (at, row) in relation.iter_mut().enumerate() {
            row[at] = true;
        }
        self.close(relation)
    }

    /// Who reaches whom by at least one edge.
    fn stepped_closed(&self, wanted: impl Fn(&str, usize, usize) -> bool) -> Relation {
        self.close(self.stepped(wanted))
    }

    fn stepped(&self, wanted: impl Fn(&str, usize, usize) -> bool) -> Relation {
        let mut relation = vec![vec![false; self.count]; self.count];
        for (kind, from, to) in self.edges() {
            relation[from][to] |= wanted(kind, from, to);
        }
        relation
    }

    fn close(&self, mut relation: Relation) -> Relation {
        for by in 0..self.count {
            for from in 0..self.count {
                for to in 0..self.count {
                    relation[from][to] |= relation[from][by] && relation[by][to];
                }
            }
        }
        relation
    }

    fn is(&self, at: usize, kind: usize) -> bool {
        self.machine.states[at].kind == kind
    }

    /// Unreachable states that no other unreachable knot leads to, first of each knot.
    fn unreachable(&self) -> BTreeSet<usize> {
        let all = self.closed(|_, _, _| true);
        let roots: Vec<usize> = (0..self.count)
            .filter(|at| *at == 0 || Some(*at) == self.machine.deletion || self.machine.states[*at].legacy)
            .collect();
        let lost: Vec<usize> = (0..self.count)
            .filter(|at| !roots.iter().any(|root| all[*root][*at]))
            .collect();
        let is_first = |at: usize| {
            lost.iter()
                .all(|other| !(all[at][*other] && all[*other][at]) || at <= *other)
        };
        let is_source = |at: usize| lost.iter().all(|other| !all[*other][at] || all[at][*other]);
        lost.iter()
            .copied()
            .filter(|at| is_first(*at) && is_source(*at))
            .collect()
    }

    fn no_exit(&self) -> BTreeSet<usize> {
        let states = self.machine.states.iter().enumerate();
        states
            .filter(|(_, state)| {
                state.kind == WORKING && state.next.is_empty() && state.timeout.is_none() && !state.legacy
            })
            .map(|(at, _)| at)
            .collect()
    }

    fn escapes(&self) -> bool {
        if !self.entries.contains(&true) {
            return false;
        }
        if self.entries[0] {
            return true;
        }
        let life =
            self.closed(|kind, from, _| kind != "delete" && !self.entries[from] && !self.is(from, FINAL));
        (0..self.count).any(|at| life[0][at] && self.path[at] && !self.is(at, FINAL))
    }

    /// States of the path that reach no final one.
    fn stuck(&self) -> BTreeSet<usize> {
        let ways = self.closed(|kind, _, _| matches!(kind, "next" | "timeout" | "retry" | "limit"));
        let stuck =
            |at: &usize| self.path[*at] && !(0..self.count).any(|to| ways[*at][to] && self.is(to, FINAL));
        if self.machine.deletion.is_none() {
            BTreeSet::new()
        } else {
            (0..self.count).filter(stuck).collect()
        }
    }

    fn hot(&self) -> bool {
        let state = |at: usize| &self.machine.states[at];
        let may_stay = |at: usize| state(at).waits || self.is(at, READY) || self.is(at, FAILED);
        let rests = |at: usize| may_stay(at) || state(at).timeout.is_some() || state(at).limit.is_some();
        let spins = self.stepped_closed(|kind, from, to| {
            matches!(kind, "next" | "limit" | "resume") && from != to && !rests(from) && !rests(to)
        });
        (0..self.count).any(|at| spins[at][at])
    }

    fn unbounded(&self) -> bool {
        let ways = self.stepped_closed(|kind, _, _| matches!(kind, "timeout" | "retry" | "limit"));
        (0..self.count).any(|at| ways[at][at])
    }

    fn traps(&self) -> BTreeSet<usize> {
        let is_trap = |at: &usize| {
            let state = &self.machine.states[*at];
            let leaves_on_change = state.on_spec_change.is_some_and(|to| to != *at);
            state.kind == FAILED && state.next.is_empty() && state.timeout.is_none() && !leaves_on_change
        };
        (0..self.count).filter(is_trap).collect()
    }

    fn entered_legacy(&self) -> bool {
        let is_legacy = |at: usize| self.machine.states[at].legacy;
        is_legacy(0)
            || self.machine.deletion.is_some_and(is_legacy)
            || self
                .edges()
                .iter()
                .any(|(_, from, to)| from != to && is_legacy(*to))
    }

    fn dead_legacy(&self) -> BTreeSet<usize> {
        let leaves = |at: usize| {
            self.edges()
                .iter()
                .any(|(kind, from, to)| *from == at && to != from && *kind != "delete")
        };
        (0..self.count)
            .filter(|at| self.machine.states[*at].legacy && !self.is(*at, FINAL) && !leaves(*at))
            .collect()
    }
}

#[test]
fn rules_over_graphs_agree_with_a_naive_reference() {
    let mut rng = Random(7);
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for round in 0..1_000 {
        let machine = random(&mut rng);
        let text = text(&machine);
        let checked = krator::check("random.yaml", text.as_bytes());
        let reference = Reference::of(&machine);
        let of = |rule: &str| -> Vec<_> {
            checked
                .findings
                .iter()
                .filter(|finding| finding.rule.name == rule)
                .collect()
        };
        // The states whose names are where the findings are.
        let states = |rule: &str| -> BTreeSet<usize> {
            of(rule)
                .iter()
                .filter_map(|finding| checked.source.at(finding.span).strip_prefix('S')?.parse().ok())
                .collect()
        };
        let context = || {
            let found: Vec<_> = checked
                .findings
                .iter()
                .map(|finding| format!("{}: {}", finding.rule.name, finding.message))
                .collect();
            format!("round {round}\n{text}\n{}", found.join("\n"))
        };
        seen.extend(checked.findings.iter().map(|finding| finding.rule.name));
        assert_eq!(
            states("unreachable-state"),
            reference.unreachable(),
            "unreachable-state {}",
            context()
        );
        assert_eq!(states("no-exit"), reference.no_exit(), "no-exit {}", context());
        assert_eq!(
            !of("hot-loop").is_empty(),
            reference.hot(),
            "hot-loop {}",
            context()
        );
        assert_eq!(
            !of("unbounded-loop").is_empty(),
            reference.unbounded(),
            "unbounded-loop {}",
            context()
        );
        assert_eq!(
            states("failure-trap"),
            reference.traps(),
            "failure-trap {}",
            context()
        );
        assert_eq!(
            !of("legacy-entered").is_empty(),
            reference.entered_legacy(),
            "legacy-entered {}",
            context()
        );
        assert_eq!(
            states("legacy-dead-end"),
            reference.dead_legacy(),
            "legacy-dead-end {}",
            context()
        );
        assert_eq!(
            !of("deletion-escape").is_empty(),
            reference.escapes(),
            "deletion-escape {}",
            context()
        );
        if !reference.escapes() {
            let stuck = reference.stuck();
            let found = states("no-path-to-final");
            assert!(found.is_subset(&stuck), "no-path-to-final {}", context());
            // Each stuck state is in a knot that is named, leads to one, or to a state without any exit.
            let ways = reference.closed(|kind, _, _| matches!(kind, "next" | "timeout" | "retry" | "limit"));
            let no_exit = |at: usize| {
                let state = &machine.states[at];
                state.kind == WORKING && state.next.is_empty() && state.timeout.is_none()
            };
            let is_explained = |at: &usize| {
                (0..machine.states.len()).any(|to| ways[*at][to] && (found.contains(&to) || no_exit(to)))
            };
            assert!(stuck.iter().all(is_explained), "no-path-to-final {}", context());
        }
        let self_edges = machine
            .states
            .iter()
            .enumerate()
            .filter(|(at, state)| state.next.contains(at))
            .count();
        assert_eq!(of("self-edge").len(), self_edges, "self-edge {}", context());
    }
    for rule in [
        "unreachable-state",
        "no-exit",
        "hot-loop",
        "unbounded-loop",
        "failure-trap",
        "legacy-entered",
        "legacy-dead-end",
        "deletion-escape",
        "no-path-to-final",
        "self-edge",
    ] {
        assert!(seen.contains(rule), "the random graphs never show {rule}");
    }
}

/// Properties against walks of every length that matters.
#[test]
fn properties_agree_with_a_naive_reference() {
    let mut rng = Random(9);
    let mut violated = 0;
    for round in 0..1_000 {
        let machine = random(&mut rng);
        let count = machine.states.len();
        let (a, b) = (rng.below(count), rng.below(count));
        let reference = Reference::of(&machine);
        let any = reference.closed(|kind, _, _| kind != "resume");
        let by_edge = reference.stepped_closed(|kind, _, _| kind != "resume");
        let around_a = reference.closed(|kind, from, _| kind != "resume" && from != a);
        // From A without B: an end, or a cycle, is where a path never comes to B.
        let without_b = reference.closed(|kind, from, to| kind != "resume" && from != b && to != b);
        let round_without_b =
            reference.stepped_closed(|kind, from, to| kind != "resume" && from != b && to != b);
        let is_end = |at: usize| {
            !reference
                .edges()
                .iter()
                .any(|(kind, from, to)| *kind != "resume" && *from == at && *to != at)
        };
        let never_comes = a != b
            && (0..count).any(|at| at != b && without_b[a][at] && (is_end(at) || round_without_b[at][at]));
        let cases = [
            (format!("{{from: [S{a}], canReach: S{b}}}"), !any[a][b]),
            (format!("{{never: S{a} -> S{b}}}"), by_edge[a][b]),
            (
                format!("{{only: S{b}, through: S{a}}}"),
                a != b && a != 0 && around_a[0][b],
            ),
            (format!("{{leadsTo: S{b}, from: [S{a}]}}"), never_comes),
        ];
        for (property, is_violated) in cases {
            let text = format!("{}properties: [{property}]\n", text(&machine));
            let checked = krator::check("random.yaml", text.as_bytes());
            let found = checked
                .findings
                .iter()
                .filter(|finding| finding.rule.name == "property-violated")
                .count();
            assert_eq!(found == 1, is_violated, "round {round}: {property}\n{text}");
            violated += found;
        }
    }
    assert!(violated > 300, "only {violated} properties were violated");
}
