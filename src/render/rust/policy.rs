//! The policies of the states, as constants of the generated machine.

use super::{duration, handlers::handler_file, state_ident};
use crate::model::{Kind, State, WatchSource};
use krator_machine::graph::{
    Effects, Graph, OnDelete, OnSpecChange, Period, Policy, Recurrence, Retry, StateId, StateKind, Text,
    Timeout, Times,
};
use proc_macro2::{Literal, TokenStream};
use quote::quote;
use std::collections::BTreeMap;
use syn::Ident;

/// The policies of a kind, in the order of the numbers of its states, as expressions.
pub(super) struct Policies<'a> {
    kind: &'a Kind,
    states: Vec<&'a State>,
    graph: &'a Graph<'a>,
}

impl<'a> Policies<'a> {
    /// The policies of a kind, whose graph this is.
    pub(super) fn of(kind: &'a Kind, graph: &'a Graph<'a>) -> Self {
        let states = crate::machine::states(kind);
        Self { kind, states, graph }
    }

    /// The constant with the number of a state.
    pub(super) fn id(&self, state: StateId) -> TokenStream {
        let name = self.ident(state);
        quote!(#name::ID)
    }

    fn ident(&self, state: StateId) -> Ident {
        state_ident(&self.states[usize::from(state.0)].name.value)
    }

    /// The graph, with `STATES` as its policies.
    pub(super) fn graph(&self) -> TokenStream {
        // This names every field of a graph, as below.
        let Graph {
            states: _,
            initial,
            deletion,
            finalizer,
            conditions,
            objectives,
            limits,
            ..
        } = self.graph;
        let initial = self.id(*initial);
        let deletion = match deletion.map(|state| self.id(state)) {
            Some(deletion) => quote!(Some(#deletion)),
            None => quote!(None),
        };
        let mut tokens = quote!(rt::Graph::new(&STATES, #initial, #deletion, #finalizer));
        if !conditions.is_empty() {
            tokens.extend(quote!(.conditions(&[#(#conditions),*])));
        }
        if !objectives.is_empty() {
            let objectives = objectives.iter().map(|objective| {
                let (from, to) = (self.id(objective.from), self.id(objective.to));
                let within = duration(objective.within);
                quote!(rt::Objective::new(#from, #to, #within))
            });
            tokens.extend(quote!(.objectives(&[#(#objectives),*])));
        }
        if !limits.is_empty() {
            let limits = limits.iter().map(|limit| {
                let states = limit.states.iter().map(|state| self.id(*state));
                let (name, most) = (limit.name, Literal::u32_unsuffixed(limit.at_most));
                let per = limit.per.map(Literal::u16_unsuffixed);
                let per = per.map(|field| quote!(.per_field(#field)));
                quote!(rt::Limit::new(#name, &[#(#states),*], #most)#per)
            });
            tokens.extend(quote!(.limits(&[#(#limits),*])));
        }
        tokens
    }

    /// All policies. `shared_retry` is the result of [`shared_retry`](Self::shared_retry).
    pub(super) fn all(&self, shared_retry: Option<&TokenStream>) -> Vec<TokenStream> {
        let policies = self.states.iter().zip(self.graph.states);
        policies
            .map(|(state, policy)| self.policy(state, policy, shared_retry))
            .collect()
    }

    fn policy(&self, state: &State, policy: &Policy<'_>, shared_retry: Option<&TokenStream>) -> TokenStream {
        // This names every field of a policy, so that the code does not compile until a new field is handled.
        let Policy {
            name,
            renamed_from,
            phase,
            message,
            kind,
            next,
            wait,
            timeout,
            retry,
            limit,
            during,
            needs_approval,
            effects,
            resume,
            on_spec_change,
            on_spec_change_of,
            on_delete,
            deletion_path,
            conditions,
            checkpoint,
            // The path of the handler is in the generated code, and the handler itself states whether it is written.
            file: _,
            written: _,
        } = policy;
        let mut tokens = quote!(rt::Policy::new(#name));
        let mut add = |call: TokenStream| tokens.extend(quote!(.#call));
        if !renamed_from.is_empty() {
            add(quote!(renamed_from(&[#(#renamed_from),*])));
        }
        if let Some(phase) = phase {
            add(quote!(phase(#phase)));
        }
        if !message.is_empty() {
            add(quote!(message(#message)));
        }
        match kind {
            StateKind::Working => {}
            StateKind::Ready => add(quote!(kind(rt::StateKind::Ready))),
            StateKind::Failed => add(quote!(kind(rt::StateKind::Failed))),
            StateKind::Final => add(quote!(kind(rt::StateKind::Final))),
        }
        if !next.is_empty() {
            let next = next.iter().map(|next| self.id(*next));
            add(quote!(next(&[#(#next),*])));
        }
        match wait.poll {
            Some(Period::Fixed(every)) => {
                let every = duration(every);
                add(quote!(poll(#every)));
            }
            Some(Period::FromField(field)) => {
                let field = Literal::u16_unsuffixed(field);
                add(quote!(poll_from_field(#field)));
            }
            None => {}
        }
        if !wait.watch.is_empty() {
            // The graph does not distinguish the kinds.
            let sources = state.wait.iter().flat_map(|wait| &wait.watch);
            let sources = sources.map(|source| source_of(&source.value));
            add(quote!(watch(&[#(#sources),*])));
        }
        if let Some((timeout, to)) = timeout {
            let to = self.id(*to);
            match timeout {
                Timeout::After(Period::Fixed(after)) => {
                    let after = duration(*after);
                    add(quote!(timeout(#after, #to)));
                }
                Timeout::After(Period::FromField(field)) => {
                    let field = Literal::u16_unsuffixed(*field);
                    add(quote!(timeout_from_field(#field, #to)));
                }
                Timeout::At(starts, deadline) => {
                    let starts = recurrence(starts);
                    let deadline = match deadline.map(period) {
                        Some(deadline) => quote!(Some(#deadline)),
                        None => quote!(None),
                    };
                    add(quote!(timeout_at(#starts, #deadline, #to)));
                }
            }
        }
        if let Some(retry) = self.retry(retry) {
            let is_shared = shared_retry.is_some_and(|shared| shared.to_string() == retry.to_string());
            add(if is_shared {
                quote!(retry(RETRY))
            } else {
                quote!(retry(#retry))
            });
        }
        if let Some((times, then)) = limit {
            let then = self.id(*then);
            match times {
                Times::Fixed(times) => {
                    let times = Literal::u32_unsuffixed(*times);
                    add(quote!(limit(#times, #then)));
                }
                Times::FromField(field) => {
                    let field = Literal::u16_unsuffixed(*field);
                    add(quote!(limit_from_field(#field, #then)));
                }
            }
        }
        if let Some(window) = during {
            let (starts, length) = (recurrence(&window.starts), period(window.duration));
            add(quote!(during(rt::Window::new(#starts, #length))));
        }
        if *needs_approval {
            add(quote!(needs_approval()));
        }
        if *effects == Effects::Once {
            add(quote!(once()));
        }
        if let Some(resume) = resume {
            let resume = self.id(*resume);
            add(quote!(resume(#resume)));
        }
        if !on_spec_change_of.is_empty() {
            let changes = on_spec_change_of.iter().map(|change| {
                let (paths, does) = (change.of, self.reaction(change.does));
                quote!(rt::SpecChange { of: &[#(#paths),*], does: #does })
            });
            add(quote!(on_spec_change_of(&[#(#changes),*])));
        }
        if *on_spec_change != OnSpecChange::Wake {
            let does = self.reaction(*on_spec_change);
            add(quote!(on_spec_change(#does)));
        }
        match on_delete {
            OnDelete::Interrupt => {}
            OnDelete::Wait => add(quote!(on_delete(rt::OnDelete::Wait))),
            OnDelete::To(to) => {
                let to = self.id(*to);
                add(quote!(on_delete(rt::OnDelete::To(#to))));
            }
        }
        if *deletion_path {
            add(quote!(deletion_path()));
        }
        if !conditions.is_empty() {
            let conditions = conditions.iter().map(|(kind, status)| quote!((#kind, #status)));
            add(quote!(conditions(&[#(#conditions),*])));
        }
        if !checkpoint {
            add(quote!(no_checkpoint()));
        }
        let (file, me) = (handler_file(self.kind, state), state_ident(&state.name.value));
        add(quote!(handler(#file, #me::WRITTEN)));
        tokens
    }

    fn reaction(&self, does: OnSpecChange) -> TokenStream {
        match does {
            OnSpecChange::Wake => quote!(rt::OnSpecChange::Wake),
            OnSpecChange::Ignore => quote!(rt::OnSpecChange::Ignore),
            OnSpecChange::To(to) => {
                let to = self.id(to);
                quote!(rt::OnSpecChange::To(#to))
            }
        }
    }

    /// The retries that most states have, if they are not the runtime's default and several states have them. They are
    /// a constant of the generated machine.
    pub(super) fn shared_retry(&self) -> Option<TokenStream> {
        let mut counted: BTreeMap<String, (usize, TokenStream)> = BTreeMap::new();
        for retry in self
            .graph
            .states
            .iter()
            .filter_map(|policy| self.retry(&policy.retry))
        {
            counted.entry(retry.to_string()).or_insert((0, retry)).0 += 1;
        }
        let most = counted.into_values().max_by_key(|(count, _)| *count);
        most.filter(|(count, _)| *count > 1).map(|(_, retry)| retry)
    }

    /// The retries of a state; `None` if they are the runtime's default.
    fn retry(&self, retry: &Retry) -> Option<TokenStream> {
        let default = Retry::DEFAULT;
        let mut tokens = quote!();
        if (retry.initial, retry.factor, retry.max) != (default.initial, default.factor, default.max) {
            let (initial, factor, max) = (
                duration(retry.initial),
                Literal::f64_unsuffixed(retry.factor),
                duration(retry.max),
            );
            tokens.extend(quote!(.backoff(#initial, #factor, #max)));
        }
        match (retry.limit, retry.then) {
            (Some(limit), Some(then)) => {
                let (limit, then) = (Literal::u32_unsuffixed(limit), self.id(then));
                tokens.extend(quote!(.limit(#limit, #then)));
            }
            (Some(u32::MAX), None) => tokens.extend(quote!(.at_most(u32::MAX))),
            (Some(limit), None) => {
                let limit = Literal::u32_unsuffixed(limit);
                tokens.extend(quote!(.at_most(#limit)));
            }
            (None, _) => {}
        }
        (!tokens.is_empty()).then(|| quote!(rt::Retry::DEFAULT #tokens))
    }
}

fn recurrence(starts: &Recurrence<'_>) -> TokenStream {
    let schedule = text(&starts.schedule);
    let zone = starts.time_zone.as_ref().map(text);
    let zone = zone.map(|zone| quote!(.time_zone(#zone)));
    quote!(rt::Recurrence::new(#schedule)#zone)
}

fn text(text: &Text<'_>) -> TokenStream {
    match text {
        Text::Fixed(text) => quote!(rt::Text::Fixed(#text)),
        Text::FromField(field) => {
            let field = Literal::u16_unsuffixed(*field);
            quote!(rt::Text::FromField(#field))
        }
    }
}

fn period(period: Period) -> TokenStream {
    match period {
        Period::Fixed(time) => {
            let time = duration(time);
            quote!(rt::Period::Fixed(#time))
        }
        Period::FromField(field) => {
            let field = Literal::u16_unsuffixed(field);
            quote!(rt::Period::FromField(#field))
        }
    }
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
