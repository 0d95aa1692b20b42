//! `#[derive(TransitionTo)]`: one state, its edges and its policy.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{
    Data, DeriveInput, Error, Ident, Path, Result, Token,
    ext::IdentExt as _,
    parse::{Parse, ParseStream},
    punctuated::Punctuated,
};

/// An item of `#[state(…)]`.
struct Item {
    name: Ident,
    /// The arguments, if the item is a method call.
    arguments: Option<TokenStream>,
}

impl Parse for Item {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        // `final` is a reserved word.
        let name = input.call(Ident::parse_any)?;
        let arguments = if input.peek(syn::token::Paren) {
            let arguments;
            syn::parenthesized!(arguments in input);
            Some(arguments.parse()?)
        } else {
            None
        };
        Ok(Self { name, arguments })
    }
}

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let is_unit = matches!(&input.data, Data::Struct(data) if data.fields.is_empty());
    if !is_unit || !input.generics.params.is_empty() {
        let message = "a state is a struct without fields: keep data in the object state or in the status";
        return Err(Error::new_spanned(&input.ident, message));
    }
    let (mut next, mut items) = (Vec::<Path>::new(), Vec::<Item>::new());
    for attribute in &input.attrs {
        if attribute.path().is_ident("transition_to") {
            next.extend(attribute.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated)?);
        } else if attribute.path().is_ident("state") {
            items.extend(attribute.parse_args_with(Punctuated::<Item, Token![,]>::parse_terminated)?);
        }
    }
    let (mut kind, mut calls) = (None, Vec::new());
    for Item { name, arguments } in &items {
        if let Some(arguments) = arguments {
            calls.push(quote!(.#name(#arguments)));
            continue;
        }
        let of_name = match name.to_string().as_str() {
            "ready" => quote!(Ready),
            "failed" => quote!(Failed),
            "final" => quote!(Final),
            _ => {
                let message =
                    "expected `ready`, `failed`, `final`, or a method of `Policy` with its arguments";
                return Err(Error::new_spanned(name, message));
            }
        };
        if kind.replace((name, of_name)).is_some() {
            return Err(Error::new_spanned(name, "a state has one kind"));
        }
    }
    let calls_any = |names: &[&str]| {
        items
            .iter()
            .any(|item| names.iter().any(|name| item.name == name))
    };
    let rests = kind.as_ref().is_some_and(|(name, _)| *name != "final");
    let is_final = kind.as_ref().is_some_and(|(name, _)| *name == "final");
    let waits = calls_any(&["poll", "poll_from_field", "watch"]);
    if let Some((name, kind)) = kind {
        calls.push(quote!(.kind(::krator_runtime::StateKind::#kind)));
        if rests && !waits {
            calls.push(quote!(.watch(&[::krator_runtime::Watch::Owned, ::krator_runtime::Watch::Watched])));
        }
        if is_final && (waits || !next.is_empty()) {
            return Err(Error::new_spanned(
                name,
                "a final state leads nowhere and waits for nothing",
            ));
        }
    }
    let state = &input.ident;
    let name = state.unraw().to_string();
    let edges = edges(state, &name, &next);
    let wait = wait(state, &name, rests || waits, is_final);
    let done = is_final.then(|| quote!(impl ::krator_runtime::Final for #state {}));
    Ok(quote! {
        const _: () = {
            impl ::krator_runtime::StatePolicy for #state {
                const POLICY: ::krator_runtime::Policy<'static> =
                    ::krator_runtime::Policy::new(#name).next(&[#(<#next as ::krator_runtime::Node>::ID),*]) #(#calls)*;
            }
            #edges
            #wait
            #done
        };
    })
}

/// The edges that the handler may choose. They are implementations of a trait of the state itself, so that the
/// compiler's message can name the state that lacks one.
fn edges(state: &Ident, name: &str, next: &[Path]) -> TokenStream {
    // A name that cannot collide with a type of the author.
    let next_of = format_ident!("__NextOf{name}");
    let message = format!("the state graph has no transition from `{name}` to `{{Self}}`");
    let label = format!("not in `transition_to` of `{name}`");
    let names: Vec<String> = next
        .iter()
        .map(|path| quote!(#path).to_string().replace(' ', ""))
        .collect();
    let now = if names.is_empty() {
        "nothing".to_owned()
    } else {
        names.join(", ")
    };
    let note = format!("add the state to `#[transition_to(…)]` of `{name}` (now: {now})");
    quote! {
        #[diagnostic::on_unimplemented(message = #message, label = #label, note = #note)]
        pub trait #next_of: ::krator_runtime::Node<Machine = <#state as ::krator_runtime::Node>::Machine> {}
        #(impl #next_of for #next {})*
        #[diagnostic::do_not_recommend]
        impl #next_of for ::krator_runtime::Never<<#state as ::krator_runtime::Node>::Machine> {}
        impl<T: #next_of> ::krator_runtime::TransitionTo<T> for #state {}
    }
}

/// Whether the handler may stay.
fn wait(state: &Ident, name: &str, may_stay: bool, is_final: bool) -> TokenStream {
    if may_stay {
        return quote!(impl ::krator_runtime::MayStay for #state {});
    }
    let wait_of = format_ident!("__WaitOf{name}");
    let message = format!("the state `{name}` may not stay");
    let label = format!("`{name}` has no `poll` and no `watch`");
    let note = if is_final {
        "return `Transition::done()`".to_owned()
    } else {
        format!("add `poll(…)` or `watch(…)` to `#[state(…)]` of `{name}`")
    };
    quote! {
        #[diagnostic::on_unimplemented(message = #message, label = #label, note = #note)]
        pub trait #wait_of {}
        #[diagnostic::do_not_recommend]
        impl #wait_of for ::krator_runtime::Never<<#state as ::krator_runtime::Node>::Machine> {}
        impl<S: #wait_of> ::krator_runtime::MayStay<S> for #state {}
    }
}
