//! Reads `wait`.

use super::keys::Keys;
use super::nodes::{Input, one_or_list, text};
use super::table::BuildContext;
use crate::catalog::keys::WaitKey;
use crate::catalog::{UNKNOWN_KIND, WRONG_TYPE};
use crate::finding::{Finding, Span, Spanned};
use crate::model::{Wait, WatchSource};
use crate::text::shown;

/// Reads `wait`.
pub(super) fn wait(node: Input<'_>, context: &BuildContext<'_, '_>) -> Option<Wait> {
    Keys::mapping(node, |keys| {
        let poll = keys.read(WaitKey::Poll, |node| context.fields.period(node));
        let watch = keys.get(WaitKey::Watch).map(|node| {
            let items = one_or_list(node, "a list of watched kinds").into_iter();
            items.filter_map(|node| watch_source(node, context)).collect()
        });
        Some(Wait {
            span: node.span,
            poll,
            watch: watch.unwrap_or_else(|| default_watch(node.span)),
            is_written: true,
        })
    })
}

/// The default of `watch`.
pub(super) fn default_watch(span: Span) -> Vec<Spanned<WatchSource>> {
    vec![
        Spanned::new(WatchSource::Owned, span),
        Spanned::new(WatchSource::Watched, span),
    ]
}

fn watch_source(node: Input<'_>, context: &BuildContext<'_, '_>) -> Option<Spanned<WatchSource>> {
    let written = text(node)?;
    let lacking = |key: &str| {
        let message = format!(
            "this watches {} objects, but the description has no `{key}`",
            written.value
        );
        Finding::new(&UNKNOWN_KIND, written.span, message)
    };
    match written.as_str() {
        "self" => return Some(written.map(|_| WatchSource::Itself)),
        "owned" => {
            if !context.has_owned {
                node.report(lacking("owns"));
            }
            return Some(written.map(|_| WatchSource::Owned));
        }
        "watched" => {
            if !context.has_watched {
                node.report(lacking("watches"));
            }
            return Some(written.map(|_| WatchSource::Watched));
        }
        word if !word.contains('/') => {
            let suggestion = node.sink.suggest(word, ["self", "owned", "watched"]);
            let message = format!(
                "expected `self`, `owned`, `watched` or a kind, found `{}`",
                shown(word)
            );
            return node.refuse(Finding::new(&WRONG_TYPE, written.span, message).did_you_mean(suggestion));
        }
        _ => {}
    }
    if let Some(kind) = context.in_view.get(&written.value) {
        return Some(written.map(|_| WatchSource::Kind(kind.clone())));
    }
    // `kind` reports a malformed reference.
    let kind = context.kinds.kind(node)?;
    let message = format!("`{}` is neither owned nor watched", kind.reference());
    let suggestion = node
        .sink
        .suggest(&written.value, context.in_view.keys().map(String::as_str))
        .map(str::to_owned);
    node.refuse(
        Finding::new(&UNKNOWN_KIND, written.span, message)
            .did_you_mean(suggestion.as_deref())
            .help("name it under `owns` or `watches`"),
    )
}
