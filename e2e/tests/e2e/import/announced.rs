//! The announced differences between a CRD and the CRD of its import: an import names the fields that it leaves out,
//! and the objects around these keep every unknown field. Any other difference is a defect.

use crate::differential::api::Cause;
use krator::import::Imported;
use krator_schema::Segment;
use serde_json::Value;
use std::collections::BTreeSet;

/// A step into a value: the name of a field, or `None` for any item of a list and any value of a map.
type Step = Option<String>;

/// The places in `.spec` that an import reports.
pub struct Announced(Vec<Vec<Step>>);

impl Announced {
    pub fn by(imported: &Imported) -> Announced {
        let paths = imported.not_imported.iter().map(|part| part.path.segments());
        Announced(paths.filter_map(place).collect())
    }

    /// Whether both values of `.spec` differ only at announced places.
    pub fn covers_difference(&self, theirs: &Value, ours: &Value) -> bool {
        let mut differences = Vec::new();
        differing(theirs, ours, &mut vec![Some("spec".to_owned())], &mut differences);
        differences.iter().all(|path| self.has(path))
    }

    /// Whether all causes of a refusal are at announced places.
    pub fn covers_refusal(&self, causes: &[Cause]) -> bool {
        // A cause without a field only reports that rules were not checked, because of the other causes.
        let mut of_fields = causes.iter().filter(|cause| cause.field != "<nil>");
        of_fields.all(|cause| self.has(&steps(&cause.field)))
    }

    fn has(&self, path: &[Step]) -> bool {
        self.0.iter().any(|place| {
            let matches = |(at, step): (&Step, &Step)| at.is_none() || at == step;
            place.len() <= path.len() && place.iter().zip(path).all(matches)
        })
    }
}

/// The place in values for a path in a CRD: for a field, the object that contains it.
fn place(path: &[Segment]) -> Option<Vec<Step>> {
    let root = path
        .iter()
        .position(|segment| *segment == Segment::Key("spec".to_owned()))?;
    let mut place = vec![Some("spec".to_owned())];
    let mut rest = &path[root + 1..];
    loop {
        rest = match rest {
            [Segment::Field(keyword), Segment::Key(_)] if keyword == "properties" => return Some(place),
            [Segment::Field(keyword), Segment::Key(name), rest @ ..] if keyword == "properties" => {
                place.push(Some(name.clone()));
                rest
            }
            [Segment::Field(keyword), rest @ ..]
                if keyword == "items" || keyword == "additionalProperties" =>
            {
                place.push(None);
                rest
            }
            _ => return Some(place),
        };
    }
}

/// The steps of a path in the notation of the API server, such as `spec.http[0].name`.
fn steps(field: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    for part in field.split('.') {
        let mut names = part.split(['[', ']']).filter(|name| !name.is_empty());
        steps.extend(names.next().map(|name| Some(name.to_owned())));
        steps.extend(names.map(|_| None));
    }
    steps
}

/// Adds the paths at which two values differ.
fn differing(theirs: &Value, ours: &Value, path: &mut Vec<Step>, found: &mut Vec<Vec<Step>>) {
    let mut compare = |step: Step, theirs: Option<&Value>, ours: Option<&Value>| {
        path.push(step);
        match (theirs, ours) {
            (Some(theirs), Some(ours)) => differing(theirs, ours, path, found),
            _ => found.push(path.clone()),
        }
        path.pop();
    };
    match (theirs, ours) {
        (Value::Object(theirs), Value::Object(ours)) => {
            let names: BTreeSet<&String> = theirs.keys().chain(ours.keys()).collect();
            for name in names {
                compare(Some(name.clone()), theirs.get(name), ours.get(name));
            }
        }
        (Value::Array(theirs), Value::Array(ours)) if theirs.len() == ours.len() => {
            for (theirs, ours) in theirs.iter().zip(ours) {
                compare(None, Some(theirs), Some(ours));
            }
        }
        _ if theirs != ours => found.push(path.clone()),
        _ => {}
    }
}
