//! The functions of the author that convert values between versions: how they begin, and how the runtime calls them.

use krator_runtime::versions::{Step, path_text};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use std::collections::BTreeSet;
use syn::Ident;

use super::{KindNames, doc_text, ident, types::type_in};
use crate::model::{Description, Kind};
use crate::names::snake;
use crate::versions::{Custom, customs};

/// A pair of functions.
struct Pair<'a> {
    custom: Custom<'a>,
    /// To the newer version.
    from: Ident,
    /// To the older version.
    to: Ident,
}

fn pairs<'a>(description: &'a Description, kind: &'a Kind) -> Vec<Pair<'a>> {
    let mut taken = BTreeSet::new();
    let pair = |custom: Custom<'a>| {
        let wanted = name(custom.at);
        let mut name = wanted.clone();
        let mut number = 2;
        while !taken.insert(format!("{name}_{}", custom.version)) {
            name = format!("{wanted}_{number}");
            number += 1;
        }
        Pair {
            from: format_ident!("{name}_from_{}", custom.version),
            to: format_ident!("{name}_to_{}", custom.version),
            custom,
        }
    };
    customs(description, kind).map(pair).collect()
}

/// The name of a value after its path below `.spec`, as the beginning of an identifier.
fn name(path: &[Step]) -> String {
    let steps = path.iter().skip(1).map(|step| match step {
        Step::Field(name) => name.clone(),
        Step::Index(at) => at.to_string(),
        Step::Each => "each".to_owned(),
    });
    let text = snake(&steps.collect::<Vec<_>>().join("_"));
    let text: String = text
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    match text.starts_with(|c: char| c.is_ascii_alphabetic()) {
        true => text,
        false => format!("value_{text}"),
    }
}

/// Whether functions of the author convert values of a kind.
pub(crate) fn has_conversions(description: &Description, kind: &Kind) -> bool {
    customs(description, kind).next().is_some()
}

/// `src/<kind>/conversions.rs`: functions that refuse, so that a fallback is in the place of the value until they are written.
pub(crate) fn conversions(description: &Description, kind: &Kind) -> String {
    let name = kind.resource.kind.value.as_str();
    let mut text = format!(
        "//! How values of `{name}` objects are converted between versions.\n//!\n\
         //! A function is given any value of its type, must not depend on anything else, and should undo what the other one of\n\
         //! its pair does. Where it refuses or panics, the object gets a value that its schema allows, and keeps the original\n\
         //! in an annotation. The reason is shown there and in an event, so it must not repeat the value.\n"
    );
    for pair in pairs(description, kind) {
        let custom = &pair.custom;
        let older = type_of(description, kind, custom, true);
        let newer = type_of(description, kind, custom, false);
        let (from, to, version) = (&pair.from, &pair.to, custom.version);
        let path = doc_text(&path_text(custom.at));
        let next = custom
            .next
            .map_or(kind.resource.version.as_str(), |next| next.name.as_str());
        let plain = |tokens: TokenStream| {
            tokens
                .to_string()
                .replace(" :: ", "::")
                .replace(" <", "<")
                .replace("< ", "<")
                .replace(" >", ">")
                .replace(" ,", ",")
        };
        let (older, newer) = (plain(older), plain(newer));
        text.push_str(&format!(
            "\n/// Makes a value of `{next}` of `{path}` in `{version}`.\n\
             pub fn {from}(_old: {older}) -> Result<{newer}, String> {{\n    \
                 Err(\"{from} is not written yet\".to_owned())\n}}\n\n\
             /// Makes a value of `{version}` of `{path}` in `{next}`.\n\
             pub fn {to}(_new: {newer}) -> Result<{older}, String> {{\n    \
                 Err(\"{to} is not written yet\".to_owned())\n}}\n"
        ));
    }
    text
}

/// The type of a value in the older or the newer version, as `src/<kind>/conversions.rs` names it.
fn type_of(description: &Description, kind: &Kind, custom: &Custom<'_>, is_older: bool) -> TokenStream {
    let (version, schema) = match is_older {
        true => (Some(custom.of), custom.older),
        false => (custom.next, custom.newer),
    };
    let Some(schema) = schema else {
        return quote!(serde_json::Value);
    };
    match version {
        Some(version) => {
            let module = ident(version.name.as_str());
            type_in(description, kind, &version.spec, schema, &quote!(super::#module))
        }
        None => type_in(description, kind, &kind.spec, schema, &quote!(super)),
    }
}

/// The function that calls those of the author by their names.
pub(super) fn dispatch(description: &Description, kind: &Kind) -> TokenStream {
    let module = KindNames::of(kind).module;
    let arms: Vec<TokenStream> = pairs(description, kind)
        .iter()
        .map(|Pair { custom, from, to }| {
            let function = custom.function;
            quote! {
                (#function, rt::versions::Direction::Up) => {
                    rt::versions::converted(value, crate::#module::conversions::#from)
                }
                (#function, rt::versions::Direction::Down) => {
                    rt::versions::converted(value, crate::#module::conversions::#to)
                }
            }
        })
        .collect();
    match arms.is_empty() {
        true => quote!(&|_, _, value| Ok(value)),
        false => quote! {
            &|function, direction, value| match (function, direction) {
                #(#arms)*
                _ => Err("there is no such function".to_owned()),
            }
        },
    }
}
