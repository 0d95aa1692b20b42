//! Patterns and formats.

use krator_schema::{Pattern, Schema, validate};
use serde_json::json;

use super::read;

#[test]
fn patterns_match_what_they_match_in_go() {
    let mut cases = include_str!("../../testdata/patterns.txt").split("\n\n");
    let head = cases.next().expect("the texts come first");
    let texts: Vec<String> = read(head.lines().last().unwrap_or_default(), "texts ");
    for case in cases {
        let (pattern, expected) = case
            .trim_end_matches('\n')
            .split_once("\n  ")
            .expect("each pattern has a result");
        let found = match Pattern::new(pattern) {
            Err(error) => format!("refused: {error}"),
            Ok(read) => {
                let matches: Vec<&String> = texts
                    .iter()
                    .filter(|text| read.is_match(text) == Some(true))
                    .collect();
                format!("matches: {}", json!(matches))
            }
        };
        match expected.strip_prefix("matches: ") {
            // The texts may be written in several ways.
            Some(matches) => {
                let matches: Vec<String> = read(matches, "");
                assert_eq!(found, format!("matches: {}", json!(matches)), "{pattern}");
            }
            None => assert_eq!(found, expected, "{pattern}"),
        }
    }
}

#[test]
fn formats_are_those_of_the_api_server() {
    for case in include_str!("../../testdata/formats.txt").split("\n\n").skip(1) {
        let mut lines = case.lines();
        let format = lines.next().unwrap_or_default();
        let schema: Schema = read(&json!({"type": "string", "format": format}).to_string(), "");
        for line in lines {
            let (expected, text) = line.split_at(6);
            let text: String = read(text, "");
            let valid = validate(&schema, &json!(text)).is_empty();
            assert_eq!(valid, expected.contains("yes"), "{format} {text:?}");
        }
    }
}
