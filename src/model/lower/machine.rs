//! The machine: what states inherit from it, and which of them are on the deletion path.

use std::collections::BTreeSet;

use super::keys::Keys;
use super::nodes::{is_empty_list, limited_list, list};
use super::paths::Fields;
use super::retries::{WrittenRetry, judge_retry, retry};
use super::sink::Sink;
use super::spec_changes::{WrittenSpecChange, on_spec_change};
use super::states::{Table, WrittenOnDelete, WrittenState, on_delete};
use super::waits::default_watch;
use crate::catalog::keys::{DocumentKey, MachineKey, PropertyKey};
use crate::catalog::{KEY_WITHOUT_EFFECT, MISSING_KEY, RESUME_HAZARD, WRONG_TYPE};
use crate::finding::{Finding, Span, Spanned};
use crate::model::{
    Effects, Machine, OnDelete, OnSpecChange, Property, PropertyKind, Retry, RetryLimit, StandardConditions,
    State, StateId, StateKind, StateSet, Wait,
};
use crate::spec::Node;
use crate::text::shown;

/// `machine` as written.
pub(super) struct WrittenMachine {
    pub machine: Machine,
    retry: Option<WrittenRetry>,
    on_spec_change: Option<WrittenSpecChange>,
    on_delete: Option<Spanned<WrittenOnDelete>>,
    /// `deletion` is there, whether or not it names a state.
    has_deletion: bool,
}

/// Reads `machine`. Where it or a correct `initial` is missing, the first state is a stand-in for `initial`.
pub(super) fn machine(
    node: Option<&Node>,
    fallback: Span,
    table: &mut Table<'_>,
    fields: &Fields<'_, '_>,
    sink: &mut Sink<'_>,
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
    let Some(mut keys) = node.and_then(|node| Keys::of(node, sink)) else {
        table.lacks_edges = true;
        return written;
    };
    written.machine.span = keys.span();
    match keys.read(MachineKey::Initial, sink, |node, sink| table.state(node, sink)) {
        Some(initial) => written.machine.initial = initial,
        None => table.lacks_edges = true,
    }
    written.has_deletion = keys.has(MachineKey::Deletion);
    written.machine.deletion = keys.read(MachineKey::Deletion, sink, |node, sink| table.state(node, sink));
    written.retry = keys.read(MachineKey::Retry, sink, |node, sink| retry(node, table, sink));
    if let Some(retry) = &written.retry {
        // A `then` of the machine may wait for a `limit` of a state, so that only the limit is judged here.
        if let Some(Spanned {
            value: RetryLimit::Times(_),
            ..
        }) = &retry.limit
        {
            judge_retry(retry, RetryLimit::Times(0), retry.has_then, sink);
        }
    }
    written.on_spec_change = keys.read(MachineKey::OnSpecChange, sink, |node, sink| {
        on_spec_change(node, table, fields, sink)
    });
    written.on_delete = keys.read(MachineKey::OnDelete, sink, |node, sink| {
        on_delete(node, None, sink)
    });
    keys.finish(sink);
    written
}

/// The states with all defaults and everything that they inherit.
pub(super) fn resolve(
    machine: &mut WrittenMachine,
    written: Vec<WrittenState>,
    sink: &mut Sink<'_>,
) -> Vec<State> {
    machine.machine.deletion_entries = deletion_entries(machine, &written);
    let on_path = deletion_path(&machine.machine.deletion_entries, &written);
    written
        .into_iter()
        .enumerate()
        .map(|(at, state)| resolve_state(StateId(at), machine, state, on_path[at], sink))
        .collect()
}

/// The entries of the deletion path: `deletion`, and the states that `onDelete` names.
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

/// Which states are on the deletion path: those that the entries lead to by edges of the states themselves. Edges that
/// the machine declares for all states do not apply on this path.
fn deletion_path(entries: &BTreeSet<StateId>, states: &[WrittenState]) -> Vec<bool> {
    let mut on_path = vec![false; states.len()];
    let mut queue: Vec<StateId> = entries.iter().copied().collect();
    while let Some(id) = queue.pop() {
        if std::mem::replace(&mut on_path[id.0], true) {
            continue;
        }
        let state = &states[id.0];
        queue.extend(state.next.iter().map(|next| next.to.value));
        queue.extend(state.timeout.as_ref().map(|timeout| timeout.to.value));
        queue.extend(
            state
                .retry
                .as_ref()
                .and_then(|retry| retry.then.as_ref())
                .map(|then| then.value),
        );
        queue.extend(state.limit.as_ref().map(|limit| limit.then.value));
        queue.extend(state.resume.as_ref().map(|resume| resume.value));
    }
    on_path
}

fn resolve_state(
    id: StateId,
    machine: &WrittenMachine,
    written: WrittenState,
    on_deletion_path: bool,
    sink: &mut Sink<'_>,
) -> State {
    // A key that is read but not resolved here is an unused variable.
    let WrittenState {
        name,
        doc,
        phase,
        message,
        kind,
        next,
        wait,
        timeout,
        retry,
        on_spec_change,
        on_delete,
        effects,
        resume,
        limit,
        conditions,
        ready,
        checkpoint,
        renamed_from,
        legacy,
        group,
        allow,
        lacks_edges,
    } = written;
    let span = name.span;
    let kind = kind.unwrap_or(Spanned::new(StateKind::Working, span));
    let mut effects = effects.unwrap_or(Spanned::new(Effects::Idempotent, span));
    if kind.value == StateKind::Final && effects.value == Effects::Once {
        let message = format!("the final state `{}` cannot have `effects: once`", name.value);
        sink.report(
            Finding::new(&KEY_WITHOUT_EFFECT, effects.span, message)
                .label("a restarted operator has to finish what the final state began")
                .related(kind.span, "final here")
                .help("do what may happen only once in a state before it"),
        );
        // Otherwise the rules of `once` would ask for a `resume`, which a final state cannot have either.
        effects.value = Effects::Idempotent;
    }
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
            let message = format!(
                "a change of the spec has no effect in `{}`, which {place}",
                name.value
            );
            sink.report(Finding::new(&KEY_WITHOUT_EFFECT, change.span, message).did_you_mean(Some("ignore")));
        }
    }
    let inherits_edges = kind.value != StateKind::Final && !on_deletion_path;
    if let Some(retry) = retry.as_ref().filter(|_| effects.value == Effects::Once) {
        sink.report(
            Finding::new(
                &RESUME_HAZARD,
                retry.span,
                format!("`retry` does not apply to `{}`", name.value),
            )
            .label("a handler with `effects: once` is not run again")
            .related(effects.span, "once here")
            .help("after an error the object goes to `resume`"),
        );
    }

    let state = RetryingState {
        id,
        span,
        kind: kind.value,
        inherits_edges,
    };
    let resolved_retry = resolve_retry(&state, machine, retry.as_ref(), sink);
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
    let (on_spec_change_of, rest) = on_spec_change
        .or_else(inherited)
        .map_or((Vec::new(), None), |change| (change.of, change.rest));
    let on_spec_change = rest.unwrap_or(Spanned::new(OnSpecChange::Wake, span));
    if let Some(Spanned {
        value: WrittenOnDelete::To(_),
        span,
    }) = on_delete
        && !machine.has_deletion
    {
        sink.report(
            Finding::new(
                &MISSING_KEY,
                span,
                "`onDelete` names a state, and `machine` has no `deletion`",
            )
            .help("only with `deletion` does a finalizer hold the object"),
        );
    }
    let inherited = machine
        .on_delete
        .unwrap_or(Spanned::new(WrittenOnDelete::Interrupt, span));
    let on_delete = on_delete.unwrap_or(inherited);
    let to = match on_delete.value {
        _ if on_deletion_path => None,
        WrittenOnDelete::To(state) => Some(state),
        _ => machine.machine.deletion.map(|deletion| deletion.value),
    };
    let waits = match on_delete.value {
        WrittenOnDelete::Wait => true,
        // A state that names another one overrides the machine's `wait`: its handler is interrupted.
        WrittenOnDelete::Interrupt | WrittenOnDelete::To(_) => false,
    };
    let rests =
        matches!(kind.value, StateKind::Ready | StateKind::Failed) && effects.value == Effects::Idempotent;
    let wait = wait.or_else(|| {
        rests.then(|| Wait {
            span,
            poll: None,
            watch: default_watch(span),
            is_written: false,
        })
    });
    let mut standard_conditions = StandardConditions::of(kind.value);
    if let Some(ready) = ready {
        standard_conditions.ready = ready;
    }
    State {
        name,
        phase,
        doc,
        message,
        kind,
        next,
        wait,
        timeout,
        retry: (effects.value == Effects::Idempotent).then_some(resolved_retry),
        on_spec_change_of,
        on_spec_change,
        on_delete: Spanned::new(OnDelete { waits, to }, on_delete.span),
        effects,
        resume,
        limit,
        conditions,
        standard_conditions,
        checkpoint: checkpoint.unwrap_or(Spanned::new(true, span)),
        renamed_from,
        legacy,
        group,
        allow,
        on_deletion_path,
        lacks_edges,
    }
}

/// What the retry policy of a state depends on beside the policies that are written.
struct RetryingState {
    id: StateId,
    span: Span,
    kind: StateKind,
    /// Whether the machine's edges to other states apply to the state.
    inherits_edges: bool,
}

/// Each key comes from the state or else from the machine. `then` of the machine does not apply where edges are not
/// inherited, nor to the state that it names.
fn resolve_retry(
    state: &RetryingState,
    machine: &WrittenMachine,
    own: Option<&WrittenRetry>,
    sink: &mut Sink<'_>,
) -> Retry {
    const DEFAULT: krator_runtime::Retry = krator_runtime::Retry::DEFAULT;
    const FINAL_LIMIT: RetryLimit = RetryLimit::Times(krator_runtime::Retry::FINAL_LIMIT);
    let base = machine.retry.as_ref();
    let by_default = base.map_or(state.span, |base| base.span);
    let initial = own
        .and_then(|own| own.initial)
        .or(base.and_then(|base| base.initial))
        .unwrap_or(Spanned::new(DEFAULT.initial, by_default));
    let factor = own
        .and_then(|own| own.factor)
        .or(base.and_then(|base| base.factor))
        .unwrap_or(Spanned::new(DEFAULT.factor, by_default));
    let max = own
        .and_then(|own| own.max)
        .or(base.and_then(|base| base.max))
        .unwrap_or(Spanned::new(initial.value.max(DEFAULT.max), by_default));

    let own_limit = own.and_then(|own| own.limit);
    if state.kind == StateKind::Final {
        let limit = own_limit.unwrap_or(Spanned::new(FINAL_LIMIT, state.span));
        return Retry {
            limit,
            initial,
            factor,
            max,
            then: own.and_then(|own| own.then),
        };
    }
    let inherited_then = base
        .and_then(|base| base.then)
        .filter(|then| state.inherits_edges && then.value != state.id);
    let then = own.and_then(|own| own.then).or(inherited_then);
    let limit = own_limit
        .or(base.and_then(|base| base.limit))
        .unwrap_or(Spanned::new(RetryLimit::Unlimited, by_default));
    if let Some(own) = own {
        let has_then = then.is_some()
            || own.has_then
            || (state.inherits_edges && base.is_some_and(|base| base.has_then && base.then.is_none()));
        judge_retry(own, limit.value, has_then, sink);
    }
    match (limit.value, then) {
        (RetryLimit::Times(_), Some(then)) => Retry {
            limit,
            initial,
            factor,
            max,
            then: Some(then),
        },
        _ => Retry {
            limit: limit.map(|_| RetryLimit::Unlimited),
            initial,
            factor,
            max,
            then: None,
        },
    }
}

/// Reads `properties`.
pub(super) fn properties(node: &Node, table: &mut Table<'_>, sink: &mut Sink<'_>) -> Vec<Property> {
    // A property with an unknown state does not mean that an edge is missing.
    let lacks_edges = table.lacks_edges;
    let mut properties = Vec::new();
    for item in limited_list(node, DocumentKey::Properties, "a list of properties", sink) {
        let Some(mut keys) = Keys::of(item, sink) else {
            continue;
        };
        let span = keys.span();
        let forms: Vec<PropertyKey> = [
            PropertyKey::CanReach,
            PropertyKey::Never,
            PropertyKey::Only,
            PropertyKey::LeadsTo,
        ]
        .into_iter()
        .filter(|key| keys.has(*key))
        .collect();
        let kind = match forms[..] {
            [PropertyKey::CanReach] => {
                let to = keys.read(PropertyKey::CanReach, sink, |node, sink| table.state(node, sink));
                let from = keys
                    .need(PropertyKey::From, sink)
                    .and_then(|node| state_set(node, table, sink));
                from.zip(to).map(|(from, to)| PropertyKind::CanReach { from, to })
            }
            [PropertyKey::LeadsTo] => {
                let state = keys.read(PropertyKey::LeadsTo, sink, |node, sink| table.state(node, sink));
                let from = keys
                    .need(PropertyKey::From, sink)
                    .and_then(|node| state_set(node, table, sink));
                from.zip(state)
                    .map(|(from, state)| PropertyKind::LeadsTo { state, from })
            }
            [PropertyKey::Only] => {
                let state = keys.read(PropertyKey::Only, sink, |node, sink| table.state(node, sink));
                let through = keys
                    .need(PropertyKey::Through, sink)
                    .and_then(|node| table.state(node, sink));
                state
                    .zip(through)
                    .map(|(state, through)| PropertyKind::Only { state, through })
            }
            [PropertyKey::Never] => {
                keys.read(PropertyKey::Never, sink, |node, sink| arrow(node, table, sink))
            }
            _ => {
                let message = "a property has one of `canReach`, `never`, `only` and `leadsTo`";
                sink.error(
                    if forms.is_empty() {
                        &MISSING_KEY
                    } else {
                        &WRONG_TYPE
                    },
                    keys.head(),
                    message,
                );
                keys.skip_known();
                None
            }
        };
        keys.finish(sink);
        properties.extend(kind.map(|kind| Property { span, kind }));
    }
    table.lacks_edges = lacks_edges;
    properties
}

fn state_set(node: &Node, table: &mut Table<'_>, sink: &mut Sink<'_>) -> Option<StateSet> {
    match node.scalar() {
        Some(scalar) if scalar.text == "*" => Some(StateSet::All),
        Some(_) => Some(StateSet::These(vec![table.state(node, sink)?])),
        None => {
            let nodes = list(node, "a list of states, or `\"*\"`", sink);
            if is_empty_list(node) {
                let message = "a property needs at least one state to start from";
                sink.report(
                    Finding::new(&WRONG_TYPE, node.span, message)
                        .did_you_mean(Some("\"*\""))
                        .perhaps(),
                );
            }
            let states: Vec<_> = nodes.iter().filter_map(|node| table.state(node, sink)).collect();
            (states.len() == nodes.len() && !states.is_empty()).then_some(StateSet::These(states))
        }
    }
}

/// `A -> B`.
fn arrow(node: &Node, table: &mut Table<'_>, sink: &mut Sink<'_>) -> Option<PropertyKind> {
    let written = super::nodes::text(node, sink)?;
    let Some((from, to)) = written.value.split_once("->") else {
        let message = format!("expected `A -> B`, found `{}`", shown(&written.value));
        sink.error(&WRONG_TYPE, node.span, message);
        return None;
    };
    let mut end = |name: &str, at: Option<usize>, sink: &mut Sink<'_>| {
        let name = name.trim();
        let start = at.map_or(node.span.start, |at| node.span.start + at);
        let span = Span {
            start,
            end: at.map_or(node.span.end, |_| start + name.len()),
        };
        table.named(name, span, sink)
    };
    let source = sink.source.at(node.span).to_owned();
    let from_at = source.find(from.trim()).filter(|_| !from.trim().is_empty());
    let to_at = source.rfind(to.trim()).filter(|_| !to.trim().is_empty());
    let from = end(from, from_at, sink);
    let to = end(to, to_at, sink);
    Some(PropertyKind::Never { from: from?, to: to? })
}
