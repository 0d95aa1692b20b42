//! Reads `wait`.

use super::keys::Keys;
use super::nodes::{list, text};
use super::sink::Sink;
use super::states::BuildContext;
use crate::catalog::keys::WaitKey;
use crate::catalog::{UNKNOWN_KIND, WRONG_TYPE};
use crate::finding::{Finding, Span, Spanned};
use crate::model::{Wait, WatchSource};
use crate::spec::Node;
use crate::text::shown;

/// Reads `wait`.
pub(super) fn wait(node: &Node, context: &BuildContext<'_, '_>, sink: &mut Sink<'_>) -> Option<Wait> {
    let mut keys = Keys::of(node, sink)?;
    let poll = keys.read(WaitKey::Poll, sink, |node, sink| {
        context.fields.period(node, sink)
    });
    let watch = match keys.get(WaitKey::Watch, sink) {
        Some(node) => {
            let items = if node.scalar().is_some() {
                std::slice::from_ref(node)
            } else {
                list(node, "a list of what to watch", sink)
            };
            items
                .iter()
                .filter_map(|node| watch_source(node, context, sink))
                .collect()
        }
        None => default_watch(node.span),
    };
    keys.finish(sink);
    Some(Wait {
        span: node.span,
        poll,
        watch,
        is_written: true,
    })
}

/// The default of `watch`.
pub(super) fn default_watch(span: Span) -> Vec<Spanned<WatchSource>> {
    vec![
        Spanned::new(WatchSource::Owned, span),
        Spanned::new(WatchSource::Watched, span),
    ]
}

fn watch_source(
    node: &Node,
    context: &BuildContext<'_, '_>,
    sink: &mut Sink<'_>,
) -> Option<Spanned<WatchSource>> {
    let written = text(node, sink)?;
    let lacking = |key: &str| {
        let message = format!(
            "this watches what is {}, but the description has no `{key}`",
            written.value
        );
        Finding::new(&UNKNOWN_KIND, written.span, message)
    };
    match written.as_str() {
        "self" => return Some(written.map(|_| WatchSource::Itself)),
        "owned" => {
            if !context.has_owned {
                sink.report(lacking("owns"));
            }
            return Some(written.map(|_| WatchSource::Owned));
        }
        "watched" => {
            if !context.has_watched {
                sink.report(lacking("watches"));
            }
            return Some(written.map(|_| WatchSource::Watched));
        }
        word if !word.contains('/') => {
            let suggestion = sink.suggest(word, ["self", "owned", "watched"]);
            let message = format!(
                "expected `self`, `owned`, `watched` or a kind, found `{}`",
                shown(word)
            );
            sink.report(Finding::new(&WRONG_TYPE, written.span, message).did_you_mean(suggestion));
            return None;
        }
        _ => {}
    }
    if let Some(kind) = context.in_view.get(&written.value) {
        return Some(written.map(|_| WatchSource::Kind(kind.clone())));
    }
    // A malformed reference is reported by `kind`.
    let kind = context.kinds.kind(node, sink)?;
    let message = format!("`{}` is neither owned nor watched", kind.reference());
    let suggestion = sink
        .suggest(&written.value, context.in_view.keys().map(String::as_str))
        .map(str::to_owned);
    sink.report(
        Finding::new(&UNKNOWN_KIND, written.span, message)
            .did_you_mean(suggestion.as_deref())
            .help("name it under `owns` or `watches`"),
    );
    None
}
