//! Checks that each entry into a state is reported once, by an event and to the metrics.
use super::Disturbance;
use crate::{
    graph::Graph,
    status::EntryId,
    testing::graphs::recorder::{Note, Stored},
};
use std::{collections::BTreeSet, time::Duration};

/// Compares the reports with the stored objects.
pub(super) fn judge(graph: &Graph<'_>, notes: &[(Duration, Note)], disturbance: Disturbance) -> Vec<String> {
    let mut wrong = Vec::new();
    let entry_of = |stored: &Stored| stored.status.as_ref().and_then(|status| status.entry);
    let name_of = |stored: &Stored| stored.state.map(|state| graph.state(state).name);
    let stored = notes.iter().filter_map(|(_, note)| match note {
        Note::Stored(stored) => entry_of(stored),
        _ => None,
    });
    let ever_stored: BTreeSet<EntryId> = stored.collect();
    let is_twin = disturbance == Disturbance::Schedule { two_processes: true };

    let mut reported = BTreeSet::new();
    // The stored object, the state that the next entry leaves, and a stored entry that still has to be reported.
    let (mut last, mut at, mut pending) = (None, None, None);
    for (i, (_, note)) in notes.iter().enumerate() {
        match note {
            Note::Stored(stored) => {
                let former = last.replace(stored);
                match former {
                    None => at = name_of(stored),
                    Some(former) if entry_of(former) != entry_of(stored) => pending = entry_of(stored),
                    Some(_) => {}
                }
            }
            Note::Moved { from, to, entry, .. } => {
                if !reported.insert(*entry) {
                    wrong.push(format!("the entry {entry} is reported twice"));
                }
                let policy = graph.find(to).map(|to| graph.state(to));
                // An entry that is left before it is stored is reported together with the next entry.
                let is_left = matches!(notes.get(i + 1), Some((_, Note::Moved { .. })));
                let may_pass = is_left || policy.is_some_and(|to| to.deletion_path);
                if !ever_stored.contains(entry) && !may_pass {
                    wrong.push(format!("an entry of {to} is reported and never stored"));
                }
                if from.as_deref() != at && !is_twin {
                    wrong.push(format!("an entry of {to} is reported from {from:?}, not {at:?}"));
                }
                at = policy.map(|to| to.name);
                pending = pending.filter(|pending| pending != entry);
            }
            // The stored entry cannot be reported after this.
            Note::Died => (at, pending) = (last.and_then(|stored| name_of(stored)), None),
            // On the deletion path a handler starts even if the response to the write of its entry was lost, and a
            // handler whose state is not stored starts before the next write.
            Note::Started(started) => {
                let waits_for_write =
                    |entry| entry == started.entry || !graph.state(started.state).checkpoint;
                let may_wait = |entry| disturbance != Disturbance::None && waits_for_write(entry);
                if let Some(entry) = pending.filter(|entry| !may_wait(*entry) && !is_twin) {
                    wrong.push(format!("the entry {entry} is stored and not reported"));
                }
            }
            Note::Gone | Note::Ended(_) | Note::Dropped => {}
        }
    }
    if let Some(entry) = pending.filter(|_| disturbance == Disturbance::None) {
        wrong.push(format!("the entry {entry} is stored in the end and not reported"));
    }
    wrong
}
