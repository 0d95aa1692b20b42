//! One run of a scenario of [`testing::crashes`](crate::testing::crashes): its fault, and a record for the comparison
//! with the run without faults.
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
    /// The initial value of random numbers and versions.
    pub seed: u64,
    fault: Option<Fault>,
    /// The record of the run without faults; `None` during that run.
    pub plain: Option<Noted>,
    /// Notified when the process has to die.
    pub dies: Notify,
    /// Notified when the object has taken another path, which the rest of the scenario does not describe.
    pub ends: Notify,
    noted: Mutex<Noted>,
}

/// The record of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Noted {
    /// The writes and requests at which a fault is possible.
    pub points: Vec<Point>,
    /// Whether the fault has happened.
    is_hit: bool,
    /// The number of steps.
    pub steps: usize,
    /// The places where the object rested, whenever the scenario waited for that.
    pub rests: Vec<Rest>,
    /// Whether a fault has caused an edge that the description allows for it: `resume`, or the edge of an error that is
    /// not retried.
    pub is_diverted: bool,
    /// The number of runs of each handler with `effects: once` that have ended without an error, by the names of the
    /// states.
    pub completed: BTreeMap<&'static str, usize>,
}

/// A write of the object, or a request about an object of another kind.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    /// A description for messages.
    pub what: String,
    pub access: Access,
}

/// Whether a request changes anything, and how it fails if another client is faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(feature = "kube"),
    allow(dead_code, reason = "without other kinds there are no requests")
)]
pub(crate) enum Access {
    Read,
    /// Creates an object. The response is not a conflict, but an object that exists already.
    Create,
    Write,
}

impl Point {
    /// The possible faults at this point, which has this number. A process that ends after a read is equivalent to one
    /// that ends before the next request.
    pub fn faults(&self, nth: usize) -> impl Iterator<Item = Fault> + use<> {
        let access = self.access;
        Fault::at(nth).into_iter().filter(move |fault| match fault.kind {
            FaultKind::DiesBefore | FaultKind::Fails => true,
            FaultKind::DiesAfter | FaultKind::AnswerIsLost => access != Access::Read,
            FaultKind::AnotherClientIsFaster => access == Access::Write,
        })
    }
}

/// The place of an object when nothing is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rest {
    /// `None` if the object is gone, or if the machine has no such state as the stored one.
    pub state: Option<StateId>,
    /// Whether a failed handler or request has to be retried.
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

    /// Records a write or request before it is made, and returns its fault.
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

    /// Whether the description allows that a fault leads the object here.
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
