//! Strings in `.spec` whose names suggest durations but that may be any text.

use super::{Check, RuleHit, Subject, spec_fields};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;
use crate::model::{Schema, Shape};
use crate::names::snake;

pub(super) static RULE: Rule = Rule {
    name: "duration-as-string",
    severity: Severity::Info,
    summary: "a string of `.spec` is named like a duration, but accepts any text",
    explanation: "Without a format the API server accepts any text, so a mistake is found only by a handler, long after the request of the
user. The type `duration` is written as in Go, and is a duration in Rust.

Bad:

    spec: {syncTimeout: string}

Good:

    spec: {syncTimeout: {type: duration, default: 5m}}",
};

pub(super) const CHECK: Check = Check::of_kind(&RULE, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let fields = spec_fields::fields(subject.description, subject.kind).into_iter();
    let is_any_text = |schema: &Schema| {
        let meant = subject.description.resolve(schema);
        let is_limited = |schema: &Schema| {
            let limits = &schema.constraints.limits;
            limits.contains_key("format") || limits.contains_key("pattern")
        };
        matches!(meant.shape, Shape::String) && !is_limited(schema) && !is_limited(meant)
    };
    fields
        .filter(|field| sounds_like_a_duration(field.name.as_str()) && is_any_text(&field.schema))
        .map(|field| {
            let message = format!(
                "`{}` is named like a duration, but accepts any text",
                field.name.value
            );
            let finding = Finding::new(&RULE, field.name.span, message).help(
                "use the type `duration`, or an `integer` whose name ends in its unit, such as `Seconds`",
            );
            RuleHit::of_document(finding)
        })
        .collect()
}

fn sounds_like_a_duration(name: &str) -> bool {
    const WORDS: [&str; 9] = [
        "duration", "timeout", "interval", "period", "delay", "ttl", "backoff", "deadline", "age",
    ];
    let name = snake(name);
    let last = name.rsplit('_').next().unwrap_or_default();
    WORDS.contains(&last)
}
