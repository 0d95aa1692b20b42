//! Reads the states as they are written, without inherited settings.

use super::deploy::allow;
use super::gates::{gate, slots};
use super::keys::Keys;
use super::nodes::{Input, InputEntry, boolean, entries, integer, list, name, one_or_list, text, word};
use super::paths::Leaf;
use super::resource::is_standard_condition;
use super::retries::{WrittenRetry, retry};
use super::sink::Sink;
use super::spec_changes::{WrittenSpecChange, on_spec_change};
use super::table::{BuildContext, Table};
use super::waits::wait;
use crate::catalog::keys::{EdgeKey, LimitKey, SectionKey as _, StateKey, TimeoutKey};
use crate::catalog::{INVALID_DURATION, KEY_WITHOUT_EFFECT, WRONG_TYPE};
use crate::finding::{Finding, Spanned};
use crate::model::{
    ConditionSetting, ConditionStatus, Effects, Limit, Next, OnDelete, OnSpecChange, Period, Ready,
    StandardConditions, State, StateId, StateKind, Timeout, Times, When,
};
use crate::names::{ConditionName, StateName, capitalized};

/// `onDelete` as written.
#[derive(Clone, Copy)]
pub(super) enum WrittenOnDelete {
    Interrupt,
    Wait,
    To(StateId),
}

/// A state as written, with the keys that it may inherit from the machine or that depend on the machine.
pub(super) struct WrittenState {
    /// The parts of the state that do not depend on the machine.
    pub state: State,
    pub retry: Option<WrittenRetry>,
    pub on_spec_change: Option<WrittenSpecChange>,
    pub on_delete: Option<Spanned<WrittenOnDelete>>,
}

/// Reads all states.
pub(super) fn states(
    entries: &[InputEntry<'_>],
    table: &mut Table<'_>,
    context: &BuildContext<'_, '_>,
) -> Vec<WrittenState> {
    let entries = entries.iter().enumerate();
    entries
        .map(|(at, entry)| state(at, *entry, table, context))
        .collect()
}

/// A name for a state whose own name is invalid, for the findings about it: the most similar valid name that is free.
/// Edges still find the state by its written name.
fn stand_in(written: &str, at: usize, table: &Table<'_>) -> StateName {
    let nearest = StateName::parse(&capitalized(written)).ok();
    nearest
        .filter(|name| !table.has(name.as_str()))
        .unwrap_or_else(|| {
            #[allow(clippy::unwrap_used, reason = "a word with a number is a valid name")]
            StateName::parse(&format!("Invalid{at}")).unwrap()
        })
}

/// A state without keys.
fn empty_state(name: Spanned<StateName>) -> State {
    let span = name.span;
    State {
        name,
        phase: None,
        doc: None,
        message: None,
        kind: Spanned::new(StateKind::Working, span),
        next: Vec::new(),
        wait: None,
        timeout: None,
        retry: None,
        on_spec_change_of: Vec::new(),
        on_spec_change: Spanned::new(OnSpecChange::Wake, span),
        on_delete: Spanned::new(
            OnDelete {
                waits: false,
                to: None,
            },
            span,
        ),
        effects: Spanned::new(Effects::Idempotent, span),
        resume: None,
        limit: None,
        gate: None,
        conditions: Vec::new(),
        standard_conditions: StandardConditions::of(StateKind::Working),
        checkpoint: Spanned::new(true, span),
        renamed_from: Vec::new(),
        legacy: None,
        group: None,
        allow: Vec::new(),
        on_deletion_path: false,
        lacks_edges: false,
    }
}

fn state(
    at: usize,
    entry: InputEntry<'_>,
    table: &mut Table<'_>,
    context: &BuildContext<'_, '_>,
) -> WrittenState {
    let sink = entry.value.sink;
    let name = entry
        .name("state", StateName::parse)
        .unwrap_or_else(|| Spanned::new(stand_in(entry.key, at, table), entry.key_span));
    let mut written = WrittenState {
        state: empty_state(name),
        retry: None,
        on_spec_change: None,
        on_delete: None,
    };
    let state = &mut written.state;
    let Some(mut keys) = Keys::of(entry.value) else {
        table.lacks_edges = true;
        state.lacks_edges = true;
        return written;
    };
    let kinds = STATE_KINDS.map(|kind| (kind.as_str(), kind));
    let others_lack_edges = std::mem::replace(&mut table.lacks_edges, false);
    state.doc = keys.read(StateKey::Doc, text);
    state.phase = keys.read(StateKey::Phase, text);
    state.message = keys.read(StateKey::Message, text);
    let kind = keys.word(StateKey::Kind, &kinds);
    // A state whose kind cannot be read may be of a kind without edges.
    table.lacks_edges |= keys.has(StateKey::Kind) && kind.is_none();
    state.kind = kind.unwrap_or(state.kind);
    state.standard_conditions = StandardConditions::of(state.kind.value);
    let is_final = state.kind.value == StateKind::Final;
    if is_final {
        refuse_in_final(&keys, state, sink);
    }
    let before = sink.count();
    state.next = keys.read_all(StateKey::Next, |node| next(node, table));
    state.timeout = keys.read(StateKey::Timeout, |node| timeout(node, table, context));
    written.retry = keys.read(StateKey::Retry, |node| retry(node, table));
    state.limit = keys.read(StateKey::Limit, |node| limit(node, table, context));
    state.gate = keys.read(StateKey::Gate, |node| gate(node, context));
    state.wait = keys.read(StateKey::Wait, |node| wait(node, context));
    // A `timeout` whose `after` is wrong is a missing edge as well.
    table.lacks_edges |= sink.count() > before;
    written.on_spec_change = keys.read(StateKey::OnSpecChange, |node| {
        on_spec_change(node, table, &context.fields)
    });
    written.on_delete = keys.read(StateKey::OnDelete, |node| on_delete(node, Some(table)));
    state.effects = keys.word(StateKey::Effects, &EFFECTS).unwrap_or(state.effects);
    state.resume = keys.read(StateKey::Resume, |node| table.state(node));
    if let Some(node) = keys.get(StateKey::Conditions) {
        conditions(node, state);
    }
    state.checkpoint = keys
        .read(StateKey::Checkpoint, boolean)
        .unwrap_or(state.checkpoint);
    state.renamed_from = keys.read_all(StateKey::RenamedFrom, renamed_from);
    let legacy = keys.read(StateKey::Legacy, boolean);
    state.legacy = legacy.filter(|legacy| legacy.value).map(|legacy| legacy.span);
    state.group = keys.read(StateKey::Group, text);
    state.allow = keys.read_all(StateKey::Allow, allow);
    // A misspelled `next` is reported here, and means that edges are missing.
    keys.finish();
    if is_final {
        // These keys are refused above; as edges they would only cause more findings.
        (state.wait, state.limit, state.resume) = (None, None, None);
    }
    state.lacks_edges = table.lacks_edges || sink.count() > before && state.next.is_empty();
    table.lacks_edges |= others_lack_edges || state.lacks_edges;
    written
}

/// Reports the keys about staying in a state, returning to it, or leaving it: the machine ends after a final state.
/// Edges that handlers and timeouts take are findings of the rule `no-exit`.
fn refuse_in_final(keys: &Keys<'_, StateKey>, state: &State, sink: &Sink<'_>) {
    const REASONS: [(StateKey, &str, &str); 3] = [
        (
            StateKey::Wait,
            "the machine ends when the handler returns",
            "wait in a state before it, or return an error to run the handler again",
        ),
        (
            StateKey::Limit,
            "an object enters a final state at most once",
            "limit the state before it",
        ),
        (
            StateKey::Resume,
            "a restarted operator has to finish the work of the final state",
            "remove it: the handler of a final state runs again after a restart",
        ),
    ];
    for (key, reason, help) in REASONS {
        if let Some(span) = keys.key_span(key) {
            let (key, name) = (key.key().name, &state.name.value);
            let message = format!("`{key}` has no effect in the final state `{name}`");
            let finding = Finding::new(&KEY_WITHOUT_EFFECT, span, message).label(reason);
            sink.report(finding.related(state.kind.span, "final here").help(help));
        }
    }
}

const STATE_KINDS: [StateKind; 4] = [
    StateKind::Working,
    StateKind::Ready,
    StateKind::Failed,
    StateKind::Final,
];

const EFFECTS: [(&str, Effects); 2] = [("idempotent", Effects::Idempotent), ("once", Effects::Once)];

fn next(node: Input<'_>, table: &mut Table<'_>) -> Vec<Next> {
    let items = list(node, "a list of states").into_iter();
    items
        .filter_map(|item| match item.scalar() {
            Some(_) => table.state(item).map(|to| Next { to, when: None }),
            None => Keys::mapping(item, |keys| {
                let to = keys.read(EdgeKey::To, |node| table.state(node));
                let when = keys.read(EdgeKey::When, text);
                Some(Next { to: to?, when })
            }),
        })
        .collect()
}

fn timeout(node: Input<'_>, table: &mut Table<'_>, context: &BuildContext<'_, '_>) -> Option<Timeout> {
    Keys::mapping(node, |keys| {
        let at = keys.key_span(TimeoutKey::At);
        let after = match (keys.key_span(TimeoutKey::After), at) {
            (Some(after), Some(at)) => {
                let message = "`after` has no effect beside `at`";
                let finding = Finding::new(&KEY_WITHOUT_EFFECT, after, message);
                keys.skip_known();
                return node.refuse(finding.related(at, "`at` is here"));
            }
            (None, Some(_)) => None,
            (_, None) => keys.need(TimeoutKey::After),
        };
        let after = after.and_then(|node| {
            let after = context.fields.period(node)?;
            if matches!(&after.value, Period::Fixed(period) if period.is_zero()) {
                let message = "this timeout expires before the handler can run";
                let help = "set a longer duration, or use `next` to leave the state at once";
                let finding = Finding::new(&INVALID_DURATION, node.span, message);
                return node.refuse(finding.help(help));
            }
            Some(When::After(after))
        });
        let at = keys.read(TimeoutKey::At, |node| slots(node, context));
        let to = keys.read(TimeoutKey::To, |node| table.state(node));
        Some(Timeout {
            span: node.span,
            when: after.or(at)?,
            to: to?,
        })
    })
}

fn limit(node: Input<'_>, table: &mut Table<'_>, context: &BuildContext<'_, '_>) -> Option<Limit> {
    Keys::mapping(node, |keys| {
        let times = keys.read(LimitKey::Times, |node| match node.is_path() {
            true => Some(context.fields.path(node, &[Leaf::Integer])?.map(Times::Field)),
            false => Some(integer::<u32>(node, LimitKey::Times)?.map(Times::Number)),
        });
        let then = keys.read(LimitKey::Then, |node| table.state(node));
        Some(Limit {
            times: times?,
            then: then?,
        })
    })
}

/// Reads `onDelete`; only that of a state may name a state.
pub(super) fn on_delete(node: Input<'_>, table: Option<&mut Table<'_>>) -> Option<Spanned<WrittenOnDelete>> {
    let words = [
        ("interrupt", WrittenOnDelete::Interrupt),
        ("wait", WrittenOnDelete::Wait),
    ];
    let is_word = node
        .scalar()
        .is_some_and(|scalar| words.iter().any(|(word, _)| *word == scalar.text));
    match table {
        Some(table) if !is_word => Some(table.state(node)?.map(WrittenOnDelete::To)),
        _ => word(node, StateKey::OnDelete, &words),
    }
}

fn conditions(node: Input<'_>, state: &mut State) {
    const STATUSES: [(&str, ConditionStatus); 3] = [
        ("True", ConditionStatus::True),
        ("False", ConditionStatus::False),
        ("Unknown", ConditionStatus::Unknown),
    ];
    for entry in entries(node, "conditions by type") {
        let Some(name) = entry.name("condition", ConditionName::parse) else {
            continue;
        };
        let is_keep = entry.value.scalar().is_some_and(|scalar| scalar.text == "keep");
        if name.as_str() == "Ready" && is_keep {
            state.standard_conditions.ready = Ready::Keep;
        } else if is_standard_condition(name.as_str()) {
            let (cause, help) = if name.as_str() == "Paused" {
                (
                    "an annotation of the object",
                    "choose another name for the condition",
                )
            } else {
                (
                    "the state's `kind`",
                    "`kind` sets Ready, Reconciling and Stalled; only `Ready: keep` can be written here",
                )
            };
            let message = format!("the condition `{}` is derived from {cause}", name.value);
            node.report(Finding::new(&WRONG_TYPE, entry.key_span, message).help(help));
        } else if let Some(status) = word(entry.value, StateKey::Conditions, &STATUSES) {
            state.conditions.push(ConditionSetting { name, status });
        }
    }
}

fn renamed_from(node: Input<'_>) -> Vec<Spanned<StateName>> {
    let items = one_or_list(node, "a list of earlier names").into_iter();
    items
        .filter_map(|node| name(node, "state", StateName::parse))
        .collect()
}
