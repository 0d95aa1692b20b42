//! States that the deletion path shares with the rest of the graph.

use super::deletion_path::{MAX_PATHS, is_path_edge};
use super::{Check, RuleHit, Subject};
use crate::catalog::DELETION_ESCAPE;
use crate::finding::Finding;
use crate::graph::Step;
use crate::model::{StateId, StateKind};

pub(super) const CHECK: Check = Check::of_kind(&DELETION_ESCAPE, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let kind = subject.kind;
    let initial = kind.machine.initial;
    let entries = &kind.machine.deletion_entries;
    if entries.is_empty() {
        return Vec::new();
    }
    if entries.contains(&initial.value) && !kind.lacks_edges {
        let message = format!(
            "`{}` is where new objects begin, and where deleted ones go",
            subject.name(initial.value)
        );
        return vec![RuleHit::of(
            initial.value,
            Finding::new(&DELETION_ESCAPE, initial.span, message),
        )];
    }
    let is_final = |id: StateId| kind.state(id).kind.value == StateKind::Final;
    let ordinary =
        |step: Step| !step.edge.kind.is_deletion() && !entries.contains(&step.from) && !is_final(step.from);
    let life = subject.graph.reached([initial.value], ordinary);
    let way_to = |id: StateId, found: usize| {
        // Thousands of findings need no way each.
        if found > MAX_PATHS {
            return Vec::new();
        }
        let way = subject.graph.way([initial.value], |state| state == id, ordinary);
        subject.names(&way.unwrap_or_default())
    };

    let mut found = Vec::new();
    let mut blamed = vec![false; kind.states.len()];
    for step in subject.graph.steps() {
        let leads_in =
            ordinary(step) && life[step.from.0] && entries.contains(&step.to) && !is_final(step.to);
        if leads_in && !std::mem::replace(&mut blamed[step.to.0], true) {
            let message = format!(
                "ordinary life leads to `{}`, where the deletion path begins",
                subject.name(step.to)
            );
            let finding = Finding::new(&DELETION_ESCAPE, step.edge.span, message)
                .label("leads there without a deletion")
                .path(way_to(step.to, found.len()))
                .help("only deletion leads onto the deletion path; give ordinary life states of its own");
            found.push(RuleHit::of(step.from, finding));
        }
    }
    // Along the path up to the first state that is also in ordinary life: what follows, follows from that.
    let is_shared = |id: StateId| life[id.0] && !entries.contains(&id) && !is_final(id);
    let starts = entries.iter().copied();
    let path = subject
        .graph
        .reached(starts, |step| is_path_edge(step) && !is_shared(step.from));
    for step in subject.graph.steps() {
        let crosses = is_path_edge(step) && path[step.from.0] && !is_shared(step.from) && is_shared(step.to);
        if crosses && !std::mem::replace(&mut blamed[step.to.0], true) {
            let message = format!(
                "`{}` is on the deletion path and in ordinary life",
                subject.name(step.to)
            );
            let finding = Finding::new(&DELETION_ESCAPE, step.edge.span, message)
                .label(format!(
                    "the deletion path leads there from `{}`",
                    subject.name(step.from)
                ))
                .related(subject.span(step.to), "ordinary life comes here too")
                .path(way_to(step.to, found.len()))
                .help(
                    "after a restart nobody could tell whether the object is being deleted; use two states",
                );
            found.push(RuleHit::of(step.from, finding));
        }
    }
    found
}
