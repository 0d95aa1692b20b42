//! `#[derive(Machine)]`: the enum of all states, and the graph.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{
    Data, DeriveInput, Error, Fields, Ident, LitStr, Result, Token, Type, meta::ParseNestedMeta,
    punctuated::Punctuated,
};

/// The arguments of `#[machine(…)]`.
#[derive(Default)]
struct Attributes {
    object_state: Option<Type>,
    initial: Option<Ident>,
    deletion: Option<Ident>,
    finalizer: Option<LitStr>,
    conditions: Vec<LitStr>,
}

impl Attributes {
    fn read(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let Some(name) = meta.path.get_ident() else {
            return Err(meta.error("expected a name"));
        };
        match name.to_string().as_str() {
            "object_state" => self.object_state = Some(meta.value()?.parse()?),
            "initial" => self.initial = Some(meta.value()?.parse()?),
            "deletion" => self.deletion = Some(meta.value()?.parse()?),
            "finalizer" => self.finalizer = Some(meta.value()?.parse()?),
            "conditions" => {
                let types;
                syn::parenthesized!(types in meta.input);
                self.conditions
                    .extend(Punctuated::<LitStr, Token![,]>::parse_terminated(&types)?);
            }
            _ => {
                return Err(
                    meta.error("expected `object_state`, `initial`, `deletion`, `finalizer` or `conditions`")
                );
            }
        }
        Ok(())
    }
}

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let machine = &input.ident;
    let Data::Enum(data) = &input.data else {
        return Err(Error::new_spanned(machine, "a machine is an enum of its states"));
    };
    if let Some(variant) = data
        .variants
        .iter()
        .find(|variant| !matches!(variant.fields, Fields::Unit))
    {
        return Err(Error::new_spanned(variant, "a state carries no data"));
    }
    let states: Vec<&Ident> = data.variants.iter().map(|variant| &variant.ident).collect();
    let count = u16::try_from(states.len())
        .ok()
        .filter(|count| (1..u16::MAX).contains(count));
    let count = count.ok_or_else(|| Error::new_spanned(machine, "a machine has from 1 to 65,534 states"))?;

    let mut attributes = Attributes::default();
    for attribute in input
        .attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("machine"))
    {
        attribute.parse_nested_meta(|meta| attributes.read(&meta))?;
    }
    let lacks = |what: &str| Error::new_spanned(machine, format!("`#[machine({what} = …)]` is missing"));
    let object_state = attributes.object_state.ok_or_else(|| lacks("object_state"))?;
    let initial = attributes.initial.ok_or_else(|| lacks("initial"))?;
    let finalizer = match (&attributes.deletion, attributes.finalizer) {
        (Some(_), None) => return Err(lacks("finalizer")),
        (_, finalizer) => finalizer.map_or_else(String::new, |finalizer| finalizer.value()),
    };
    let named = [Some(&initial), attributes.deletion.as_ref()];
    if let Some(other) = named.into_iter().flatten().find(|name| !states.contains(name)) {
        return Err(Error::new_spanned(
            other,
            format!("`{machine}` has no such state"),
        ));
    }
    let deletion = match &attributes.deletion {
        Some(deletion) => quote!(Some(<#deletion as ::krator_runtime::Node>::ID)),
        None => quote!(None),
    };
    let conditions = &attributes.conditions;
    let ids = 0..count;
    let length = usize::from(count);
    Ok(quote! {
        const _: () = {
            #(impl ::krator_runtime::Node for #states {
                type Machine = #machine;
                const ID: ::krator_runtime::StateId = ::krator_runtime::StateId(#ids);
            })*
            const STATES: &[::krator_runtime::Policy<'static>; #length] =
                &::krator_runtime::Policy::on_deletion_path(
                    [#(<#states as ::krator_runtime::StatePolicy>::POLICY
                        .handler("", <#states as ::krator_runtime::State>::WRITTEN)),*],
                    <#initial as ::krator_runtime::Node>::ID,
                    #deletion,
                );
            static GRAPH: ::krator_runtime::Graph<'static> =
                ::krator_runtime::Graph::new(STATES, <#initial as ::krator_runtime::Node>::ID, #deletion, #finalizer)
                    .conditions(&[#(#conditions),*]);
            impl ::krator_runtime::Machine for #machine {
                type ObjectState = #object_state;
                const GRAPH: &'static ::krator_runtime::Graph<'static> = &GRAPH;
                fn id(self) -> ::krator_runtime::StateId {
                    match self {
                        #(Self::#states => <#states as ::krator_runtime::Node>::ID,)*
                    }
                }
                fn from_id(id: ::krator_runtime::StateId) -> Option<Self> {
                    const ALL: [#machine; #length] = [#(#machine::#states),*];
                    ALL.get(usize::from(id.0)).copied()
                }
                fn run<'a>(self, cx: &'a mut ::krator_runtime::Context<'_, Self>) -> ::krator_runtime::Dispatch<'a> {
                    match self {
                        #(Self::#states => ::krator_runtime::dispatch(#states, cx),)*
                    }
                }
            }
        };
    })
}
