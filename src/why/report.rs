//! The explanation as text.

use jiff::Timestamp;
use krator_runtime::Readiness;

use super::{Waiting, Why};
use crate::observed::{between, rounded};
use crate::text::printable;

impl Why {
    /// The explanation as text.
    pub(crate) fn to_text(&self) -> String {
        let mut lines = Vec::new();
        let place = self
            .namespace
            .as_ref()
            .map_or(String::new(), |namespace| format!("{namespace}/"));
        let since = self.since.map_or(String::new(), |since| {
            format!(" for {}, since {since}", rounded(between(since, self.now)))
        });
        let state = self.state.as_deref().unwrap_or("no state");
        lines.push(format!(
            "{} {place}{} is in {}{since}",
            self.kind,
            self.name,
            printable(state)
        ));
        if !self.message.is_empty() {
            lines.push(format!("  {}", printable(&self.message)));
        }
        lines.push("\nit waits for".to_owned());
        lines.extend(
            self.waits
                .iter()
                .map(|waiting| format!("  {}", self.waiting(waiting))),
        );
        if let Some(error) = &self.error {
            let attempts = error
                .attempts
                .map_or("given up".to_owned(), |attempts| format!("attempt {attempts}"));
            lines.push(format!(
                "\nlast error ({attempts})\n  {}",
                printable(&error.message)
            ));
        }
        if !self.children.is_empty() {
            lines.push("\nchildren".to_owned());
        }
        for child in &self.children {
            let (word, message) = (word(&child.readiness), printable(child.readiness.message()));
            lines.push(format!("  {} {}: {word}: {message}", child.kind, child.name));
        }
        if !self.events.is_empty() {
            lines.push("\nlast events".to_owned());
        }
        for event in &self.events {
            let ago = event
                .time
                .map_or("?".to_owned(), |time| rounded(between(time, self.now)));
            let count = if event.count > 1 {
                format!(" ({} times)", event.count)
            } else {
                String::new()
            };
            lines.push(format!(
                "  {ago} ago  {}  {}{count}",
                printable(&event.reason),
                printable(&event.note)
            ));
        }
        lines.join("\n") + "\n"
    }

    fn waiting(&self, waiting: &Waiting) -> String {
        let text = printable(&waiting.text);
        let Some(due) = waiting.due else { return text };
        let when = match due > self.now {
            true => format!("in {}", rounded(between(self.now, due))),
            false => format!("{} ago", rounded(between(due, self.now))),
        };
        format!("{text} (due {}, {when})", seconds(due))
    }
}

/// The word of kstatus.
pub(super) fn word(readiness: &Readiness) -> &'static str {
    match readiness {
        Readiness::Current(_) => "Current",
        Readiness::InProgress(_) => "InProgress",
        Readiness::Failed(_) => "Failed",
        Readiness::Terminating(_) => "Terminating",
    }
}

/// A time without fractions of a second.
fn seconds(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}
