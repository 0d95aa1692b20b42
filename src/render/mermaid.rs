//! The state graph as a Mermaid flowchart, which code hosts draw inside Markdown.
//!
//! States go by number, since any word could be one of Mermaid's own; labels are written in its entity codes but for
//! letters, digits and a few marks, so that no label can end itself, become a link, or be taken for Markdown.

use std::fmt::Write as _;

use crate::finding::is_unprintable;
use crate::model::{
    Kind, OnSpecChange, Period, RetryLimit, State, StateId, StateKind, Times, format_duration,
};

/// The flowchart of a kind. Solid edges are chosen by handlers, dotted ones are taken by the runtime.
pub(super) fn flowchart(kind: &Kind) -> String {
    let mut out = String::from("flowchart TD\n");
    let mut line = |text: String| {
        out.push_str("    ");
        out.push_str(&text);
        out.push('\n');
    };
    for (id, state) in kind.state_ids() {
        let name = label(state.name.as_str());
        line(match state.kind.value {
            StateKind::Working => format!("{}[\"{name}\"]", node(id)),
            StateKind::Ready => format!("{}([\"{name}\"])", node(id)),
            StateKind::Failed => format!("{}{{{{\"{name}\"}}}}", node(id)),
            StateKind::Final => format!("{}[[\"{name}\"]]", node(id)),
        });
    }
    line(format!(
        "created((\" \")) --> {}",
        node(kind.machine.initial.value)
    ));
    let deletion = kind.machine.deletion.as_ref().map(|state| state.value);
    if let Some(deletion) = deletion {
        line(format!("deleted((\"deleted\")) -.-> {}", node(deletion)));
    }
    for (id, state) in kind.state_ids() {
        for next in &state.next {
            line(match &next.when {
                Some(when) => format!(
                    "{} -->|\"{}\"| {}",
                    node(id),
                    label(&when.value),
                    node(next.to.value)
                ),
                None => format!("{} --> {}", node(id), node(next.to.value)),
            });
        }
        for (why, to) in runtime_edges(state, deletion) {
            line(format!("{} -.->|\"{}\"| {}", node(id), label(&why), node(to)));
        }
    }
    out
}

/// The edges that no handler chooses, but for the one that all states share when the object is deleted.
fn runtime_edges(state: &State, deletion: Option<StateId>) -> Vec<(String, StateId)> {
    let mut edges = Vec::new();
    if let Some(timeout) = &state.timeout {
        let after = match &timeout.after.value {
            Period::Fixed(duration) => format!("after {}", format_duration(*duration)),
            Period::Field(field) => format!("after {}", field.path),
        };
        edges.push((after, timeout.to.value));
    }
    if let Some(retry) = &state.retry
        && let Some(then) = &retry.then
        && let RetryLimit::Times(times) = retry.limit.value
    {
        edges.push((format!("after {times} retries"), then.value));
    }
    if let OnSpecChange::Enter(to) = state.on_spec_change.value {
        edges.push(("spec changed".to_owned(), to));
    }
    if let Some(limit) = &state.limit {
        let times = match &limit.times.value {
            Times::Number(times) => times.to_string(),
            Times::Field(path) => path.to_string(),
        };
        edges.push((format!("entered {times} times"), limit.then.value));
    }
    if let Some(resume) = &state.resume {
        edges.push(("restarted".to_owned(), resume.value));
    }
    if let Some(to) = state.on_delete.to
        && Some(to) != deletion
    {
        edges.push(("deleted".to_owned(), to));
    }
    edges
}

fn node(id: StateId) -> String {
    format!("s{}", id.0)
}

fn label(text: &str) -> String {
    let mut out = String::new();
    for c in text.trim().chars() {
        if c.is_alphanumeric() || matches!(c, ' ' | '.' | ',' | '-' | '_') {
            out.push(c);
        } else if is_unprintable(c) {
            out.push(' ');
        } else {
            // Writing to a String cannot fail.
            let _ = write!(out, "#{};", u32::from(c));
        }
    }
    // An empty label would be no label.
    if out.trim().is_empty() {
        "#32;".to_owned()
    } else {
        out
    }
}

#[cfg(test)]
mod tests {
    use super::label;

    #[test]
    fn labels_are_inert() {
        assert_eq!(label("full, 10-20"), "full, 10-20");
        assert_eq!(
            label("\"]; click A call x()"),
            "#34;#93;#59; click A call x#40;#41;"
        );
        assert_eq!(
            label("`**x**`\n%%{init}%%"),
            "#96;#42;#42;x#42;#42;#96; #37;#37;#123;init#125;#37;#37;"
        );
        assert_eq!(label("</script>\u{202e}"), "#60;#47;script#62; ");
        assert_eq!(label("Ünïcode"), "Ünïcode");
    }
}
