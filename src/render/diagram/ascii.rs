//! The diagram as plain text, for a terminal.

use super::{Notes, drawn, label, shared_label, shared_sources};
use crate::graph::{EdgeKind, StateGraph, Step};
use crate::model::{Description, Kind, StateId, StateKind};
use crate::text::printable;

/// The states, each with the edges that leave it, and with notes beside them.
pub(crate) fn ascii_with(description: &Description, notes: &Notes) -> String {
    description
        .kinds
        .iter()
        .enumerate()
        .map(|(at, kind)| listing(at, kind, notes))
        .collect::<Vec<_>>()
        .join("\n")
}

fn listing(at: usize, kind: &Kind, notes: &Notes) -> String {
    let drawn = drawn(&StateGraph::of(kind));
    let name = |id: StateId| kind.state(id).name.as_str();
    let width = kind
        .states
        .iter()
        .map(|state| state.name.as_str().len())
        .max()
        .unwrap_or(0);
    let mut out = format!("{}\n", kind.resource.kind.value);
    for (id, state) in kind.state_ids() {
        let mut marks = Vec::new();
        if kind.machine.initial.value == id {
            marks.push("initial".to_owned());
        }
        if kind.machine.deletion.is_some_and(|deletion| deletion.value == id) {
            marks.push("deletion".to_owned());
        }
        if state.kind.value != StateKind::Working {
            marks.push(state.kind.value.as_str().to_owned());
        }
        if state.legacy.is_some() {
            marks.push("legacy".to_owned());
        }
        if let Some(phase) = state.own_phase() {
            marks.push(format!("\"{}\"", printable(phase)));
        }
        if let Some(note) = notes.of(at, id) {
            marks.push(printable(note));
        }
        let marks = if marks.is_empty() {
            String::new()
        } else {
            format!("  [{}]", marks.join(", "))
        };
        out.push_str(&format!("\n  {}{marks}\n", state.name.value));
        for step in drawn.single.iter().filter(|step| step.from == id) {
            out.push_str(&edge(kind, *step, name(step.to), width));
        }
    }
    if !drawn.shared.is_empty() {
        out.push('\n');
    }
    for shared in &drawn.shared {
        let (label, sources) = (shared_label(kind, shared), shared_sources(kind, shared));
        out.push_str(&format!(
            "  {} {:<width$}  {label} {sources}\n",
            arrow(shared.kind),
            name(shared.to)
        ));
    }
    out
}

fn arrow(kind: EdgeKind) -> &'static str {
    if kind == EdgeKind::Next { "-->" } else { "..>" }
}

fn edge(kind: &Kind, step: Step, to: &str, width: usize) -> String {
    let label = label(kind, step)
        .map(|label| printable(&label))
        .unwrap_or_default();
    format!("    {} {to:<width$}  {label}", arrow(step.edge.kind))
        .trim_end()
        .to_owned()
        + "\n"
}
