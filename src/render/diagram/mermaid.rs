//! The diagram for Mermaid, which code hosts draw in Markdown.

use super::{Notes, drawn, groups, label, shared_label, shared_sources};
use crate::graph::StateGraph;
use crate::model::{Description, Kind, StateKind};

/// The graph as a Mermaid state diagram, with notes beside its states.
pub(crate) fn mermaid_with(description: &Description, notes: &Notes) -> String {
    let mut out = String::from("stateDiagram-v2\n");
    let several = description.kinds.len() > 1;
    for (at, kind) in description.kinds.iter().enumerate() {
        let indent = if several { "        " } else { "    " };
        if several {
            out.push_str(&format!(
                "    state \"{0}\" as {0} {{\n",
                kind.resource.kind.value
            ));
        }
        for line in lines(at, kind, notes) {
            out.push_str(&format!("{indent}{line}\n"));
        }
        if several {
            out.push_str("    }\n");
        }
    }
    out.push_str("    classDef ready fill:#dafbe1,stroke:#1a7f37,color:#1f2328\n");
    out.push_str("    classDef failed fill:#ffebe9,stroke:#cf222e,color:#1f2328\n");
    for kind in &description.kinds {
        for state in &kind.states {
            let class = match state.kind.value {
                StateKind::Ready => "ready",
                StateKind::Failed => "failed",
                StateKind::Working | StateKind::Final => continue,
            };
            out.push_str(&format!("    class {} {class}\n", id(kind, state.name.as_str())));
        }
    }
    out
}

/// The identifier of a state. It contains the kind's name, because a state may have the same name as one of another
/// kind, or as a keyword of Mermaid (`state`, `end`).
fn id(kind: &Kind, state: &str) -> String {
    format!("{}_{state}", kind.resource.kind.value)
}

fn lines(at: usize, kind: &Kind, notes: &Notes) -> Vec<String> {
    let name = |state| id(kind, kind.state(state).name.as_str());
    let mut lines = Vec::new();
    for (number, (group, states)) in groups(kind).into_iter().enumerate() {
        if !group.is_empty() {
            lines.push(format!(
                "state \"{}\" as {}_group{number} {{",
                escaped(group),
                kind.resource.kind.value
            ));
        }
        for state in states {
            let note = notes.of(at, state).map(|note| format!(" ({})", escaped(note)));
            lines.push(format!(
                "state \"{}{}\" as {}",
                kind.state(state).name.value,
                note.unwrap_or_default(),
                name(state)
            ));
        }
        if !group.is_empty() {
            lines.push("}".to_owned());
        }
    }
    lines.push(format!("[*] --> {}", name(kind.machine.initial.value)));
    let drawn = drawn(&StateGraph::of(kind));
    for step in drawn.single {
        let label = label(kind, step)
            .map(|label| format!(" : {}", escaped(&label)))
            .unwrap_or_default();
        lines.push(format!("{} --> {}{label}", name(step.from), name(step.to)));
    }
    for (number, shared) in drawn.shared.iter().enumerate() {
        let marker = format!("{}_shared{number}", kind.resource.kind.value);
        lines.push(format!(
            "state \"{}\" as {marker}",
            escaped(&shared_sources(kind, shared))
        ));
        lines.push(format!(
            "{marker} --> {} : {}",
            name(shared.to),
            escaped(&shared_label(kind, shared))
        ));
    }
    for (id, _) in kind
        .state_ids()
        .filter(|(_, state)| state.kind.value == StateKind::Final)
    {
        lines.push(format!("{} --> [*]", name(id)));
    }
    lines
}

/// A label for Mermaid. Characters that might have a meaning are written as character codes.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.split_whitespace().collect::<Vec<_>>().join(" ").chars() {
        if c.is_alphanumeric() || " ,.-_+!?/".contains(c) {
            out.push(c);
        } else if !crate::text::is_unprintable(c) {
            out.push_str(&format!("#{};", u32::from(c)));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn no_text_ends_its_label() {
        assert_eq!(escaped("full"), "full");
        assert_eq!(escaped("a\nclick A call x()"), "a click A call x#40;#41;");
        assert_eq!(
            escaped("</script>;%%`\"{"),
            "#60;/script#62;#59;#37;#37;#96;#34;#123;"
        );
    }
}
