//! Each rule over the graph agrees with a naive reference, on small random graphs. `KRATOR_GRAPHS` is their number.

mod machine;
mod reference;

use crate::dice::{Dice, number};
use krator::finding::EdgeKind;
use machine::{WORKING, random, text};
use reference::Reference;
use std::collections::BTreeSet;

fn rounds() -> u64 {
    number("KRATOR_GRAPHS", 300)
}

#[test]
fn rules_over_graphs_agree_with_a_naive_reference() {
    let mut dice = Dice::new(7);
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for round in 0..rounds() {
        let machine = random(&mut dice);
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
        // The states at whose names the rule has a finding.
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
        // `fast-loop` does not report cycles that the other two rules find.
        let fast = !of("fast-loop").is_empty();
        assert!(!fast || reference.fast(), "fast-loop {}", context());
        assert!(
            fast || !reference.fast() || reference.hot() || reference.unbounded(),
            "fast-loop {}",
            context()
        );
        assert_eq!(
            !of("unbounded-loop").is_empty(),
            reference.unbounded(),
            "unbounded-loop {}",
            context()
        );
        assert_eq!(
            states("unavoidable-state"),
            reference.choke_points(),
            "unavoidable-state {}",
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
            // A finding names one state of a strongly connected component. From each stuck state such a state, or one
            // without any exit, can be reached.
            let reaches =
                reference.closed(|kind, _, _| matches!(kind, "next" | "timeout" | "retry" | "limit"));
            let no_exit = |at: usize| {
                let state = &machine.states[at];
                state.kind == WORKING && state.next.is_empty() && state.timeout.is_none()
            };
            let is_explained = |at: &usize| {
                (0..machine.states.len()).any(|to| reaches[*at][to] && (found.contains(&to) || no_exit(to)))
            };
            assert!(stuck.iter().all(is_explained), "no-path-to-final {}", context());
        }
        if of("deletion-escape").is_empty() && of("no-path-to-final").is_empty() {
            assert_eq!(
                states("deletion-no-bailout"),
                reference.without_bailout(),
                "deletion-no-bailout {}",
                context()
            );
        }
        let stale: BTreeSet<usize> = of("stale-condition")
            .iter()
            .filter_map(|finding| finding.path.first()?.strip_prefix('S')?.parse().ok())
            .collect();
        assert_eq!(stale, reference.stale(), "stale-condition {}", context());
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
        "fast-loop",
        "unbounded-loop",
        "failure-trap",
        "legacy-entered",
        "legacy-dead-end",
        "deletion-escape",
        "no-path-to-final",
        "deletion-no-bailout",
        "self-edge",
        "stale-condition",
    ] {
        assert!(seen.contains(rule), "no random graph breaks {rule}");
    }
}

#[test]
fn objectives_agree_with_a_naive_reference() {
    let mut dice = Dice::new(11);
    let mut refused = 0;
    for round in 0..rounds() {
        let machine = random(&mut dice);
        let count = machine.states.len();
        let (from, to) = (dice.below(count), dice.below(count));
        let reached = Reference::of(&machine).closed(|kind, _, _| kind != "delete");
        let slo = format!("{{from: S{from}, to: S{to}, within: 1m, objective: 99}}");
        let text = format!("{}slo: {slo}\n", text(&machine));
        let checked = krator::check("random.yaml", text.as_bytes());
        let found = checked.findings.iter();
        let found = found
            .filter(|finding| finding.rule.name == "invalid-objective")
            .count();
        let is_refused = from == to || !reached[from][to];
        assert_eq!(found == 1, is_refused, "round {round}: {slo}\n{text}");
        refused += found;
    }
    assert!(
        refused > rounds() as usize / 8,
        "only {refused} objectives were refused"
    );
}

#[test]
fn limits_agree_with_a_naive_reference() {
    let mut dice = Dice::new(13);
    let (mut circles, mut passed) = (0, 0);
    for round in 0..2 * rounds() {
        let machine = random(&mut dice);
        let count = machine.states.len();
        let limits: [BTreeSet<usize>; 2] =
            [(); 2].map(|()| (0..1 + dice.below(2)).map(|_| dice.below(count)).collect());
        let states = limits.each_ref().map(|limit| {
            let names: Vec<String> = limit.iter().map(|at| format!("S{at}")).collect();
            names.join(", ")
        });
        let [first, second] = states;
        let limited = format!(
            "limits:\n- {{name: first, states: [{first}], atMost: 1}}\n- {{name: second, states: [{second}], atMost: 1}}\n"
        );
        let text = format!("{}{limited}", text(&machine));
        let checked = krator::check("random.yaml", text.as_bytes());
        let found = |rule: &str| {
            let of = checked
                .findings
                .iter()
                .filter(|finding| finding.rule.name == rule);
            of.count()
        };
        let reference = Reference::of(&machine);
        let context = || format!("round {round}\n{text}");
        assert_eq!(
            found("limit-cycle") > 0,
            reference.hold_up_each_other(&limits),
            "{}",
            context()
        );
        assert_eq!(
            found("limit-passed-by") > 0,
            reference.pass_by(&limits),
            "{}",
            context()
        );
        circles += found("limit-cycle");
        passed += found("limit-passed-by");
    }
    assert!(
        circles > 5 && passed > 50,
        "{circles} circles, {passed} passed by"
    );
}

#[test]
fn properties_agree_with_a_naive_reference() {
    let mut dice = Dice::new(9);
    let (mut violated, mut held) = (BTreeSet::new(), BTreeSet::new());
    for round in 0..rounds() {
        let machine = random(&mut dice);
        let count = machine.states.len();
        let (a, b) = (dice.below(count), dice.below(count));
        let reference = Reference::of(&machine);
        let form = dice.below(6);
        let names_deletion = reference.needs_deletion(b) || form < 4 && reference.needs_deletion(a);
        let from: Vec<usize> = match form {
            4 | 5 => (0..count)
                .filter(|at| names_deletion || !reference.needs_deletion(*at))
                .collect(),
            _ => vec![a],
        };
        let spec_changes = [None, Some(false), Some(true)][dice.below(3)];
        let counts_changes = spec_changes.unwrap_or(matches!(form, 0 | 4));
        let counts = |kind: &str| match kind {
            "delete" => names_deletion,
            "spec" => counts_changes,
            _ => true,
        };
        let leads_to = || {
            // A path that avoids B either ends somewhere or runs in a cycle.
            let without_b = reference.closed(|kind, from, to| counts(kind) && from != b && to != b);
            let cycles = reference.stepped_closed(|kind, from, to| counts(kind) && from != b && to != b);
            let leaves =
                |(kind, from, to): &(&str, usize, usize), at| counts(kind) && *from == at && *to != at;
            let is_end = |at: usize| !reference.edges().iter().any(|edge| leaves(edge, at));
            let escapes = |at: usize| at != b && (is_end(at) || cycles[at][at]);
            from.iter()
                .any(|a| *a != b && (0..count).any(|at| without_b[*a][at] && escapes(at)))
        };
        let (property, is_violated) = match form {
            0 | 4 => {
                let reached = reference.closed(|kind, _, _| counts(kind));
                let named = if form == 0 {
                    format!("[S{a}]")
                } else {
                    "\"*\"".to_owned()
                };
                let property = format!("from: {named}, canReach: S{b}");
                (property, from.iter().any(|a| !reached[*a][b]))
            }
            1 => {
                let reached = reference.stepped_closed(|kind, _, _| counts(kind));
                (format!("never: S{a} -> S{b}"), reached[a][b])
            }
            2 => {
                let without_a = reference.closed(|kind, from, _| counts(kind) && from != a);
                let avoids_a = a != b && a != 0 && without_a[0][b];
                (format!("only: S{b}, through: S{a}"), avoids_a)
            }
            3 => (format!("leadsTo: S{b}, from: S{a}"), leads_to()),
            _ => (format!("leadsTo: S{b}, from: \"*\""), leads_to()),
        };
        let key = spec_changes.map_or(String::new(), |counts| format!(", specChanges: {counts}"));
        let text = format!("{}properties: [{{{property}{key}}}]\n", text(&machine));
        let checked = krator::check("random.yaml", text.as_bytes());
        let findings = checked.findings.iter();
        let found: Vec<_> = findings
            .filter(|finding| finding.rule.name == "property-violated")
            .collect();
        assert_eq!(
            found.len() == 1,
            is_violated,
            "round {round}: {property}{key}\n{text}"
        );
        if is_violated { &mut violated } else { &mut held }.insert(form);
        for finding in found {
            let states = finding.steps.iter().map(|step| &step.to);
            let states: Vec<_> = finding.path.first().into_iter().chain(states).collect();
            assert_eq!(
                states,
                finding.path.iter().collect::<Vec<_>>(),
                "round {round}: {property}{key}\n{text}"
            );
            for step in &finding.steps {
                let kind = match step.by {
                    EdgeKind::Next => "next",
                    EdgeKind::Timeout => "timeout",
                    EdgeKind::Retry => "retry",
                    EdgeKind::Limit => "limit",
                    EdgeKind::Deletion | EdgeKind::OnDelete => "delete",
                    EdgeKind::SpecChange => "spec",
                    EdgeKind::Resume => "resume",
                };
                let is_edge = reference.edges().iter().any(|(of, from, to)| {
                    (*of, format!("S{from}"), format!("S{to}")) == (kind, step.from.clone(), step.to.clone())
                });
                let place = checked.source.at(step.span);
                assert!(
                    counts(kind) && is_edge && place == step.to,
                    "round {round}: {step:?}\n{text}"
                );
            }
        }
    }
    assert_eq!(
        (violated.len(), held.len()),
        (6, 6),
        "each form is violated and holds"
    );
}
