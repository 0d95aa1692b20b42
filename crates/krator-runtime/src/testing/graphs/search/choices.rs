//! The choices of one schedule, and the next schedule.
use crate::lock::Lock as _;
use std::sync::Mutex;

/// The bounds of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    /// The number of writes with faults in one schedule.
    pub faults: u8,
    /// The number of events of another client or process.
    pub events: u8,
    /// The number of times that a handler does not give its first answer.
    pub answers: u8,
    /// The number of faults and events together.
    pub disturbances: u8,
    /// The number of runs of handlers that begin.
    pub runs: usize,
}

/// The subject of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Fault,
    Event,
    Answer,
}

/// One choice: the taken alternative, and the number of alternatives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    taken: u8,
    of: u8,
}

struct Progress {
    path: Vec<Choice>,
    at: usize,
    left: Bounds,
}

/// The choices of one schedule: first the given ones, and then the ordinary ones.
pub(super) struct Choices(Mutex<Progress>);

impl Choices {
    pub fn new(path: Vec<Choice>, bounds: Bounds) -> Self {
        Self(Mutex::new(Progress {
            path,
            at: 0,
            left: bounds,
        }))
    }

    /// Chooses one of `of` alternatives. The first one is ordinary; each other one reduces the bounds.
    pub fn choose(&self, kind: Kind, of: usize) -> usize {
        let progress = &mut *self.0.locked();
        let left = &mut progress.left;
        let may = match kind {
            Kind::Fault => left.faults > 0 && left.disturbances > 0,
            Kind::Event => left.events > 0 && left.disturbances > 0,
            Kind::Answer => left.answers > 0,
        };
        if !may || of < 2 {
            return 0;
        }
        let known = progress.path.get(progress.at).map(|choice| choice.taken);
        let taken = known.unwrap_or_else(|| {
            let of = u8::try_from(of).unwrap_or(u8::MAX);
            progress.path.push(Choice { taken: 0, of });
            0
        });
        progress.at += 1;
        if taken > 0 {
            match kind {
                Kind::Fault => (left.faults, left.disturbances) = (left.faults - 1, left.disturbances - 1),
                Kind::Event => (left.events, left.disturbances) = (left.events - 1, left.disturbances - 1),
                Kind::Answer => left.answers -= 1,
            }
        }
        usize::from(taken)
    }

    /// The maximum number of runs of handlers.
    pub fn runs(&self) -> usize {
        self.0.locked().left.runs
    }

    /// The choices with which the next schedule begins; `None` after the last schedule.
    pub fn next(&self) -> Option<Vec<Choice>> {
        let mut path = self.0.locked().path.clone();
        while let Some(last) = path.pop() {
            if last.taken + 1 < last.of {
                path.push(Choice {
                    taken: last.taken + 1,
                    ..last
                });
                return Some(path);
            }
        }
        None
    }
}
