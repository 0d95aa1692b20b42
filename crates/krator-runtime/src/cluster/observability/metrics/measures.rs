//! Metrics that need a scan of all objects, which is made at each scrape.
use super::{Families, KindMetrics, of_state};
use crate::graph::StateId;
use jiff::Timestamp;

/// The measures of a state from a scan of all objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::cluster) struct Measures {
    /// When the object that has been in it for longest entered it; `None` if there is none.
    pub oldest: Option<Timestamp>,
    /// How many objects wait for its gate.
    pub waiting: i64,
}

impl KindMetrics {
    /// Sets the measures of each state, by its number, if they are known.
    pub fn set_measures(&self, measures: Option<&[Measures]>) {
        let Families { oldest, waiting, .. } = &*self.metrics.0;
        for (policy, number) in self.graph.states.iter().zip(0..) {
            let labels = of_state(self.of_kind.clone(), policy.name);
            let Some(measures) = measures else {
                oldest.remove(&labels);
                waiting.remove(&labels);
                continue;
            };
            let measures = measures.get(usize::from(number)).copied().unwrap_or_default();
            let since = measures.oldest.map_or(0, Timestamp::as_second);
            oldest.get_or_create(&labels).set(since);
            if self.graph.has_gate(StateId(number)) {
                waiting.get_or_create(&labels).set(measures.waiting);
            }
        }
    }
}
