//! Whether objects pass gates only with an approval of their current ask.

use super::{Oracle, View};
use krator::model::StateId;
use krator::policies::approval_annotation;
use std::collections::BTreeMap;

/// The asks of an object by their ids: each with the entry of the state in which it was made, and its generation.
pub(super) type Asks = BTreeMap<String, (String, i64)>;

impl Oracle {
    /// The objects that wait for an approval, each with the id of its ask.
    pub fn unapproved(&self) -> impl Iterator<Item = (&str, &str)> {
        let objects = self.objects.values().filter(|past| !past.gone);
        objects.map(|past| View(&past.last)).filter_map(|last| {
            let id = Some(last.text("/status/ask/id")).filter(|id| !id.is_empty())?;
            (self.approved(last) != id).then_some((last.name(), id))
        })
    }

    /// The id of the approved ask; empty if there is none.
    fn approved<'v>(&self, object: View<'v>) -> &'v str {
        let annotations = &object.0["metadata"]["annotations"];
        let approval = annotations[approval_annotation(&self.kind)].as_str();
        approval
            .and_then(|text| text.split(' ').next())
            .unwrap_or_default()
    }

    /// Whether a transition from one state to another had the approval that it needs, if any.
    pub(super) fn was_approved(&self, from: StateId, to: StateId, before: View) -> bool {
        if !self.kind.state(to).needs_approval() || before.is_deleted() {
            return true;
        }
        let id = before.text("/status/ask/id");
        let asks = self.objects_asks.get(before.uid());
        let about = asks
            .and_then(|asks| asks.get(id))
            .map(|(_, generation)| *generation);
        before.asked_in(&self.kind) == Some((from, to))
            && self.approved(before) == id
            && about == Some(before.generation())
    }

    /// An id belongs to only one ask: in one entry of a state, and for one generation.
    pub(super) fn judge_ask(&mut self, now: View, problems: &mut Vec<String>) {
        let id = now.text("/status/ask/id");
        if id.is_empty() {
            return;
        }
        let asks = self.objects_asks.entry(now.uid().to_owned()).or_default();
        let known = asks
            .entry(id.to_owned())
            .or_insert_with(|| (now.entry().to_owned(), now.generation()));
        if known.0 != now.entry() {
            problems.push(format!("the ask {id} has the id of a former one"));
        }
    }
}
