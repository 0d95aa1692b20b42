//! What the API server makes of formats: which ones it checks, and which values have one format and not another.
//!
//! The list is that of `supportedVersionedFormats` in Kubernetes 1.36. Formats belong to types: `int32` of a string means
//! nothing, and neither does a format that the API server does not know.

use serde_json::Value as Json;

/// The formats of strings that the API server checks, as it compares them: without dashes. `password` is not among them,
/// because every string has it.
const OF_STRINGS: [&str; 25] = [
    "bsonobjectid",
    "uri",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "cidr",
    "mac",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
    "isbn",
    "isbn10",
    "isbn13",
    "creditcard",
    "ssn",
    "hexcolor",
    "rgbcolor",
    "byte",
    "date",
    "duration",
    "datetime",
    "k8sshortname",
    "k8slongname",
];

/// Formats with a wider one that has all of their values.
const WIDER: [(&str, &str); 7] = [
    ("uuid3", "uuid"),
    ("uuid4", "uuid"),
    ("uuid5", "uuid"),
    ("isbn10", "isbn"),
    ("isbn13", "isbn"),
    ("k8sshortname", "k8slongname"),
    // 24 hexadecimal digits are Base64, too.
    ("bsonobjectid", "byte"),
];

/// A format that the API server checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CheckedFormat {
    /// An integer of 32 bits.
    Int32,
    /// A number that a float of 32 bits can hold.
    Float,
    /// A string of this format, named without dashes.
    Text(&'static str),
}

/// The format that the API server checks in values of a schema, if it checks any.
pub(super) fn checked(schema: &Json) -> Option<CheckedFormat> {
    let format = schema["format"].as_str()?;
    match (schema["type"].as_str(), format) {
        (Some("integer"), "int32") => Some(CheckedFormat::Int32),
        (Some("number"), "float") => Some(CheckedFormat::Float),
        (None | Some("string"), _) => {
            let format = format.replace('-', "");
            let known = OF_STRINGS.into_iter().find(|known| *known == format);
            known.map(CheckedFormat::Text)
        }
        _ => None,
    }
}

/// Whether each value that has the old format has the new one as well.
pub(super) fn contains(new: CheckedFormat, old: Option<CheckedFormat>) -> bool {
    match (old, new) {
        (Some(old), new) if old == new => true,
        (Some(CheckedFormat::Text(old)), CheckedFormat::Text(new)) => WIDER.contains(&(old, new)),
        // An integer of 32 bits is a number that a float can hold, only less exactly.
        (Some(CheckedFormat::Int32), CheckedFormat::Float) => true,
        _ => false,
    }
}
