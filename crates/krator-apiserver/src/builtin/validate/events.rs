//! Events, after `pkg/apis/core/validation/events.go`. Events of both groups are one kind, with other rules for each.

use super::report::{Report, root};
use crate::builtin::event_to_core;
use crate::builtin::json::{get, int, text};
use crate::builtin::names;
use serde_json::Value as Json;

/// An event of `core/v1`, new or changed.
pub(super) fn core(report: &mut Report, event: &Json) {
    common(report, event, "reportingComponent");
}

/// An event of `events.k8s.io/v1`. Paths have the names of `core/v1`, as in the original.
pub(super) fn events(report: &mut Report, event: &Json) {
    let event = &event_to_core(event);
    common(report, event, "reportingController");
    series(report, event);
    if get(event, "eventTime").is_none() {
        report.required(&root("eventTime"), "");
    }
    let type_ = text(event, "type");
    if !matches!(type_, "Normal" | "Warning") {
        report.invalid(&root("type"), "", format!("has invalid value: {type_}"));
    }
    for field in ["firstTimestamp", "lastTimestamp", "count"] {
        if get(event, field).is_some() {
            report.invalid(&root(field), "", "needs to be unset");
        }
    }
    if !text(event, "source.component").is_empty() || !text(event, "source.host").is_empty() {
        report.invalid(&root("source"), "", "needs to be unset");
    }
}

/// An event of `events.k8s.io/v1` that exists only counts on.
pub(super) fn events_update(report: &mut Report, event: &Json, old: &Json) {
    let (event, old) = (&event_to_core(event), &event_to_core(old));
    common(report, event, "reportingController");
    if get(event, "series") != get(old, "series") {
        series(report, event);
    }
    for field in [
        "involvedObject",
        "reason",
        "message",
        "source",
        "firstTimestamp",
        "lastTimestamp",
        "count",
        "type",
        "eventTime",
        "action",
        "related",
    ] {
        report.immutable(&root(field), event, old);
    }
    for (field, name) in [
        ("reportingComponent", "reportingController"),
        ("reportingInstance", "reportingInstance"),
    ] {
        if text(event, field) != text(old, field) {
            report.invalid(&root(name), text(event, field), "field is immutable");
        }
    }
}

fn series(report: &mut Report, event: &Json) {
    let Some(series) = get(event, "series") else {
        return;
    };
    if int(series, "count").unwrap_or_default() < 2 {
        report.invalid(&root("series.count"), "", "should be at least 2");
    }
    if get(series, "lastObservedTime").is_none() {
        report.required(&root("series.lastObservedTime"), "");
    }
}

fn common(report: &mut Report, event: &Json, controller_field: &str) {
    let (namespace, of_object) = (
        text(event, "metadata.namespace"),
        text(event, "involvedObject.namespace"),
    );
    let has_time = get(event, "eventTime").is_some();
    let matches = match (of_object, has_time) {
        ("", false) => matches!(namespace, "" | "default"),
        ("", true) => matches!(namespace, "default" | "kube-system"),
        (_, false) => namespace == of_object,
        (_, true) => true,
    };
    if !matches {
        report.invalid(
            &root("involvedObject.namespace"),
            of_object,
            "does not match event.namespace",
        );
    }
    if has_time {
        reporter(report, event, controller_field);
    }
    report.messages(&root("namespace"), namespace, names::subdomain(namespace));
}

/// Who reports, and what, has to be said in newer events.
fn reporter(report: &mut Report, event: &Json, controller_field: &str) {
    let controller = text(event, "reportingComponent");
    if controller.is_empty() {
        report.required(&root(controller_field), "");
    }
    report.messages(&root(controller_field), controller, names::qualified(controller));
    for field in ["reportingInstance", "action", "reason"] {
        let value = text(event, field);
        if value.is_empty() {
            report.required(&root(field), "");
        }
        if value.len() > 128 {
            report.invalid(&root(field), "", "can have at most 128 characters");
        }
    }
    if text(event, "message").len() > 1024 {
        report.invalid(&root("message"), "", "can have at most 1024 characters");
    }
}
