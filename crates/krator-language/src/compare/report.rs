//! Prints a comparison as text, grouped by whether changes break stored objects or clients.

use super::{Change, Comparison, ServerOutcome, Stored, Texts, Verdict};
use crate::finding::{Finding, Style};

/// The consequences of a change, one line each.
pub(super) fn meaning(change: &Change) -> Vec<String> {
    let mut lines = match &change.stored {
        Stored::Keep => Vec::new(),
        Stored::May(verdict) => judged(change, verdict),
        Stored::Stranded => {
            vec!["stored objects stay unchanged, and no handler runs for them".to_owned()]
        }
        Stored::Misread => {
            vec![
                "objects store only the name of their state, so the operator continues them in the new state of this \
                 name"
                    .to_owned(),
            ]
        }
        Stored::DefinitionRefused => {
            vec!["the API server refuses the new CRD as an update of the old one".to_owned()]
        }
    };
    lines.extend(change.clients.map(|meet| format!("clients: {meet}")));
    lines
}

fn judged(change: &Change, verdict: &Verdict) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(match verdict.anew {
        ServerOutcome::Kept | ServerOutcome::ApplyFails => None,
        ServerOutcome::Lost => Some("when created again, an object loses the value".to_owned()),
        ServerOutcome::Refused => {
            Some("when created again, an object that does not match is refused".to_owned())
        }
    });
    let unchanged = &verdict.unchanged;
    lines.extend(match verdict.updated {
        // An object that is accepted when it is created is accepted when it is updated.
        ServerOutcome::Kept if verdict.anew == ServerOutcome::Kept => None,
        ServerOutcome::Kept => Some(format!(
            "a stored object can be written as long as `{unchanged}` does not change"
        )),
        ServerOutcome::Lost => Some("a stored object loses the value when it is next read".to_owned()),
        ServerOutcome::ApplyFails => Some(
            "every server-side apply to a stored object fails, including the operator's apply to its status"
                .to_owned(),
        ),
        // The API server evaluates CEL rules on every write, whichever field is written.
        ServerOutcome::Refused if change.what.is_cel_rule() => Some(
            "any write of a stored object may be refused, including the operator's writes of its status"
                .to_owned(),
        ),
        ServerOutcome::Refused => Some("any change of a stored object may be refused".to_owned()),
    });
    // An entry of `managedFields` stays in the version of its manager's last write.
    if verdict.updated == ServerOutcome::Lost && !change.versions.is_empty() {
        lines.push(
            "every server-side apply to an object that was written in that version fails, in all versions, including \
             applies to its status"
                .to_owned(),
        );
    }
    if !verdict.is_readable {
        lines.push(
            "the operator cannot read an object that does not match, and runs no handler for it".to_owned(),
        );
    }
    lines
}

/// The comparison as text: breaking changes are shown with their source lines, all others in one line each.
pub fn to_text(comparison: &Comparison, texts: Texts<'_>, style: Style) -> String {
    let mut out = String::new();
    let (stored, rest): (Vec<&Change>, Vec<&Change>) = comparison
        .changes
        .iter()
        .partition(|change| change.breaks_stored());
    let (clients, safe): (Vec<&Change>, Vec<&Change>) =
        rest.into_iter().partition(|change| change.clients.is_some());
    for (title, changes) in [("breaks stored objects", stored), ("breaks clients", clients)] {
        if changes.is_empty() {
            continue;
        }
        out.push_str(&format!("{title}:\n\n"));
        for change in changes {
            let (source, finding) = drawn(change, texts);
            out.push_str(&crate::finding::to_text(source, &finding, style));
        }
    }
    if !safe.is_empty() {
        out.push_str("breaks nothing:\n\n");
        for change in safe {
            let (source, span) = place(change, texts);
            let at = source.position(span.start);
            out.push_str(&format!("  {}:{}: {}\n", source.name(), at.line, change.message));
            if let Some(help) = &change.help {
                out.push_str(&format!("    {help}\n"));
            }
        }
        out.push('\n');
    }
    out
}

fn drawn<'a>(change: &Change, texts: Texts<'a>) -> (&'a crate::finding::Source, Finding) {
    let (source, span) = place(change, texts);
    let mut finding = change.finding(texts.new);
    finding.span = span;
    // The label reports that a part is missing from the new description, but this place is in the former one.
    finding.label = None;
    (source, finding)
}

pub(super) fn place<'a>(
    change: &Change,
    texts: Texts<'a>,
) -> (&'a crate::finding::Source, crate::finding::Span) {
    match change.old {
        Some(old) if change.is_gone => (texts.old, old),
        _ => (texts.new, change.new),
    }
}
