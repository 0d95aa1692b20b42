//! Recorded results of the API server. The expectations come from its own code; they are never updated from our
//! results.

use krator_cel::{Compilation, Pattern, Type, TypeEnvironment, compile, formats, on_large_stack};
use serde_json::json;

/// The texts of a JSON list.
fn texts(json: &str) -> Vec<String> {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}

#[test]
fn patterns_match_what_they_match_in_go() {
    let mut cases = include_str!("../testdata/patterns.txt").split("\n\n");
    let head = cases.next().expect("the texts come first");
    let head = head.lines().last().and_then(|line| line.strip_prefix("texts "));
    let all = texts(head.expect("a line with the texts"));
    for case in cases {
        let (pattern, expected) = case
            .trim_end_matches('\n')
            .split_once("\n  ")
            .expect("each pattern has a result");
        let found = match Pattern::new(pattern) {
            Err(error) => format!("refused: {error}"),
            Ok(read) => {
                let matches: Vec<&String> = all
                    .iter()
                    .filter(|text| read.is_match(text) == Some(true))
                    .collect();
                format!("matches: {}", json!(matches))
            }
        };
        match expected.strip_prefix("matches: ") {
            // The recorded texts may be escaped differently.
            Some(matches) => {
                let matches = texts(matches);
                assert_eq!(found, format!("matches: {}", json!(matches)), "{pattern}");
            }
            None => assert_eq!(found, expected, "{pattern}"),
        }
    }
}

#[test]
fn formats_are_those_of_the_api_server() {
    for case in include_str!("../testdata/formats.txt").split("\n\n").skip(1) {
        let mut lines = case.lines();
        let format = lines.next().unwrap_or_default();
        for line in lines {
            let (expected, text) = line.split_at(6);
            let text: String = serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            let valid = formats::is_valid(format, &text);
            assert_eq!(valid, expected.contains("yes"), "{format} {text:?}");
        }
    }
}

#[test]
fn expressions_are_accepted_where_the_api_server_accepts_them() {
    let cases = include_str!("../testdata/expressions.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut wrong = Vec::new();
    for case in cases {
        let (verdict, expression) = case.split_once('|').expect("a verdict and an expression");
        let (verdict, expression) = (verdict.trim(), expression.trim());
        let found = compile(expression, &TypeEnvironment::default(), &Type::Bool);
        let is_right = match found {
            Compilation::Compiled(_) => verdict == "good",
            Compilation::Refused(_) => verdict == "bad",
            Compilation::Unknown => verdict == "unknown",
        };
        if !is_right {
            wrong.push(format!("{case}\n    {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "these are not:\n{}", wrong.join("\n"));
}

/// The nesting limit of Go. Without optimizations, it needs more than the stack of a thread.
#[test]
fn a_pattern_may_nest_deeply() {
    let deep = |depth: usize| format!("{}a{}", "(".repeat(depth), ")".repeat(depth));
    let matches = on_large_stack(|| Pattern::new(&deep(999)).ok()?.is_match("a"), None);
    assert_eq!(matches, Some(true));
    let refused = on_large_stack(
        || Pattern::new(&deep(1001)).map_err(|error| error.reason),
        Err(""),
    );
    assert_eq!(refused.err(), Some("expression nests too deeply"));
}
