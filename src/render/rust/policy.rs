//! The policy of each state in the graph of the generated machine.

use super::{duration, handlers::handler_file, kinds, state_ident};
use crate::model::{
    ConditionSetting, Effects, FieldPath, Kind, OnSpecChange, Period, Ready, Retry, RetryLimit,
    StandardConditions, State, StateId, StateKind, Times, WatchSource,
};
use proc_macro2::{Literal, TokenStream};
use quote::quote;
use std::collections::BTreeMap;

/// The policy of a state. `shared_retry` is that of [`shared_retry`].
pub(super) fn policy(kind: &Kind, state: &State, shared_retry: Option<&TokenStream>) -> TokenStream {
    // This names every field of a state, so that a new one does not compile until somebody has decided where it belongs,
    // and the fields of the policy are bound, so that the compiler warns of one that is not used.
    let State {
        name,
        renamed_from,
        phase,
        message,
        kind: state_kind,
        next,
        wait,
        timeout,
        retry,
        limit,
        effects,
        resume,
        on_spec_change_of,
        on_spec_change,
        on_delete,
        on_deletion_path,
        conditions,
        standard_conditions,
        checkpoint,
        // For people, or for krator itself.
        doc: _,
        group: _,
        legacy: _,
        allow: _,
        lacks_edges: _,
    } = state;
    let me = state_ident(&name.value);
    let name = name.value.as_str();
    let mut policy = quote!(rt::Policy::new(#name));
    let mut add = |call: TokenStream| policy.extend(quote!(.#call));
    let id = |state: StateId| id(kind, state);
    if !renamed_from.is_empty() {
        let names = renamed_from.iter().map(|n| n.value.as_str());
        add(quote!(renamed_from(&[#(#names),*])));
    }
    if let Some(phase) = phase.as_ref().map(|phase| &phase.value) {
        add(quote!(phase(#phase)));
    }
    if let Some(message) = message.as_ref().map(|m| &m.value).filter(|m| !m.is_empty()) {
        add(quote!(message(#message)));
    }
    match state_kind.value {
        StateKind::Working => {}
        StateKind::Ready => add(quote!(kind(rt::StateKind::Ready))),
        StateKind::Failed => add(quote!(kind(rt::StateKind::Failed))),
        StateKind::Final => add(quote!(kind(rt::StateKind::Final))),
    }
    if !next.is_empty() {
        let next = next.iter().map(|n| id(n.to.value));
        add(quote!(next(&[#(#next),*])));
    }
    if let Some(wait) = wait {
        match wait.poll.as_ref().map(|poll| &poll.value) {
            Some(Period::Fixed(every)) => {
                let every = duration(*every);
                add(quote!(poll(#every)));
            }
            Some(Period::Field(field)) => {
                let field = field_number(kind, &field.path);
                add(quote!(poll_from_field(#field)));
            }
            None => {}
        }
        let sources = wait.watch.iter().map(|w| source_of(&w.value));
        if !wait.watch.is_empty() {
            add(quote!(watch(&[#(#sources),*])));
        }
    }
    if let Some(timeout) = timeout {
        let to = id(timeout.to.value);
        match &timeout.after.value {
            Period::Fixed(after) => {
                let after = duration(*after);
                add(quote!(timeout(#after, #to)));
            }
            Period::Field(field) => {
                let field = field_number(kind, &field.path);
                add(quote!(timeout_from_field(#field, #to)));
            }
        }
    }
    let retry = retry
        .as_ref()
        .and_then(|retry| self::retry(kind, retry, state_kind.value));
    if let Some(retry) = retry {
        let is_shared = shared_retry.is_some_and(|shared| shared.to_string() == retry.to_string());
        add(if is_shared {
            quote!(retry(RETRY))
        } else {
            quote!(retry(#retry))
        });
    }
    if let Some(limit) = limit {
        let then = id(limit.then.value);
        match &limit.times.value {
            Times::Number(times) => {
                let times = Literal::u32_unsuffixed(*times);
                add(quote!(limit(#times, #then)));
            }
            Times::Field(path) => {
                let field = field_number(kind, path);
                add(quote!(limit_from_field(#field, #then)));
            }
        }
    }
    if effects.value == Effects::Once {
        add(quote!(once()));
    }
    if let Some(resume) = resume {
        let resume = id(resume.value);
        add(quote!(resume(#resume)));
    }
    let reaction = |does: OnSpecChange| match does {
        OnSpecChange::Wake => quote!(rt::OnSpecChange::Wake),
        OnSpecChange::Ignore => quote!(rt::OnSpecChange::Ignore),
        OnSpecChange::Enter(to) => {
            let to = id(to);
            quote!(rt::OnSpecChange::To(#to))
        }
    };
    if !on_spec_change_of.is_empty() {
        let changes = on_spec_change_of.iter().map(|change| {
            let paths = change.of.iter().map(|path| path.value.to_string());
            let does = reaction(change.does.value);
            quote!(rt::SpecChange { of: &[#(#paths),*], does: #does })
        });
        add(quote!(on_spec_change_of(&[#(#changes),*])));
    }
    if on_spec_change.value != OnSpecChange::Wake {
        let does = reaction(on_spec_change.value);
        add(quote!(on_spec_change(#does)));
    }
    let elsewhere = on_delete
        .value
        .to
        .filter(|to| kind.machine.deletion.as_ref().map(|d| d.value) != Some(*to));
    if on_delete.value.waits {
        add(quote!(on_delete(rt::OnDelete::Wait)));
    } else if let Some(to) = elsewhere {
        let to = id(to);
        add(quote!(on_delete(rt::OnDelete::To(#to))));
    }
    if *on_deletion_path {
        add(quote!(deletion_path()));
    }
    let conditions = self::conditions(conditions, standard_conditions);
    if !conditions.is_empty() {
        add(quote!(conditions(&[#(#conditions),*])));
    }
    if !checkpoint.value {
        add(quote!(no_checkpoint()));
    }
    let file = handler_file(kind, state);
    add(quote!(handler(#file, #me::WRITTEN)));
    policy
}

/// The conditions that the description sets in a state, in addition to those that follow from its kind.
fn conditions(set: &[ConditionSetting], standard: &StandardConditions) -> Vec<TokenStream> {
    let keep = (standard.ready == Ready::Keep).then(|| quote!(("Ready", "keep")));
    let set = set.iter().map(|condition| {
        let (kind, status) = (condition.name.value.as_str(), condition.status.value.as_str());
        quote!((#kind, #status))
    });
    keep.into_iter().chain(set).collect()
}

fn source_of(source: &WatchSource) -> TokenStream {
    match source {
        WatchSource::Itself => quote!(rt::Watch::Itself),
        WatchSource::Owned => quote!(rt::Watch::Owned),
        WatchSource::Watched => quote!(rt::Watch::Watched),
        WatchSource::Kind(kind) => {
            let reference = kind.reference();
            quote!(rt::Watch::Kind(#reference))
        }
    }
}

/// The retries that most states have, if they are not the runtime's default and several states have them. The generated
/// machine has them as a constant.
pub(super) fn shared_retry(kind: &Kind) -> Option<TokenStream> {
    let mut counted: BTreeMap<String, (usize, TokenStream)> = BTreeMap::new();
    for state in &kind.states {
        let retry = state
            .retry
            .as_ref()
            .and_then(|retry| self::retry(kind, retry, state.kind.value));
        if let Some(retry) = retry {
            counted.entry(retry.to_string()).or_insert((0, retry)).0 += 1;
        }
    }
    let most = counted.into_values().max_by_key(|(count, _)| *count);
    most.filter(|(count, _)| *count > 1).map(|(_, retry)| retry)
}

/// `None` if the policy is the runtime's default.
fn retry(kind: &Kind, retry: &Retry, of: StateKind) -> Option<TokenStream> {
    let default = krator_machine::graph::Retry::DEFAULT;
    let default = (default.initial, default.factor, default.max);
    let backoff = (retry.initial.value, retry.factor.value, retry.max.value);
    let mut tokens = quote!();
    if backoff != default {
        let (initial, factor, max) = (
            duration(backoff.0),
            Literal::f64_unsuffixed(backoff.1),
            duration(backoff.2),
        );
        tokens.extend(quote!(.backoff(#initial, #factor, #max)));
    }
    match (retry.limit.value, &retry.then) {
        (RetryLimit::Times(limit), Some(then)) => {
            let (limit, then) = (Literal::u32_unsuffixed(limit), id(kind, then.value));
            tokens.extend(quote!(.limit(#limit, #then)));
        }
        (RetryLimit::Times(limit), None) => {
            let limit = Literal::u32_unsuffixed(limit);
            tokens.extend(quote!(.at_most(#limit)));
        }
        (RetryLimit::Unlimited, _) if of == StateKind::Final => {
            // By default the retries of a final state are limited, so "no limit" is written as the largest one.
            tokens.extend(quote!(.at_most(u32::MAX)));
        }
        (RetryLimit::Unlimited, _) => {}
    }
    (!tokens.is_empty()).then(|| quote!(rt::Retry::DEFAULT #tokens))
}

/// The number by which the graph refers to a field.
fn field_number(kind: &Kind, path: &FieldPath) -> Literal {
    let at = kinds::field_paths(kind).iter().position(|known| *known == path);
    Literal::usize_unsuffixed(at.unwrap_or_default())
}

/// The constant with the number of a state.
pub(super) fn id(kind: &Kind, state: StateId) -> TokenStream {
    let name = state_ident(&kind.state(state).name.value);
    quote!(#name::ID)
}
