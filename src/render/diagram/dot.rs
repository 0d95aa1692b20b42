//! The diagram for Graphviz.

use super::{Notes, drawn, groups, label, shared_label, shared_sources, wrapped};
use crate::graph::{EdgeKind, StateGraph};
use crate::model::{Description, Kind, StateId, StateKind};

/// The graph in the DOT language, with notes beside its states.
pub(crate) fn dot_with(description: &Description, notes: &Notes) -> String {
    let mut out = String::new();
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    line(format!("digraph {} {{", quoted(description.operator.as_str())));
    line("  graph [fontname=\"Helvetica\", fontsize=12, rankdir=TB, nodesep=0.45, ranksep=0.5, pad=0.3, splines=true];".into());
    line("  node [fontname=\"Helvetica\", fontsize=12, shape=box, style=\"rounded,filled\", fillcolor=\"#ffffff\", color=\"#57606a\", fontcolor=\"#1f2328\", penwidth=1.2, margin=\"0.16,0.09\"];".into());
    line("  edge [fontname=\"Helvetica\", fontsize=10, color=\"#424a53\", fontcolor=\"#424a53\", arrowsize=0.7];".into());
    for (at, kind) in description.kinds.iter().enumerate() {
        line(format!(
            "  subgraph {} {{",
            quoted(&format!("cluster_{}", kind.resource.kind.value))
        ));
        line(format!("    label={};", quoted(kind.resource.kind.as_str())));
        line("    labeljust=l; style=rounded; color=\"#d0d7de\"; fontcolor=\"#57606a\"; margin=16;".into());
        nodes(at, kind, notes, &mut line);
        edges(at, kind, &mut line);
        line("  }".into());
    }
    line("}".into());
    out
}

fn node_id(kind: &Kind, state: StateId) -> String {
    quoted(&format!(
        "{}.{}",
        kind.resource.kind.value,
        kind.state(state).name.value
    ))
}

fn nodes(at: usize, kind: &Kind, notes: &Notes, line: &mut impl FnMut(String)) {
    for (number, (group, states)) in groups(kind).into_iter().enumerate() {
        let indent = if group.is_empty() { "    " } else { "      " };
        if !group.is_empty() {
            line(format!("    subgraph \"cluster_{at}_{number}\" {{"));
            line(format!("      label={};", quoted(group)));
            line(
                "      labeljust=l; style=\"rounded,dashed\"; color=\"#afb8c1\"; fontcolor=\"#57606a\";"
                    .into(),
            );
        }
        for id in states {
            line(format!(
                "{indent}{} [{}];",
                node_id(kind, id),
                node_attributes(kind, id, notes.of(at, id))
            ));
        }
        if !group.is_empty() {
            line("    }".into());
        }
    }
    let initial = kind.machine.initial.value;
    line(format!(
        "    \"start{at}\" [label=\"\", shape=circle, width=0.16, fixedsize=true, style=filled, fillcolor=\"#1f2328\", color=\"#1f2328\"];"
    ));
    line(format!("    \"start{at}\" -> {};", node_id(kind, initial)));
}

fn node_attributes(kind: &Kind, id: StateId, note: Option<&str>) -> String {
    let state = kind.state(id);
    let mut text = state.name.as_str().to_owned();
    if let Some(phase) = state.own_phase().filter(|phase| !phase.is_empty()) {
        text = format!("{text}\n({phase})");
    }
    if let Some(note) = note {
        text = format!("{text}\n{note}");
    }
    let mut attributes = vec![format!("label={}", quoted(&text))];
    match state.kind.value {
        StateKind::Working => {}
        StateKind::Ready => attributes.push("fillcolor=\"#dafbe1\", color=\"#1a7f37\"".into()),
        StateKind::Failed => attributes.push("fillcolor=\"#ffebe9\", color=\"#cf222e\"".into()),
        StateKind::Final => attributes.push("fillcolor=\"#eaeef2\", peripheries=2".into()),
    }
    if state.legacy.is_some() {
        attributes.push("style=\"rounded,filled,dashed\"".into());
    }
    if let Some(doc) = &state.doc {
        attributes.push(format!("tooltip={}", quoted(&doc.value)));
    }
    attributes.join(", ")
}

/// The style of an edge of this kind. Edges for changes of the spec do not influence the layout.
fn edge_style(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Next => "",
        EdgeKind::Timeout => "style=dashed, color=\"#9a6700\", fontcolor=\"#9a6700\"",
        EdgeKind::Retry => "style=dashed, color=\"#cf222e\", fontcolor=\"#cf222e\"",
        EdgeKind::Limit => "style=dashed, color=\"#8250df\", fontcolor=\"#8250df\"",
        EdgeKind::SpecChange => "style=dashed, color=\"#0969da\", fontcolor=\"#0969da\", constraint=false",
        EdgeKind::Deletion | EdgeKind::OnDelete => "style=dotted, color=\"#6e7781\", fontcolor=\"#6e7781\"",
        EdgeKind::Resume => "style=dotted, color=\"#0969da\", fontcolor=\"#0969da\"",
    }
}

fn edges(at: usize, kind: &Kind, line: &mut impl FnMut(String)) {
    let drawn = drawn(&StateGraph::of(kind));
    for step in drawn.single {
        let mut attributes = Vec::new();
        if let Some(label) = label(kind, step) {
            attributes.push(format!("label={}", quoted(&padded(&wrapped(&label, 22)))));
        }
        let style = edge_style(step.edge.kind);
        if !style.is_empty() {
            attributes.push(style.to_owned());
        }
        let attributes = if attributes.is_empty() {
            String::new()
        } else {
            format!(" [{}]", attributes.join(", "))
        };
        line(format!(
            "    {} -> {}{attributes};",
            node_id(kind, step.from),
            node_id(kind, step.to)
        ));
    }
    for (number, shared) in drawn.shared.iter().enumerate() {
        let text = format!(
            "{}\n{}",
            shared_label(kind, shared),
            wrapped(&shared_sources(kind, shared), 26).join("\n")
        );
        let style = edge_style(shared.kind).replace(", constraint=false", "");
        let colours = style
            .split(", ")
            .filter(|part| part.starts_with("fontcolor"))
            .collect::<Vec<_>>()
            .join(", ");
        line(format!(
            "    \"shared{at}_{number}\" [label={}, shape=plaintext, style=\"\", fontsize=10, {colours}];",
            quoted(&text)
        ));
        line(format!(
            "    \"shared{at}_{number}\" -> {} [{style}];",
            node_id(kind, shared.to)
        ));
    }
}

/// Lines with some space around them, which keeps a label away from its edge.
fn padded(lines: &[String]) -> String {
    lines
        .iter()
        .map(|line| format!("  {line}  "))
        .collect::<Vec<_>>()
        .join("\n")
}

/// A string of DOT. Backslashes are escaped because Graphviz gives some a meaning, such as `\N` and `\L`.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if crate::text::is_unprintable(c) => out.push(' '),
            // Graphviz interprets HTML character references in every string.
            '&' => out.push_str("&amp;"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn no_text_ends_its_string() {
        assert_eq!(
            quoted("a\"]; b -> c [label=\"\\"),
            r#""a\"]; b -> c [label=\"\\""#
        );
        assert_eq!(quoted("\\N&lt;\u{202e}\n"), "\"\\\\N&amp;lt; \\n\"");
    }
}
