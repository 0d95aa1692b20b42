//! The type of the objects of a kind, which kube derives from the type of their `.spec`.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use crate::model::{Kind, Scope};

/// The attribute of the type of `.spec`, from which kube derives the type of the objects.
pub(super) fn custom_resource(kind: &Kind, has_default: bool) -> TokenStream {
    let resource = &kind.resource;
    let (group, version) = (resource.group.value.as_str(), resource.version.value.as_str());
    let (name, plural) = (resource.kind.value.as_str(), resource.plural.value.as_str());
    let singular = resource.singular.value.as_str();
    let rust_name = resource.rust_name.as_str();
    let status = format!("{rust_name}Status");
    let structure = (rust_name != name).then(|| quote!(root = #rust_name,));
    let namespaced = (resource.scope.value == Scope::Namespaced).then(|| quote!(namespaced,));
    let default = has_default.then(|| quote!(derive = "Default",));
    quote! {
        #[kube(
            group = #group, version = #version, kind = #name, #structure plural = #plural, singular = #singular, #namespaced
            status = #status, schema = "disabled", #default derive = "PartialEq",
        )]
    }
}

/// Reads a `.spec` that is absent or null as one without fields. With `remote = "Self"`, the derives generate functions
/// of the type instead of implementations of the traits.
pub(super) fn absent_is_default(spec: &Ident) -> TokenStream {
    let name = spec.to_string();
    quote! {
        impl Serialize for #spec {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                #spec::serialize(self, serializer)
            }
        }

        impl<'de> Deserialize<'de> for #spec {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                #[derive(Deserialize)]
                struct Present(#[serde(with = #name)] #spec);
                let present = Option::<Present>::deserialize(deserializer)?;
                Ok(present.map(|present| present.0).unwrap_or_default())
            }
        }
    }
}
