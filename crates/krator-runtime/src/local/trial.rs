//! One run of a scenario of [`testing::crashes`](crate::testing::crashes): the fault that it has, and what is noted for the
//! comparison with the run without faults.
use super::{Fault, FaultKind};
use crate::{
    engine::{Cause, Moved},
    graph::StateId,
    lock::Lock as _,
};
use jiff::Timestamp;
use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard},
};
use tokio::sync::Notify;

/// One run of a scenario.
pub(crate) struct Trial {
    pub began: Timestamp,
    /// Random numbers and versions begin here.
    pub seed: u64,
    fault: Option<Fault>,
    /// The run without faults; `None` if this is one.
    pub plain: Option<Noted>,
    /// Notified when the process is to die.
    pub dies: Notify,
    /// Notified when the object has gone elsewhere, so that the rest of the scenario is not about it.
    pub ends: Notify,
    noted: Mutex<Noted>,
}

/// The record of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Noted {
    /// The writes and requests at which something can go wrong.
    pub points: Vec<Point>,
    /// Whether the fault has happened.
    is_hit: bool,
    /// How many steps were taken.
    pub steps: usize,
    /// Where the object rested, each time that the scenario waited for that.
    pub rests: Vec<Rest>,
    /// Whether an edge was taken that leads elsewhere because of the fault, as the description says: `resume`, or that of an
    /// error that is not retried.
    pub is_diverted: bool,
    /// How often the handlers of states with `effects: once` have ended without an error, by the names of the states.
    pub completed: BTreeMap<&'static str, usize>,
}

/// A write of the object, or a request about an object of another kind.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    /// For people.
    pub what: String,
    pub access: Access,
}

/// How a request is answered if another client is faster, and whether it changes anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(feature = "kube"),
    allow(dead_code, reason = "without other kinds there are no requests")
)]
pub(crate) enum Access {
    Read,
    /// Of a new object. It is not answered with a conflict, but with an object that exists already.
    Create,
    Write,
}

impl Point {
    /// The possible faults at this point, which has this number. A process that ends after a read is like one that ends before
    /// the next request.
    pub fn faults(&self, nth: usize) -> impl Iterator<Item = Fault> + use<> {
        let access = self.access;
        Fault::at(nth).into_iter().filter(move |fault| match fault.kind {
            FaultKind::DiesBefore | FaultKind::Fails => true,
            FaultKind::DiesAfter | FaultKind::AnswerIsLost => access != Access::Read,
            FaultKind::AnotherClientIsFaster => access == Access::Write,
        })
    }
}

/// Where an object is when nothing is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rest {
    /// `None` if the object is gone, or the machine does not know the stored state.
    pub state: Option<StateId>,
    /// Whether a handler or a request that failed is to be tried again.
    pub is_failing: bool,
}

impl Trial {
    pub fn new(began: Timestamp, seed: u64, fault: Option<(Fault, &Noted)>) -> Self {
        Self {
            began,
            seed,
            fault: fault.map(|(fault, _)| fault),
            plain: fault.map(|(_, plain)| plain.clone()),
            dies: Notify::new(),
            ends: Notify::new(),
            noted: Mutex::default(),
        }
    }

    pub fn noted(&self) -> MutexGuard<'_, Noted> {
        self.noted.locked()
    }

    /// Takes notice of a write or a request that is about to be made, and returns what goes wrong with it.
    pub fn reaches(&self, point: Point) -> Option<FaultKind> {
        let mut noted = self.noted.locked();
        let nth = noted.points.len();
        let fault = self.fault.filter(|fault| fault.write == nth);
        noted.is_hit |= fault.is_some();
        noted.points.push(point);
        fault.map(|fault| fault.kind)
    }

    pub fn is_hit(&self) -> bool {
        self.noted.locked().is_hit
    }

    /// Whether the description says that a fault leads the object here.
    pub fn diverts(&self, moved: &Moved<'_>) -> bool {
        match moved.cause {
            Cause::Restarted | Cause::Interrupted | Cause::Failed => true,
            Cause::RetriesExhausted => moved.from.is_some_and(|from| from.retry.limit == Some(0)),
            Cause::TimedOut => {
                let delays = self.fault.is_some_and(Fault::delays);
                delays
                    && moved
                        .from
                        .is_some_and(|from| moved.stayed <= from.retry.initial * 2)
            }
            _ => false,
        }
    }
}
