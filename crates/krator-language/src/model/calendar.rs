//! Conditions for leaving and entering states: times, schedules, and free places.

use std::fmt;

use super::{FieldPath, Period, StateId};
use crate::finding::{Span, Spanned};

/// A transition after a time.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeout {
    /// The mapping.
    pub span: Span,
    /// The end of the timeout.
    pub when: When,
    /// The state that the object goes to.
    pub to: Spanned<StateId>,
}

impl Timeout {
    /// The time after the entry; `None` if it ends by a schedule.
    pub fn after(&self) -> Option<&Spanned<Period>> {
        match &self.when {
            When::After(after) => Some(after),
            When::At(..) => None,
        }
    }
}

/// The end of a timeout.
#[derive(Debug, Clone, PartialEq)]
pub enum When {
    /// After this time since the entry, or at a time that a field holds.
    After(Spanned<Period>),
    /// At the first start after the entry. A missed start is made up for within the given time after it.
    At(Recurrence, Option<Spanned<Period>>),
}

impl When {
    /// The place in the description.
    pub fn span(&self) -> Span {
        match self {
            When::After(after) => after.span,
            When::At(starts, _) => starts.schedule.span,
        }
    }
}

/// `after 1h`, `at 0 3 * * * in Europe/Berlin, at most 1h late`
impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            When::After(after) => write!(f, "after {}", after.value),
            When::At(starts, None) => write!(f, "at {starts}"),
            When::At(starts, Some(late)) => write!(f, "at {starts}, at most {} late", late.value),
        }
    }
}

/// The starts of a schedule.
#[derive(Debug, Clone, PartialEq)]
pub struct Recurrence {
    /// Five fields of cron.
    pub schedule: Spanned<TextSource>,
    /// The time zone; UTC without one.
    pub time_zone: Option<Spanned<TextSource>>,
}

impl Recurrence {
    /// The schedule and the time zone.
    pub fn texts(&self) -> impl Iterator<Item = &Spanned<TextSource>> {
        std::iter::once(&self.schedule).chain(&self.time_zone)
    }
}

/// `0 22 * * MON-FRI in Europe/Berlin`
impl fmt::Display for Recurrence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.schedule.value)?;
        match &self.time_zone {
            Some(zone) => write!(f, " in {}", zone.value),
            None => Ok(()),
        }
    }
}

/// The conditions for entering a state; at least one of the parts is set.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    /// The mapping.
    pub span: Span,
    /// The times in which it is open.
    pub during: Option<Window>,
    /// The place of the key that requires an approval of each entry.
    pub approval: Option<Span>,
}

/// `within 6h of 0 22 * * MON-FRI in Europe/Berlin, with an approval`
impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(window) = &self.during {
            window.fmt(f)?;
        }
        match (&self.during, self.approval) {
            (Some(_), Some(_)) => f.write_str(", with an approval"),
            (None, Some(_)) => f.write_str("with an approval"),
            (_, None) => Ok(()),
        }
    }
}

/// The maximum number of objects in a set of states.
#[derive(Debug, Clone, PartialEq)]
pub struct Places {
    /// The mapping.
    pub span: Span,
    /// Its name.
    pub name: Spanned<String>,
    /// The states; never empty.
    pub states: Vec<Spanned<StateId>>,
    /// The maximum number.
    pub at_most: Spanned<u32>,
    /// The field by whose values objects are counted separately.
    pub per: Option<Spanned<FieldPath>>,
}

impl Places {
    /// Whether the limit counts the objects in a state.
    pub fn counts(&self, state: StateId) -> bool {
        self.states.iter().any(|counted| counted.value == state)
    }

    /// Whether an object that goes from one state to another needs a place for the transition.
    pub fn is_entered(&self, from: StateId, to: StateId) -> bool {
        self.counts(to) && !self.counts(from)
    }
}

/// Periods that begin by a schedule.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// The times at which it opens.
    pub starts: Recurrence,
    /// The duration for which it is open.
    pub duration: Spanned<Period>,
}

/// `within 6h of 0 22 * * MON-FRI in Europe/Berlin`
impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "within {} of {}", self.duration.value, self.starts)
    }
}

/// A text: fixed, or read from a field of the object.
#[derive(Debug, Clone, PartialEq)]
pub enum TextSource {
    /// The same for all objects.
    Fixed(String),
    /// The value of the field.
    Field(FieldPath),
}

impl fmt::Display for TextSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TextSource::Fixed(text) => f.write_str(text),
            TextSource::Field(path) => path.fmt(f),
        }
    }
}
