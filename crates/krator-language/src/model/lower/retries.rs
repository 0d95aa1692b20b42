//! Retry policies as written, of the machine and of states.

use std::time::Duration;

use super::keys::Keys;
use super::nodes::{Input, duration, integer};
use super::sink::Sink;
use super::table::Table;
use crate::catalog::keys::RetryKey;
use crate::catalog::{MISSING_KEY, WRONG_TYPE};
use crate::finding::{Finding, Span, Spanned};
use crate::model::{RetryLimit, StateId};

/// `retry` as written.
#[derive(Default)]
pub(super) struct WrittenRetry {
    pub span: Span,
    pub limit: Option<Spanned<RetryLimit>>,
    pub initial: Option<Spanned<Duration>>,
    pub factor: Option<Spanned<f64>>,
    pub max: Option<Spanned<Duration>>,
    pub then: Option<Spanned<StateId>>,
    /// Whether `then` is written, even if it does not name a state.
    pub has_then: bool,
}

/// Reads `retry`, of the machine or of a state.
pub(super) fn retry(node: Input<'_>, table: &mut Table<'_>) -> Option<WrittenRetry> {
    Keys::mapping(node, |keys| {
        let limit = keys.read(RetryKey::Limit, |node| match node.scalar() {
            Some(scalar) if scalar.text == "unlimited" => {
                Some(Spanned::new(RetryLimit::Unlimited, node.span))
            }
            Some(scalar) if scalar.integer().is_none() => node.mismatch("an integer or `unlimited`"),
            _ => Some(integer::<u32>(node, RetryKey::Limit)?.map(RetryLimit::Times)),
        });
        let initial = keys.read(RetryKey::Initial, duration);
        let factor = keys.number(RetryKey::Factor);
        let max = keys.read(RetryKey::Max, duration);
        if let (Some(initial), Some(max)) = (&initial, &max)
            && initial.value > max.value
        {
            node.report(
                Finding::new(&WRONG_TYPE, initial.span, "`initial` is longer than `max`")
                    .related(max.span, "the longest delay"),
            );
        }
        Some(WrittenRetry {
            span: keys.head(),
            limit,
            initial,
            factor,
            max,
            then: keys.read(RetryKey::Then, |node| table.state(node)),
            has_then: keys.has(RetryKey::Then),
        })
    })
}

/// Reports a limit without a `then`, and a `then` without effect because there is no limit.
pub(super) fn judge_retry(
    written: &WrittenRetry,
    resolved_limit: RetryLimit,
    has_then: bool,
    sink: &Sink<'_>,
) {
    if let Some(limit) = &written.limit
        && let RetryLimit::Times(_) = limit.value
        && !has_then
    {
        sink.report(
            Finding::new(
                &MISSING_KEY,
                limit.span,
                "a retry policy with a `limit` has no `then`",
            )
            .help("name the state past the limit: `retry: {limit: 5, then: STATE}`"),
        );
    }
    if let Some(then) = &written.then
        && resolved_limit == RetryLimit::Unlimited
    {
        sink.report(
            Finding::new(
                &MISSING_KEY,
                then.span,
                "a retry policy with `then` has no `limit`, so `then` would never be entered",
            )
            .help("set how often the handler is retried: `limit: 5`"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::keys::{Absent, SectionKey as _};
    use crate::model::format_duration;

    #[test]
    fn the_table_has_the_defaults_of_the_runtime() {
        let runtime = krator_machine::graph::Retry::DEFAULT;
        for (key, default) in [
            (
                RetryKey::Initial,
                format!("`{}`", format_duration(runtime.initial)),
            ),
            (RetryKey::Factor, runtime.factor.to_string()),
            (RetryKey::Max, format!("`{}`, ", format_duration(runtime.max))),
            (
                RetryKey::Limit,
                format!("`unlimited`, {} in", krator_machine::graph::Retry::FINAL_LIMIT),
            ),
        ] {
            let Absent::Default(text) = key.key().absent else {
                panic!("{key:?} has no default");
            };
            assert!(text.starts_with(&default), "{key:?}: {text}, not {default}");
        }
    }
}
