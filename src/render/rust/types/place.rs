//! The type of a value at a path of the spec, in the functions of the author that convert it.

use super::{KindNames, Optional, Writer};
use crate::model::{Description, Kind, Schema, Shape};
use proc_macro2::{TokenStream, TokenTree};
use quote::quote;

/// The type of values of a schema within `spec`, the `.spec` of a version of a kind. The module of types of that
/// version has the path `module`.
pub(in crate::render::rust) fn type_in<'a>(
    description: &'a Description,
    kind: &'a Kind,
    spec: &'a Schema,
    schema: &'a Schema,
    module: &TokenStream,
) -> TokenStream {
    let is_shared = crate::render::shares_types(description);
    let own = {
        let names = KindNames::of(kind);
        let mut writer = Writer::new(description, kind, &names);
        writer.wanted = Some((schema, None));
        // The fields of the status are written later, so they do not affect the names of types in the spec.
        if let Shape::Object(fields) = &description.resolve(spec).shape {
            writer.fields(fields, &names.spec.to_string(), Optional::AsDescribed);
        }
        if !is_shared {
            writer.named_types(description.own_spec_type(kind));
        }
        writer.found()
    };
    let found = own.or_else(|| {
        let mut writer = Writer::empty(description);
        writer.wanted = Some((schema, None));
        writer.common();
        writer.found()
    });
    // The schema is in one of these places.
    let found = found.map_or_else(|| quote!(serde_json::Value), |found| with_prefix(found, module));
    match schema.optional || description.is_nullable(schema) {
        true => quote!(Option<#found>),
        false => found,
    }
}

/// A type with `prefix` before each name that the module of types declares.
fn with_prefix(tokens: TokenStream, prefix: &TokenStream) -> TokenStream {
    const PRELUDE: [&str; 7] = ["String", "bool", "i64", "i32", "f64", "Vec", "Option"];
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is_colon = |at: Option<usize>| {
        let token = at.and_then(|at| tokens.get(at));
        matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == ':')
    };
    let tokens = tokens.iter().enumerate().map(|(at, token)| match token {
        TokenTree::Ident(name)
            if !is_colon(at.checked_sub(1))
                && !is_colon(Some(at + 1))
                && !PRELUDE.contains(&&*name.to_string()) =>
        {
            quote!(#prefix::#name)
        }
        other => quote!(#other),
    });
    tokens.collect()
}

impl Writer<'_> {
    /// Records the type of a schema if it is the requested one.
    pub(super) fn note(&mut self, schema: &Schema, written: &TokenStream) {
        if let Some((wanted, found)) = &mut self.wanted
            && std::ptr::eq(*wanted, schema)
        {
            *found = Some(written.clone());
        }
    }

    fn found(self) -> Option<TokenStream> {
        self.wanted.and_then(|(_, found)| found)
    }
}
