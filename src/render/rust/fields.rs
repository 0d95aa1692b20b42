//! The fields of a generated struct, and what follows from them: its derives and its defaults.

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

/// Which fields of a struct are an `Option`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Optional {
    /// The fields that the description makes optional or nullable.
    AsDescribed,
    /// All of them, because a status starts empty.
    All,
}

/// The fields of a struct.
pub(super) struct Fields {
    pub tokens: Vec<TokenStream>,
    /// Whether each of them has a default, so that the struct has one.
    pub have_default: bool,
    /// The name of each field, with its type and its default if that is not the one of the type.
    pub filled: Vec<(Ident, Option<(TokenStream, TokenStream)>)>,
}

impl Fields {
    /// The derives of the struct. Where its default is not that of its fields' types, [`defaults`](Self::defaults) has it.
    pub fn derives(&self) -> TokenStream {
        derives(self.have_default && self.filled.iter().all(|(_, filled)| filled.is_none()))
    }

    /// The defaults of the struct that are in the description, as serde and [`Default`] use them. `more` is one more field.
    pub fn defaults(&self, owner: &Ident, more: Option<&Ident>) -> Option<TokenStream> {
        let written = self.filled.iter().filter_map(|(name, filled)| {
            let (rust_type, value) = filled.as_ref()?;
            let function = default_function(name);
            // A field may begin with an underscore, which is one too many for the name of a function.
            let allow = function
                .to_string()
                .contains("__")
                .then(|| quote!(#[allow(non_snake_case)]));
            Some(quote!(#allow fn #function() -> #rust_type { #value }))
        });
        let written: Vec<_> = written.collect();
        if written.is_empty() {
            return None;
        }
        let default = self.have_default.then(|| {
            let fields = self.filled.iter().map(|(name, filled)| {
                let function = default_function(name);
                match filled {
                    Some(_) => quote!(#name: Self::#function(),),
                    None => quote!(#name: Default::default(),),
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
        Some(quote! {
            /// The values that the API server fills in where a field is absent.
            impl #owner {
                #(#written)*
            }
            #default
        })
    }
}

/// The function that makes the default of a field.
pub(super) fn default_function(field: &Ident) -> Ident {
    let field = field.to_string();
    let name = format!("default_{}", field.strip_prefix("r#").unwrap_or(&field));
    Ident::new(&name, Span::call_site())
}
