//! The state machine of a kind: the enum of its states, traits for its edges whose compile errors name what to change in
//! `krator.yaml`, and the graph as constants.
//!
//! States are in the order of their names and no line of `krator.yaml` is named, so that a comment or another order of the
//! states changes nothing here, and branches that add states merge.

use super::{KindNames, by_name, file, handlers::handler_file, kinds, state_ident, types::doc_attribute};
use crate::model::{
    ConditionSetting, Description, Effects, FieldPath, Kind, OnSpecChange, Period, Ready, Retry, RetryLimit,
    StandardConditions, State, StateId, StateKind, Times, WatchSource,
};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};
use std::time::Duration;
use syn::Ident;

/// `src/<kind>/generated/machine.rs`.
pub fn machine(description: &Description, kind: &Kind) -> String {
    let KindNames {
        module,
        machine,
        object_state,
        condition,
        ..
    } = KindNames::of(kind);
    let conditions = condition.map(|condition| own_conditions(kind, &condition, &machine));
    let states = by_name(kind);
    let idents: Vec<Ident> = states.iter().map(|s| state_ident(&s.name.value)).collect();
    let (to, by) = (parameter(kind, "T"), parameter(kind, "S"));
    let edges = states.iter().map(|state| edges(kind, state, (&to, &by)));
    let policies = states.iter().map(|state| policy(kind, state));
    let count = Literal::usize_unsuffixed(kind.states.len());
    let id = |state: StateId| id(kind, state);
    let initial = id(kind.machine.initial.value);
    let deletion = option(kind.machine.deletion.as_ref().map(|d| id(d.value)));
    let mut declared: Vec<&str> = kind
        .conditions
        .iter()
        .map(|condition| condition.name.as_str())
        .collect();
    declared.sort_unstable();
    let declared = (!declared.is_empty()).then(|| quote!(.conditions(&[#(#declared),*])));
    let field_values = kinds::field_values(description, kind);
    let spec_digests = kinds::spec_digests(kind);
    let states_doc = format!(" The states of `{}` objects.", kind.resource.kind.value);
    let finalizer = format!("{}/{}", kind.resource.group.value, kind.resource.plural.value);
    file(&quote! {
        use crate::#module::object::#object_state;
        use crate::#module::states::{#(#idents),*};
        use krator_runtime as rt;
        use krator_runtime::{Node as _, State as _};

        #[doc = #states_doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum #machine {
            #(#idents,)*
        }

        #(
            impl rt::Node for #idents {
                type Machine = #machine;
                const ID: rt::StateId = rt::StateId(#machine::#idents as u16);
            }
            #edges
        )*

        static STATES: [rt::Policy; #count] = [#(#policies,)*];
        static GRAPH: rt::Graph = rt::Graph::new(&STATES, #initial, #deletion, #finalizer) #declared;

        impl rt::Machine for #machine {
            type ObjectState = #object_state;
            const GRAPH: &'static rt::Graph<'static> = &GRAPH;
            fn id(self) -> rt::StateId {
                rt::StateId(self as u16)
            }
            fn from_id(id: rt::StateId) -> Option<Self> {
                const ALL: [#machine; #count] = [#(#machine::#idents,)*];
                ALL.get(usize::from(id.0)).copied()
            }
            #field_values
            #spec_digests
            fn run<'a>(self, cx: &'a mut rt::Context<'_, Self>) -> rt::Dispatch<'a> {
                match self {
                    #(Self::#idents => rt::dispatch(#idents, cx),)*
                }
            }
        }
        #conditions
    })
}

/// The enum of the kind's own conditions.
fn own_conditions(kind: &Kind, name: &Ident, machine: &Ident) -> TokenStream {
    let types = kind.condition_types();
    let docs = types.iter().map(|name| {
        let declared = kind.conditions.iter().find(|c| c.name.as_str() == *name);
        doc_attribute(declared.map(|c| c.doc.value.as_str()))
    });
    let variants: Vec<Ident> = types
        .iter()
        // `Self` cannot be a raw identifier. No condition has a `_` in its name.
        .map(|name| {
            if *name == "Self" {
                format_ident!("Self_")
            } else {
                format_ident!("{name}")
            }
        })
        .collect();
    let about = format!(
        " The conditions of `{}` objects beside Ready, Reconciling and Stalled; [`rt::Context::set`] sets them.",
        kind.resource.kind.value
    );
    quote! {
        #[doc = #about]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum #name {
            #(#docs #variants,)*
        }

        impl rt::OwnCondition for #name {
            type Machine = #machine;
            fn name(self) -> &'static str {
                match self {
                    #(Self::#variants => #types,)*
                }
            }
        }
    }
}

/// The name of a type parameter: `wanted`, with zeros behind it if a state has that name.
fn parameter(kind: &Kind, wanted: &str) -> Ident {
    let mut name = wanted.to_owned();
    while kind.states.iter().any(|state| state.name.value.as_str() == name) {
        name.push('0');
    }
    format_ident!("{name}")
}

/// The traits of the edges that leave a state. A transition that is none of them is a compile error, whose message says
/// what to change in `krator.yaml`.
fn edges(kind: &Kind, state: &State, (to, by): (&Ident, &Ident)) -> TokenStream {
    let (me, name) = (state_ident(&state.name.value), state.name.value.as_str());
    let machine = KindNames::of(kind).machine;
    let targets: Vec<Ident> = state
        .next
        .iter()
        .map(|n| state_ident(&kind.state(n.to.value).name.value))
        .collect();
    let now: Vec<String> = targets.iter().map(ToString::to_string).collect();
    let is_final = state.kind.value == StateKind::Final;

    let (label, note) = if is_final {
        (
            format!("`{name}` is final"),
            format!("krator.yaml: `{name}` leads nowhere; answer with `Transition::done()`"),
        )
    } else if now.is_empty() {
        (
            format!("`{name}` has no `next`"),
            format!("krator.yaml: give `{name}` a `next` with this state, then run `krator gen`"),
        )
    } else {
        let now = now.join(", ");
        (
            format!("not in `next` of `{name}`"),
            format!("krator.yaml: add the state to `next` of `{name}` (now: {now}), then run `krator gen`"),
        )
    };
    let next = format_ident!("NextOf{}", name);
    let message = format!("the state graph has no transition from `{name}` to `{{Self}}`");
    let nobody = |of: &Ident| {
        quote! {
            #[diagnostic::do_not_recommend]
            impl #of for rt::Never<#machine> {}
        }
    };
    // rustc names a sole implementor instead of printing our note; a second, hidden implementor prevents that.
    let nobody_else = (targets.len() < 2).then(|| nobody(&next));
    let implementors = quote!(#(impl #next for #targets {})* #nobody_else);
    let transitions = quote! {
        #[diagnostic::on_unimplemented(message = #message, label = #label, note = #note)]
        pub trait #next: rt::Node<Machine = #machine> {}
        #implementors
        impl<#to: #next> rt::TransitionTo<#to> for #me {}
    };

    let stay = if state.may_stay() {
        quote!(impl rt::MayStay for #me {})
    } else {
        let wait = format_ident!("WaitOf{}", name);
        let message = format!("the state `{name}` may not stay");
        let label = format!("`{name}` has no `wait`");
        let way = if is_final {
            "answer with `Transition::done()`".to_owned()
        } else {
            format!(
                "give `{name}` a `wait` and run `krator gen`, or go on to {}",
                now.join(", ")
            )
        };
        let note = format!("krator.yaml: {way}");
        let nobody = nobody(&wait);
        quote! {
            #[diagnostic::on_unimplemented(message = #message, label = #label, note = #note)]
            pub trait #wait {}
            #nobody
            impl<#by: #wait> rt::MayStay<#by> for #me {}
        }
    };
    let done = is_final.then(|| quote!(impl rt::Final for #me {}));
    quote!(#transitions #stay #done)
}

fn policy(kind: &Kind, state: &State) -> TokenStream {
    // This names every field of a state, so that a new one does not compile until somebody has decided where it belongs,
    // and those that belong into the policy are bound, so that the compiler warns of one that is not used.
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
    if let Some(retry) = retry
        .as_ref()
        .and_then(|policy| self::retry(kind, policy, state_kind.value))
    {
        add(quote!(retry(#retry)));
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

/// `None` if the policy is the runtime's default.
fn retry(kind: &Kind, retry: &Retry, of: StateKind) -> Option<TokenStream> {
    let default = krator_runtime::Retry::DEFAULT;
    let default = (default.initial, default.factor, default.max);
    let backoff = (retry.initial.value, retry.factor.value, retry.max.value);
    let mut tokens = quote!(rt::Retry::DEFAULT);
    let mut is_default = true;
    if backoff != default {
        let (initial, factor, max) = (
            duration(backoff.0),
            Literal::f64_unsuffixed(backoff.1),
            duration(backoff.2),
        );
        tokens.extend(quote!(.backoff(#initial, #factor, #max)));
        is_default = false;
    }
    match (retry.limit.value, &retry.then) {
        (RetryLimit::Times(limit), Some(then)) => {
            let (limit, then) = (Literal::u32_unsuffixed(limit), id(kind, then.value));
            tokens.extend(quote!(.limit(#limit, #then)));
            is_default = false;
        }
        (RetryLimit::Times(limit), None) => {
            let limit = Literal::u32_unsuffixed(limit);
            tokens.extend(quote!(.at_most(#limit)));
            is_default = false;
        }
        (RetryLimit::Unlimited, _) if of == StateKind::Final => {
            // By default the retries of a final state are limited, so "no limit" is written as the largest one.
            tokens.extend(quote!(.at_most(u32::MAX)));
            is_default = false;
        }
        (RetryLimit::Unlimited, _) => {}
    }
    (!is_default).then_some(tokens)
}

/// The number by which the graph refers to a field.
fn field_number(kind: &Kind, path: &FieldPath) -> Literal {
    let at = kinds::field_paths(kind).iter().position(|known| *known == path);
    Literal::usize_unsuffixed(at.unwrap_or_default())
}

fn id(kind: &Kind, state: StateId) -> TokenStream {
    let name = state_ident(&kind.state(state).name.value);
    quote!(#name::ID)
}

fn option(tokens: Option<TokenStream>) -> TokenStream {
    tokens.map_or_else(|| quote!(None), |tokens| quote!(Some(#tokens)))
}

fn duration(duration: Duration) -> TokenStream {
    if duration.subsec_nanos() == 0 {
        let seconds = Literal::u64_unsuffixed(duration.as_secs());
        quote!(std::time::Duration::from_secs(#seconds))
    } else if duration.subsec_nanos().is_multiple_of(1_000_000) {
        let millis = Literal::u128_unsuffixed(duration.as_millis());
        quote!(std::time::Duration::from_millis(#millis))
    } else {
        let (seconds, nanos) = (
            Literal::u64_unsuffixed(duration.as_secs()),
            Literal::u32_unsuffixed(duration.subsec_nanos()),
        );
        quote!(std::time::Duration::new(#seconds, #nanos))
    }
}
