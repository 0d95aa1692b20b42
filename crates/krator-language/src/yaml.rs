//! YAML that kubectl reads back as the same values.
//!
//! serde_yaml quotes strings that YAML 1.2 would read as another type. kubectl reads YAML 1.1, in which `on`, `12:30`,
//! `0o7` and `1_000` are not strings either. In addition, characters that change the direction of text can hide other
//! characters from a reviewer who reads the file in a terminal. This module quotes such strings and leaves all others
//! to serde_yaml.

use serde_json::{Map, Number, Value as Json};

use crate::text::is_unprintable;

/// Words that YAML 1.1 reads as a boolean, as null, as infinity or as NaN, in lower case.
const WORDS: [&str; 12] = [
    "y", "n", "yes", "no", "on", "off", "true", "false", "null", "inf", "nan", "",
];

/// A placeholder for a string while serde_yaml writes the document around it. The string's number and a full stop
/// follow.
const PLACEHOLDER: &str = "krator-text-";

/// Several documents, with `---` between them.
pub fn documents(values: &[Json]) -> String {
    let documents: Vec<String> = values.iter().map(document).collect();
    documents.join("---\n")
}

/// One document.
pub(crate) fn document(value: &Json) -> String {
    let mut texts = Vec::new();
    let value = take_texts(value, &mut texts);
    // JSON has no value that YAML cannot express.
    let yaml = serde_yaml::to_string(&value).expect("JSON is YAML");
    let mut parts = yaml.split(PLACEHOLDER);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (number, rest) = part.split_once('.').unwrap_or((part, ""));
        let text: Option<&String> = number.parse().ok().and_then(|number: usize| texts.get(number));
        out.push_str(&quoted(text.map_or("", String::as_str)));
        out.push_str(rest);
    }
    out
}

/// The prefix of the key of a comment. Values that users write, such as defaults, may have any printable key.
const COMMENT: &str = "\u{0}#";

/// Adds a field with a comment before it, which [`commented`] writes and [`bare`] removes. The field must not be the
/// first one of a list item.
pub fn comment(object: &mut Map<String, Json>, key: &str, text: &str, value: Json) {
    object.insert(format!("{COMMENT}{key}"), text.into());
    object.insert(key.to_owned(), value);
}

/// The value without comments.
pub fn bare(mut value: Json) -> Json {
    take_comments(&mut value, &mut |_| None);
    value
}

/// A document with its comments.
pub fn commented(mut value: Json) -> String {
    const MARK: &str = "krator-comment-";
    let mut comments = Vec::new();
    take_comments(&mut value, &mut |text| {
        comments.push(text);
        Some(format!("{MARK}{}", comments.len() - 1))
    });
    let mut out = String::new();
    for line in document(&value).split_inclusive('\n') {
        let Some((indent, number)) = line.split_once(MARK) else {
            out.push_str(line);
            continue;
        };
        let number = number
            .trim_end()
            .strip_suffix(": null")
            .and_then(|number| number.parse::<usize>().ok());
        let text = number.and_then(|number| comments.get(number));
        for line in text.into_iter().flat_map(|text| text.lines()) {
            out.push_str(&format!("{indent}# {line}\n"));
        }
    }
    out
}

/// Replaces the key of each comment by another one without a value, or removes it.
fn take_comments(value: &mut Json, mark: &mut dyn FnMut(String) -> Option<String>) {
    match value {
        Json::Array(items) => items.iter_mut().for_each(|item| take_comments(item, mark)),
        Json::Object(fields) => {
            let taken = std::mem::take(fields);
            for (key, mut value) in taken {
                match value {
                    Json::String(text) if key.starts_with(COMMENT) => {
                        fields.extend(mark(text).map(|key| (key, Json::Null)));
                    }
                    _ => {
                        take_comments(&mut value, mark);
                        fields.insert(key, value);
                    }
                }
            }
        }
        _ => {}
    }
}

/// A string as a scalar for a template, quoted if it must be.
pub fn scalar(text: &str) -> String {
    let is_plain = text
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "._/-:".contains(c))
        && !text.ends_with(':');
    if is_plain && is_plain_string(text) {
        text.to_owned()
    } else {
        quoted(text)
    }
}

/// An object whose floats are integers where they are whole, so that they have no decimal point.
pub fn whole(mut value: Json) -> Json {
    make_whole(&mut value);
    value
}

/// Turns floats that are whole into integers.
pub fn make_whole(value: &mut Json) {
    match value {
        Json::Number(number) => {
            // Up to here every whole float is exactly the integer that it displays.
            const EXACT: f64 = 9_007_199_254_740_992.0;
            let float = number.as_f64().unwrap_or(f64::NAN);
            if number.is_f64() && float.fract() == 0.0 && float.abs() < EXACT {
                *number = Number::from(float as i64);
            }
        }
        Json::Array(items) => items.iter_mut().for_each(make_whole),
        Json::Object(fields) => fields.values_mut().for_each(make_whole),
        _ => {}
    }
}

/// Replaces the strings that serde_yaml would not write safely by placeholders, and collects them in `texts`.
fn take_texts(value: &Json, texts: &mut Vec<String>) -> Json {
    match value {
        Json::String(text) => take_text(text, texts).into(),
        Json::Array(items) => items.iter().map(|item| take_texts(item, texts)).collect(),
        Json::Object(fields) => {
            let taken = fields
                .iter()
                .map(|(key, value)| (take_text(key, texts), take_texts(value, texts)));
            Json::Object(taken.collect())
        }
        other => other.clone(),
    }
}

fn take_text(text: &str, texts: &mut Vec<String>) -> String {
    if is_plain_string(text) {
        return text.to_owned();
    }
    texts.push(text.to_owned());
    format!("{PLACEHOLDER}{}.", texts.len() - 1)
}

/// Whether every YAML parser reads the plain string as itself, and every reader of the file sees all of it.
fn is_plain_string(text: &str) -> bool {
    let word = text.strip_prefix('.').unwrap_or(text);
    !text.starts_with(['+', '-', '~', '=', '<', '?', ':'])
        && (!word.starts_with(|c: char| c.is_ascii_digit() || c == '.') || is_quantity(text))
        && !WORDS.contains(&word.to_ascii_lowercase().as_str())
        && !text.chars().any(|c| c != '\n' && is_unprintable(c))
        && !text.starts_with([' ', '\n'])
        && !text.ends_with([' ', '\n'])
        && !text.contains(PLACEHOLDER)
}

/// Quantities and durations such as `64Mi` and `10m`, which people expect to see without quotes.
fn is_quantity(text: &str) -> bool {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    unit.len() < text.len() && ["Ki", "Mi", "Gi", "Ti", "m", "ms", "s", "h"].contains(&unit)
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            // All of these have at most four hexadecimal digits.
            c if is_unprintable(c) => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Strings that some YAML parser reads as another type, and strings that would end an incorrectly escaped quote.
    const VECTORS: [&str; 62] = [
        "",
        " ",
        "on",
        "On",
        "ON",
        "off",
        "yes",
        "Yes",
        "no",
        "NO",
        "y",
        "Y",
        "n",
        "true",
        "False",
        "null",
        "Null",
        "~",
        "1e3",
        "0o7",
        "017",
        "0x1F",
        "0b1",
        "12:30",
        "12:30:45",
        "1_000",
        ".5",
        ".inf",
        "-.INF",
        "+.inf",
        ".NaN",
        "=",
        "<<",
        "-",
        "--- a",
        "...",
        "?",
        ": x",
        "a: b",
        "a #b",
        "#",
        "2001-12-14",
        "2001-12-14t21:59:43.10-05:00",
        "*x",
        "&x",
        "!x",
        "@x",
        "`x`",
        "%x",
        "{{x}}",
        "[x]",
        "'",
        "\"",
        "a\nb",
        "a\n\n  b\n",
        "  a\n b",
        "\u{202e}x",
        "\0",
        "\t",
        "krator-text-0.",
        "\u{85}\u{2028}\u{feff}",
        "back\\",
    ];

    #[test]
    fn every_string_is_read_back_unchanged() {
        for text in VECTORS {
            let value = json!({"value": text, text: ["item", text], "deep": {"list": [{"k": text}]}});
            let yaml = document(&value);
            assert_eq!(serde_yaml::from_str::<Json>(&yaml).unwrap(), value, "{yaml}");
            let line = format!("value: {}\n", scalar(text));
            assert_eq!(
                serde_yaml::from_str::<Json>(&line).unwrap(),
                json!({"value": text}),
                "{line}"
            );
            assert!(!yaml.chars().any(|c| c != '\n' && is_unprintable(c)), "{yaml}");
        }
    }

    #[test]
    fn strings_that_yaml_1_1_reads_as_something_else_are_quoted() {
        for text in &VECTORS[2..44] {
            for yaml in [
                document(&json!({"value": text})),
                format!("value: {}\n", scalar(text)),
            ] {
                let value = yaml.trim_start_matches("value: ");
                assert!(value.starts_with(['"', '\'']), "{yaml}");
            }
        }
        for text in ["Roaming", ".spec.weight", "v1", "a tenth", "500m", "1Gi"] {
            assert_eq!(document(&json!(text)).trim_end(), text);
        }
    }

    #[test]
    fn a_comment_is_no_key_that_users_write() {
        let mut object = json!({"default": {"# c": "a", "#d": "b", "d": "c"}});
        let own = object.clone();
        comment(
            object.as_object_mut().expect("an object"),
            "on",
            "Why.",
            json!(true),
        );
        assert_eq!(bare(object.clone())["default"], own["default"]);
        assert_eq!(
            commented(object),
            format!("{}# Why.\n\"on\": true\n", document(&own))
        );
    }

    #[test]
    fn whole_floats_are_written_as_integers() {
        assert_eq!(
            document(&whole(json!({"minimum": 0.0, "factor": 1.5}))),
            "minimum: 0\nfactor: 1.5\n"
        );
    }
}
