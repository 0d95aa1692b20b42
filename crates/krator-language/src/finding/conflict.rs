//! The finding about conflict markers, for all files that users edit.

use super::{Finding, Span};
use crate::catalog::CONFLICT_MARKERS;
use crate::text::conflict::conflicts;

/// One finding for all conflict markers of a text, if there are any. Other mistakes of such a text only follow from
/// them.
pub fn conflict_markers(text: &str) -> Option<Finding> {
    let found = conflicts(text)?;
    let (first, others) = found.places.split_first()?;
    let line = text[first.start..].lines().next().unwrap_or_default();
    let span = Span {
        start: first.start,
        end: first.start + line.len(),
    };
    let more = match others.len() {
        0 => String::new(),
        1 => ", and another one below".to_owned(),
        more => format!(", and {more} others below"),
    };
    let end = text[..first.end].rfind('\n').map_or(first.end, |end| end + 1);
    let finding = Finding::new(&CONFLICT_MARKERS, span, "a merge has left a conflict here")
        .label(format!("both sides changed these lines{more}"))
        .related(
            Span {
                start: end,
                end: first.end,
            },
            "the conflict ends here",
        )
        .help("merge both sides, and delete the three markers");
    Some(finding)
}
