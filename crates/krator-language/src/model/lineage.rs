//! Matches kinds and states of a description with those of its successor, in a single decision for all of them.
//!
//! Comparison, regeneration and renaming in code must agree on the matches: otherwise a handler ends up in a state that
//! the comparison takes for another one. The result is a partial injection, so chains (`A` to `B` while `B` to `D`) and
//! swaps are ordinary cases: no name is decided separately.
//!
//! - A kind is matched by its name, or otherwise by its resource (`plural.group`). Kinds have no former names, so the
//!   remaining ones are matched by the names of their states and fields; if a single one remains on each side, these
//!   two match.
//! - A state is matched by its name, unless `renamedFrom` has another one. A state may claim a name that still exists
//!   only if the state of that name was itself renamed from another one. Names that were in `renamedFrom` before the
//!   edit are history and no claims, unless a new claim is valid only with them. A swap that is undone with both names
//!   still in `renamedFrom` is therefore no rename at all.
//! - If `B` was renamed from `A` before, a state `C` with `renamedFrom: A` is `B` under another name, and so is a new
//!   state `A`, which reverts the rename. Objects that are stored in `B` are a separate question.
//! - If a state claims a name that was removed, and existed before under its own name, the text does not distinguish a
//!   merge ("objects of `A` continue in `B`") from a rename onto a removed name ("`A` is now `B`, and the former `B`
//!   was removed"). The state then matches the former state whose definition is more similar; a tie is a rename, as the
//!   key says literally.
//!
//! Files and code follow the injection. Stored objects have only the name in `.status.state`, so the state in which
//! they continue may be another one: see [`KindLineage::resumes`].

use std::collections::{BTreeMap, BTreeSet};

use super::{Description, Kind, KindId, Shape, State, StateId};
use crate::names::StateName;

/// The kinds of a former description in the new one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lineage {
    kinds: Vec<KindLineage>,
}

/// A kind that both descriptions have, with the matches of its states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KindLineage {
    /// The kind in the former description.
    pub former: KindId,
    /// The kind in the new one.
    pub now: KindId,
    became: BTreeMap<StateId, StateId>,
    merged: BTreeMap<StateId, StateId>,
    resumes: BTreeMap<StateId, StateId>,
}

impl Lineage {
    /// Matches two descriptions without errors.
    pub fn between(former: &Description, now: &Description) -> Self {
        let kinds = matched_kinds(former, now).into_iter().map(|(then, at)| {
            let (old, new) = (former.kind(then), now.kind(at));
            let became = StateMatch::new(old, new).decide();
            let resumes = resumes(old, new);
            let is_merged = |(then, at): &(&StateId, &StateId)| {
                !became.contains_key(then) && !is_named_the_same(old, **then, new, **at)
            };
            KindLineage {
                former: then,
                now: at,
                merged: resumes
                    .iter()
                    .filter(is_merged)
                    .map(|(then, at)| (*then, *at))
                    .collect(),
                became,
                resumes,
            }
        });
        Lineage {
            kinds: kinds.collect(),
        }
    }

    /// The kinds that both descriptions have, in the order of the new one.
    pub fn kinds(&self) -> &[KindLineage] {
        &self.kinds
    }
}

impl KindLineage {
    /// The present state that matches a former one. No two former states have the same match.
    pub fn became(&self, former: StateId) -> Option<StateId> {
        self.became.get(&former).copied()
    }

    /// All former states that still exist with their matches, in the order of the former description.
    pub fn states(&self) -> impl Iterator<Item = (StateId, StateId)> {
        self.became.iter().map(|(then, now)| (*then, *now))
    }

    /// Whether a state of the new description existed before, under any name.
    pub(crate) fn was_there(&self, now: StateId) -> bool {
        self.became.values().any(|state| *state == now)
    }

    /// The state that replaces a former one: its match, or otherwise the state that it was merged into.
    pub(crate) fn successor(&self, former: StateId) -> Option<StateId> {
        self.became(former).or_else(|| self.merged.get(&former).copied())
    }

    /// The state in which objects continue that are stored in a former one. The runtime has only its name, and prefers
    /// the state of that name to a state that has it as a former name. If the result differs from `successor`, the name
    /// was given to another state, and stored objects continue in the wrong one.
    pub fn resumes(&self, former: StateId) -> Option<StateId> {
        self.resumes.get(&former).copied()
    }
}

fn is_named_the_same(old: &Kind, then: StateId, new: &Kind, now: StateId) -> bool {
    old.state(then).name.value == new.state(now).name.value
}

/// The results of the runtime's `Graph::find` for the names of all former states.
fn resumes(old: &Kind, new: &Kind) -> BTreeMap<StateId, StateId> {
    let find = |name: &str| {
        let former_name = || new.state_ids().find(|(_, state)| state.was(name));
        new.state_named(name).or_else(|| former_name().map(|(id, _)| id))
    };
    old.state_ids()
        .filter_map(|(id, state)| Some((id, find(state.name.as_str())?)))
        .collect()
}

/// The kinds that both have, in the order of the new description.
fn matched_kinds(former: &Description, now: &Description) -> Vec<(KindId, KindId)> {
    let is_same: [fn(&Kind, &Kind) -> bool; 2] = [
        |old, new| old.resource.kind.value == new.resource.kind.value,
        |old, new| {
            let name = |kind: &Kind| {
                (
                    kind.resource.plural.value.clone(),
                    kind.resource.group.value.clone(),
                )
            };
            name(old) == name(new)
        },
    ];
    let mut matched: BTreeMap<KindId, KindId> = BTreeMap::new();
    for is_same in is_same {
        for at in left(now, |id| matched.contains_key(&id)) {
            let mut open = left(former, |id| matched.values().any(|then| *then == id)).into_iter();
            if let Some(then) = open.find(|then| is_same(former.kind(*then), now.kind(at))) {
                matched.insert(at, then);
            }
        }
    }
    loop {
        let open = left(now, |id| matched.contains_key(&id));
        let gone = left(former, |id| matched.values().any(|then| *then == id));
        if let ([then], [at]) = (&gone[..], &open[..]) {
            matched.insert(*at, *then);
        }
        let all = open.iter().flat_map(|at| gone.iter().map(|then| (*at, *then)));
        let best = all
            .map(|(at, then)| (in_common((former, then), (now, at)), at, then))
            .filter(|(common, ..)| *common > 0)
            // Of pairs with as much in common, prefer the smallest distance between their places in the text.
            .max_by_key(|(common, at, then)| (*common, std::cmp::Reverse((at.0.abs_diff(then.0), at.0))));
        match best {
            Some((_, at, then)) if open.len() > 1 || gone.len() > 1 => matched.insert(at, then),
            _ => break,
        };
    }
    matched.into_iter().map(|(at, then)| (then, at)).collect()
}

fn left(description: &Description, is_matched: impl Fn(KindId) -> bool) -> Vec<KindId> {
    let ids = (0..description.kinds.len()).map(KindId);
    ids.filter(|id| !is_matched(*id)).collect()
}

/// The number of states and fields of the spec that two kinds have in common, by name.
fn in_common((former, then): (&Description, KindId), (now, at): (&Description, KindId)) -> usize {
    let (old, new) = (former.kind(then), now.kind(at));
    let fields = |description: &Description, kind: &Kind| -> BTreeSet<String> {
        match &description.resolve(&kind.spec).shape {
            Shape::Object(fields) => fields.iter().map(|field| field.name.to_string()).collect(),
            _ => BTreeSet::new(),
        }
    };
    fields(former, old).intersection(&fields(now, new)).count() + resumes(old, new).len()
}

/// The states of a kind, and the claims by which they are matched.
struct StateMatch<'a> {
    old: &'a Kind,
    new: &'a Kind,
    /// The former states that a state may match by `renamedFrom`, best first.
    claims: BTreeMap<StateId, Vec<StateId>>,
    /// The same for names that were in `renamedFrom` before the edit.
    history: BTreeMap<StateId, Vec<StateId>>,
}

impl<'a> StateMatch<'a> {
    fn new(old: &'a Kind, new: &'a Kind) -> Self {
        let (mut claims, mut history) = (BTreeMap::new(), BTreeMap::new());
        let heir = |name: &StateName| {
            let mut states = old.state_ids();
            states
                .find(|(_, state)| state.was(name.as_str()))
                .map(|(id, _)| id)
        };
        for (id, state) in new.state_ids() {
            let before = old.state_named(state.name.as_str());
            let known = before.map_or(&[][..], |before| &old.state(before).renamed_from);
            let names = state.renamed_from.iter().map(|name| &name.value);
            let others = names.filter(|name| **name != state.name.value);
            let (then, now): (Vec<_>, Vec<_>) =
                others.partition(|name| known.iter().any(|known| known.value == **name));
            let former = |names: Vec<&StateName>| -> Vec<StateId> {
                let states = names
                    .into_iter()
                    .map(|name| old.state_named(name.as_str()).or_else(|| heir(name)));
                states.flatten().collect()
            };
            let mut now = former(now);
            if before.is_none() {
                now.extend(heir(&state.name.value));
            }
            claims.insert(id, now);
            history.insert(id, former(then));
        }
        StateMatch {
            old,
            new,
            claims,
            history,
        }
    }

    /// Removes claims until the remaining ones are consistent. Each round removes a claim or adds the history of a
    /// state, which is possible once for each, so the loop terminates.
    fn decide(mut self) -> BTreeMap<StateId, StateId> {
        loop {
            let renamed = self.renamed();
            let refuted = renamed
                .iter()
                .find(|(now, then)| self.is_refuted(&renamed, **now, **then))
                .map(|(now, then)| (*now, *then));
            match refuted {
                Some((now, then)) => {
                    if let Some((holder, history)) = self.take_history(then) {
                        self.claims.entry(holder).or_default().extend(history);
                    } else if let Some(claims) = self.claims.get_mut(&now) {
                        claims.retain(|claimed| *claimed != then);
                    }
                }
                None => return self.with_kept_names(renamed),
            }
        }
    }

    /// The former state of each state with claims: the first of its claims that no previous state took.
    fn renamed(&self) -> BTreeMap<StateId, StateId> {
        let mut renamed: BTreeMap<StateId, StateId> = BTreeMap::new();
        for (now, claims) in &self.claims {
            let is_free = |then: &&StateId| !renamed.values().any(|taken| taken == *then);
            if let Some(then) = claims.iter().find(is_free) {
                renamed.insert(*now, *then);
            }
        }
        renamed
    }

    fn is_refuted(&self, renamed: &BTreeMap<StateId, StateId>, now: StateId, then: StateId) -> bool {
        let holder = self.new.state_named(self.old.state(then).name.as_str());
        if let Some(holder) = holder {
            // The name still exists: unless its state was renamed too, that state is the former state itself.
            return !renamed.contains_key(&holder);
        }
        let own = self.old.state_named(self.new.state(now).name.as_str());
        let own = own.filter(|own| !renamed.values().any(|taken| taken == own));
        own.is_some_and(|own| self.agreement(own, now, then) > self.agreement(then, now, own))
    }

    /// The former states that the holder of a name may match by its history. `None` if the history was used already.
    fn take_history(&mut self, then: StateId) -> Option<(StateId, Vec<StateId>)> {
        let holder = self.new.state_named(self.old.state(then).name.as_str())?;
        let history = self.history.remove(&holder)?;
        (!history.is_empty()).then_some((holder, history))
    }

    fn with_kept_names(&self, renamed: BTreeMap<StateId, StateId>) -> BTreeMap<StateId, StateId> {
        let mut became: BTreeMap<StateId, StateId> = BTreeMap::new();
        for (now, then) in &renamed {
            became.insert(*then, *now);
        }
        for (now, state) in self.new.state_ids() {
            let then = self.old.state_named(state.name.as_str());
            if let Some(then) = then.filter(|then| !renamed.contains_key(&now) && !became.contains_key(then))
            {
                became.insert(then, now);
            }
        }
        became
    }

    /// Counts the properties that a state shares with a former one, ignoring edges to `gone`.
    fn agreement(&self, then: StateId, now: StateId, gone: StateId) -> usize {
        let (old, new) = (self.old.state(then), self.new.state(now));
        let text =
            |text: &Option<crate::finding::Spanned<String>>| text.as_ref().map(|text| text.value.clone());
        let poll = |state: &State| state.wait.as_ref()?.poll.as_ref().map(|poll| poll.value.clone());
        let timeout = |state: &State| state.timeout.as_ref().map(|timeout| timeout.when.to_string());
        let limit = |state: &State| state.limit.as_ref().map(|limit| limit.times.value.clone());
        let edges = || {
            let former = old.next.iter().map(|next| next.to.value);
            let former: BTreeSet<StateId> = former.filter(|to| *to != gone && *to != then).collect();
            let former: BTreeSet<&str> = former
                .into_iter()
                .map(|to| self.old.state(to).name.as_str())
                .collect();
            let names = new.next.iter().map(|next| self.new.state(next.to.value));
            let names = names.filter(|state| state.name.value != new.name.value);
            names.map(|state| state.name.as_str()).collect::<BTreeSet<&str>>() == former
        };
        let agreements = [
            text(&old.doc) == text(&new.doc),
            text(&old.message) == text(&new.message),
            old.own_phase() == new.own_phase(),
            old.kind.value == new.kind.value,
            old.effects.value == new.effects.value,
            old.may_stay() == new.may_stay(),
            poll(old) == poll(new),
            timeout(old) == timeout(new),
            limit(old) == limit(new),
            old.gate.is_some() == new.gate.is_some(),
            edges(),
        ];
        agreements.into_iter().filter(|agrees| *agrees).count()
    }
}

#[cfg(test)]
mod tests;
