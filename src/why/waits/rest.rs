//! The waits in a state whose handler has not failed.

use krator_machine::engine::{When, when};

use super::{Waits, from};
use crate::model::{Kind, OnSpecChange, State, StateKind, Wait, WatchSource, format_duration};
use crate::observed::Lookup;
use crate::why::EXHAUSTED;

impl Waits<'_> {
    /// A state whose handler has not failed.
    pub(super) fn rest(&mut self, state: &State) {
        let before = self.all.len();
        if let Some(wait) = &state.wait {
            let poll = self.policy(state).and_then(|policy| policy.wait.poll);
            if let Some(when) = poll.and_then(|poll| when(poll, &self.field_values)) {
                match when {
                    When::After(every) => {
                        let text = format!("its handler runs again every {}", format_duration(every));
                        // The time of the last run is unknown, unless it was the first run.
                        let first = self.why.since.and_then(|since| from(When::After(every), since));
                        let due = first.filter(|first| *first > self.facts.now);
                        let text = match due {
                            Some(_) => text,
                            None => format!("{text}, and so within that time"),
                        };
                        self.add("timer", text, due);
                    }
                    When::At(time) if time > self.facts.now => {
                        self.add(
                            "timer",
                            "its handler runs again at a time in the object",
                            Some(time),
                        );
                    }
                    When::At(_) => {}
                }
            }
            // The handler of a state without work has no effect after a change.
            if state.has_work() {
                self.sources(wait.watch.iter().map(|source| &source.value));
            }
        }
        let name = &state.name.value;
        match state.kind.value {
            StateKind::Failed => {
                let last = self.why.events.iter().find(|event| event.is_transition);
                let (reason, cause) = match last.is_some_and(|last| last.reason == EXHAUSTED) {
                    true => ("exhausted", "its handler has failed too often"),
                    false => ("failed", "it needs a change from outside"),
                };
                let text = match goes_on(state) {
                    true => {
                        let ways: Vec<&str> =
                            state.next.iter().map(|next| self.name(next.to.value)).collect();
                        let cause = match reason {
                            "exhausted" => format!("{cause}, and it stays in {name}"),
                            _ => format!("it stays in {name}"),
                        };
                        format!(
                            "{cause} until the handler of {name} leads to {}",
                            ways.join(" or ")
                        )
                    }
                    false => format!("{cause}, and it stays in {name} {}", out_of(self.kind, state)),
                };
                self.add(reason, text, None);
            }
            StateKind::Ready if self.all.len() == before && self.facts.object["status"]["ask"].is_null() => {
                self.add(
                    "nothing",
                    format!(
                        "nothing: it is as its spec requests, and stays in {name} {}",
                        out_of(self.kind, state)
                    ),
                    None,
                );
            }
            StateKind::Working if self.all.len() == before && !state.may_stay() => {
                self.add(
                    "handler",
                    format!("the handler of {name}, which is running or about to run"),
                    None,
                );
            }
            StateKind::Final => self.add("end", "the operator, which is about to end it", None),
            StateKind::Working if self.all.len() == before => {
                self.add(
                    "handler",
                    format!("the handler of {name}, which runs when something that it watches changes"),
                    None,
                );
            }
            StateKind::Working | StateKind::Ready => {}
        }
    }

    /// The changes that trigger the handler of a state.
    fn sources<'s>(&mut self, sources: impl Iterator<Item = &'s WatchSource>) {
        for source in sources {
            let (children, watched): (Option<&str>, Option<&str>) = match source {
                WatchSource::Itself => continue,
                WatchSource::Owned => (Some(""), None),
                WatchSource::Watched => (None, Some("")),
                WatchSource::Kind(kind) => (Some(kind.kind.as_str()), Some(kind.kind.as_str())),
            };
            let is_meant =
                |kind: &str, wanted: Option<&str>| wanted.is_some_and(|it| it.is_empty() || it == kind);
            let unready = self
                .why
                .children
                .iter()
                .filter(|child| is_meant(&child.kind, children));
            let unready: Vec<String> = unready
                .filter(|child| !child.readiness.is_current())
                .map(|child| {
                    format!(
                        "its {} {} is not ready: {}",
                        child.kind, child.name, child.readiness
                    )
                })
                .collect();
            for text in unready {
                self.add("child", text, None);
            }
            for (kind, name, found) in &self.facts.watched {
                if is_meant(kind.kind.as_str(), watched) {
                    let text = match found {
                        Lookup::Absent => format!("the {} {name}, which does not exist", kind.kind),
                        _ => format!("a change of the {} {name}", kind.kind),
                    };
                    self.add("watched", text, None);
                }
            }
        }
    }
}

/// Whether the handler of a state runs, or runs again, without a change of the object, and may lead out of the state.
fn goes_on(state: &State) -> bool {
    let runs_again = |wait: &Wait| {
        let mut sources = wait.watch.iter();
        wait.poll.is_some() || sources.any(|source| source.value != WatchSource::Itself)
    };
    !state.next.is_empty() && state.wait.as_ref().is_none_or(runs_again)
}

/// The ways out of a state in which an object rests.
fn out_of(kind: &Kind, state: &State) -> String {
    match state.on_spec_change.value {
        OnSpecChange::Enter(to) => format!(
            "until its spec changes, when it goes to {}",
            kind.state(to).name.value
        ),
        OnSpecChange::Wake if state.has_work() => {
            "until its spec changes, or something else wakes its handler".to_owned()
        }
        OnSpecChange::Wake | OnSpecChange::Ignore => "until it is deleted".to_owned(),
    }
}
