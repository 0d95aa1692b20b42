//! Sample objects that the API server would refuse.

use krator_schema::cel::{self, Outcome, RuleOutcome};
use krator_schema::{Problem, Segment, validate};

use super::{Check, RuleHit, Subject};
use crate::catalog::{INVALID_RULE, INVALID_SCHEMA, Rule, Severity};
use crate::crd;
use crate::finding::Finding;
use crate::model::{Field, Schema, Shape};
use crate::sample;
use crate::text::shown;

pub(super) static RULE: Rule = Rule {
    name: "refused-sample",
    severity: Severity::Warning,
    summary: "the sample object would be refused by the API server",
    explanation: "`deploy/sample.yaml` and the generated tests start from the simplest object of the schema, which may violate a CEL rule
or a pattern. krator cannot derive a value that satisfies them: give one as `example` next to the type of the field.

Bad:

    spec:
      tag: string
      validations: [{rule: \"self.tag.startsWith('moose-')\"}]

Good:

    spec:
      tag: {type: string, example: moose-1}
      validations: [{rule: \"self.tag.startsWith('moose-')\"}]",
};

pub(super) const CHECK: Check = Check {
    needs_sound_schemas: true,
    unless: &[&INVALID_SCHEMA, &INVALID_RULE],
    ..Check::of_kind(&RULE, find)
};

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let sample = sample::stored(subject.description, subject.kind);
    let name = sample["metadata"]["name"].as_str().unwrap_or_default();
    if let Some(rule) = &subject.kind.resource.name
        && !sample::is_allowed_name(&subject.kind.resource, name)
    {
        let message = "the sample object would be refused: krator found no name that the pattern allows";
        let help = "a name has lower-case letters, digits, `-` and `.`, begins and ends with a letter or a digit, and the \
                    pattern has to match some part of it";
        let finding = Finding::new(&RULE, rule.pattern.span, message).help(help);
        return vec![RuleHit::of_document(finding)];
    }
    let (root, path) = subject.schema();
    let problems = validate(root, &sample);
    let hits: Vec<RuleHit> = problems.iter().map(|problem| invalid(subject, problem)).collect();
    if !hits.is_empty() {
        return hits;
    }
    cel::evaluate(root, &path, &sample, None)
        .iter()
        .filter_map(|outcome| broken(subject, outcome))
        .collect()
}

/// The finding about a sample that breaks a bound of the schema.
fn invalid(subject: &Subject<'_>, problem: &Problem) -> RuleHit {
    let message = format!(
        "the sample object would be refused: `{}` {}",
        problem.path, problem.detail
    );
    let schema = crd::type_of_value(subject.description, subject.kind, &problem.path);
    let place = schema.map_or(subject.kind.resource.span, |schema| schema.span);
    let finding = Finding::new(&RULE, place, message);
    RuleHit::of_document(finding.help("give the type an `example` that is valid"))
}

/// The finding about a sample that breaks a CEL rule.
fn broken(subject: &Subject<'_>, outcome: &RuleOutcome) -> Option<RuleHit> {
    let (Outcome::Violated(message) | Outcome::Failed(message)) = &outcome.outcome else {
        return None;
    };
    let place = subject.place(&outcome.rule);
    let message = format!(
        "the sample object would be refused: `{}` breaks a rule: {}",
        outcome.value,
        shown(message)
    );
    let finding = Finding::new(&RULE, place, message);
    let schema = crd::type_of_value(subject.description, subject.kind, &outcome.value);
    let fields = schema.map_or(Vec::new(), |schema| fields_of_rule(subject, schema, outcome));
    let names: Vec<String> = fields
        .iter()
        .map(|field| format!("`{}`", shown(field.name.as_str())))
        .collect();
    let finding = match names.is_empty() {
        true => finding.help("give the type an `example` that satisfies the rule"),
        false => finding.help(format!(
            "give {} an `example` that satisfies the rule",
            names.join(" or ")
        )),
    };
    Some(RuleHit::of_document(
        fields.iter().fold(finding, |finding, field| {
            finding.related(field.name.span, "the rule reads this field")
        }),
    ))
}

/// The fields of an object that one of its rules refers to.
fn fields_of_rule<'a>(subject: &Subject<'a>, schema: &'a Schema, outcome: &RuleOutcome) -> Vec<&'a Field> {
    let index = outcome
        .rule
        .segments()
        .iter()
        .rev()
        .find_map(|segment| match segment {
            Segment::Index(index) => Some(*index),
            _ => None,
        });
    let rules = crd::rules_of(subject.description, schema);
    let rule = index.and_then(|index| rules.get(index));
    let (Some(rule), Shape::Object(fields)) = (rule, &subject.description.resolve(schema).shape) else {
        return Vec::new();
    };
    let is_named = |field: &&Field| {
        let Some(name) = cel::escape(field.name.as_str()) else {
            return false;
        };
        let written = format!("self.{name}");
        let mut after = rule.rule.split(&written).skip(1);
        after.any(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
    };
    fields.iter().filter(is_named).collect()
}
