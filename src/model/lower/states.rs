//! Reads the states as they are written, before anything is inherited.

use std::collections::{BTreeMap, HashMap};

use super::deploy::allow;
use super::keys::Keys;
use super::kinds::Kinds;
use super::nodes::{boolean, entries, integer, list, named, text, word};
use super::paths::{Fields, Leaf};
use super::resource::is_standard_condition;
use super::retries::{WrittenRetry, retry};
use super::sink::Sink;
use super::spec_changes::{WrittenSpecChange, on_spec_change};
use super::waits::wait;
use crate::catalog::keys::{EdgeKey, LimitKey, SectionKey as _, StateKey, TimeoutKey};
use crate::catalog::{INVALID_DURATION, KEY_WITHOUT_EFFECT, UNKNOWN_STATE, WRONG_TYPE};
use crate::finding::{Finding, Span, Spanned};
use crate::model::{
    Allow, ConditionSetting, ConditionStatus, Effects, Limit, Next, Period, Ready, StateId, StateKind,
    Timeout, Times, Wait,
};
use crate::names::{ConditionName, StateName, capitalized};
use crate::spec::{Entry, Node};
use crate::text::shown;

/// The names of the states, by which edges find their targets.
pub(super) struct Table<'a> {
    by_name: HashMap<&'a str, StateId>,
    /// Some edge has no target, so that rules must not conclude anything from missing edges.
    pub lacks_edges: bool,
}

impl<'a> Table<'a> {
    pub fn of(entries: &'a [Entry]) -> Self {
        let by_name = entries
            .iter()
            .enumerate()
            .map(|(at, entry)| (entry.key.as_str(), StateId(at)))
            .collect();
        Table {
            by_name,
            lacks_edges: false,
        }
    }

    /// The state that a value names.
    pub fn state(&mut self, node: &Node, sink: &mut Sink<'_>) -> Option<Spanned<StateId>> {
        let written = text(node, sink);
        if written.is_none() {
            self.lacks_edges = true;
        }
        self.named(&written?.value, node.span, sink)
    }

    /// The state of a name.
    pub fn named(&mut self, name: &str, span: Span, sink: &mut Sink<'_>) -> Option<Spanned<StateId>> {
        if let Some(id) = self.by_name.get(name) {
            return Some(Spanned::new(*id, span));
        }
        self.lacks_edges = true;
        // The names are sorted only for a suggestion: doing so for thousands of mistakes would take minutes.
        let mut names: Vec<&str> = if sink.has_suggestions() {
            self.by_name.keys().copied().collect()
        } else {
            Vec::new()
        };
        names.sort_unstable();
        let suggestion = sink.suggest(name, names.iter().copied());
        let message = format!("there is no state `{}`", shown(name));
        let mut finding = Finding::new(&UNKNOWN_STATE, span, message).did_you_mean(suggestion);
        if suggestion.is_none() && (1..=12).contains(&names.len()) {
            finding = finding.help(format!(
                "the states are {}",
                names
                    .iter()
                    .map(|name| shown(name))
                    .collect::<Vec<_>>()
                    .join(", ")
            ));
        }
        sink.report(finding);
        None
    }
}

/// What reading states needs to know of the rest.
pub(super) struct BuildContext<'m, 'a> {
    pub fields: Fields<'m, 'a>,
    pub kinds: Kinds<'m>,
    /// Kinds that a `watch` may name, and whether there are any owned and watched ones.
    pub in_view: BTreeMap<String, crate::model::ObjectKind>,
    pub has_owned: bool,
    pub has_watched: bool,
}

/// `onDelete` as written.
#[derive(Clone, Copy)]
pub(super) enum WrittenOnDelete {
    Interrupt,
    Wait,
    To(StateId),
}

/// A state as written.
pub(super) struct WrittenState {
    pub name: Spanned<StateName>,
    pub doc: Option<Spanned<String>>,
    pub phase: Option<Spanned<String>>,
    pub message: Option<Spanned<String>>,
    pub kind: Option<Spanned<StateKind>>,
    pub next: Vec<Next>,
    pub wait: Option<Wait>,
    pub timeout: Option<Timeout>,
    pub retry: Option<WrittenRetry>,
    pub on_spec_change: Option<WrittenSpecChange>,
    pub on_delete: Option<Spanned<WrittenOnDelete>>,
    pub effects: Option<Spanned<Effects>>,
    pub resume: Option<Spanned<StateId>>,
    pub limit: Option<Limit>,
    pub conditions: Vec<ConditionSetting>,
    pub ready: Option<Ready>,
    pub checkpoint: Option<Spanned<bool>>,
    pub renamed_from: Vec<Spanned<StateName>>,
    pub legacy: Option<Span>,
    pub group: Option<Spanned<String>>,
    pub allow: Vec<Allow>,
    pub lacks_edges: bool,
}

/// Reads all states.
pub(super) fn states(
    entries: &[Entry],
    table: &mut Table<'_>,
    context: &BuildContext<'_, '_>,
    sink: &mut Sink<'_>,
) -> Vec<WrittenState> {
    entries
        .iter()
        .enumerate()
        .map(|(at, entry)| state(at, entry, table, context, sink))
        .collect()
}

/// The name of a state whose own is not valid, for the findings of its rules: the nearest name that is valid and free.
/// Edges still find the state by the name as written.
fn stand_in(written: &str, at: usize, table: &Table<'_>) -> StateName {
    let nearest = StateName::parse(&capitalized(written)).ok();
    nearest
        .filter(|name| !table.by_name.contains_key(name.as_str()))
        .unwrap_or_else(|| {
            #[allow(clippy::unwrap_used, reason = "a letter and a number are a name")]
            StateName::parse(&format!("Invalid{at}")).unwrap()
        })
}

fn state(
    at: usize,
    entry: &Entry,
    table: &mut Table<'_>,
    context: &BuildContext<'_, '_>,
    sink: &mut Sink<'_>,
) -> WrittenState {
    let name = named(&entry.key, entry.key_span, "state", StateName::parse, sink)
        .unwrap_or_else(|| Spanned::new(stand_in(&entry.key, at, table), entry.key_span));
    let mut written = WrittenState {
        name,
        doc: None,
        phase: None,
        message: None,
        kind: None,
        next: Vec::new(),
        wait: None,
        timeout: None,
        retry: None,
        on_spec_change: None,
        on_delete: None,
        effects: None,
        resume: None,
        limit: None,
        conditions: Vec::new(),
        ready: None,
        checkpoint: None,
        renamed_from: Vec::new(),
        legacy: None,
        group: None,
        allow: Vec::new(),
        lacks_edges: false,
    };
    let Some(mut keys) = Keys::of(&entry.value, sink) else {
        table.lacks_edges = true;
        written.lacks_edges = true;
        return written;
    };
    let kinds = STATE_KINDS.map(|kind| (kind.as_str(), kind));
    let others_lack_edges = std::mem::replace(&mut table.lacks_edges, false);
    written.doc = keys.read(StateKey::Doc, sink, text);
    written.phase = keys.read(StateKey::Phase, sink, text);
    written.message = keys.read(StateKey::Message, sink, text);
    written.kind = keys.word(StateKey::Kind, &kinds, sink);
    // A state whose kind cannot be read may be one without edges.
    table.lacks_edges |= keys.has(StateKey::Kind) && written.kind.is_none();
    if let Some(kind) = written.kind.filter(|kind| kind.value == StateKind::Final) {
        refuse_in_final(&keys, kind.span, &written.name, sink);
    }
    let before = sink.findings.len();
    written.next = keys.read_all(StateKey::Next, sink, |node, sink| next(node, table, sink));
    written.timeout = keys.read(StateKey::Timeout, sink, |node, sink| {
        timeout(node, table, context, sink)
    });
    written.retry = keys.read(StateKey::Retry, sink, |node, sink| retry(node, table, sink));
    written.limit = keys.read(StateKey::Limit, sink, |node, sink| {
        limit(node, table, context, sink)
    });
    written.wait = keys.read(StateKey::Wait, sink, |node, sink| wait(node, context, sink));
    // A `timeout` whose `after` is wrong is a missing edge too.
    table.lacks_edges |= sink.findings.len() > before;
    written.on_spec_change = keys.read(StateKey::OnSpecChange, sink, |node, sink| {
        on_spec_change(node, table, &context.fields, sink)
    });
    written.on_delete = keys.read(StateKey::OnDelete, sink, |node, sink| {
        on_delete(node, Some(table), sink)
    });
    written.effects = keys.word(StateKey::Effects, &EFFECTS, sink);
    written.resume = keys.read(StateKey::Resume, sink, |node, sink| table.state(node, sink));
    if let Some(node) = keys.get(StateKey::Conditions, sink) {
        conditions(node, &mut written, sink);
    }
    written.checkpoint = keys.read(StateKey::Checkpoint, sink, boolean);
    written.renamed_from = keys.read_all(StateKey::RenamedFrom, sink, renamed_from);
    written.legacy = keys
        .read(StateKey::Legacy, sink, boolean)
        .filter(|legacy| legacy.value)
        .map(|legacy| legacy.span);
    written.group = keys.read(StateKey::Group, sink, text);
    written.allow = keys.read_all(StateKey::Allow, sink, allow);
    // A misspelled `next` means missing edges.
    keys.finish(sink);
    if written.kind.is_some_and(|kind| kind.value == StateKind::Final) {
        // They are refused above; as edges they would only lead to more findings.
        (written.wait, written.limit, written.resume) = (None, None, None);
    }
    written.lacks_edges = table.lacks_edges || sink.findings.len() > before && written.next.is_empty();
    table.lacks_edges |= others_lack_edges || written.lacks_edges;
    written
}

/// Reports the keys that say how an object stays in a state, comes back to it, or leaves it. After a final state the
/// machine is over. Edges that handlers and timeouts take are findings of the rule `no-exit`.
fn refuse_in_final(
    keys: &Keys<'_, StateKey>,
    final_at: Span,
    name: &Spanned<StateName>,
    sink: &mut Sink<'_>,
) {
    const REASONS: [(StateKey, &str, &str); 3] = [
        (
            StateKey::Wait,
            "once the handler has returned, the machine is over",
            "wait in a state before it, or return an error to run the handler again",
        ),
        (
            StateKey::Limit,
            "an object enters a final state at most once",
            "limit the state before it",
        ),
        (
            StateKey::Resume,
            "a restarted operator has to finish what the final state began",
            "remove it: the handler of a final state runs again after a restart",
        ),
    ];
    for (key, reason, help) in REASONS {
        if let Some(span) = keys.key_span(key) {
            let message = format!(
                "`{}` has no effect in the final state `{}`",
                key.key().name,
                name.value
            );
            let finding = Finding::new(&KEY_WITHOUT_EFFECT, span, message).label(reason);
            sink.report(finding.related(final_at, "final here").help(help));
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

fn next(node: &Node, table: &mut Table<'_>, sink: &mut Sink<'_>) -> Vec<Next> {
    let mut next = Vec::new();
    for item in list(node, "a list of states", sink) {
        if item.scalar().is_some() {
            next.extend(table.state(item, sink).map(|to| Next { to, when: None }));
            continue;
        }
        let Some(mut keys) = Keys::of(item, sink) else {
            continue;
        };
        let to = keys.read(EdgeKey::To, sink, |node, sink| table.state(node, sink));
        let when = keys.read(EdgeKey::When, sink, text);
        keys.finish(sink);
        next.extend(to.map(|to| Next { to, when }));
    }
    next
}

fn timeout(
    node: &Node,
    table: &mut Table<'_>,
    context: &BuildContext<'_, '_>,
    sink: &mut Sink<'_>,
) -> Option<Timeout> {
    let mut keys = Keys::of(node, sink)?;
    let after = keys.read(TimeoutKey::After, sink, |node, sink| {
        let after = context.fields.period(node, sink)?;
        if matches!(&after.value, Period::Fixed(period) if period.is_zero()) {
            sink.report(
                Finding::new(
                    &INVALID_DURATION,
                    node.span,
                    "this timeout is over before the handler can run",
                )
                .help("name a longer time; a state that always leads on at once does so by `next`"),
            );
            return None;
        }
        Some(after)
    });
    let to = keys.read(TimeoutKey::To, sink, |node, sink| table.state(node, sink));
    keys.finish(sink);
    Some(Timeout {
        span: node.span,
        after: after?,
        to: to?,
    })
}

fn limit(
    node: &Node,
    table: &mut Table<'_>,
    context: &BuildContext<'_, '_>,
    sink: &mut Sink<'_>,
) -> Option<Limit> {
    let mut keys = Keys::of(node, sink)?;
    let times = keys.read(LimitKey::Times, sink, |node, sink| {
        if node.scalar().is_some_and(|scalar| scalar.text.starts_with('.')) {
            Some(
                context
                    .fields
                    .path(node, &[Leaf::Integer], sink)?
                    .map(Times::Field),
            )
        } else {
            Some(integer::<u32>(node, LimitKey::Times, sink)?.map(Times::Number))
        }
    });
    let then = keys.read(LimitKey::Then, sink, |node, sink| table.state(node, sink));
    keys.finish(sink);
    Some(Limit {
        times: times?,
        then: then?,
    })
}

/// Reads `onDelete`; only a state may name another one.
pub(super) fn on_delete(
    node: &Node,
    table: Option<&mut Table<'_>>,
    sink: &mut Sink<'_>,
) -> Option<Spanned<WrittenOnDelete>> {
    let words = [
        ("interrupt", WrittenOnDelete::Interrupt),
        ("wait", WrittenOnDelete::Wait),
    ];
    let is_word = node
        .scalar()
        .is_some_and(|scalar| words.iter().any(|(word, _)| *word == scalar.text));
    match table {
        Some(table) if !is_word => Some(table.state(node, sink)?.map(WrittenOnDelete::To)),
        _ => word(node, StateKey::OnDelete, &words, sink),
    }
}

fn conditions(node: &Node, written: &mut WrittenState, sink: &mut Sink<'_>) {
    const STATUSES: [(&str, ConditionStatus); 3] = [
        ("True", ConditionStatus::True),
        ("False", ConditionStatus::False),
        ("Unknown", ConditionStatus::Unknown),
    ];
    for entry in entries(node, "conditions by type", sink) {
        let Some(name) = named(
            &entry.key,
            entry.key_span,
            "condition",
            ConditionName::parse,
            sink,
        ) else {
            continue;
        };
        let is_keep = entry.value.scalar().is_some_and(|scalar| scalar.text == "keep");
        if name.as_str() == "Ready" && is_keep {
            written.ready = Some(Ready::Keep);
        } else if is_standard_condition(name.as_str()) {
            let (message, help) = if name.as_str() == "Paused" {
                (
                    "the condition `Paused` follows from an annotation of the object".to_owned(),
                    "choose another name for the condition",
                )
            } else {
                (
                    format!("the condition `{}` follows from the state's `kind`", name.value),
                    "`kind` gives Ready, Reconciling and Stalled; only `Ready: keep` can be written here",
                )
            };
            sink.report(Finding::new(&WRONG_TYPE, entry.key_span, message).help(help));
        } else if let Some(status) = word(&entry.value, StateKey::Conditions, &STATUSES, sink) {
            written.conditions.push(ConditionSetting { name, status });
        }
    }
}

fn renamed_from(node: &Node, sink: &mut Sink<'_>) -> Vec<Spanned<StateName>> {
    let items = if node.scalar().is_some() {
        std::slice::from_ref(node)
    } else {
        list(node, "a list of earlier names", sink)
    };
    items
        .iter()
        .filter_map(|node| super::nodes::name(node, "state", StateName::parse, sink))
        .collect()
}
