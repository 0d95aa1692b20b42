//! The machine: the settings that states inherit from it, and the states on the deletion path.

use std::collections::BTreeSet;

use super::keys::Keys;
use super::nodes::{Input, boolean, is_empty_list, limited_list, one_or_list, text};
use super::paths::Fields;
use super::retries::{WrittenRetry, judge_retry, retry};
use super::sink::Sink;
use super::spec_changes::{WrittenSpecChange, on_spec_change};
use super::states::{WrittenOnDelete, WrittenState, on_delete};
use super::table::Table;
use super::waits::default_watch;
use crate::catalog::keys::{DocumentKey, MachineKey, PropertyKey};
use crate::catalog::{KEY_WITHOUT_EFFECT, MISSING_KEY, RESUME_HAZARD, WRONG_TYPE};
use crate::finding::{Finding, Span, Spanned};
use crate::model::{
    Effects, Machine, OnDelete, OnSpecChange, Property, PropertyKind, Retry, RetryLimit, State, StateId,
    StateKind, StateSet, Wait,
};
use crate::text::shown;

/// `machine` as written.
pub(super) struct WrittenMachine {
    pub machine: Machine,
    retry: Option<WrittenRetry>,
    on_spec_change: Option<WrittenSpecChange>,
    on_delete: Option<Spanned<WrittenOnDelete>>,
    /// Whether `deletion` is written, even if it does not name a state.
    has_deletion: bool,
}

/// Reads `machine`. If it is missing or has no correct `initial`, the first state is the placeholder for `initial`.
pub(super) fn machine(
    node: Option<Input<'_>>,
    fallback: Span,
    table: &mut Table<'_>,
    fields: &Fields<'_, '_>,
) -> WrittenMachine {
    let mut written = WrittenMachine {
        machine: Machine {
            span: fallback,
            initial: Spanned::new(StateId(0), fallback),
            deletion: None,
            deletion_entries: BTreeSet::new(),
        },
        retry: None,
        on_spec_change: None,
        on_delete: None,
        has_deletion: false,
    };
    let Some(mut keys) = node.and_then(Keys::of) else {
        table.lacks_edges = true;
        return written;
    };
    written.machine.span = keys.span();
    match keys.read(MachineKey::Initial, |node| table.state(node)) {
        Some(initial) => written.machine.initial = initial,
        None => table.lacks_edges = true,
    }
    written.has_deletion = keys.has(MachineKey::Deletion);
    written.machine.deletion = keys.read(MachineKey::Deletion, |node| table.state(node));
    written.retry = keys.read(MachineKey::Retry, |node| {
        let retry = retry(node, table)?;
        // The `then` of the machine may be for a `limit` of a state, so only the limit is checked here.
        if matches!(retry.limit.map(|limit| limit.value), Some(RetryLimit::Times(_))) {
            judge_retry(&retry, RetryLimit::Times(0), retry.has_then, node.sink);
        }
        Some(retry)
    });
    written.on_spec_change = keys.read(MachineKey::OnSpecChange, |node| {
        on_spec_change(node, table, fields)
    });
    written.on_delete = keys.read(MachineKey::OnDelete, |node| on_delete(node, None));
    keys.finish();
    written
}

/// The states with all defaults and inherited settings.
pub(super) fn resolve(
    machine: &mut WrittenMachine,
    written: Vec<WrittenState>,
    sink: &Sink<'_>,
) -> Vec<State> {
    machine.machine.deletion_entries = deletion_entries(machine, &written);
    let on_path = deletion_path(&machine.machine.deletion_entries, &written);
    written
        .into_iter()
        .enumerate()
        .map(|(at, state)| resolve_state(StateId(at), machine, state, on_path[at], sink))
        .collect()
}

/// The entries of the deletion path: `deletion`, and the states named by `onDelete`.
fn deletion_entries(machine: &WrittenMachine, states: &[WrittenState]) -> BTreeSet<StateId> {
    let named = states.iter().filter_map(|state| match state.on_delete?.value {
        WrittenOnDelete::To(to) => Some(to),
        WrittenOnDelete::Interrupt | WrittenOnDelete::Wait => None,
    });
    machine
        .machine
        .deletion
        .iter()
        .map(|deletion| deletion.value)
        .chain(named)
        .collect()
}

/// Whether each state is on the deletion path: reachable from the entries by edges of the states themselves. Edges that
/// the machine declares for all states do not apply on this path.
fn deletion_path(entries: &BTreeSet<StateId>, states: &[WrittenState]) -> Vec<bool> {
    let mut on_path = vec![false; states.len()];
    let mut queue: Vec<StateId> = entries.iter().copied().collect();
    while let Some(id) = queue.pop() {
        if std::mem::replace(&mut on_path[id.0], true) {
            continue;
        }
        let WrittenState { state, retry, .. } = &states[id.0];
        let then = retry.as_ref().and_then(|retry| retry.then);
        let timeout = state.timeout.as_ref().map(|timeout| timeout.to);
        let limit = state.limit.as_ref().map(|limit| limit.then);
        let others = [then, timeout, limit, state.resume].into_iter().flatten();
        queue.extend(
            state
                .next
                .iter()
                .map(|next| next.to)
                .chain(others)
                .map(|to| to.value),
        );
    }
    on_path
}

fn resolve_state(
    id: StateId,
    machine: &WrittenMachine,
    written: WrittenState,
    on_deletion_path: bool,
    sink: &Sink<'_>,
) -> State {
    let WrittenState {
        mut state,
        retry,
        on_spec_change,
        on_delete,
    } = written;
    let (span, kind) = (state.name.span, state.kind);
    state.on_deletion_path = on_deletion_path;
    if kind.value == StateKind::Final && state.effects.value == Effects::Once {
        let message = format!(
            "the final state `{}` cannot have `effects: once`",
            state.name.value
        );
        sink.report(
            Finding::new(&KEY_WITHOUT_EFFECT, state.effects.span, message)
                .label("a restarted operator has to finish the work of the final state")
                .related(kind.span, "final here")
                .help("move work that may run only once to a state before it"),
        );
        // Otherwise the rules of `once` would require a `resume`, which a final state cannot have either.
        state.effects.value = Effects::Idempotent;
    }
    let runs_once = state.effects.value == Effects::Once;
    let ignores = |change: &WrittenSpecChange| {
        change.of.is_empty() && change.rest.is_some_and(|rest| rest.value == OnSpecChange::Ignore)
    };
    if let Some(change) = on_spec_change.as_ref().filter(|change| !ignores(change)) {
        let place = match kind.value {
            StateKind::Final => Some("is final"),
            _ if on_deletion_path => Some("is on the deletion path"),
            _ => None,
        };
        if let Some(place) = place {
            let name = &state.name.value;
            let message = format!("a change of the spec has no effect in `{name}`, which {place}");
            sink.report(Finding::new(&KEY_WITHOUT_EFFECT, change.span, message).did_you_mean(Some("ignore")));
        }
    }
    let inherits_edges = inherits_edges(&state);
    if let Some(retry) = retry.as_ref().filter(|_| runs_once) {
        let message = format!("`retry` does not apply to `{}`", state.name.value);
        sink.report(
            Finding::new(&RESUME_HAZARD, retry.span, message)
                .label("a handler with `effects: once` is not run again")
                .related(state.effects.span, "once here")
                .help("after an error the object goes to `resume`"),
        );
    }
    let resolved_retry = resolve_retry(id, &state, machine, retry.as_ref(), sink);
    state.retry = (!runs_once).then_some(resolved_retry);
    let inherited = || {
        let mut change = machine.on_spec_change.clone()?;
        if !inherits_edges {
            change.of.clear();
            change.rest = change
                .rest
                .filter(|rest| !matches!(rest.value, OnSpecChange::Enter(_)));
        }
        Some(change)
    };
    if let Some(change) = on_spec_change.or_else(inherited) {
        state.on_spec_change_of = change.of;
        state.on_spec_change = change.rest.unwrap_or(state.on_spec_change);
    }
    let names_state = |on_delete: &Spanned<_>| matches!(on_delete.value, WrittenOnDelete::To(_));
    if let Some(named) = on_delete.filter(names_state).filter(|_| !machine.has_deletion) {
        let message = "`onDelete` names a state, and `machine` has no `deletion`";
        sink.report(
            Finding::new(&MISSING_KEY, named.span, message)
                .help("add `deletion` to `machine`: without it, objects have no finalizer"),
        );
    }
    let by_default = Spanned::new(WrittenOnDelete::Interrupt, span);
    let on_delete = on_delete.or(machine.on_delete).unwrap_or(by_default);
    let to = match on_delete.value {
        _ if on_deletion_path => None,
        WrittenOnDelete::To(state) => Some(state),
        _ => machine.machine.deletion.map(|deletion| deletion.value),
    };
    // A state that names another one overrides `wait` of the machine: its handler is interrupted.
    let waits = matches!(on_delete.value, WrittenOnDelete::Wait);
    state.on_delete = Spanned::new(OnDelete { waits, to }, on_delete.span);
    if matches!(kind.value, StateKind::Ready | StateKind::Failed) && !runs_once {
        state.wait.get_or_insert_with(|| Wait {
            span,
            poll: None,
            watch: default_watch(span),
            is_written: false,
        });
    }
    state
}

/// Whether the machine's edges to other states apply to the state.
fn inherits_edges(state: &State) -> bool {
    state.kind.value != StateKind::Final && !state.on_deletion_path
}

/// Each key comes from the state or otherwise from the machine. `then` of the machine does not apply if edges are not
/// inherited, nor to the state that it names.
fn resolve_retry(
    id: StateId,
    state: &State,
    machine: &WrittenMachine,
    own: Option<&WrittenRetry>,
    sink: &Sink<'_>,
) -> Retry {
    const DEFAULT: krator_machine::graph::Retry = krator_machine::graph::Retry::DEFAULT;
    const FINAL_LIMIT: RetryLimit = RetryLimit::Times(krator_machine::graph::Retry::FINAL_LIMIT);
    let base = machine.retry.as_ref();
    let by_default = base.map_or(state.name.span, |base| base.span);
    let inherits_edges = inherits_edges(state);
    let written = || own.into_iter().chain(base);
    let default = |value| Spanned::new(value, by_default);
    let initial = written().find_map(|retry| retry.initial);
    let initial = initial.unwrap_or(default(DEFAULT.initial));
    let factor = written().find_map(|retry| retry.factor);
    let max = written().find_map(|retry| retry.max);
    let policy = |limit, then| Retry {
        limit,
        initial,
        factor: factor.unwrap_or(Spanned::new(DEFAULT.factor, by_default)),
        max: max.unwrap_or(default(initial.value.max(DEFAULT.max))),
        then,
    };
    if state.kind.value == StateKind::Final {
        let limit = own.and_then(|own| own.limit);
        let limit = limit.unwrap_or(Spanned::new(FINAL_LIMIT, state.name.span));
        return policy(limit, own.and_then(|own| own.then));
    }
    let inherited_then = base
        .and_then(|base| base.then)
        .filter(|then| inherits_edges && then.value != id);
    let then = own.and_then(|own| own.then).or(inherited_then);
    let limit = written().find_map(|retry| retry.limit);
    let limit = limit.unwrap_or(Spanned::new(RetryLimit::Unlimited, by_default));
    if let Some(own) = own {
        let has_then = then.is_some()
            || own.has_then
            || (inherits_edges && base.is_some_and(|base| base.has_then && base.then.is_none()));
        judge_retry(own, limit.value, has_then, sink);
    }
    match (limit.value, then) {
        (RetryLimit::Times(_), Some(_)) => policy(limit, then),
        _ => policy(limit.map(|_| RetryLimit::Unlimited), None),
    }
}

/// Reads `properties`.
pub(super) fn properties(node: Input<'_>, table: &mut Table<'_>) -> Vec<Property> {
    // An unknown state in a property does not mean that an edge is missing.
    let lacks_edges = table.lacks_edges;
    let items = limited_list(node, DocumentKey::Properties, "a list of properties").into_iter();
    let properties = items.filter_map(|item| Keys::mapping(item, |keys| property(item, keys, table)));
    let properties = properties.collect();
    table.lacks_edges = lacks_edges;
    properties
}

fn property(node: Input<'_>, keys: &mut Keys<'_, PropertyKey>, table: &mut Table<'_>) -> Option<Property> {
    let mut forms = vec![
        PropertyKey::CanReach,
        PropertyKey::Never,
        PropertyKey::Only,
        PropertyKey::LeadsTo,
    ];
    forms.retain(|key| keys.has(*key));
    let kind = match forms[..] {
        [PropertyKey::Never] => keys.read(PropertyKey::Never, |node| arrow(node, table))?,
        [PropertyKey::Only] => {
            let state = keys.read(PropertyKey::Only, |node| table.state(node));
            let through = keys.need(PropertyKey::Through).and_then(|node| table.state(node));
            PropertyKind::Only {
                state: state?,
                through: through?,
            }
        }
        [form] => {
            let state = keys.read(form, |node| table.state(node));
            let from = keys
                .need(PropertyKey::From)
                .and_then(|node| state_set(node, table));
            let (from, state) = (from?, state?);
            match form {
                PropertyKey::CanReach => PropertyKind::CanReach { from, to: state },
                _ => PropertyKind::LeadsTo { state, from },
            }
        }
        _ => {
            let rule = if forms.is_empty() {
                &MISSING_KEY
            } else {
                &WRONG_TYPE
            };
            let message = "a property needs exactly one of `canReach`, `never`, `only` and `leadsTo`";
            node.sink.error(rule, keys.head(), message);
            keys.skip_known();
            return None;
        }
    };
    // A change of the spec makes other states reachable, but it may never happen, and its author intends the
    // consequences.
    let by_default = matches!(kind, PropertyKind::CanReach { .. });
    let spec_changes = keys.read(PropertyKey::SpecChanges, boolean);
    Some(Property {
        span: node.span,
        kind,
        spec_changes: spec_changes.map_or(by_default, |counts| counts.value),
    })
}

fn state_set(node: Input<'_>, table: &mut Table<'_>) -> Option<StateSet> {
    if node.scalar().is_some_and(|scalar| scalar.text == "*") {
        return Some(StateSet::All);
    }
    let items = one_or_list(node, "a list of states, or `\"*\"`");
    if is_empty_list(node) {
        let message = "a property needs at least one state to start from";
        let finding = Finding::new(&WRONG_TYPE, node.span, message);
        node.report(finding.did_you_mean(Some("\"*\"")).perhaps());
    }
    let states: Vec<_> = items.iter().filter_map(|node| table.state(*node)).collect();
    (states.len() == items.len() && !states.is_empty()).then_some(StateSet::These(states))
}

/// `A -> B`.
fn arrow(node: Input<'_>, table: &mut Table<'_>) -> Option<PropertyKind> {
    let written = text(node)?;
    let Some((from, to)) = written.value.split_once("->") else {
        let message = format!("expected `A -> B`, found `{}`", shown(&written.value));
        return node.refuse(Finding::new(&WRONG_TYPE, node.span, message));
    };
    let (from, to) = (from.trim(), to.trim());
    let source = node.sink.source.at(node.span);
    let mut end = |name: &str, at: Option<usize>| {
        let start = at.filter(|_| !name.is_empty()).map(|at| node.span.start + at);
        let span = start.map_or(node.span, |start| Span::new(start, start + name.len()));
        table.named(name, span, node.sink)
    };
    let from = end(from, source.find(from));
    let to = end(to, source.rfind(to));
    Some(PropertyKind::Never { from: from?, to: to? })
}
