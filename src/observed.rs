//! Objects of a cluster as they were read, at a time by the API server's clock. They are plain values, so the code that
//! judges them does no input or output.

pub(crate) mod development;
pub(crate) mod lease;

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value as Json;

use crate::model::Kind;
use crate::policies::approval_annotation;

/// The result of reading an object.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Lookup {
    /// There is no such object.
    Absent,
    /// The object, or the array of the objects.
    There(Json),
    /// The object could not be read, for this reason: the user has no right to read it, for example.
    Unknown(String),
}

impl Lookup {
    /// The object, if it exists.
    pub(crate) fn object(&self) -> Option<&Json> {
        match self {
            Lookup::There(object) => Some(object),
            Lookup::Absent | Lookup::Unknown(_) => None,
        }
    }

    /// The objects of an array; none if it could not be read.
    pub(crate) fn objects(&self) -> &[Json] {
        self.object().and_then(Json::as_array).map_or(&[], Vec::as_slice)
    }
}

/// The text at a JSON pointer; empty if there is none.
pub(crate) fn text<'a>(object: &'a Json, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Json::as_str).unwrap_or_default()
}

/// The items of the list at a JSON pointer; none if there is no list.
pub(crate) fn items<'a>(object: &'a Json, pointer: &str) -> &'a [Json] {
    object
        .pointer(pointer)
        .and_then(Json::as_array)
        .map_or(&[], Vec::as_slice)
}

/// The time at a JSON pointer.
pub(crate) fn time(object: &Json, pointer: &str) -> Option<Timestamp> {
    text(object, pointer).parse().ok()
}

/// The name of an object.
pub(crate) fn name(object: &Json) -> &str {
    text(object, "/metadata/name")
}

/// The condition of a type.
pub(crate) fn condition<'a>(object: &'a Json, kind: &str) -> Option<&'a Json> {
    items(object, "/status/conditions")
        .iter()
        .find(|condition| condition["type"] == kind)
}

/// The time from one point to another; zero if the other is earlier.
pub(crate) fn between(earlier: Timestamp, later: Timestamp) -> Duration {
    Duration::try_from(later.duration_since(earlier)).unwrap_or_default()
}

/// The approval of the ask with this id in the annotation, if an object has it.
pub(crate) fn approval<'o>(kind: &Kind, object: &'o Json, id: &str) -> Option<&'o str> {
    let annotation = object["metadata"]["annotations"][approval_annotation(kind)].as_str()?;
    (annotation.split(' ').next() == Some(id)).then_some(annotation)
}

/// A span of time in at most two units, for messages: `2d3h`, `5m12s`, `7s`.
pub(crate) fn rounded(span: Duration) -> String {
    let seconds = span.as_secs();
    let units = [("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)];
    let Some(first) = units.iter().position(|(_, length)| seconds >= *length) else {
        return "0s".to_owned();
    };
    let mut rest = seconds;
    let mut text = String::new();
    for (unit, length) in units.iter().skip(first).take(2) {
        let count = rest / length;
        rest %= length;
        if count > 0 {
            text.push_str(&format!("{count}{unit}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_at_most_two_units() {
        for (seconds, text) in [
            (0, "0s"),
            (7, "7s"),
            (60, "1m"),
            (312, "5m12s"),
            (7_230, "2h"),
            (183_700, "2d3h"),
        ] {
            assert_eq!(rounded(Duration::from_secs(seconds)), text);
        }
    }
}
