//! Messages that are no objects in JSON, as the methods `MarshalJSON` of their Go types write them.

use super::{
    known_message, read_message,
    wire::{self, Malformed},
};
use jiff::{Timestamp, tz::TimeZone};
use serde_json::{Map, Value as Json};

/// A message that has a form of its own in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Special {
    Quantity,
    Time,
    MicroTime,
    IntOrString,
    /// JSON within protobuf.
    Raw,
    SchemaOrBool,
    SchemaOrArray,
    SchemaOrStrings,
}

impl Special {
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "api/resource.Quantity" => Self::Quantity,
            "meta/v1.Time" => Self::Time,
            "meta/v1.MicroTime" => Self::MicroTime,
            "util/intstr.IntOrString" => Self::IntOrString,
            "pkg/runtime.RawExtension" | "meta/v1.FieldsV1" | "apiextensions/v1.JSON" => Self::Raw,
            "apiextensions/v1.JSONSchemaPropsOrBool" => Self::SchemaOrBool,
            "apiextensions/v1.JSONSchemaPropsOrArray" => Self::SchemaOrArray,
            "apiextensions/v1.JSONSchemaPropsOrStringArray" => Self::SchemaOrStrings,
            _ => return None,
        })
    }
}

/// Reads such a message as JSON.
pub(super) fn read(special: Special, bytes: &[u8], depth: usize) -> Result<Json, Malformed> {
    match special {
        Special::Quantity => quantity(bytes),
        Special::Time => time(bytes, "%Y-%m-%dT%H:%M:%SZ"),
        Special::MicroTime => time(bytes, "%Y-%m-%dT%H:%M:%S%.6fZ"),
        Special::IntOrString => int_or_string(bytes),
        Special::Raw => raw(bytes),
        Special::SchemaOrBool => schema_or_bool(bytes, depth),
        Special::SchemaOrArray => schema_or_list(bytes, depth, true),
        Special::SchemaOrStrings => schema_or_list(bytes, depth, false),
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

/// The zero time is null.
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

fn schema(
    bytes: &[u8],
    into: Option<Map<String, Json>>,
    depth: usize,
) -> Result<Map<String, Json>, Malformed> {
    let mut schema = into.unwrap_or_default();
    read_message(
        known_message("apiextensions/v1.JSONSchemaProps")?,
        bytes,
        &mut schema,
        depth,
    )?;
    Ok(schema)
}

fn schema_or_bool(bytes: &[u8], depth: usize) -> Result<Json, Malformed> {
    let (mut allows, mut found) = (false, None);
    for field in wire::fields(bytes) {
        match field? {
            (1, value) => allows = value.number()? != 0,
            (2, value) => found = Some(schema(value.bytes()?, found, depth)?),
            _ => {}
        }
    }
    Ok(found.map_or(allows.into(), Json::Object))
}

/// A schema, or a list of schemas or of strings.
fn schema_or_list(bytes: &[u8], depth: usize, of_schemas: bool) -> Result<Json, Malformed> {
    let (mut list, mut found) = (Vec::new(), None);
    for field in wire::fields(bytes) {
        match field? {
            (1, value) => found = Some(schema(value.bytes()?, found, depth)?),
            (2, value) if of_schemas => list.push(Json::Object(schema(value.bytes()?, None, depth)?)),
            (2, value) => list.push(value.text()?.into()),
            _ => {}
        }
    }
    if list.is_empty() {
        Ok(found.map_or(Json::Null, Json::Object))
    } else {
        Ok(Json::Array(list))
    }
}
