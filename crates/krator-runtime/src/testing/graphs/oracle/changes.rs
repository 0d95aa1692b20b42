//! Checks that each change of the spec is judged once, by comparison with the fields when the spec was judged last.
use crate::{
    engine,
    graph::{Effects, Graph, OnSpecChange, Policy},
    status::{EntryId, MachineStatus},
    testing::graphs::{
        recorder::{Note, Stored},
        scripted::stored_digests,
    },
};
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::RangeInclusive,
    time::Duration,
};

/// The fields of the spec that the graph distinguishes, by their paths.
type Spec = BTreeMap<String, u32>;

/// Compares the stored objects with the changes of the spec that caused them.
pub(super) fn judge(graph: &Graph<'_>, notes: &[(Duration, Note)]) -> Vec<String> {
    let mut wrong = Vec::new();
    let stored = || {
        notes.iter().filter_map(|(_, note)| match note {
            Note::Stored(stored) => Some(&**stored),
            _ => None,
        })
    };
    let mut specs: BTreeMap<i64, &Spec> = stored().map(|stored| (stored.generation, &stored.spec)).collect();
    // If the spec was changed before the operator started, the first spec was never observed.
    let first = stored().next().map(|stored| {
        stored
            .spec
            .keys()
            .cloned()
            .map(|path| (path, 0))
            .collect::<Spec>()
    });
    if let Some(first) = &first {
        specs.entry(1).or_insert(first);
    }
    let entered: BTreeMap<EntryId, (Option<&str>, engine::Cause)> = notes
        .iter()
        .filter_map(|(_, note)| match note {
            Note::Moved {
                from, entry, cause, ..
            } => Some((*entry, (from.as_deref(), *cause))),
            _ => None,
        })
        .collect();
    for (before, now) in stored().zip(stored().skip(1)) {
        let (Some(former), Some(status)) = (&before.status, &now.status) else {
            continue;
        };
        let (Some(from), Some(to), false) = (before.state, now.state, now.deleting || former == status)
        else {
            continue;
        };
        let (judged, judges) = (former.judged_generation(), judged_in(now, status));
        // The effect of the differences between two generations, of which the later one was judged last.
        let reactions = |policy: &Policy<'_>, last: RangeInclusive<i64>| -> BTreeSet<String> {
            let latest = specs.iter().filter(|(generation, _)| last.contains(generation));
            let pairs = latest.flat_map(|(later, now)| {
                let bases = specs
                    .iter()
                    .filter(move |(base, _)| **base >= judged && *base < later);
                bases.map(|(_, base)| format!("{:?}", reaction(policy, base, now)))
            });
            pairs.collect()
        };
        let entry = status.entry.filter(|_| former.entry != status.entry);
        let name = graph.state(to).name;
        match entry.and_then(|entry| entered.get(&entry)) {
            Some((left, engine::Cause::SpecChanged)) => {
                let left = left.and_then(|left| graph.find(left)).unwrap_or(from);
                // A later change may have been judged before the entry was written.
                let may = reactions(graph.state(left), judged..=judges);
                if !may.contains(&format!("{:?}", OnSpecChange::To(to))) {
                    wrong.push(format!(
                        "{name} is entered for the change of generation {judged} to {judges}, which does {may:?}"
                    ));
                }
            }
            None if entry.is_none() && judges > judged && graph.state(from).effects != Effects::Once => {
                let may = reactions(graph.state(from), judges..=judges);
                let stays = [OnSpecChange::Wake, OnSpecChange::Ignore].map(|does| format!("{does:?}"));
                if !stays.iter().any(|does| may.contains(does)) {
                    wrong.push(format!(
                        "{name} is not left by the change of generation {judged} to {judges}, which does {may:?}"
                    ));
                }
            }
            _ => {}
        }
        wrong.extend(digests(now, status, (judges, &specs)));
    }
    wrong
}

/// The generation that was judged according to a status. The object may have been deleted since.
fn judged_in(now: &Stored, status: &MachineStatus) -> i64 {
    status.judged_generation().min(now.generation)
}

/// The reaction of a state to a change of the spec.
fn reaction(policy: &Policy<'_>, before: &Spec, now: &Spec) -> OnSpecChange {
    let differs = |path: &&str| before.get(*path) != now.get(*path);
    let mut changes = policy.on_spec_change_of.iter();
    let first = changes.find(|change| change.of.iter().any(differs));
    first.map_or(policy.on_spec_change, |change| change.does)
}

/// The stored digests are those of the judged generation, or of a later one that is being handled.
fn digests(
    now: &Stored,
    status: &MachineStatus,
    (judged, specs): (i64, &BTreeMap<i64, &Spec>),
) -> Option<String> {
    if now.spec.is_empty() {
        return status
            .spec_digests
            .as_ref()
            .map(|digests| format!("{digests:?} is stored"));
    }
    let digests = status.spec_digests.as_deref();
    let mut may = specs.range(judged..);
    let fits = may.any(|(_, spec)| Some(&stored_digests(spec)) == digests);
    (!fits).then(|| format!("the digests of generation {judged} are {digests:?}"))
}
