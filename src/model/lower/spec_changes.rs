//! Reads `onSpecChange`.

use super::keys::Keys;
use super::nodes::list;
use super::paths::Fields;
use super::sink::Sink;
use super::states::Table;
use crate::catalog::keys::SpecChangeKey;
use crate::catalog::{UNKNOWN_FIELD, UNREACHED_CHANGE, WRONG_TYPE};
use crate::finding::{Finding, Span, Spanned};
use crate::model::{FieldPath, OnSpecChange, PathRoot, SpecChange};
use crate::spec::{Node, NodeKind};

/// `onSpecChange` as written: a list, or what is a list of one entry without `of`.
#[derive(Clone)]
pub(super) struct WrittenSpecChange {
    pub span: Span,
    pub of: Vec<SpecChange>,
    pub rest: Option<Spanned<OnSpecChange>>,
}

/// Reads `onSpecChange`, of the machine or of a state.
pub(super) fn on_spec_change(
    node: &Node,
    table: &mut Table<'_>,
    fields: &Fields<'_, '_>,
    sink: &mut Sink<'_>,
) -> Option<WrittenSpecChange> {
    let mut written = WrittenSpecChange {
        span: node.span,
        of: Vec::new(),
        rest: None,
    };
    let NodeKind::Sequence(items) = &node.kind else {
        written.rest = Some(reaction(node, table, sink)?);
        return Some(written);
    };
    if items.is_empty() {
        sink.error(&WRONG_TYPE, node.span, "`onSpecChange` needs at least one entry");
        return None;
    }
    for (at, item) in items.iter().enumerate() {
        if let NodeKind::Mapping(_) = item.kind {
            written.of.extend(change(item, table, fields, sink));
            continue;
        }
        written.rest = reaction(item, table, sink);
        if let Some(next) = items.get(at + 1) {
            let message = "this entry is for all changes, so those behind it are never reached";
            let finding =
                Finding::new(&UNREACHED_CHANGE, item.span, message).related(next.span, "never reached");
            sink.report(finding.help("an entry without `of` stands last"));
            break;
        }
    }
    Some(written)
}

/// What a change does: `wake`, `ignore`, or a state.
fn reaction(node: &Node, table: &mut Table<'_>, sink: &mut Sink<'_>) -> Option<Spanned<OnSpecChange>> {
    match node.scalar().map(|scalar| scalar.text.as_str()) {
        Some("wake") => Some(Spanned::new(OnSpecChange::Wake, node.span)),
        Some("ignore") => Some(Spanned::new(OnSpecChange::Ignore, node.span)),
        _ => Some(table.state(node, sink)?.map(OnSpecChange::Enter)),
    }
}

/// An entry with `of`.
fn change(
    node: &Node,
    table: &mut Table<'_>,
    fields: &Fields<'_, '_>,
    sink: &mut Sink<'_>,
) -> Option<SpecChange> {
    let before = sink.findings.len();
    let mut keys = Keys::of(node, sink)?;
    let of = keys.read_all(SpecChangeKey::Of, sink, |node, sink| {
        let nodes = match &node.kind {
            NodeKind::Scalar(_) => std::slice::from_ref(node),
            _ => list(node, "a list of paths", sink),
        };
        if nodes.is_empty() {
            sink.error(&WRONG_TYPE, node.span, "`of` needs at least one path");
        }
        nodes.iter().filter_map(|node| path(node, fields, sink)).collect()
    });
    let does = keys.read(SpecChangeKey::To, sink, |node, sink| reaction(node, table, sink));
    keys.finish(sink);
    // An entry that is not read may have led somewhere.
    table.lacks_edges |= sink.findings.len() > before;
    (!of.is_empty()).then_some(SpecChange { of, does: does? })
}

fn path(node: &Node, fields: &Fields<'_, '_>, sink: &mut Sink<'_>) -> Option<Spanned<FieldPath>> {
    let path = fields.path(node, &[], sink)?;
    let (message, help) = if path.value.root != PathRoot::Spec {
        (
            "only changes of `.spec` run this: the path begins with `.spec.`",
            "a state reacts to its other fields by `wait: {watch: self}`",
        )
    } else if path.value.is_plural() {
        (
            "the changes of single items of a list cannot be told apart",
            "name the list itself: the path of a list or of an object covers everything in it",
        )
    } else {
        return Some(path);
    };
    sink.report(Finding::new(&UNKNOWN_FIELD, path.span, message).help(help));
    None
}
