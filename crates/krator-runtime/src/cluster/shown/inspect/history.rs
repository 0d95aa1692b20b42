//! The last transitions of a kind, for people who look at its objects.
use super::answer::Transition;
use crate::{
    engine::{Cause, Moved},
    graph::{Graph, StateId},
    machine::Object,
    status::{EntryId, cut},
};
use jiff::Timestamp;
use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

/// How many transitions are kept, of all objects of the kind together.
const KEPT: usize = 512;
/// The most bytes of a message that are kept: the whole ring takes less than 300 KiB.
const LONGEST_MESSAGE: usize = 256;

/// A ring of transitions.
pub(in crate::cluster) struct History {
    graph: &'static Graph<'static>,
    /// The latest one is the last.
    last: Mutex<VecDeque<Entered>>,
}

/// An entry of an object into a state.
struct Entered {
    namespace: Box<str>,
    name: Box<str>,
    from: Option<StateId>,
    to: StateId,
    cause: Cause,
    entry: EntryId,
    time: Timestamp,
    message: Box<str>,
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
        let Some(to) = self.graph.find(moved.to.name) else {
            return;
        };
        let entered = Entered {
            namespace: object.namespace().into(),
            name: object.name().into(),
            from: moved.from.and_then(|from| self.graph.find(from.name)),
            to,
            cause: moved.cause,
            entry: moved.entry,
            time,
            message: cut(moved.message(), LONGEST_MESSAGE).into(),
        };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.len() == KEPT {
            last.pop_front();
        }
        last.push_back(entered);
    }

    /// The last transitions, the latest one first: of all objects, or of the one in this namespace with this name.
    pub(super) fn last(&self, most: usize, of: Option<(&str, &str)>) -> Vec<Transition> {
        let name = |id: StateId| self.graph.state(id).name;
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let of_object = last
            .iter()
            .rev()
            .filter(|entered| of.is_none_or(|of| of == (&*entered.namespace, &*entered.name)));
        of_object
            .take(most)
            .map(|entered| Transition {
                namespace: entered.namespace.to_string(),
                name: entered.name.to_string(),
                from: entered.from.map(name),
                to: name(entered.to),
                cause: entered.cause.as_str(),
                entry: entered.entry,
                time: entered.time,
                message: entered.message.to_string(),
            })
            .collect()
    }
}
