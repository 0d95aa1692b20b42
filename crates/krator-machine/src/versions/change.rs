//! The changes from a version to the next newer one, each with its inverse.
use super::path::{Path, Step, at_each, path_text, put, split, take};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A change from a version to the next newer one. It does not deal with data that one of the versions cannot
/// hold: a conversion finds lost values by converting back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Change {
    /// A value is at another path.
    Moved {
        /// The path in the older version.
        from: Path,
        /// How many leading steps of `from` also exist in the newer version.
        from_kept: usize,
        /// The path in the newer version.
        to: Path,
        /// How many leading steps of `to` also exist in the older version.
        to_kept: usize,
    },
    /// Enum values have other names.
    Values {
        /// The path of the value.
        at: Path,
        /// Pairs of an older and a newer value; the first match counts.
        map: Vec<(Value, Value)>,
    },
    /// A field that the older version lacks.
    Added {
        /// The path of the field.
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
        /// The path of the field.
        at: Path,
        /// Its value in objects that are written in the newer version.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "written"
        )]
        default: Option<Value>,
    },
    /// A number became a duration in the format of Go.
    Duration {
        /// The path of the value.
        at: Path,
        /// The unit of the number, as in durations: `s`.
        unit: String,
    },
    /// A value that a function of the author converts.
    Custom {
        /// The path of the value.
        at: Path,
        /// The name of the function.
        function: String,
        /// The newer value if the function fails; `None` leaves the field out.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "written"
        )]
        newer: Option<Value>,
        /// The older value if the function fails; `None` leaves the field out.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "written"
        )]
        older: Option<Value>,
    },
}

/// Keeps an explicit null, which serde would read as an absent value.
pub(super) fn written<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}

/// Whether a change is applied or reverted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To the newer version.
    Up,
    /// To the older version.
    Down,
}

impl Direction {
    /// The opposite direction.
    pub fn opposite(self) -> Self {
        match self {
            Direction::Up => Direction::Down,
            Direction::Down => Direction::Up,
        }
    }
}

/// The author's conversion functions, by name. An absent value is `None`. If a function returns an error or
/// panics, the fallback of the description takes the place of the converted value.
pub type Functions<'a> =
    dyn Fn(&str, Direction, Option<Value>) -> Result<Option<Value>, String> + Send + Sync + 'a;

/// The errors of the author's functions, by the path of the value.
pub(super) type Failures = BTreeMap<String, String>;

/// The most characters of an error: it is stored with the object, and events have a limited length.
const LONGEST_REASON: usize = 200;

/// The old path of a moved value, how many of its leading steps the target version has, and the new path.
pub(super) type Way<'c> = ((&'c [Step], usize), &'c [Step]);

impl Change {
    /// The paths of a moved value; `None` for any other change.
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

    /// The paths that the change affects.
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

    /// Updates a path so that it leads to the same value after the change.
    pub fn follow(&self, direction: Direction, path: &mut Path) {
        if let Some(((from, _), to)) = self.way(direction)
            && path.starts_with(from)
        {
            path.splice(..from.len(), to.iter().cloned());
        }
    }

    /// Applies or reverts the change without the author's functions; values that they convert become absent.
    pub fn apply_without_functions(&self, object: &mut Value, direction: Direction) {
        self.apply(object, direction, &|_, _, _| Ok(None), &mut Failures::new());
    }

    /// Applies or reverts the change, and records the errors of functions.
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
            // Moved values were handled above.
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
                // JSON does not distinguish numbers, and the API server accepts 30.0 as an integer.
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
                    // The value is absent and optional in the target version, so there is nothing to convert.
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

/// Calls a function of the author. A panic counts as an error, because one object that cannot be converted makes the
/// API server fail the whole list. The panic's message may contain values of the object, so it is not repeated.
fn call(
    functions: &Functions<'_>,
    name: &str,
    direction: Direction,
    value: Option<Value>,
) -> Result<Option<Value>, String> {
    // The function owns its value, and no other state is used after a panic.
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

/// Replaces the field at the end of a path, wherever its parent exists.
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

/// Converts a duration of Go, without a sign, to whole units, saturated at the longest duration of Go.
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
        // The text has only digits, so parsing fails only on overflow.
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
