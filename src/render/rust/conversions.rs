//! The functions of the author that convert values between versions: their initial form, and the calls by the runtime.

use krator_machine::versions::{Step, path_text};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use serde_json::json;
use std::collections::BTreeSet;
use syn::Ident;

use super::{KindNames, handlers::WIDTH, ident, types::type_in};
use crate::model::{Description, Kind};
use crate::names::snake;
use crate::plan::IGNORED_CONVERSIONS;
use crate::render::templates::Template;
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
        let version = custom.version.name.as_str();
        while !taken.insert(format!("{name}_{version}")) {
            name = format!("{wanted}_{number}");
            number += 1;
        }
        Pair {
            from: format_ident!("{name}_from_{version}"),
            to: format_ident!("{name}_to_{version}"),
            custom,
        }
    };
    customs(description, kind).map(pair).collect()
}

/// The name of a value, from its path below `.spec`, as the beginning of an identifier.
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

/// A function of a kind, without a body: it converts a value of one version to another.
struct Function {
    doc: String,
    name: Ident,
    argument: Ident,
    from: TokenStream,
    to: TokenStream,
}

fn functions(description: &Description, kind: &Kind) -> Vec<Function> {
    let functions = pairs(description, kind).into_iter().flat_map(|pair| {
        let custom = &pair.custom;
        let older = type_of(description, kind, custom, true);
        let newer = type_of(description, kind, custom, false);
        let path = path_text(custom.at);
        let version = custom.version.name.as_str();
        let newest = kind.resource.version.as_str();
        let next = custom.next.map_or(newest, |next| next.name.as_str());
        [
            Function {
                doc: format!(" Converts `{path}` from `{version}` to `{next}`."),
                name: pair.from,
                argument: format_ident!("old"),
                from: older.clone(),
                to: newer.clone(),
            },
            Function {
                doc: format!(" Converts `{path}` from `{next}` to `{version}`."),
                name: pair.to,
                argument: format_ident!("new"),
                from: newer,
                to: older,
            },
        ]
    });
    functions.collect()
}

/// The trait of the author's functions, and the function that calls them by their names.
pub(super) fn declaration(description: &Description, kind: &Kind) -> Option<TokenStream> {
    let functions = functions(description, kind);
    let declared = functions.iter().map(|function| {
        let Function {
            doc,
            name,
            argument,
            from,
            to,
        } = function;
        quote! {
            #[doc = #doc]
            fn #name(#argument: #from) -> Result<#to, String>;
        }
    });
    (!functions.is_empty()).then(|| {
        let convert = convert(description, kind);
        quote! {
            #convert

            /// Converts values between versions. You write it, in `conversions.rs`.
            pub trait Conversions {
                #(#declared)*
            }
        }
    })
}

/// `src/<kind>/conversions.rs`: functions that return errors, so that values are replaced by fallbacks until they are
/// written.
pub(crate) fn conversions(description: &Description, kind: &Kind) -> String {
    let names = KindNames::of(kind);
    let (module, object) = (names.module, names.kind);
    let functions = functions(description, kind).into_iter().map(|function| {
        let signature = signature(&function).replace(&format!("crate::{module}::"), "super::");
        json!({"doc": function.doc, "signature": signature, "name": function.name.to_string()})
    });
    Template::Conversions.render(&json!({
        "object": object.to_string(),
        "ignored": IGNORED_CONVERSIONS,
        "functions": functions.collect::<Vec<_>>(),
    }))
}

/// The signature of a function in an implementation, as rustfmt formats it.
fn signature(function: &Function) -> String {
    let Function { name, argument, .. } = function;
    let plain = |tokens: &TokenStream| {
        let text = tokens.to_string().replace(" :: ", "::");
        text.replace(" < ", "<").replace(" >", ">").replace(" ,", ",")
    };
    let (argument, result) = (
        format!("_{argument}: {}", plain(&function.from)),
        plain(&function.to),
    );
    let line = format!("fn {name}({argument}) -> Result<{result}, String> {{");
    match 4 + line.len() <= WIDTH {
        true => line,
        false => format!("fn {name}(\n        {argument},\n    ) -> Result<{result}, String> {{"),
    }
}

/// The type of a value in the older or the newer version.
fn type_of(description: &Description, kind: &Kind, custom: &Custom<'_>, is_older: bool) -> TokenStream {
    let module = KindNames::of(kind).module;
    let (version, schema) = match is_older {
        true => (Some(custom.version), custom.older),
        false => (custom.next, custom.newer),
    };
    let Some(schema) = schema else {
        return quote!(serde_json::Value);
    };
    match version {
        Some(version) => {
            let name = ident(version.name.as_str());
            type_in(
                description,
                kind,
                &version.spec,
                schema,
                &quote!(crate::#module::#name),
            )
        }
        None => type_in(description, kind, &kind.spec, schema, &quote!(crate::#module)),
    }
}

fn convert(description: &Description, kind: &Kind) -> TokenStream {
    let names = KindNames::of(kind);
    let (module, object) = (names.module, names.kind);
    let arms = pairs(description, kind)
        .into_iter()
        .map(|Pair { custom, from, to }| {
            let function = custom.function;
            quote! {
                (#function, rt::versions::Direction::Up) => {
                    rt::versions::converted(value, <crate::#module::#object as Conversions>::#from)
                }
                (#function, rt::versions::Direction::Down) => {
                    rt::versions::converted(value, <crate::#module::#object as Conversions>::#to)
                }
            }
        });
    quote! {
        /// Converts a value by one of your functions.
        pub fn convert(
            function: &str,
            direction: rt::versions::Direction,
            value: Option<serde_json::Value>,
        ) -> Result<Option<serde_json::Value>, String> {
            match (function, direction) {
                #(#arms)*
                _ => Err("there is no such function".to_owned()),
            }
        }
    }
}
