//! The formats that the API server checks, and which of them include another one.
//!
//! The list is that of `supportedVersionedFormats` in Kubernetes 1.37. Formats belong to types: `int32` has no meaning
//! for a string, and neither has a format that the API server does not support.

use serde_json::Value as Json;

/// The formats of strings that the API server checks, in the form in which it compares them: without dashes. `password`
/// is not among them, because every string is valid.
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

/// Formats with a wider one that includes all of their values.
const WIDER: [(&str, &str); 10] = [
    ("uuid3", "uuid"),
    ("uuid4", "uuid"),
    ("uuid5", "uuid"),
    ("isbn10", "isbn"),
    ("isbn13", "isbn"),
    ("k8sshortname", "k8slongname"),
    // 24 hexadecimal digits are also Base64 and a part of a host name, and a date consists of digits with dashes in
    // between.
    ("bsonobjectid", "byte"),
    ("bsonobjectid", "hostname"),
    ("date", "k8sshortname"),
    ("date", "k8slongname"),
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

/// The format that the API server checks in values of a schema, if any.
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

/// Whether each value of the old format is also valid in the new one.
pub(super) fn contains(new: CheckedFormat, old: Option<CheckedFormat>) -> bool {
    match (old, new) {
        (Some(old), new) if old == new => true,
        (Some(CheckedFormat::Text(old)), CheckedFormat::Text(new)) => WIDER.contains(&(old, new)),
        // A float can represent an integer of 32 bits, only less exactly.
        (Some(CheckedFormat::Int32), CheckedFormat::Float) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Texts such that each format accepts some that others do not.
    const TEXTS: [&str; 56] = [
        "123 45 6789",
        "080442957X",
        "978 0321751041",
        "ab+/",
        "00000000-0000-1000-8000-000000000000",
        "AAAAAAAA-AAAA-1AAA-8AAA-AAAAAAAAAAAA",
        "00000000-0000-3000-8000-000000000000",
        "AAAAAAAA-AAAA-3AAA-8AAA-AAAAAAAAAAAA",
        "00000000-0000-4000-8000-000000000000",
        "AAAAAAAA-AAAA-4AAA-8AAA-AAAAAAAAAAAA",
        "00000000-0000-5000-8000-000000000000",
        "AAAAAAAA-AAAA-5AAA-8AAA-AAAAAAAAAAAA",
        "",
        "poem",
        "a--b",
        "moose.example",
        "a..b",
        "507f1f77bcf86cd799439011",
        "507F1F77BCF86CD799439011",
        "abcd",
        "https://example.com/a",
        "/a",
        "moose@example.com",
        "Moose <moose@example.com>",
        "example.com",
        "Example.COM",
        "ëxample.com",
        "10.0.0.1",
        "010.0.0.1",
        "::1",
        "::ffff:10.0.0.1",
        "10.0.0.0/8",
        "fd00::/8",
        "00:00:5e:00:53:01",
        "00-00-5e-00-53-01",
        "123e4567-e89b-12d3-a456-426614174000",
        "123e4567-e89b-32d3-a456-426614174000",
        "123e4567-e89b-42d3-a456-426614174000",
        "123e4567-e89b-52d3-a456-426614174000",
        "123e4567e89b32d3a456426614174000",
        "0321751043",
        "978-0321751041",
        "4111 1111 1111 1111",
        "4111111111111111",
        "123-45-6789",
        "123456789",
        "#fff",
        "ff00ff",
        "fff",
        "rgb(1,2,3)",
        "aGVsbG8=",
        "2026-01-01",
        "2026-01-01T00:00:00Z",
        "22 ns",
        "1h30m",
        "03-217-5104-3",
    ];

    /// The formats that krator-schema leaves to the API server, so that their texts are unknown here.
    const UNCHECKED: [&str; 9] = [
        "bsonobjectid",
        "email",
        "isbn",
        "isbn10",
        "isbn13",
        "creditcard",
        "ssn",
        "hexcolor",
        "rgbcolor",
    ];

    /// The texts that the API server accepts as values of a format.
    fn accepted(format: &str) -> Vec<&'static str> {
        let schema = krator_schema::Schema {
            type_: Some("string".to_owned()),
            format: Some(format.to_owned()),
            ..krator_schema::Schema::default()
        };
        let fits = |text: &&str| krator_schema::validate(&schema, &json!(text)).is_empty();
        TEXTS.into_iter().filter(fits).collect()
    }

    #[test]
    fn a_format_contains_another_one_if_the_api_server_accepts_all_of_its_values() {
        let mut wrong = Vec::new();
        let checked = OF_STRINGS
            .into_iter()
            .filter(|format| !UNCHECKED.contains(format));
        for new in checked.clone() {
            let accepts = accepted(new);
            assert!(!accepts.is_empty(), "no text is of the format {new}");
            assert!(accepts.len() < TEXTS.len(), "each text is of the format {new}");
            for old in checked.clone() {
                let is_contained = accepted(old).iter().all(|text| accepts.contains(text));
                let claimed = contains(CheckedFormat::Text(new), Some(CheckedFormat::Text(old)));
                if claimed != is_contained {
                    wrong.push(format!("from {old} to {new}: {is_contained}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn formats_belong_to_types_and_may_have_dashes_anywhere() {
        let format = |of: &str, format: &str| checked(&json!({"type": of, "format": format}));
        assert_eq!(format("string", "date-time"), format("string", "d-atetime"));
        assert_eq!(format("string", "password"), None);
        assert_eq!(format("string", "poem"), None);
        assert_eq!(format("string", "int32"), None);
        assert_eq!(format("integer", "int32"), Some(CheckedFormat::Int32));
        assert_eq!(format("integer", "int64"), None);
        assert_eq!(format("integer", "float"), None);
        assert_eq!(format("number", "float"), Some(CheckedFormat::Float));
        assert_eq!(format("number", "double"), None);
        assert_eq!(format("number", "int32"), None);
    }
}
