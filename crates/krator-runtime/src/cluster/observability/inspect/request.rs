//! Requests to the dispatcher of a kind, which alone has access to the kind's objects.
use super::{Measures, Shown};
use crate::graph::StateId;
use jiff::Timestamp;
use std::sync::{Arc, Mutex};
use tokio::sync::oneshot;

/// Where an object is, unless it is to be left alone there, and the state whose gate it waits for.
#[derive(Clone, Copy, Default)]
pub(in crate::cluster) struct Position {
    pub since: Option<(StateId, Timestamp)>,
    pub waits_for: Option<StateId>,
}

/// The objects that a request selects.
pub(super) enum Wanted {
    /// Those in a state; `None` stands for those that are parked.
    At(Option<StateId>),
    All,
    /// All objects, whose timers have to be recalculated.
    #[cfg(feature = "dev")]
    TimersAgain,
    /// The object in this namespace with this name, which has to take an edge to a state.
    #[cfg(feature = "dev")]
    ByHand {
        namespace: String,
        name: String,
        to: StateId,
    },
}

impl Wanted {
    /// Whether the request selects an object.
    fn wants(&self, found: &FoundObject) -> bool {
        match self {
            Self::At(state) => *state == found.at,
            Self::All => true,
            #[cfg(feature = "dev")]
            Self::TimersAgain => true,
            #[cfg(feature = "dev")]
            Self::ByHand { namespace, name, .. } => {
                found.look().is_some_and(|shown| shown.is(namespace, name))
            }
        }
    }
}

/// A request to a dispatcher, which passes all objects of its kind to it.
pub(in crate::cluster) struct ViewRequest(Asked);

enum Asked {
    Objects {
        wanted: Wanted,
        found: Vec<FoundObject>,
        answer: oneshot::Sender<Vec<FoundObject>>,
    },
    /// It is sent with each scrape of metrics, so it does not unpack objects.
    Measures {
        /// By the number of the state.
        states: Vec<Measures>,
        answer: oneshot::Sender<Vec<Measures>>,
    },
}

/// An object, and the state that it is in.
pub(in crate::cluster) struct FoundObject {
    pub(super) at: Option<StateId>,
    /// Decodes the shown fields. An object at rest is unpacked for that, which is left to the receiver of the answer.
    look: Box<dyn Fn() -> Option<Shown> + Send + Sync>,
}

impl FoundObject {
    pub fn new(at: Option<StateId>, look: impl Fn() -> Option<Shown> + Send + Sync + 'static) -> Self {
        Self {
            at,
            look: Box::new(look),
        }
    }

    pub(super) fn look(&self) -> Option<Shown> {
        (self.look)()
    }
}

impl ViewRequest {
    pub(super) fn objects(wanted: Wanted, answer: oneshot::Sender<Vec<FoundObject>>) -> Self {
        let found = Vec::new();
        Self(Asked::Objects {
            wanted,
            found,
            answer,
        })
    }

    pub(super) fn measures(states: usize, answer: oneshot::Sender<Vec<Measures>>) -> Self {
        let states = vec![Measures::default(); states];
        Self(Asked::Measures { states, answer })
    }

    /// Adds an object to the answer if it is selected.
    pub fn see(&mut self, position: impl FnOnce() -> Position, object: impl FnOnce() -> FoundObject) {
        match &mut self.0 {
            Asked::Measures { states, .. } => {
                let Position { since, waits_for } = position();
                if let Some((at, since)) = since
                    && let Some(Measures { oldest, .. }) = states.get_mut(usize::from(at.0))
                {
                    *oldest = Some(oldest.map_or(since, |oldest| oldest.min(since)));
                }
                if let Some(measures) = waits_for.and_then(|to| states.get_mut(usize::from(to.0))) {
                    measures.waiting += 1;
                }
            }
            Asked::Objects { wanted, found, .. } => {
                let object = object();
                if wanted.wants(&object) {
                    found.push(object);
                }
            }
        }
    }

    /// Whether the request selects this object.
    #[cfg(feature = "dev")]
    pub fn wants(&self, found: &FoundObject) -> bool {
        matches!(&self.0, Asked::Objects { wanted, .. } if wanted.wants(found))
    }

    /// Whether the selected objects have to act before the answer is sent.
    #[cfg(feature = "dev")]
    pub fn is_order(&self) -> bool {
        let Asked::Objects { wanted, .. } = &self.0 else {
            return false;
        };
        matches!(wanted, Wanted::TimersAgain | Wanted::ByHand { .. })
    }

    /// The state to which the selected object has to go.
    #[cfg(feature = "dev")]
    pub fn takes(&self) -> Option<StateId> {
        match &self.0 {
            Asked::Objects {
                wanted: Wanted::ByHand { to, .. },
                ..
            } => Some(*to),
            _ => None,
        }
    }

    /// Sends the answer.
    pub fn answer(self) {
        // This fails if the receiver has given up, which is not an error.
        match self.0 {
            Asked::Objects { found, answer, .. } => drop(answer.send(found)),
            Asked::Measures { states, answer } => drop(answer.send(states)),
        }
    }
}

/// An object owned by a task, shared with its dispatcher.
pub(in crate::cluster) type View<K> = Mutex<Viewed<K>>;

/// An object with its state, when it entered that, and its last version.
pub(in crate::cluster) struct Viewed<K> {
    pub at: Option<StateId>,
    pub since: Option<(StateId, Timestamp)>,
    pub object: Arc<K>,
}
