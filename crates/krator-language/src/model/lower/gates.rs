//! Reads the conditions for entering states: `gate`, a timeout's `at`, and `limits`.

use krator_machine::Schedule;

use super::keys::Keys;
use super::nodes::{Input, is_empty_list, list, name_of, text};
use super::paths::{Fields, Leaf};
use super::table::{BuildContext, Table};
use crate::catalog::keys::{GateKey, PlacesKey, SlotsKey, WindowKey};
use crate::catalog::{
    INVALID_DURATION, INVALID_SCHEDULE, MISSING_KEY, NAME_COLLISION, UNKNOWN_FIELD, WRONG_TYPE,
};
use crate::finding::{Finding, Spanned};
use crate::model::{
    FieldPath, Gate, MomentUnit, PathRoot, Period, Places, Recurrence, Segment, TextSource, When, Window,
};
use crate::names::ResourceName;
use crate::text::shown;

/// Reads `gate`.
pub(super) fn gate(node: Input<'_>, context: &BuildContext<'_, '_>) -> Option<Gate> {
    Keys::mapping(node, |keys| {
        if !keys.has(GateKey::During) && !keys.has(GateKey::Approval) {
            let message = "this gate is always open: it has neither `during` nor `approval`";
            return node.refuse(Finding::new(&MISSING_KEY, node.span, message));
        }
        let during = keys.read(GateKey::During, |node| window(node, context));
        let approval = keys.word(GateKey::Approval, &[("required", ())]);
        let approval = approval.map(|required| required.span);
        (during.is_some() || approval.is_some()).then_some(Gate {
            span: node.span,
            during,
            approval,
        })
    })
}

/// Reads `at` of a timeout.
pub(super) fn slots(node: Input<'_>, context: &BuildContext<'_, '_>) -> Option<When> {
    Keys::mapping(node, |keys| {
        let schedule = keys.read(SlotsKey::Schedule, |node| schedule(node, context));
        let time_zone = keys.read(SlotsKey::TimeZone, |node| time_zone(node, context));
        let deadline = keys.read(SlotsKey::StartingDeadline, |node| {
            length(
                node,
                context,
                "this deadline is zero, so every start would miss it",
            )
        });
        let schedule = schedule?;
        Some(When::At(Recurrence { schedule, time_zone }, deadline))
    })
}

/// The maximum number of limits of a kind: each is a time series of every operator.
const MOST_LIMITS: usize = 16;

/// Reads `limits`.
pub(super) fn limits(node: Input<'_>, table: &mut Table<'_>, fields: &Fields<'_, '_>) -> Vec<Places> {
    // An unknown state in a limit does not mean that an edge is missing.
    let lacks_edges = table.lacks_edges;
    if is_empty_list(node) {
        node.error(&WRONG_TYPE, "`limits` needs at least one limit");
    }
    let mut items = list(node, "a list of limits");
    if items.len() > MOST_LIMITS {
        node.error(
            &WRONG_TYPE,
            format!("`limits` can have at most {MOST_LIMITS} items"),
        );
        items.truncate(MOST_LIMITS);
    }
    let mut limits: Vec<Places> = Vec::new();
    for item in items {
        let Some(limit) = Keys::mapping(item, |keys| limit(item, keys, table, fields)) else {
            continue;
        };
        match limits.iter().find(|known| known.name.value == limit.name.value) {
            Some(first) => {
                let message = format!("the limit `{}` is declared twice", limit.name.value);
                let finding = Finding::new(&NAME_COLLISION, limit.name.span, message);
                item.sink.report(finding.related(first.name.span, "first here"));
            }
            None => limits.push(limit),
        }
    }
    table.lacks_edges = lacks_edges;
    limits
}

fn limit(
    node: Input<'_>,
    keys: &mut Keys<'_, PlacesKey>,
    table: &mut Table<'_>,
    fields: &Fields<'_, '_>,
) -> Option<Places> {
    let name = keys.read(PlacesKey::Name, name_of("limit", ResourceName::parse));
    let states = keys.read_all(PlacesKey::States, |node| {
        if is_empty_list(node) {
            node.error(&WRONG_TYPE, "a limit needs at least one state");
        }
        let items = list(node, "a list of states");
        items.into_iter().filter_map(|item| table.state(item)).collect()
    });
    let at_most = keys.integer(PlacesKey::AtMost);
    let per = keys.read(PlacesKey::Per, |node| counted_apart(node, fields));
    let name = name?;
    Some(Places {
        span: node.span,
        name: Spanned::new(name.value.to_string(), name.span),
        states: (!states.is_empty()).then_some(states)?,
        at_most: at_most?,
        per,
    })
}

/// A string field of the spec, or the namespace: its value does not change because of transitions.
fn counted_apart(node: Input<'_>, fields: &Fields<'_, '_>) -> Option<Spanned<FieldPath>> {
    let path = fields.path(node, &[Leaf::String])?;
    let is_namespace = |segment: &Segment| matches!(segment, Segment::Field(name) if name == "namespace");
    let is_fit = match path.value.root {
        PathRoot::Spec => !path.value.is_plural(),
        PathRoot::Metadata => path.value.segments.iter().all(is_namespace),
        PathRoot::Status | PathRoot::Label(_) => false,
    };
    if is_fit {
        return Some(path);
    }
    let message = format!("`{}` cannot be the `per` of a limit", path.value);
    let finding = Finding::new(&UNKNOWN_FIELD, path.span, message);
    node.refuse(
        finding.help("name a string field of `.spec` that is not in a list, or `.metadata.namespace`"),
    )
}

fn window(node: Input<'_>, context: &BuildContext<'_, '_>) -> Option<Window> {
    Keys::mapping(node, |keys| {
        let schedule = keys.read(WindowKey::Schedule, |node| schedule(node, context));
        let duration = keys.read(WindowKey::Duration, |node| {
            length(node, context, "this window is never open")
        });
        let time_zone = keys.read(WindowKey::TimeZone, |node| time_zone(node, context));
        Some(Window {
            starts: Recurrence {
                schedule: schedule?,
                time_zone,
            },
            duration: duration?,
        })
    })
}

fn schedule(node: Input<'_>, context: &BuildContext<'_, '_>) -> Option<Spanned<TextSource>> {
    text_source(node, context, |schedule| Schedule::parse(schedule, "UTC"))
}

fn time_zone(node: Input<'_>, context: &BuildContext<'_, '_>) -> Option<Spanned<TextSource>> {
    text_source(node, context, |zone| Schedule::parse("* * * * *", zone))
}

/// A duration that is not zero.
fn length(node: Input<'_>, context: &BuildContext<'_, '_>, if_zero: &str) -> Option<Spanned<Period>> {
    let length = context.fields.period(node)?;
    let message = match &length.value {
        Period::Fixed(length) if length.is_zero() => if_zero,
        Period::Field(field) if field.unit == MomentUnit::Instant => "a point in time is not a duration",
        _ => return Some(length),
    };
    node.refuse(Finding::new(&INVALID_DURATION, node.span, message))
}

/// A text that `read` accepts, or the path of a field that holds one.
fn text_source(
    node: Input<'_>,
    context: &BuildContext<'_, '_>,
    read: impl Fn(&str) -> Result<Schedule, String>,
) -> Option<Spanned<TextSource>> {
    if node.is_path() {
        return Some(context.fields.path(node, &[Leaf::String])?.map(TextSource::Field));
    }
    let written = text(node)?;
    match read(&written.value) {
        Ok(_) => Some(written.map(TextSource::Fixed)),
        Err(reason) => node.refuse(Finding::new(&INVALID_SCHEDULE, written.span, shown(&reason))),
    }
}
