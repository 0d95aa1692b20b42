//! The Rust types of a foreign kind, from its CustomResourceDefinition in a file of `schemas`.

use super::fields::Optional;
use super::{doc_attribute, types::Writer};
use crate::model::{Description, ForeignKind};
use proc_macro2::{Span, TokenStream};
use quote::quote;
use std::collections::BTreeSet;
use syn::Ident;

/// The struct of the kind's objects with the types of its fields. `taken` contains the names that are used in the
/// module.
pub(super) fn structs(
    description: &Description,
    kind: &ForeignKind,
    name: &Ident,
    taken: &mut BTreeSet<String>,
) -> TokenStream {
    // Fields with a default are optional here, without the default.
    let mut writer = Writer::with_names(description, std::mem::take(taken));
    let fields = writer.fields(&kind.fields, &name.to_string(), Optional::AsDescribed);
    let (items, names) = writer.finish();
    *taken = names;
    let metadata = Ident::new("metadata", Span::call_site());
    let (derives, defaults) = (fields.derives(), fields.defaults(name, Some(&metadata)));
    let fields = fields.tokens;
    let reference = format!("{}/{}.{}", kind.group, kind.version, kind.kind);
    let about = doc_attribute(kind.description.as_deref());
    let paragraph = about.is_some().then(|| quote!(#[doc = ""]));
    let source = format!(" `{reference}`, from `{}`.", kind.file.value);
    quote! {
        #about
        #paragraph
        #[doc = #source]
        #[derive(#derives)]
        pub struct #name {
            /// Name, namespace, labels and other metadata.
            pub metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
            #(#fields)*
        }
        #defaults
        #(#items)*
    }
}
