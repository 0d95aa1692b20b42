//! Reads `onSpecChange`.

use super::keys::Keys;
use super::nodes::{Input, list, one_or_list};
use super::paths::Fields;
use super::table::Table;
use crate::catalog::keys::SpecChangeKey;
use crate::catalog::{UNKNOWN_FIELD, UNREACHED_CHANGE, WRONG_TYPE};
use crate::finding::{Finding, Span, Spanned};
use crate::model::{FieldPath, OnSpecChange, PathRoot, SpecChange};
use crate::spec::NodeKind;

/// `onSpecChange` as written: a list, or a single reaction, which counts as a list of one entry without `of`.
#[derive(Clone)]
pub(super) struct WrittenSpecChange {
    pub span: Span,
    pub of: Vec<SpecChange>,
    pub rest: Option<Spanned<OnSpecChange>>,
}

/// Reads `onSpecChange`, of the machine or of a state.
pub(super) fn on_spec_change(
    node: Input<'_>,
    table: &mut Table<'_>,
    fields: &Fields<'_, '_>,
) -> Option<WrittenSpecChange> {
    let mut written = WrittenSpecChange {
        span: node.span,
        of: Vec::new(),
        rest: None,
    };
    if !matches!(node.kind, NodeKind::Sequence(_)) {
        written.rest = Some(reaction(node, table)?);
        return Some(written);
    }
    let items = list(node, "a list of changes");
    if items.is_empty() {
        return node.refuse(Finding::new(
            &WRONG_TYPE,
            node.span,
            "`onSpecChange` needs at least one entry",
        ));
    }
    for (at, item) in items.iter().copied().enumerate() {
        if let NodeKind::Mapping(_) = item.kind {
            written.of.extend(change(item, table, fields));
            continue;
        }
        written.rest = reaction(item, table);
        if let Some(next) = items.get(at + 1) {
            let message = "this entry matches all changes, so later entries are never reached";
            let finding =
                Finding::new(&UNREACHED_CHANGE, item.span, message).related(next.span, "never reached");
            node.report(finding.help("move the entry without `of` to the end"));
            break;
        }
    }
    Some(written)
}

/// Reads a reaction: `wake`, `ignore`, or a state.
fn reaction(node: Input<'_>, table: &mut Table<'_>) -> Option<Spanned<OnSpecChange>> {
    match node.scalar().map(|scalar| scalar.text.as_str()) {
        Some("wake") => Some(Spanned::new(OnSpecChange::Wake, node.span)),
        Some("ignore") => Some(Spanned::new(OnSpecChange::Ignore, node.span)),
        _ => Some(table.state(node)?.map(OnSpecChange::Enter)),
    }
}

/// An entry with `of`.
fn change(node: Input<'_>, table: &mut Table<'_>, fields: &Fields<'_, '_>) -> Option<SpecChange> {
    let before = node.sink.count();
    let change = Keys::mapping(node, |keys| {
        let of = keys.read_all(SpecChangeKey::Of, |node| {
            let nodes = one_or_list(node, "a list of paths");
            if nodes.is_empty() {
                let message = "`of` needs at least one path";
                node.error(&WRONG_TYPE, message);
            }
            nodes.into_iter().filter_map(|node| path(node, fields)).collect()
        });
        let does = keys.read(SpecChangeKey::To, |node| reaction(node, table));
        (!of.is_empty()).then_some(SpecChange { of, does: does? })
    });
    // An unreadable entry may have had a target.
    table.lacks_edges |= node.sink.count() > before;
    change
}

fn path(node: Input<'_>, fields: &Fields<'_, '_>) -> Option<Spanned<FieldPath>> {
    let path = fields.path(node, &[])?;
    let (message, help) = if path.value.root != PathRoot::Spec {
        (
            "`onSpecChange` reacts only to changes of `.spec`, so the path has to begin with `.spec.`",
            "use `wait: {watch: self}` to react to changes of other fields",
        )
    } else if path.value.is_plural() {
        (
            "changes of single items of a list cannot be distinguished",
            "name the list itself: the path of a list or of an object covers everything in it",
        )
    } else {
        return Some(path);
    };
    node.refuse(Finding::new(&UNKNOWN_FIELD, path.span, message).help(help))
}
