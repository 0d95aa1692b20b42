//! The histories of two widely used kinds, as versions: Certificates of cert-manager and Machines of Cluster API. Each
//! conversion has the same result as the functions of these projects, apart from the differences in
//! `testdata/histories/README.md`.

use krator_runtime::versions::{Direction, Versions};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;

/// A place where a result may differ from that of the project, and the reason.
struct Difference {
    /// The version of the result.
    to: &'static str,
    /// The place in the spec.
    path: &'static str,
    /// Whether the reason explains the difference of the two values.
    is_it: fn(Option<&Value>, Option<&Value>) -> bool,
    /// The line of the list with the reason.
    line: &'static str,
}

const SPELLED: &str = "A duration keeps its text";
const NAMESPACE: &str = "A reference of a Machine gets no namespace";

const CERTIFICATE: &[Difference] = &[
    Difference::spelled("v1", ".duration"),
    Difference::spelled("v1", ".renewBefore"),
    Difference::spelled("v1alpha2", ".duration"),
    Difference::spelled("v1alpha2", ".renewBefore"),
];
const MACHINE: &[Difference] = &[
    Difference::spelled("v1beta1", ".nodeDrainTimeout"),
    Difference::spelled("v1beta1", ".nodeVolumeDetachTimeout"),
    Difference::spelled("v1beta1", ".nodeDeletionTimeout"),
    Difference::namespace(".infrastructureRef.namespace"),
    Difference::namespace(".bootstrap.configRef.namespace"),
];

impl Difference {
    const fn spelled(to: &'static str, path: &'static str) -> Self {
        let is_it = |ours: Option<&Value>, theirs: Option<&Value>| {
            let length = |value: Option<&Value>| value.and_then(Value::as_str).and_then(nanoseconds);
            length(ours).is_some() && length(ours) == length(theirs)
        };
        let line = SPELLED;
        Self {
            to,
            path,
            is_it,
            line,
        }
    }

    const fn namespace(path: &'static str) -> Self {
        Self {
            to: "v1beta1",
            path,
            is_it: |ours, theirs| ours.is_none() && theirs.is_some_and(|value| value == "here"),
            line: NAMESPACE,
        }
    }
}

#[test]
fn certificates_are_converted_as_by_cert_manager() {
    replay("certificate", CERTIFICATE);
}

#[test]
fn machines_are_converted_as_by_cluster_api() {
    replay("machine", MACHINE);
}

fn replay(history: &str, differences: &[Difference]) {
    let versions = versions(history);
    let recorded = read(&format!("{history}.jsonl"));
    let mut seen = BTreeSet::new();
    for line in recorded.lines() {
        let pair: Value = serde_json::from_str(line).expect("JSON");
        let to = pair["answer"]["apiVersion"].as_str().expect("a version");
        let ours = versions
            .convert(pair["object"].clone(), to, &|function, direction, value| {
                Ok(custom(function, direction, value))
            })
            .expect("a version");
        let mut found = Vec::new();
        compare("", ours.get("spec"), pair["answer"].get("spec"), &mut found);
        for (path, ours, theirs) in found {
            let listed = differences.iter().find(|one| {
                to.rsplit('/').next() == Some(one.to) && one.path == path && (one.is_it)(ours, theirs)
            });
            let listed = listed.unwrap_or_else(|| panic!("{path}: {ours:?} is {theirs:?} there\n{line}"));
            seen.insert(listed.line);
        }
    }
    let list = read("README.md");
    for difference in differences {
        let line = difference.line;
        assert!(list.contains(line), "README.md has no {line:?}");
        assert!(seen.contains(line), "no object has this difference: {line:?}");
    }
}

fn read(file: &str) -> String {
    let path = krator_tests::root().join("testdata/histories").join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn versions(history: &str) -> Versions {
    let text = read(&format!("{history}.yaml"));
    let checked = krator::check("krator.yaml", text.as_bytes());
    let description = checked.sound().expect("it is sound");
    krator::versions::of(description, &description.kinds[0]).expect("it has versions")
}

/// The places where two values differ. A field that Go omits equals its zero value, and so does `{}` for a struct of
/// Go.
fn compare<'v>(
    path: &str,
    ours: Option<&'v Value>,
    theirs: Option<&'v Value>,
    found: &mut Vec<(String, Option<&'v Value>, Option<&'v Value>)>,
) {
    match (ours, theirs) {
        (Some(Value::Object(our)), Some(Value::Object(their))) => {
            for name in our.keys().chain(their.keys()).collect::<BTreeSet<_>>() {
                compare(&format!("{path}.{name}"), our.get(name), their.get(name), found);
            }
        }
        (Some(Value::Array(our)), Some(Value::Array(their))) if our.len() == their.len() => {
            for (our, their) in our.iter().zip(their) {
                compare(&format!("{path}[*]"), Some(our), Some(their), found);
            }
        }
        (Some(ours), None) if is_zero(ours) => {}
        (None, Some(theirs)) if is_zero(theirs) => {}
        (ours, theirs) if ours == theirs => {}
        (ours, theirs) => found.push((path.to_owned(), ours, theirs)),
    }
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.values().all(is_zero),
        Value::Array(items) => items.is_empty(),
        other => [json!(null), json!(false), json!(0), json!("")].contains(other),
    }
}

/// The functions of Machines, in the form in which an author writes them.
fn custom(function: &str, direction: Direction, value: Option<Value>) -> Option<Value> {
    let value = value?;
    let text = value.as_str();
    Some(match (function.ends_with("apiGroup"), direction) {
        (true, Direction::Up) => text?.split_once('/').map_or("", |(group, _)| group).into(),
        // Only the cluster has the version; the functions of the project got this one.
        (true, Direction::Down) => format!("{}/v1beta1", text?).into(),
        (false, Direction::Up) => ((nanoseconds(text?)? / 1_000_000_000).min(i32::MAX.into())).into(),
        (false, Direction::Down) => format!("{}s", value.as_i64()?).into(),
    })
}

/// The length of a duration in the format of Go.
fn nanoseconds(text: &str) -> Option<i64> {
    let mut sum = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let is_number = |c: char| c.is_ascii_digit() || c == '.';
        let (number, after) = rest.split_at(rest.find(|c| !is_number(c))?);
        let (unit, next) = after.split_at(after.find(is_number).unwrap_or(after.len()));
        let unit = match unit {
            "ms" => 1e6,
            "s" => 1e9,
            "m" => 60e9,
            "h" => 3_600e9,
            _ => return None,
        };
        sum += number.parse::<f64>().ok()? * unit;
        rest = next;
    }
    Some(sum as i64)
}
