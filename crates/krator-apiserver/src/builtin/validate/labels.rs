//! Labels, annotations and selectors, after `pkg/apis/meta/v1/validation` and `pkg/labels` of `k8s.io/apimachinery`.

use crate::builtin::json::{entries, list, text, texts};
use crate::builtin::names;
use crate::builtin::report::{Report, TypeRule, items};
use crate::selector::LabelSelector;
use krator_schema::Path;
use serde_json::Value as Json;

pub(super) const TYPES: &[(&str, TypeRule)] = &[("meta.v1.LabelSelector", selector)];

/// Validates a map of labels.
pub(super) fn labels(report: &mut Report, at: &Path, labels: &Json) {
    for (key, value) in labels.as_object().into_iter().flatten() {
        let value = value.as_str().unwrap_or_default();
        report.messages(at, key, names::qualified(key));
        report.messages(at, value, names::label_value(value));
    }
}

fn selector(report: &mut Report, at: &Path, selector: &Json) {
    labels(report, &at.field("matchLabels"), &selector["matchLabels"]);
    for (at, requirement) in items(at, selector, "matchExpressions") {
        let (values_at, values) = (at.field("values"), texts(requirement, "values"));
        match text(requirement, "operator") {
            "In" | "NotIn" if values.is_empty() => {
                report.required(&values_at, "`In` and `NotIn` need values")
            }
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                report.forbidden(&values_at, "`Exists` and `DoesNotExist` have no values");
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            operator => report.invalid(&at.field("operator"), operator, "not a valid selector operator"),
        }
        let key = text(requirement, "key");
        report.messages(&at.field("key"), key, names::qualified(key));
        for (index, value) in values.into_iter().enumerate() {
            report.messages(&values_at.index(index), value, names::label_value(value));
        }
    }
}

/// Whether a selector has no requirements.
pub(super) fn is_empty(selector: &Json) -> bool {
    entries(selector, "matchLabels").next().is_none() && list(selector, "matchExpressions").is_empty()
}

/// Whether a selector is valid, so that it can be matched with labels.
pub(super) fn can_be_evaluated(of_object: &Json) -> bool {
    let mut report = Report::default();
    selector(&mut report, &Path::root(), of_object);
    report.into_errors().is_empty()
}

/// Whether a selector matches an object with these labels.
pub(super) fn selects(selector: &Json, labels: &Json) -> bool {
    let label = |key: &str| labels.get(key).and_then(Json::as_str);
    LabelSelector::of(selector).is_some_and(|selector| selector.matches(label))
}
