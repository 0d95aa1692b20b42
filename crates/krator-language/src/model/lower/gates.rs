//! Reads `gate`.

use krator_machine::Schedule;

use super::keys::Keys;
use super::nodes::{Input, text};
use super::paths::Leaf;
use super::table::BuildContext;
use crate::catalog::keys::{GateKey, WindowKey};
use crate::catalog::{INVALID_DURATION, INVALID_SCHEDULE};
use crate::finding::{Finding, Spanned};
use crate::model::{Gate, MomentUnit, Period, TextSource, Window};
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

fn window(node: Input<'_>, context: &BuildContext<'_, '_>) -> Option<Window> {
    const OF_ZONE: &str = "* * * * *";
    Keys::mapping(node, |keys| {
        let schedule = keys.read(WindowKey::Schedule, |node| {
            text_source(node, context, |schedule| Schedule::parse(schedule, "UTC"))
        });
        let duration = keys.read(WindowKey::Duration, |node| {
            let duration = context.fields.period(node)?;
            let message = match &duration.value {
                Period::Fixed(length) if length.is_zero() => "this window is never open",
                Period::Field(field) if field.unit == MomentUnit::Instant => {
                    "a point in time is no length of time"
                }
                _ => return Some(duration),
            };
            node.refuse(Finding::new(&INVALID_DURATION, node.span, message))
        });
        let time_zone = keys.read(WindowKey::TimeZone, |node| {
            text_source(node, context, |zone| Schedule::parse(OF_ZONE, zone))
        });
        Some(Window {
            schedule: schedule?,
            duration: duration?,
            time_zone,
        })
    })
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
