//! Messages that are not objects in JSON, as the methods `MarshalJSON` of their Go types encode them.

use super::wire::{self, Malformed};
use jiff::{Timestamp, tz::TimeZone};
use serde_json::Value as Json;

/// A message with a special form in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Special {
    Quantity,
    Time,
    MicroTime,
    IntOrString,
    /// JSON embedded in protobuf.
    Raw,
}

impl Special {
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "api/resource.Quantity" => Self::Quantity,
            "meta/v1.Time" => Self::Time,
            "meta/v1.MicroTime" => Self::MicroTime,
            "util/intstr.IntOrString" => Self::IntOrString,
            "pkg/runtime.RawExtension" | "meta/v1.FieldsV1" => Self::Raw,
            _ => return None,
        })
    }
}

/// Decodes such a message to JSON.
pub(super) fn read(special: Special, bytes: &[u8]) -> Result<Json, Malformed> {
    match special {
        Special::Quantity => quantity(bytes),
        Special::Time => time(bytes, "%Y-%m-%dT%H:%M:%SZ"),
        Special::MicroTime => time(bytes, "%Y-%m-%dT%H:%M:%S%.6fZ"),
        Special::IntOrString => int_or_string(bytes),
        Special::Raw => raw(bytes),
    }
}

fn quantity(bytes: &[u8]) -> Result<Json, Malformed> {
    let mut text = "0".to_owned();
    for field in wire::fields(bytes) {
        if let (1, value) = field? {
            text = value.text()?;
        }
    }
    Ok(text.into())
}

/// Decodes a time. The zero time is null.
fn time(bytes: &[u8], format: &str) -> Result<Json, Malformed> {
    let (mut seconds, mut nanoseconds) = (0, 0);
    for field in wire::fields(bytes) {
        match field? {
            (1, value) => seconds = value.int64()?,
            (2, value) => nanoseconds = value.int32()?,
            _ => {}
        }
    }
    if (seconds, nanoseconds) == (0, 0) {
        return Ok(Json::Null);
    }
    let out_of_range = |_| Malformed::new("Time.MarshalJSON: year outside of range [0,9999]");
    let time = Timestamp::new(seconds, nanoseconds)
        .map_err(out_of_range)?
        .to_zoned(TimeZone::UTC);
    if time.year() < 0 {
        return Err(Malformed::new("Time.MarshalJSON: year outside of range [0,9999]"));
    }
    Ok(time.strftime(format).to_string().into())
}

fn int_or_string(bytes: &[u8]) -> Result<Json, Malformed> {
    let (mut kind, mut number, mut text) = (0, 0, String::new());
    for field in wire::fields(bytes) {
        match field? {
            (1, value) => kind = value.int64()?,
            (2, value) => number = value.int32()?,
            (3, value) => text = value.text()?,
            _ => {}
        }
    }
    match kind {
        0 => Ok(number.into()),
        1 => Ok(text.into()),
        _ => Err(Malformed::new("impossible IntOrString.Type")),
    }
}

fn raw(bytes: &[u8]) -> Result<Json, Malformed> {
    let mut raw: &[u8] = &[];
    for field in wire::fields(bytes) {
        if let (1, value) = field? {
            raw = value.bytes()?;
        }
    }
    match raw {
        [] => Ok(Json::Null),
        raw => serde_json::from_slice(raw).map_err(|error| Malformed(error.to_string())),
    }
}
