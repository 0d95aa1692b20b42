//! The state machine of a kind: the enum of its states, traits for its edges whose compile errors name the necessary
//! change in `krator.yaml`, and the graph as constants.
//!
//! States are in the order of their names, and lines of `krator.yaml` are not mentioned, so that comments and the order
//! of the states have no influence, and branches that add states merge.

use super::policy::Policies;
use super::{KindNames, doc_attribute, file, kinds, memory_type, spec_digests, state_ident};
use crate::model::{Description, Kind, State, StateKind};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};
use syn::Ident;

/// `src/<kind>/generated/machine.rs`.
pub fn machine(description: &Description, kind: &Kind) -> String {
    let KindNames {
        module,
        machine,
        condition,
        ..
    } = KindNames::of(kind);
    let memory = memory_type(kind);
    let conditions = condition.map(|condition| own_conditions(kind, &condition, &machine));
    let states = crate::machine::states(kind);
    let idents: Vec<Ident> = states.iter().map(|s| state_ident(&s.name.value)).collect();
    let (to, by) = (parameter(kind, "T"), parameter(kind, "S"));
    let edges = states.iter().map(|state| edges(kind, state, (&to, &by)));
    let (retry, policies, graph) = crate::machine::with_graph(kind, |graph| {
        let policies = Policies::of(kind, graph);
        let shared = policies.shared_retry();
        let all = policies.all(shared.as_ref());
        (shared, all, policies.graph())
    });
    let retry = retry.map(|shared| quote!(const RETRY: rt::Retry = #shared;));
    let count = Literal::usize_unsuffixed(kind.states.len());
    let field_values = kinds::field_values(description, kind);
    let spec_digests = spec_digests::spec_digests(description, kind);
    let states_doc = format!(" The states of `{}` objects.", kind.resource.rust_name.value);
    file(&quote! {
        use crate::#module::object::#memory;
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

        #retry
        static STATES: [rt::Policy; #count] = [#(#policies,)*];
        static GRAPH: rt::Graph = #graph;

        impl rt::Machine for #machine {
            type ObjectState = #memory;
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
        kind.resource.rust_name.value
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

/// The name of a type parameter: `wanted`, followed by zeros if a state has that name.
fn parameter(kind: &Kind, wanted: &str) -> Ident {
    let mut name = wanted.to_owned();
    while kind.states.iter().any(|state| state.name.value.as_str() == name) {
        name.push('0');
    }
    format_ident!("{name}")
}

/// The traits of the edges that leave a state. Any other transition is a compile error, whose message names the
/// necessary change in `krator.yaml`.
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
            format!("krator.yaml: `{name}` has no transitions; return `Transition::done()`"),
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
            "return `Transition::done()`".to_owned()
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
