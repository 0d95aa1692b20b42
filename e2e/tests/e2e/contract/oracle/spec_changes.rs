//! Whether each change of the spec was judged once, and against the spec that was judged before.

use super::{Oracle, View};
use krator::graph::{EdgeKind, StateGraph};
use krator::model::{Effects, FieldPath, OnSpecChange, Segment, State, StateId, StateKind};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A possible state of an object, the generation that was judged by then, and whether the object had moved.
type Place = (StateId, i64, bool);

impl Oracle {
    /// Whether the object can be in its state after the changes that were judged since the previous write.
    pub(super) fn judge_spec_change(
        &self,
        specs: &BTreeMap<i64, Value>,
        before: View,
        now: View,
        to: StateId,
    ) -> Result<(), String> {
        let Some(from) = self.kind.state_named(before.text("/status/state")) else {
            return Ok(());
        };
        if self.contested || now.is_deleted() || self.kind.watched_fields().is_empty() {
            return Ok(());
        }
        let (judged, judges) = (before.judged(), now.judged());
        let has_moved = before.entry() != now.entry();
        if judged < 1 || (judged == judges && !has_moved) {
            return Ok(());
        }
        let graph = StateGraph::of(&self.kind);
        let mut reached: BTreeSet<Place> = BTreeSet::new();
        let mut next: Vec<Place> = vec![(from, judged, false)];
        while let Some(place) = next.pop() {
            if !reached.insert(place) {
                continue;
            }
            let (at, generation, moved) = place;
            let state = self.kind.state(at);
            // An object leaves an unwritten state only by a spec change, because the handler has not run, by the
            // state's limit, or by its timeout if the write has failed for that long.
            let may_run = !(moved || self.stays && state.kind.value == StateKind::Ready);
            let others = graph.leaving(at).filter(|step| match step.edge.kind {
                EdgeKind::SpecChange => false,
                EdgeKind::Limit | EdgeKind::Timeout => true,
                _ => may_run || !state.checkpoint.value,
            });
            next.extend(others.map(|step| (step.to, generation, true)));
            let later = specs
                .iter()
                .filter(|(later, _)| **later > generation && **later <= judges);
            for (later, spec) in later {
                let Some(base) = specs.get(&generation) else {
                    continue;
                };
                next.push(match reaction(state, base, spec) {
                    // The handler receives the latest generation, and no change is judged.
                    _ if state.effects.value == Effects::Once => (at, *later, moved),
                    OnSpecChange::Enter(to) => (to, *later, true),
                    OnSpecChange::Wake | OnSpecChange::Ignore => (at, *later, moved),
                });
            }
        }
        if reached.contains(&(to, judges, has_moved)) {
            return Ok(());
        }
        let name = |id: StateId| self.kind.state(id).name.as_str();
        Err(format!(
            "the changes of generation {judged} to {judges} cannot have led from {} to {}",
            name(from),
            name(to)
        ))
    }
}

impl View<'_> {
    /// The last generation whose change was judged.
    pub(super) fn judged(self) -> i64 {
        let conditions = self.0["status"]["conditions"].as_array().into_iter().flatten();
        let mut reconciling = conditions.filter(|condition| condition["type"] == "Reconciling");
        let judged = reconciling
            .next()
            .and_then(|condition| condition["observedGeneration"].as_i64());
        self.observed().max(judged.unwrap_or_default())
    }
}

/// The reaction of a state to the difference between two specs.
fn reaction(state: &State, base: &Value, now: &Value) -> OnSpecChange {
    let differs = |path: &FieldPath| value(base, path) != value(now, path);
    let mut changes = state.on_spec_change_of.iter();
    let first = changes.find(|change| change.of.iter().any(|path| differs(&path.value)));
    first.map_or(state.on_spec_change, |change| change.does).value
}

fn value<'a>(spec: &'a Value, path: &FieldPath) -> Option<&'a Value> {
    path.segments
        .iter()
        .try_fold(spec, |value, segment| match segment {
            Segment::Field(name) => value.get(name),
            Segment::Each | Segment::Where { .. } => None,
        })
}
