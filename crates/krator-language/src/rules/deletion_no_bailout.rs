//! States of the deletion path without a bound: their handlers may fail or stay forever.

use serde_json::Value as Json;

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;
use crate::model::{
    Description, MomentField, MomentUnit, PathRoot, Period, RetryLimit, Schema, Segment, Shape, TextSource,
    When, parse_duration,
};

pub(super) static RULE: Rule = Rule {
    name: "deletion-no-bailout",
    severity: Severity::Warning,
    summary: "a state of the deletion path retries or waits without a limit",
    explanation: "While a handler of the deletion path keeps failing or staying, the object cannot be removed, and neither can its
namespace. A `timeout` limits that time. For a state without `wait`, whose handler cannot stay, a retry `limit` with a
`then` is enough. A timeout from a field that may be absent, or is 0 by default, has no effect for objects that do not
set the field. If giving up would be worse, `allow` the rule and give the reason.

Bad:

    Release: {next: [Released], wait: {poll: 10s}, retry: {limit: 5, then: Released}}

Good:

    Release: {next: [Released], wait: {poll: 10s}, timeout: {after: 1h, to: Released}}",
};

pub(super) const CHECK: Check = Check {
    needs_edges: true,
    unless: &[&super::deletion_escape::RULE, &super::no_path_to_final::RULE],
    ..Check::of_kind(&RULE, find)
};

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let mut found = Vec::new();
    for (id, state) in subject.kind.state_ids() {
        // A schedule from a field may never start.
        let timeout = state.timeout.as_ref().filter(|timeout| match &timeout.when {
            When::At(starts, _) => matches!(starts.schedule.value, TextSource::Fixed(_)),
            When::After(_) => true,
        });
        let after = timeout.and_then(|timeout| timeout.after());
        let may_be_never = match (timeout, after.map(|after| &after.value)) {
            (None, _) => None,
            (_, Some(Period::Field(field))) if may_be_never(subject, field) => Some(field),
            _ => continue,
        };
        let retry = state.retry.as_ref();
        let retry = retry.filter(|retry| retry.limit.value == RetryLimit::Unlimited);
        let (does, label, help) = match (retry.is_some(), state.may_stay()) {
            _ if !state.on_deletion_path => continue,
            (false, false) => continue,
            (true, false) => (
                "failing",
                "neither a retry limit nor a timeout",
                "say when to give up: `retry: {limit: 5, then: STATE}`; states of the deletion path do not inherit the machine's `then`",
            ),
            (true, true) => (
                "failing or waiting",
                "neither a retry limit nor a timeout",
                "say when to give up: `timeout: {after: 1h, to: STATE}`",
            ),
            (false, true) => (
                "waiting",
                "no timeout",
                "say when to give up: `timeout: {after: 1h, to: STATE}`; a limit of retries ends only failures",
            ),
        };
        let message = format!(
            "if the handler of `{}` keeps {does}, a deleted object is never removed",
            state.name.value
        );
        let mut finding = Finding::new(&RULE, state.name.span, message);
        finding = match (timeout, may_be_never) {
            (Some(after), Some(field)) => {
                let never = format!("no timeout as long as `{}` is not set", field.path);
                finding.related(after.span, never).help(match field.path.root {
                    PathRoot::Spec => "give the field a default other than 0",
                    _ => "use a fixed time, or a field of the spec with a default",
                })
            }
            _ => finding.label(label).help(help),
        };
        if let Some(retry) = retry
            && retry.limit.span != state.name.span
            && !state.kind.span.eq(&retry.limit.span)
        {
            finding = finding.related(retry.limit.span, "its delays come from this policy");
        }
        found.push(RuleHit::of(id, finding));
    }
    found
}

/// Whether the time in a field means "never" unless a user sets the field. Users may set it to 0 on purpose.
fn may_be_never(subject: &Subject<'_>, field: &MomentField) -> bool {
    let walk = Walk {
        description: subject.description,
        unit: field.unit,
    };
    match field.path.root {
        PathRoot::Spec => {
            subject.kind.spec.optional || walk.below(&subject.kind.spec, &field.path.segments, None)
        }
        // Fields that handlers write may be missing, as may the whole status.
        PathRoot::Status | PathRoot::Metadata | PathRoot::Label(_) => true,
    }
}

struct Walk<'a> {
    description: &'a Description,
    unit: MomentUnit,
}

impl Walk<'_> {
    /// Whether the value at these steps below a value of the schema may mean "never". The value is the given default,
    /// or set by a user.
    fn below(&self, schema: &Schema, segments: &[Segment], default: Option<&Json>) -> bool {
        let [first, rest @ ..] = segments else {
            return default.is_some_and(|value| self.is_never(value));
        };
        let (Segment::Field(name), Shape::Object(fields)) = (first, &self.description.resolve(schema).shape)
        else {
            return true;
        };
        let Some(field) = fields.iter().find(|field| field.name.as_str() == name) else {
            return true;
        };
        let below = |value| self.below(&field.schema, rest, value);
        if let Some(value) = default.and_then(|value| value.get(name)) {
            return below(Some(value));
        }
        let mut defaults = self.description.chain(&field.schema);
        let own = defaults.find_map(|schema| schema.default.as_ref());
        match own {
            Some(own) => below(Some(&own.value)) || default.is_none() && below(None),
            None => default.is_some() || field.schema.optional || below(None),
        }
    }

    fn is_never(&self, value: &Json) -> bool {
        match self.unit {
            MomentUnit::Duration => {
                let duration = value.as_str().and_then(parse_duration);
                duration.is_none_or(|duration| duration.is_zero())
            }
            MomentUnit::Seconds => value.as_i64().is_none_or(|seconds| seconds <= 0),
            MomentUnit::Instant => value.is_null(),
        }
    }
}
