//! Checks for walks without a fault: the object takes exactly the expected path, no handler runs more often than
//! needed, and everything happens in time.
use super::MOMENT;
use crate::{
    graph::{Graph, StateId},
    status::EntryId,
    testing::graphs::{
        case::{Case, Goal},
        recorder::Note,
    },
};
use std::time::Duration;

/// Checks the path, the number of runs, and the time that the object took.
pub(super) fn judge(graph: &Graph<'_>, case: &Case, notes: &[(Duration, Note)]) -> Vec<String> {
    let mut wrong = Vec::new();
    let starts = notes.iter().filter_map(|(at, note)| match note {
        Note::Started(started) => Some((*at, started)),
        _ => None,
    });
    let starts: Vec<_> = starts.collect();
    let mut entered: Vec<(StateId, EntryId)> = starts.iter().map(|(_, s)| (s.state, s.entry)).collect();
    entered.dedup();
    let names = |ids: &mut dyn Iterator<Item = StateId>| -> Vec<&str> {
        ids.map(|id| graph.state(id).name).collect()
    };
    let path = names(&mut entered.iter().map(|(state, _)| *state));
    let from = case.route.last().copied();
    // Changes before the start of the operator take effect before any handler runs.
    let skipped = case.runs == Some(0) || case.changed_before.is_some();
    let mut expected = case.route.clone();
    if skipped {
        expected.pop();
    }
    if let Goal::Started(to) = case.goal {
        expected.push(to);
    }
    let expected = names(&mut expected.into_iter());
    if path != expected {
        wrong.push(format!("the path is {path:?}, not {expected:?}"));
    }
    let runs = starts
        .iter()
        .filter(|(_, start)| Some(start.state) == from)
        .count();
    let again = usize::from(matches!(case.goal, Goal::Started(to) if Some(to) == from));
    if let Some(expected) = case.runs
        && runs.checked_sub(again) != usize::try_from(expected).ok()
    {
        wrong.push(format!("the handler runs {runs} times, not {expected}"));
    }
    if let Some((least, most)) = case.stays {
        let first = starts.iter().find(|(_, start)| Some(start.state) == from);
        let begins = first.map_or(Duration::ZERO, |(at, _)| *at);
        let ends = notes.last().map_or(Duration::ZERO, |(at, _)| *at);
        let took = ends.saturating_sub(begins);
        if took < least || took > most + MOMENT {
            wrong.push(format!("the stay takes {took:?}, not {least:?} to {most:?}"));
        }
    }
    wrong
}
