//! Each place where the API server creates an error has a test case, or a reason why no description can cause the
//! error.

use std::collections::{BTreeMap, BTreeSet};

use krator_schema::{Definition, Schema, validate, validate_definition};

use super::{read, written};

const SITES: &str = include_str!("../../testdata/error-sites.txt");
const CASES: &str = include_str!("../../testdata/error-cases.txt");
const REASONS: &str = include_str!("../../testdata/error-reasons.txt");

/// The places that the script has found: file, function and number.
fn sites() -> BTreeSet<&'static str> {
    let place = |line: &'static str| line.splitn(4, ' ').take(3).map(str::len).sum::<usize>() + 2;
    let lines = SITES.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| &line[..place(line)]).collect()
}

/// The lines of each case, by its place.
fn cases() -> BTreeMap<&'static str, Vec<&'static str>> {
    let sections = CASES.split("\n## ").skip(1);
    sections
        .map(|section| {
            let mut lines = section.trim_end().lines();
            (lines.next().unwrap_or_default(), lines.collect())
        })
        .collect()
}

fn reasons() -> BTreeSet<&'static str> {
    let lines = REASONS.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| line.split_once(": ").expect("a reason follows the place").0)
        .collect()
}

#[test]
fn each_place_has_a_case_or_a_reason() {
    let (sites, cases, reasons) = (sites(), cases(), reasons());
    let function = |site: &'static str| site.rsplit_once(' ').map_or(site, |(function, _)| function);
    for site in &sites {
        let explained = reasons.contains(site) || reasons.contains(function(site));
        assert!(
            cases.contains_key(site) != explained,
            "{site} needs a case or a reason, and not both"
        );
    }
    for case in cases.keys() {
        assert!(sites.contains(case), "the list has no {case}");
    }
    for reason in &reasons {
        let known = sites
            .iter()
            .any(|site| site == reason || function(site) == *reason);
        assert!(known, "the list has no {reason}");
    }
}

#[test]
fn each_case_has_the_problems_of_the_api_server() {
    for (site, lines) in cases() {
        let (inputs, expected): (Vec<&str>, Vec<&str>) =
            lines.into_iter().partition(|line| line.contains(": "));
        let problems = match inputs[..] {
            [definition] => validate_definition(&read::<Definition>(definition, "definition: "), None),
            [schema, value] => validate(&read::<Schema>(schema, "schema: "), &read(value, "value: ")),
            _ => panic!("{site}: a case is a definition, or a schema and a value"),
        };
        let problems: BTreeSet<String> = problems.iter().map(written).collect();
        assert_eq!(Vec::from_iter(problems), expected, "{site}");
    }
}
