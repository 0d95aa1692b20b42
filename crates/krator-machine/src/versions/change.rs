//! The changes from a version to the next newer one, each with its inverse.
use super::path::{Path, Step, at_each, path_text, put, split, take};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A change from a version to the next newer one. What one of the two versions cannot hold is no concern of it: the values
/// that a conversion loses are found by converting back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Change {
    /// A value that is elsewhere.
    Moved {
        /// The place in the older version.
        from: Path,
        /// How many steps of `from` the newer version still has.
        from_kept: usize,
        /// The place in the newer version.
        to: Path,
        /// How many steps of `to` the older version has, too.
        to_kept: usize,
    },
    /// Values that have other names.
    Values {
        /// The place of the value.
        at: Path,
        /// Pairs of an older and a newer value. The first one that fits counts.
        map: Vec<(Value, Value)>,
    },
    /// A field that the older version lacks.
    Added {
        /// Its place.
        at: Path,
        /// Its value in objects that are written in the older version.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "written"
        )]
        default: Option<Value>,
    },
    /// A field that the newer version lacks.
    Removed {
        /// Its place.
        at: Path,
        /// Its value in objects that are written in the newer version.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "written"
        )]
        default: Option<Value>,
    },
    /// A number that is a duration in the format of Go now.
    Duration {
        /// The place of the value.
        at: Path,
        /// What the number counts, as durations have it: `s`.
        unit: String,
    },
    /// A value that a function of the author converts.
    Custom {
        /// The place of the value.
        at: Path,
        /// The name of the function.
        function: String,
        /// What is in the newer version where the function fails; the field is absent if there is nothing.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "written"
        )]
        newer: Option<Value>,
        /// What is in the older version where the function fails; the field is absent if there is nothing.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "written"
        )]
        older: Option<Value>,
    },
}

/// Null is a value, too.
pub(super) fn written<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}

/// Whether a change is made or undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To the newer version.
    Up,
    /// To the older version.
    Down,
}

impl Direction {
    /// The way back.
    pub fn opposite(self) -> Self {
        match self {
            Direction::Up => Direction::Down,
            Direction::Down => Direction::Up,
        }
    }
}

/// The functions of the author, by name. A value is `None` where it is absent. An error says why a value cannot be converted; a
/// function may panic, too. Both leave a value that the description says is valid in the place of the converted one.
pub type Functions<'a> =
    dyn Fn(&str, Direction, Option<Value>) -> Result<Option<Value>, String> + Send + Sync + 'a;

/// Why functions of the author have failed, by the path of the value.
pub(super) type Failures = BTreeMap<String, String>;

/// The most characters of a reason: it is kept with the object, and the event that repeats it has a limit.
const LONGEST_REASON: usize = 200;

/// From where a value moves, with how many steps of that the version it goes to still has, and to where.
pub(super) type Way<'c> = ((&'c [Step], usize), &'c [Step]);

impl Change {
    /// The way of a value that is elsewhere; `None` for any other change.
    pub(super) fn way(&self, direction: Direction) -> Option<Way<'_>> {
        let Change::Moved {
            from,
            from_kept,
            to,
            to_kept,
        } = self
        else {
            return None;
        };
        Some(match direction {
            Direction::Up => ((from, *from_kept), to),
            Direction::Down => ((to, *to_kept), from),
        })
    }

    /// The places that the change is about.
    pub fn places(&self) -> Vec<&Path> {
        match self {
            Change::Moved { from, to, .. } => vec![from, to],
            Change::Values { at, .. }
            | Change::Added { at, .. }
            | Change::Removed { at, .. }
            | Change::Duration { at, .. }
            | Change::Custom { at, .. } => vec![at],
        }
    }

    /// Makes a path the one that leads to the same value after the change.
    pub fn follow(&self, direction: Direction, path: &mut Path) {
        if let Some(((from, _), to)) = self.way(direction)
            && path.starts_with(from)
        {
            path.splice(..from.len(), to.iter().cloned());
        }
    }

    /// Makes the change, or undoes it, where no function of the author is at hand: what one would convert is absent then.
    pub fn apply_without_functions(&self, object: &mut Value, direction: Direction) {
        self.apply(object, direction, &|_, _, _| Ok(None), &mut Failures::new());
    }

    /// Makes the change, or undoes it, and notes which functions have failed.
    pub(super) fn apply(
        &self,
        object: &mut Value,
        direction: Direction,
        functions: &Functions<'_>,
        failures: &mut Failures,
    ) {
        if let Some((from, to)) = self.way(direction) {
            return moved(object, from, to);
        }
        match (self, direction) {
            // It has a way.
            (Change::Moved { .. }, _) => {}
            (Change::Values { at, map }, direction) => at_each(object, at, &mut |value| {
                let found = map.iter().find_map(|(older, newer)| match direction {
                    Direction::Up => (older == value).then_some(newer),
                    Direction::Down => (newer == value).then_some(older),
                });
                if let Some(found) = found {
                    *value = found.clone();
                }
            }),
            (Change::Added { at, default }, Direction::Up)
            | (Change::Removed { at, default }, Direction::Down) => {
                if let Some(default) = default {
                    replace(object, at, &mut |old| old.or_else(|| Some(default.clone())));
                }
            }
            (Change::Added { at, .. }, Direction::Down) | (Change::Removed { at, .. }, Direction::Up) => {
                replace(object, at, &mut |_| None);
            }
            (Change::Duration { at, unit }, Direction::Up) => at_each(object, at, &mut |value| {
                // JSON has one type of numbers, and 30.0 is an integer to the API server.
                let whole = |number: f64| (number.fract() == 0.0).then_some(number as i64);
                if let Some(number) = value.as_i64().or_else(|| value.as_f64().and_then(whole)) {
                    *value = format!("{number}{unit}").into();
                }
            }),
            (Change::Duration { at, unit }, Direction::Down) => at_each(object, at, &mut |value| {
                if let Some(count) = value.as_str().and_then(|text| count(text, unit)) {
                    *value = count.into();
                }
            }),
            (
                Change::Custom {
                    at,
                    function,
                    newer,
                    older,
                },
                direction,
            ) => {
                let fallback = match direction {
                    Direction::Up => newer,
                    Direction::Down => older,
                };
                replace(object, at, &mut |old| {
                    // Where both versions can do without a value, there is nothing to convert.
                    if old.is_none() && fallback.is_none() {
                        return None;
                    }
                    call(functions, function, direction, old).unwrap_or_else(|why| {
                        let why = why.chars().filter(|c| !c.is_control()).take(LONGEST_REASON);
                        failures.insert(path_text(at), why.collect());
                        fallback.clone()
                    })
                });
            }
        }
    }
}

/// Calls a function of the author. A panic is a failure like any other, because one object that cannot be converted would leave
/// the whole list without an answer. Its message is not repeated, for it may have values of the object.
fn call(
    functions: &Functions<'_>,
    name: &str,
    direction: Direction,
    value: Option<Value>,
) -> Result<Option<Value>, String> {
    // The function owns its value, and nothing that it might leave half changed is used afterwards.
    let called = catch_unwind(AssertUnwindSafe(|| functions(name, direction, value)));
    called.unwrap_or_else(|_| Err("the function panicked".to_owned()))
}

fn moved(object: &mut Value, (from, kept): (&[Step], usize), to: &[Step]) {
    let ((above, from), (_, to)) = (split(from), split(to));
    at_each(object, above, &mut |parent| {
        if let Some(value) = take(parent, from, kept.saturating_sub(above.len())) {
            put(parent, to, value);
        }
    });
}

/// Replaces the field at the end of a path, in all objects that could have it.
fn replace(object: &mut Value, at: &[Step], new: &mut dyn FnMut(Option<Value>) -> Option<Value>) {
    let Some((Step::Field(name), above)) = at.split_last() else {
        return at_each(object, at, &mut |value| {
            if let Some(new) = new(Some(value.take())) {
                *value = new;
            }
        });
    };
    at_each(object, above, &mut |parent| {
        if let Value::Object(fields) = parent {
            match new(fields.get_mut(name).map(Value::take)) {
                Some(new) => drop(fields.insert(name.clone(), new)),
                None => drop(fields.remove(name)),
            }
        }
    });
}

/// How many whole units there are in a duration in the format of Go, without a sign; at most as many as Go can count.
fn count(text: &str, unit: &str) -> Option<i64> {
    let mut nanoseconds: i128 = 0;
    let mut rest = if text == "0" { "" } else { text };
    while !rest.is_empty() {
        let is_number = |c: char| c.is_ascii_digit() || c == '.';
        let (number, after) = rest.split_at(rest.find(|c| !is_number(c))?);
        let (unit, next) = after.split_at(after.find(is_number).unwrap_or(after.len()));
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let digits: String = fraction.chars().chain("000000000".chars()).take(9).collect();
        if fraction.contains('.') {
            return None;
        }
        // It has nothing but digits, so more than fit are what fails.
        let billionths = format!("0{whole}{digits}").parse().unwrap_or(i128::MAX);
        let part = billionths.saturating_mul(length(unit)?) / 1_000_000_000;
        nanoseconds = nanoseconds.saturating_add(part);
        rest = next;
    }
    i64::try_from(nanoseconds.min(i64::MAX.into()) / length(unit)?).ok()
}

/// The length of a unit in nanoseconds.
fn length(unit: &str) -> Option<i128> {
    Some(match unit {
        "ns" => 1,
        "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}
