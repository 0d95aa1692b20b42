//! Compares with answers of a real API server, which `testdata/builtin` has: an object that is created, the answer, and
//! updates with their answers. Uids, times and what is drawn at random are replaced by fixed values in the records.

use super::{Subresource, of};
use crate::refusal::{About, Refusal};
use regex::Regex;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use std::path::Path;

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

/// What this server makes of a request.
type Outcome = Result<Json, (u16, String)>;

fn refused(refusal: &Refusal) -> (u16, String) {
    (refusal.code, refusal.message.clone())
}

fn name_of(object: &Json) -> &str {
    object["metadata"]["name"].as_str().unwrap_or_default()
}

impl Record {
    fn create(&self) -> Outcome {
        let builtin = of(&self.group, &self.resource).expect("a builtin kind");
        let (mut object, unknown) = builtin
            .decode(&self.create)
            .map_err(|refusal| refused(&refusal))?;
        assert_eq!(unknown, self.unknown, "{}", self.name);
        builtin.default(&mut object);
        if let Err(why) = builtin.admit_create(&mut object) {
            return Err(refused(&Refusal::forbidden(
                About::new(&self.group, &self.resource, name_of(&object)),
                &why,
            )));
        }
        let invalid = |object: &Json, errors: &[_]| {
            refused(&Refusal::invalid(builtin.about_invalid(name_of(object)), errors))
        };
        builtin
            .allocate(&mut object, None, [])
            .map_err(|errors| invalid(&object, &errors))?;
        object["metadata"]["uid"] = json!("UID");
        if builtin.kind().namespaced {
            object["metadata"]["namespace"] = json!("default");
        }
        builtin.prepare_create(&mut object, "2024-01-01T00:00:00Z");
        match builtin.validate_create(&object) {
            errors if errors.is_empty() => {
                assert_eq!(builtin.beyond(&object), None, "{}", self.name);
                Ok(object)
            }
            errors => Err(invalid(&object, &errors)),
        }
    }

    fn update(&self, step: &Step, old: &Json) -> Outcome {
        let builtin = of(&self.group, &self.resource).expect("a builtin kind");
        let subresource = match step.sub.as_str() {
            "status" => Subresource::Status,
            "finalize" => Subresource::Finalize,
            _ => Subresource::Main,
        };
        let (mut object, _) = builtin
            .decode(&step.update)
            .map_err(|refusal| refused(&refusal))?;
        builtin.default(&mut object);
        let invalid = |object: &Json, errors: &[_]| {
            refused(&Refusal::invalid(builtin.about_invalid(name_of(object)), errors))
        };
        if subresource == Subresource::Main {
            builtin.admit_update(&mut object, old);
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

/// The first difference between two outcomes.
fn difference(ours: &Outcome, code: u16, answer: Option<&Json>, refusal: Option<&Json>) -> Option<String> {
    match (ours, answer, refusal) {
        (Ok(ours), Some(theirs), _) => diff("", &without_times(ours), &without_times(theirs)),
        (Err((our_code, ours)), _, Some(theirs)) => {
            let theirs = words(theirs["message"].as_str().unwrap_or_default());
            let same = *our_code == code && *ours == theirs;
            (!same).then(|| format!("\n  ours:   {our_code} {ours}\n  theirs: {code} {theirs}"))
        }
        (Ok(_), ..) => Some(format!(
            "accepted, but refused there: {code} {}",
            refusal.cloned().unwrap_or_default()
        )),
        (Err((code, ours)), ..) => Some(format!("refused, but accepted there: {code} {ours}")),
    }
}

/// What is read and written again must stay as it was.
fn stored_difference(record: &Record, answer: &Json) -> Option<String> {
    let builtin = of(&record.group, &record.resource).expect("a builtin kind");
    let (mut again, unknown) = builtin.decode(answer).expect("an answer of the real server");
    builtin.default(&mut again);
    assert!(unknown.is_empty(), "{}: {unknown:?}", record.name);
    let (ours, theirs) = (again.to_string(), answer.to_string());
    let order = (ours != theirs).then(|| format!("other order: {again} and {answer}"));
    diff("read again", &again, answer).or(order)
}

/// The first difference between the rows of a table. The records have no times, so that ages are not known.
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
    diff(
        "cells",
        &Json::Array(ours.into_iter().map(without_age).collect()),
        theirs,
    )
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

/// The message of a real server without what this one leaves out: differences of specs as Go prints them, and the kind of
/// "Not found" errors.
fn words(message: &str) -> String {
    let message = message.replace("Not found: ", "Invalid value: ");
    match message.split_once("\n@@") {
        Some((head, _)) => format!("{head}\n"),
        None => message,
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

#[test]
fn answers_are_those_of_a_real_server() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/builtin");
    let mut differences = Vec::new();
    let mut count = 0;
    for file in std::fs::read_dir(folder).expect("the folder of the records") {
        let text = std::fs::read_to_string(file.expect("a file").path()).expect("a file of records");
        for line in text.lines() {
            let record: Record = serde_json::from_str(line).expect("a record");
            count += 1;
            let title = format!("{} {}", record.resource, record.name);
            let ours = record.create();
            let found = difference(
                &ours,
                record.code,
                record.answer.as_ref(),
                record.refusal.as_ref(),
            );
            let row = row_difference(&record, record.answer.as_ref(), record.cells.as_ref());
            differences.extend(
                found
                    .into_iter()
                    .chain(row)
                    .map(|found| format!("{title}: {found}")),
            );
            differences.extend(
                record
                    .answer
                    .iter()
                    .filter_map(|answer| stored_difference(&record, answer)),
            );
            // Later steps start from what the real server has stored, so that one difference does not cause others.
            let mut old = record.answer.clone().unwrap_or_default();
            for (index, step) in record.then.iter().enumerate() {
                let ours = record.update(step, &old);
                let found = difference(&ours, step.code, step.answer.as_ref(), step.refusal.as_ref());
                let row = row_difference(&record, step.answer.as_ref(), step.cells.as_ref());
                let found = found.into_iter().chain(row);
                differences.extend(found.map(|found| format!("{title}, step {index}: {found}")));
                old = step.answer.clone().unwrap_or(old);
            }
        }
    }
    assert!(count > 100, "too few records were found: {count}");
    assert!(
        differences.is_empty(),
        "{} differences:\n{}",
        differences.len(),
        differences.join("\n")
    );
}
