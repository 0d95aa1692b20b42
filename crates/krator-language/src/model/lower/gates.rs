//! Reads what goes by the calendar: `gate`, and a timeout's `at`.

use krator_machine::Schedule;

use super::keys::Keys;
use super::nodes::{Input, text};
use super::paths::Leaf;
use super::table::BuildContext;
use crate::catalog::keys::{GateKey, SlotsKey, WindowKey};
use crate::catalog::{INVALID_DURATION, INVALID_SCHEDULE};
use crate::finding::{Finding, Spanned};
use crate::model::{Gate, MomentUnit, Period, Recurrence, TextSource, When, Window};
use crate::text::shown;

/// Reads `gate`.
pub(super) fn gate(node: Input<'_>, context: &BuildContext<'_, '_>) -> Option<Gate> {
    Keys::mapping(node, |keys| {
        let during = keys.read(GateKey::During, |node| window(node, context));
        Some(Gate {
            span: node.span,
            during: during?,
        })
    })
}

/// Reads `at` of a timeout.
pub(super) fn slots(node: Input<'_>, context: &BuildContext<'_, '_>) -> Option<When> {
    Keys::mapping(node, |keys| {
        let schedule = keys.read(SlotsKey::Schedule, |node| schedule(node, context));
        let time_zone = keys.read(SlotsKey::TimeZone, |node| time_zone(node, context));
        let deadline = keys.read(SlotsKey::StartingDeadline, |node| {
            length(node, context, "no start can be so soon made up for")
        });
        let schedule = schedule?;
        Some(When::At(Recurrence { schedule, time_zone }, deadline))
    })
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

/// A length of time that is not zero.
fn length(node: Input<'_>, context: &BuildContext<'_, '_>, if_zero: &str) -> Option<Spanned<Period>> {
    let length = context.fields.period(node)?;
    let message = match &length.value {
        Period::Fixed(length) if length.is_zero() => if_zero,
        Period::Field(field) if field.unit == MomentUnit::Instant => "a point in time is no length of time",
        _ => return Some(length),
    };
    node.refuse(Finding::new(&INVALID_DURATION, node.span, message))
}

/// A text that can be read so, or the path of a field that holds one.
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
