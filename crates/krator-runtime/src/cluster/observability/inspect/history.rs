//! The last transitions of a kind, for people who look at its objects.
use super::answer::Transition;
use crate::{engine::Moved, graph::Graph, lock::Lock as _, machine::Object, status::cut};
use jiff::Timestamp;
use std::{collections::VecDeque, sync::Mutex};

/// How many transitions are kept, of all objects of the kind together.
const KEPT: usize = 512;
/// The most bytes of a message that are kept: the whole ring takes less than 300 KiB.
const LONGEST_MESSAGE: usize = 256;

/// A ring of transitions.
pub(in crate::cluster) struct History {
    graph: &'static Graph<'static>,
    /// The latest one is the last.
    last: Mutex<VecDeque<Transition>>,
}

impl History {
    pub fn new(graph: &'static Graph<'static>) -> Self {
        Self {
            graph,
            last: Mutex::default(),
        }
    }

    /// Records that an object has entered a state.
    pub fn record<K: Object>(&self, object: &K, moved: &Moved<'_>, time: Timestamp) {
        let name = |name: &str| Some(self.graph.state(self.graph.find(name)?).name);
        let Some(to) = name(moved.to.name) else { return };
        let entered = Transition {
            namespace: object.namespace().to_owned(),
            name: object.name().to_owned(),
            from: moved.from.and_then(|from| name(from.name)),
            to,
            cause: moved.cause.name(),
            entry: moved.entry,
            time,
            message: cut(moved.message(), LONGEST_MESSAGE).to_owned(),
        };
        let mut last = self.last.locked();
        if last.len() == KEPT {
            last.pop_front();
        }
        last.push_back(entered);
    }

    /// The last transitions, the latest one first: of all objects, or of the one in this namespace with this name.
    pub(super) fn last(&self, most: usize, of: Option<(&str, &str)>) -> Vec<Transition> {
        let last = self.last.locked();
        let is_asked =
            |entered: &&Transition| of.is_none_or(|of| of == (&*entered.namespace, &*entered.name));
        last.iter().rev().filter(is_asked).take(most).cloned().collect()
    }
}
