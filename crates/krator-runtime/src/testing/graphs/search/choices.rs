//! The choices of one schedule, and which schedule comes after it.
use crate::lock::Lock as _;
use std::sync::Mutex;

/// How far a search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    /// How many writes go wrong in one schedule.
    pub faults: u8,
    /// How often another client or process does something.
    pub events: u8,
    /// How often a handler does not answer what comes first.
    pub answers: u8,
    /// Faults and events together.
    pub disturbances: u8,
    /// How many runs of handlers begin.
    pub runs: usize,
}

/// The subject of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Fault,
    Event,
    Answer,
}

/// One choice: what was taken, and of how many.
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

/// The choices of one schedule: those that are known, and then the ordinary ones.
pub(super) struct Choices(Mutex<Progress>);

impl Choices {
    pub fn new(path: Vec<Choice>, bounds: Bounds) -> Self {
        Self(Mutex::new(Progress {
            path,
            at: 0,
            left: bounds,
        }))
    }

    /// One of `of` alternatives. The first one is ordinary; each other one uses up some of the bounds.
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

    /// How many runs of handlers may begin.
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
