//! The fields of a generated struct, and the derives and defaults that result from them.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::Ident;

/// The derives of a generated struct.
pub(super) fn derives(has_default: bool) -> TokenStream {
    if has_default {
        quote!(Clone, Debug, Default, PartialEq, Serialize, Deserialize)
    } else {
        quote!(Clone, Debug, PartialEq, Serialize, Deserialize)
    }
}

/// The fields of a struct that are an `Option`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Optional {
    /// The fields that the description makes optional or nullable.
    AsDescribed,
    /// All fields, because a status starts empty.
    All,
}

/// The fields of a struct.
pub(super) struct Fields {
    pub tokens: Vec<TokenStream>,
    /// Whether all fields have a default, so that the struct has one.
    pub have_default: bool,
    pub filled: Vec<FieldDefault>,
}

/// The default of a field.
pub(super) struct FieldDefault {
    pub name: Ident,
    /// The type of the field and the default of the description, if that differs from the default of the type.
    pub written: Option<(TokenStream, TokenStream)>,
    /// The default of a type that does not implement `Default`.
    pub plain: Option<TokenStream>,
}

impl Fields {
    /// The derives of the struct. Where its default is not that of its fields' types, [`defaults`](Self::defaults) has it.
    pub fn derives(&self) -> TokenStream {
        let is_derived = |field: &FieldDefault| field.written.is_none() && field.plain.is_none();
        derives(self.have_default && self.filled.iter().all(is_derived))
    }

    /// The defaults of the struct from the description, for serde and [`Default`]. `more` is an additional field.
    pub fn defaults(&self, owner: &Ident, more: Option<&Ident>) -> Option<TokenStream> {
        let written = self.filled.iter().filter_map(|field| {
            let (name, (rust_type, value)) = (&field.name, field.written.as_ref()?);
            let function = default_function(name);
            // The name of the function contains a double underscore if the field begins with an underscore.
            let allow = function
                .to_string()
                .contains("__")
                .then(|| quote!(#[allow(non_snake_case)]));
            Some(quote!(#allow fn #function() -> #rust_type { #value }))
        });
        let written: Vec<_> = written.collect();
        if self
            .filled
            .iter()
            .all(|field| field.written.is_none() && field.plain.is_none())
        {
            return None;
        }
        let default = self.have_default.then(|| {
            let fields = self.filled.iter().map(|FieldDefault { name, written, plain }| {
                let function = default_function(name);
                match (written, plain) {
                    (Some(_), _) => quote!(#name: Self::#function(),),
                    (None, Some(value)) => quote!(#name: #value,),
                    (None, None) => quote!(#name: Default::default(),),
                }
            });
            let more = more.map(|name| quote!(#name: Default::default(),));
            quote! {
                impl Default for #owner {
                    fn default() -> Self {
                        Self { #(#fields)* #more }
                    }
                }
            }
        });
        let written = (!written.is_empty()).then(|| {
            quote! {
                /// The values that the API server fills in where a field is absent.
                impl #owner {
                    #(#written)*
                }
            }
        });
        Some(quote! {
            #written
            #default
        })
    }
}

/// The serde attribute of a field, if it has arguments.
pub(super) fn serde_attribute(arguments: &[Option<TokenStream>]) -> Option<TokenStream> {
    let is_there = arguments.iter().any(Option::is_some);
    let arguments = arguments.iter().flatten();
    is_there.then(|| quote!(#[serde(#(#arguments)*)]))
}

/// The name of the function that returns the default of a field.
pub(super) fn default_function(field: &Ident) -> Ident {
    let field = field.to_string();
    let name = format!("default_{}", field.strip_prefix("r#").unwrap_or(&field));
    Ident::new(&name, Span::call_site())
}
