//! The expected findings of the rules over graphs, computed without petgraph: relations between states are closed by
//! brute force, and the definitions in the reference of the language are applied to the result.

use super::machine::{FAILED, FINAL, READY, RandomMachine, WORKING};
use std::collections::BTreeSet;

/// A reachability matrix: `relation[from][to]`.
pub type Relation = Vec<Vec<bool>>;

/// The expected findings of the rules in a machine.
pub struct Reference<'m> {
    machine: &'m RandomMachine,
    count: usize,
    /// Whether each state is on the deletion path.
    path: Vec<bool>,
    /// Whether the deletion path begins in each state.
    entries: Vec<bool>,
}

impl<'m> Reference<'m> {
    pub fn of(machine: &'m RandomMachine) -> Self {
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

    /// The kinds of all edges, with their states.
    pub fn edges(&self) -> Vec<(&'static str, usize, usize)> {
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
                edges.extend(state.on_spec_change.iter().map(|to| ("spec", from, *to)));
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

    /// Reachability along the wanted edges. Each state reaches itself.
    pub fn closed(&self, wanted: impl Fn(&str, usize, usize) -> bool) -> Relation {
        let mut relation = self.stepped(wanted);
        for (at, row) in relation.iter_mut().enumerate() {
            row[at] = true;
        }
        self.close(relation)
    }

    /// Reachability along at least one wanted edge.
    pub fn stepped_closed(&self, wanted: impl Fn(&str, usize, usize) -> bool) -> Relation {
        self.close(self.stepped(wanted))
    }

    /// Reachability along exactly one wanted edge.
    fn stepped(&self, wanted: impl Fn(&str, usize, usize) -> bool) -> Relation {
        let mut relation = vec![vec![false; self.count]; self.count];
        for (kind, from, to) in self.edges() {
            relation[from][to] |= wanted(kind, from, to);
        }
        relation
    }

    /// The transitive closure, by brute force.
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

    /// The expected states of `unreachable-state`: the first state of each strongly connected component of unreachable
    /// states that no other unreachable state leads to.
    pub fn unreachable(&self) -> BTreeSet<usize> {
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

    /// The expected states of `no-exit`.
    pub fn no_exit(&self) -> BTreeSet<usize> {
        let states = self.machine.states.iter().enumerate();
        states
            .filter(|(_, state)| {
                state.kind == WORKING && state.next.is_empty() && state.timeout.is_none() && !state.legacy
            })
            .map(|(at, _)| at)
            .collect()
    }

    /// The expected states of `unavoidable-state`: if one of them is removed, no object can become ready.
    pub fn choke_points(&self) -> BTreeSet<usize> {
        let is_ready_without = |missing: Option<usize>| {
            let counts = |kind: &str, from, to| {
                !matches!(kind, "resume" | "delete") && Some(from) != missing && Some(to) != missing
            };
            let reached = &self.closed(counts)[0];
            (0..self.count).any(|at| reached[at] && self.is(at, READY))
        };
        if !is_ready_without(None) {
            return BTreeSet::new();
        }
        (1..self.count)
            .filter(|at| !self.is(*at, READY) && !is_ready_without(Some(*at)))
            .collect()
    }

    /// The states that objects can reach without being deleted.
    fn ordinary_life(&self) -> Vec<bool> {
        let mut reached =
            self.closed(|kind, from, _| kind != "delete" && !self.entries[from] && !self.is(from, FINAL));
        reached.swap_remove(0)
    }

    /// Whether only deleted objects reach the state.
    pub fn needs_deletion(&self, at: usize) -> bool {
        self.path[at] && !self.ordinary_life()[at]
    }

    /// Whether an object can enter the deletion path without being deleted.
    pub fn escapes(&self) -> bool {
        if !self.entries.contains(&true) {
            return false;
        }
        if self.entries[0] {
            return true;
        }
        let ordinary_life = self.ordinary_life();
        (0..self.count).any(|at| ordinary_life[at] && self.path[at] && !self.is(at, FINAL))
    }

    /// The states of the deletion path from which no final state can be reached.
    pub fn stuck(&self) -> BTreeSet<usize> {
        let reaches = self.closed(|kind, _, _| matches!(kind, "next" | "timeout" | "retry" | "limit"));
        let stuck =
            |at: &usize| self.path[*at] && !(0..self.count).any(|to| reaches[*at][to] && self.is(to, FINAL));
        if self.machine.deletion.is_none() {
            BTreeSet::new()
        } else {
            (0..self.count).filter(stuck).collect()
        }
    }

    /// The states of the deletion path whose handlers may stay, or fail, forever.
    pub fn without_bailout(&self) -> BTreeSet<usize> {
        let is_endless = |at: &usize| {
            let state = &self.machine.states[*at];
            let may_stay = state.waits || self.is(*at, READY) || self.is(*at, FAILED);
            let may_go_on = may_stay || state.retry.is_none();
            self.path[*at] && !self.is(*at, FINAL) && state.timeout.is_none() && may_go_on
        };
        (0..self.count).filter(is_endless).collect()
    }

    /// Whether there is a cycle in which no state waits. Objects leave a state with a limit by the edge of the limit,
    /// because only this edge is taken forever after the limit is reached.
    pub fn hot(&self) -> bool {
        let state = |at: usize| &self.machine.states[at];
        let is_limited = |at: usize| state(at).limit.is_some();
        let may_stay = |at: usize| state(at).waits || self.is(at, READY) || self.is(at, FAILED);
        let rests = |at: usize| !is_limited(at) && (may_stay(at) || state(at).timeout.is_some());
        let cycles = self.stepped_closed(|kind, from, to| {
            let is_taken = match kind {
                "limit" => true,
                "next" | "resume" => !is_limited(from) && from != to,
                _ => false,
            };
            is_taken && !rests(from) && !rests(to)
        });
        (0..self.count).any(|at| cycles[at][at])
    }

    /// Whether there is a cycle in which no state needs to take time, if errors are not retried.
    pub fn fast(&self) -> bool {
        let state = |at: usize| &self.machine.states[at];
        let is_limited = |at: usize| state(at).limit.is_some();
        let is_short = |at: usize| state(at).timeout.is_some() && state(at).short;
        let may_stay = |at: usize| state(at).waits || self.is(at, READY) || self.is(at, FAILED);
        let rests =
            |at: usize| !is_limited(at) && !is_short(at) && (may_stay(at) || state(at).timeout.is_some());
        let cycles = self.stepped_closed(|kind, from, to| {
            let is_taken = match kind {
                "limit" => true,
                "next" | "resume" => !is_limited(from) && !may_stay(from) && from != to,
                "retry" => !is_limited(from) && !may_stay(from),
                "timeout" => is_short(from),
                _ => false,
            };
            is_taken && !rests(from) && !rests(to)
        });
        (0..self.count).any(|at| cycles[at][at])
    }

    /// Whether there is a cycle of timeouts, retries and limits.
    pub fn unbounded(&self) -> bool {
        let reaches = self.stepped_closed(|kind, _, _| matches!(kind, "timeout" | "retry" | "limit"));
        (0..self.count).any(|at| reaches[at][at])
    }

    /// The failed states that an object cannot leave.
    pub fn traps(&self) -> BTreeSet<usize> {
        let is_trap = |at: &usize| {
            let state = &self.machine.states[*at];
            let leaves_on_change = state.on_spec_change.iter().any(|to| to != at);
            state.kind == FAILED && state.next.is_empty() && state.timeout.is_none() && !leaves_on_change
        };
        (0..self.count).filter(is_trap).collect()
    }

    /// Whether an object can enter a legacy state.
    pub fn entered_legacy(&self) -> bool {
        let is_legacy = |at: usize| self.machine.states[at].legacy;
        is_legacy(0)
            || self.machine.deletion.is_some_and(is_legacy)
            || self
                .edges()
                .iter()
                .any(|(_, from, to)| from != to && is_legacy(*to))
    }

    /// The legacy states that an object cannot leave.
    pub fn dead_legacy(&self) -> BTreeSet<usize> {
        let leaves = |at: usize| {
            self.edges()
                .iter()
                .any(|(kind, from, to)| *from == at && to != from && *kind != "delete")
        };
        (0..self.count)
            .filter(|at| self.machine.states[*at].legacy && !self.is(*at, FINAL) && !leaves(*at))
            .collect()
    }

    /// Whether two objects may wait for each other forever, if each of two limits has one place: each has the place that the other
    /// one needs, and no timeout leads it elsewhere.
    pub fn hold_up_each_other(&self, limits: &[BTreeSet<usize>; 2]) -> bool {
        let states = || 0..self.count;
        let needs = |from: usize, to: usize, other: usize| {
            limits
                .iter()
                .any(|limit| limit.contains(&to) && !limit.contains(&from) && limit.contains(&other))
        };
        let may_wait = |from: usize, other: usize| {
            let state = &self.machine.states[from];
            let mut wanted = state.next.iter().chain(&state.timeout);
            wanted.any(|to| needs(from, *to, other)) && state.timeout.is_none_or(|to| needs(from, to, other))
        };
        let fit = |one: usize, other: usize| {
            limits
                .iter()
                .all(|limit| !(limit.contains(&one) && limit.contains(&other)))
        };
        states()
            .any(|one| states().any(|other| fit(one, other) && may_wait(one, other) && may_wait(other, one)))
    }

    /// Whether objects can enter the states of a limit from outside by an edge other than a handler's choice or a
    /// timeout.
    pub fn pass_by(&self, limits: &[BTreeSet<usize>; 2]) -> bool {
        let edges = self.edges();
        limits.iter().any(|limit| {
            let is_entered = |(kind, from, to): &(&str, usize, usize)| {
                !matches!(*kind, "next" | "timeout") && limit.contains(to) && !limit.contains(from)
            };
            limit.contains(&0) || edges.iter().any(is_entered)
        })
    }

    /// The expected states of `stale-condition` for their condition: from there an object comes to a ready state in
    /// which it can have been before with another status, as part of a round trip in which only that status is set.
    pub fn stale(&self) -> BTreeSet<usize> {
        let condition = |at: usize| self.machine.states[at].condition;
        let is_stale = |at: &usize| {
            let Some(status) = condition(*at) else {
                return false;
            };
            let sets_another = |at: usize| condition(at) == Some(!status);
            let alone = self.closed(|kind, _, _| !matches!(kind, "delete" | "spec"));
            let is_taken_back = (0..self.count).any(|to| alone[*at][to] && sets_another(to));
            // The condition at the state that a step enters, if no state on the way sets it.
            let kept = self.closed(|kind, _, to| kind != "delete" && condition(to).is_none());
            let trip =
                self.closed(|kind, from, to| kind != "delete" && !sets_another(from) && !sets_another(to));
            let is_first = |from: usize| sets_another(from) || from == 0 && condition(0).is_none();
            let shows_both = |to: usize| {
                condition(to).is_none()
                    && self.is(to, READY)
                    && (0..self.count).any(|from| is_first(from) && kept[from][to])
                    && kept[*at][to]
                    && trip[to][*at]
            };
            !is_taken_back && (0..self.count).any(shows_both)
        };
        (0..self.count).filter(is_stale).collect()
    }
}
