//! Compares the builtin kinds with recorded responses of a real API server in `testdata/builtin`: a creation, its
//! response, and updates with their responses. In the records, uids, times and random values are replaced by fixed
//! ones.
//!
//! Objects and cells must be equal, and so must the codes of refusals, their fields and the kinds of their errors; the
//! messages are this server's own. The README lists the errors that only a real server finds. This server may find
//! additional errors in an object that is refused anyway.

use super::of;
use crate::refusal::{About, Refusal};
use crate::request::Subresource;
use regex::Regex;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

#[derive(Deserialize)]
struct Record {
    name: String,
    group: String,
    resource: String,
    create: Json,
    code: u16,
    answer: Option<Json>,
    refusal: Option<Json>,
    cells: Option<Json>,
    #[serde(default)]
    unknown: Vec<String>,
    #[serde(default)]
    then: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    sub: String,
    update: Json,
    code: u16,
    answer: Option<Json>,
    cells: Option<Json>,
    refusal: Option<Json>,
}

/// The response of this server to a request.
type Outcome = Result<Json, Refusal>;

fn name_of(object: &Json) -> &str {
    object["metadata"]["name"].as_str().unwrap_or_default()
}

impl Record {
    fn create(&self) -> Outcome {
        let builtin = of(&self.group, &self.resource).expect("a builtin kind");
        let (mut object, unknown) = builtin.decode(&self.create)?;
        assert_eq!(unknown, self.unknown, "{}", self.name);
        builtin.default(&mut object);
        if let Err(why) = (builtin.rules.admit)(&mut object, &|_, _, _| None) {
            let about = About::new(&self.group, &self.resource, name_of(&object));
            return Err(Refusal::forbidden(about, &why));
        }
        let invalid =
            |object: &Json, errors: &[_]| Refusal::invalid(builtin.about_invalid(name_of(object)), errors);
        builtin
            .allocate(&mut object, None, [])
            .map_err(|errors| invalid(&object, &errors))?;
        object["metadata"]["uid"] = json!("UID");
        if builtin.kind().namespaced {
            object["metadata"]["namespace"] = json!("default");
        }
        builtin.prepare_create(&mut object, "2024-01-01T00:00:00Z");
        match builtin.validate_create(&object) {
            errors if errors.is_empty() => Ok(object),
            errors => Err(invalid(&object, &errors)),
        }
    }

    fn update(&self, step: &Step, old: &Json) -> Outcome {
        let builtin = of(&self.group, &self.resource).expect("a builtin kind");
        let subresource = match step.sub.as_str() {
            "status" => Subresource::Status,
            _ => Subresource::None,
        };
        let (mut object, _) = builtin.decode(&step.update)?;
        builtin.default(&mut object);
        let invalid =
            |object: &Json, errors: &[_]| Refusal::invalid(builtin.about_invalid(name_of(object)), errors);
        if subresource == Subresource::None {
            (builtin.rules.admit_update)(&mut object, old);
            builtin
                .allocate(&mut object, Some(old), [])
                .map_err(|errors| invalid(&object, &errors))?;
        }
        builtin.prepare_update(&mut object, old, subresource);
        match builtin.validate_update(&object, old, subresource) {
            errors if errors.is_empty() => Ok(object),
            errors => Err(invalid(&object, &errors)),
        }
    }
}

/// The fields in a refusal, and the kinds of their errors.
fn causes(message: &str) -> BTreeSet<(String, String)> {
    static CAUSE: LazyLock<Regex> = LazyLock::new(|| {
        let kinds = "Required value|Invalid value|Unsupported value|Forbidden|Duplicate value|Too long|Too many|Not found";
        let pattern = format!(r"(?:^|\[|, |: )([A-Za-z][^ ,]*(?:\[[^\]]*\])?[^ ,]*): ({kinds})");
        Regex::new(&pattern).expect("a constant pattern")
    });
    // This server has no error of the kind `Not found`.
    let found = CAUSE.captures_iter(message);
    let cause = |found: regex::Captures<'_>| {
        (
            found[1].to_owned(),
            found[2].replace("Not found", "Invalid value"),
        )
    };
    found.map(cause).collect()
}

/// The errors of a real server that this server does not find.
type Missed = BTreeSet<(String, String)>;

fn message_of(refusal: &Json) -> &str {
    refusal["message"].as_str().unwrap_or_default()
}

/// An error if two outcomes differ in a way that is not accepted; otherwise the missed errors.
fn difference(
    ours: &Outcome,
    code: u16,
    answer: Option<&Json>,
    refusal: Option<&Json>,
) -> Result<Missed, String> {
    match (ours, answer, refusal) {
        (Ok(ours), Some(theirs), _) => match diff("", &without_times(ours), &without_times(theirs)) {
            Some(found) => Err(found),
            None => Ok(Missed::new()),
        },
        (Ok(_), _, Some(theirs)) => match causes(message_of(theirs)) {
            none if none.is_empty() => Err(format!("accepted, but refused there: {theirs}")),
            missed => Ok(missed),
        },
        (Err(ours), _, Some(theirs)) => {
            let (found, theirs) = (causes(&ours.message), causes(message_of(theirs)));
            let mut missed: Missed = theirs.difference(&found).cloned().collect();
            // The field of this server's error may be a more precise path.
            for (field, _) in found.difference(&theirs) {
                let same = missed
                    .iter()
                    .find(|(theirs, _)| field.starts_with(theirs))
                    .cloned();
                same.map(|same| missed.remove(&same));
            }
            let is_same = ours.code == code;
            match is_same {
                true => Ok(missed),
                false => Err(format!(
                    "\n  here: {} {found:?}\n  there: {code} {theirs:?}",
                    ours.code
                )),
            }
        }
        (Err(ours), ..) => Err(format!("refused, but accepted there: {}", ours.message)),
        (Ok(_), None, None) => Err("a record without an answer".to_owned()),
    }
}

/// The difference after an object is decoded and encoded again, which should not exist.
fn stored_difference(record: &Record, answer: &Json) -> Option<String> {
    let builtin = of(&record.group, &record.resource).expect("a builtin kind");
    let (mut again, unknown) = builtin.decode(answer).expect("an answer of the real server");
    builtin.default(&mut again);
    assert!(unknown.is_empty(), "{}: {unknown:?}", record.name);
    let (ours, theirs) = (again.to_string(), answer.to_string());
    let order = (ours != theirs).then(|| format!("other order: {again} and {answer}"));
    diff("read again", &again, answer).or(order)
}

/// The first difference between two table rows. The records have no times, so ages are unknown.
fn row_difference(record: &Record, object: Option<&Json>, theirs: Option<&Json>) -> Option<String> {
    let builtin = of(&record.group, &record.resource).expect("a builtin kind");
    let (object, theirs) = (object?, theirs?);
    let ours = builtin.cells(object, 1_800_000_000);
    assert_eq!(
        ours.len(),
        builtin.columns().len(),
        "cells of {}",
        record.resource
    );
    // For some resources, the records contain only some of the columns; such rows are not compared.
    let is_whole = theirs.as_array().is_some_and(|theirs| theirs.len() == ours.len());
    let ours = Json::Array(ours.into_iter().map(without_age).collect());
    is_whole.then(|| diff("cells", &ours, theirs)).flatten()
}

fn without_age(cell: Json) -> Json {
    let is_age = |text: &str| {
        text == "<unknown>"
            || Regex::new("^([0-9]+[smhdy])+$")
                .expect("a constant pattern")
                .is_match(text)
    };
    match cell {
        Json::Null => json!("AGE"),
        Json::String(text) if is_age(&text) => json!("AGE"),
        Json::String(text) => match text.split_once(" (") {
            Some((count, ago)) if ago.ends_with(" ago)") => json!(format!("{count} (AGE ago)")),
            _ => Json::String(text),
        },
        other => other,
    }
}

fn without_times(object: &Json) -> Json {
    let mut object = object.clone();
    if let Some(status) = object["status"].as_object_mut() {
        status.shift_remove("lastPhaseTransitionTime");
        for condition in status
            .get_mut("conditions")
            .and_then(Json::as_array_mut)
            .into_iter()
            .flatten()
        {
            condition["lastTransitionTime"] = Json::Null;
        }
    }
    object
}

fn diff(path: &str, ours: &Json, theirs: &Json) -> Option<String> {
    match (ours, theirs) {
        (Json::Object(ours), Json::Object(theirs)) => {
            let mut keys: Vec<&String> = ours.keys().chain(theirs.keys()).collect();
            keys.sort();
            keys.dedup();
            keys.into_iter().find_map(|key| {
                let path = format!("{path}/{key}");
                match (ours.get(key), theirs.get(key)) {
                    (Some(ours), Some(theirs)) => diff(&path, ours, theirs),
                    (ours, theirs) => Some(format!("{path}: ours {ours:?}, theirs {theirs:?}")),
                }
            })
        }
        (Json::Array(ours), Json::Array(theirs)) if ours.len() == theirs.len() => {
            let mut pairs = ours.iter().zip(theirs).enumerate();
            pairs.find_map(|(index, (ours, theirs))| diff(&format!("{path}/{index}"), ours, theirs))
        }
        _ => (ours != theirs).then(|| format!("{path}: ours {ours}, theirs {theirs}")),
    }
}

/// The missed errors by resource: their fields without indexes, with the kinds of the errors.
type Accepted = BTreeMap<String, BTreeSet<String>>;

fn note(accepted: &mut Accepted, resource: &str, missed: Missed) {
    let place = Regex::new(r"\[[^\]]*\]").expect("a constant pattern");
    for (field, kind) in missed {
        let what = format!("`{}` ({})", place.replace_all(&field, ""), kind.to_lowercase());
        accepted.entry(resource.to_owned()).or_default().insert(what);
    }
}

#[test]
fn answers_are_those_of_a_real_server() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/builtin");
    let mut differences = Vec::new();
    let mut accepted = Accepted::new();
    let mut count = 0;
    for file in std::fs::read_dir(folder).expect("the folder of the records") {
        let text = std::fs::read_to_string(file.expect("a file").path()).expect("a file of records");
        for line in text.lines() {
            let record: Record = serde_json::from_str(line).expect("a record");
            count += 1;
            let title = format!("{} {}", record.resource, record.name);
            match difference(
                &record.create(),
                record.code,
                record.answer.as_ref(),
                record.refusal.as_ref(),
            ) {
                Ok(missed) => note(&mut accepted, &record.resource, missed),
                Err(found) => differences.push(format!("{title}: {found}")),
            }
            let row = row_difference(&record, record.answer.as_ref(), record.cells.as_ref());
            let stored = record
                .answer
                .iter()
                .filter_map(|answer| stored_difference(&record, answer));
            differences.extend(
                row.into_iter()
                    .chain(stored)
                    .map(|found| format!("{title}: {found}")),
            );
            // Later steps start from the object of the real server, so that one difference does not cause others.
            let mut old = record.answer.clone().unwrap_or_default();
            for (index, step) in record.then.iter().enumerate() {
                let title = format!("{title}, step {index}");
                let before = old.clone();
                old = step.answer.clone().unwrap_or(old);
                if step.sub == "finalize" {
                    // This server does not have the subresource `finalize`.
                    continue;
                }
                let ours = record.update(step, &before);
                match difference(&ours, step.code, step.answer.as_ref(), step.refusal.as_ref()) {
                    Ok(missed) => note(&mut accepted, &record.resource, missed),
                    Err(found) => differences.push(format!("{title}: {found}")),
                }
                let row = row_difference(&record, step.answer.as_ref(), step.cells.as_ref());
                differences.extend(row.map(|found| format!("{title}: {found}")));
            }
        }
    }
    assert!(count > 100, "too few records were found: {count}");
    let text = differences.join("\n");
    assert!(
        differences.is_empty(),
        "{} differences:\n{text}",
        differences.len()
    );
    the_readme_lists(&accepted);
}

fn the_readme_lists(accepted: &Accepted) {
    const BEGIN: &str = "<!-- accepted: written by a test -->\n";
    const END: &str = "<!-- end of accepted -->";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = std::fs::read_to_string(&path).expect("the README");
    let (head, rest) = readme.split_once(BEGIN).expect("the beginning of the list");
    let (list, tail) = rest.split_once(END).expect("the end of the list");
    let mut expected = String::from("\n");
    for (resource, missed) in accepted {
        let mut line = format!("- {resource}:");
        for (index, what) in missed.iter().enumerate() {
            let end = if index + 1 < missed.len() { "," } else { "" };
            if line.len() + what.len() > 120 {
                expected.push_str(&format!("{line}\n"));
                line = " ".to_owned();
            }
            line.push_str(&format!(" {what}{end}"));
        }
        expected.push_str(&format!("{line}\n"));
    }
    expected.push('\n');
    if std::env::var_os("KRATOR_UPDATE").is_some() {
        std::fs::write(&path, [head, BEGIN, &expected, END, tail].concat()).expect("the README is written");
    } else {
        assert_eq!(list, expected, "KRATOR_UPDATE=1 writes the list in README.md");
    }
}

#[test]
fn only_pods_on_nodes_are_deleted_later() {
    let (pods, secrets) = (of("", "pods").expect("pods"), of("", "secrets").expect("secrets"));
    let pod = |node: &str, phase: &str, grace: i64| json!({"spec": {"nodeName": node, "terminationGracePeriodSeconds": grace}, "status": {"phase": phase}});
    for (object, asked, expected) in [
        (pod("", "Pending", 30), None, 0),
        (pod("a", "Running", 30), None, 30),
        (pod("a", "Running", 30), Some(5), 5),
        (pod("a", "Running", -3), None, 1),
        (pod("a", "Failed", 30), None, 0),
    ] {
        assert_eq!(pods.grace_seconds(&object, asked), Some(expected), "{object}");
    }
    assert_eq!(secrets.grace_seconds(&json!({}), Some(5)), None);
}

#[test]
fn other_groups_and_resources_are_not_builtin() {
    assert!(of("", "deployments").is_none());
    assert!(of("apps", "deployments").is_some());
    assert!(of("metrics.k8s.io", "pods").is_none());
}

#[test]
fn a_new_object_has_what_go_writes() {
    let template = json!({"metadata": {}, "spec": {"containers": null}});
    let spec = json!({"selector": null, "strategy": {}, "template": template});
    let expected = json!({"metadata": {}, "spec": spec, "status": {}});
    assert_eq!(super::empty("apps", "v1", "Deployment"), expected);
}
