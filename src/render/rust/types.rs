//! The Rust types of a kind: `.spec`, `.status` and everything in them, with serde attributes for the names of fields.

use super::{KindNames, doc_text, file, ident};
use crate::{
    model::{Description, Field, Kind, Schema, Scope, Shape, TypeId, kubernetes},
    names::{MACHINE_FIELD, TYPE_IMPORTS, pascal, unique_variants},
};
use proc_macro2::{Span, TokenStream};
use quote::quote;
use std::collections::BTreeSet;
use syn::Ident;

/// The types of a kind in a writer, and the fields of `.spec` and `.status`.
fn written<'d>(
    description: &'d Description,
    kind: &Kind,
) -> (Writer<'d>, Vec<TokenStream>, Vec<TokenStream>) {
    let names = KindNames::of(kind);
    let mut writer = Writer::new(description, &names);
    let spec_fields = match &description.resolve(&kind.spec).shape {
        Shape::Object(fields) => writer.fields(fields, &names.spec.to_string(), Optional::AsDescribed),
        // The model has made sure that `.spec` is an object.
        _ => Vec::new(),
    };
    let status_fields = writer.fields(&kind.status, &names.status.to_string(), Optional::All);
    if description.kinds.len() == 1 {
        write_named(description, &mut writer);
    }
    (writer, spec_fields, status_fields)
}

/// Writes the named types, but for those that are the `.spec` of a kind and so are written with it.
fn write_named(description: &Description, writer: &mut Writer<'_>) {
    let specs: Vec<_> = description
        .kinds
        .iter()
        .filter_map(|kind| description.own_spec_type(kind))
        .collect();
    for id in (0..description.types.len())
        .map(TypeId)
        .filter(|id| !specs.contains(id))
    {
        writer.named_type(id);
    }
}

/// The names of all types that handlers of a kind see.
pub(super) fn names(description: &Description, kind: &Kind) -> BTreeSet<String> {
    let (mut writer, ..) = written(description, kind);
    if crate::render::shares_types(description) {
        let mut common = Writer::empty(description);
        write_named(description, &mut common);
        writer.taken.extend(common.taken);
    }
    writer.taken
}

/// `src/<kind>/generated/types.rs`.
pub fn types(description: &Description, kind: &Kind) -> String {
    let KindNames {
        kind: root,
        spec,
        status,
        ..
    } = &KindNames::of(kind);
    let (writer, spec_fields, status_fields) = written(description, kind);
    let own_spec = description.own_spec_type(kind);
    // An import of nothing but the kind's own type would be an unused one.
    let has_others = (0..description.types.len()).any(|at| own_spec != Some(TypeId(at)));
    let common = (has_others && crate::render::shares_types(description)).then(|| {
        quote!(
            pub use crate::types::*;
        )
    });
    let spec_default = match &description.resolve(&kind.spec).shape {
        Shape::Object(fields) => fields.iter().all(|field| has_default(description, &field.schema)),
        _ => true,
    };
    let attribute = custom_resource(kind, spec_default);
    let derives = derives(spec_default);
    let spec_doc = doc_attribute(kind.doc.as_ref().map(|doc| doc.value.as_str()));
    let items = writer.items;
    let machine_field = machine_field(kind);
    let about = format!(" The `.status` of `{root}` objects.");
    file(&quote! {
        use serde::{Deserialize, Serialize};
        #common

        #spec_doc
        #[derive(kube::CustomResource, #derives)]
        #attribute
        pub struct #spec {
            #(#spec_fields)*
        }

        #[doc = #about]
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        pub struct #status {
            #(#status_fields)*
            /// The fields that the runtime writes, such as `state` and `conditions`.
            #[serde(flatten)]
            pub #machine_field: krator_runtime::MachineStatus,
        }

        impl krator_runtime::ObjectStatus for #status {
            fn machine(&self) -> &krator_runtime::MachineStatus {
                &self.#machine_field
            }
            fn machine_mut(&mut self) -> &mut krator_runtime::MachineStatus {
                &mut self.#machine_field
            }
        }

        #(#items)*
    })
}

/// `src/types.rs`: the named types of a description with several kinds.
pub(crate) fn common_types(description: &Description) -> String {
    let mut writer = Writer::empty(description);
    let mut specs = Vec::new();
    for id in (0..description.types.len()).map(TypeId) {
        let mut kinds = description.kinds.iter();
        match kinds.find(|kind| description.own_spec_type(kind) == Some(id)) {
            // A kind has this type as its `.spec`, so it is generated with the kind.
            Some(kind) => {
                let KindNames { module, spec, .. } = KindNames::of(kind);
                specs.push(quote!(pub use crate::#module::#spec;));
            }
            None => writer.named_type(id),
        }
    }
    let import = writer.derives.then(|| {
        quote!(
            use serde::{Deserialize, Serialize};
        )
    });
    let items = writer.items;
    file(&quote! {
        #import
        #(#specs)*
        #(#items)*
    })
}

/// The name of the field with the runtime's part of `.status`: another one if the description has a field of that name.
fn machine_field(kind: &Kind) -> Ident {
    let mut name = MACHINE_FIELD.to_owned();
    while kind
        .status
        .iter()
        .any(|field| field.name.value.rust_field() == name)
    {
        name.push('_');
    }
    Ident::new(&name, Span::call_site())
}

fn custom_resource(kind: &Kind, has_default: bool) -> TokenStream {
    let resource = &kind.resource;
    let (group, version) = (resource.group.value.as_str(), resource.version.value.as_str());
    let (name, plural) = (resource.kind.value.as_str(), resource.plural.value.as_str());
    let singular = resource.singular.value.as_str();
    let status = format!("{name}Status");
    let namespaced = (resource.scope.value == Scope::Namespaced).then(|| quote!(namespaced,));
    let default = has_default.then(|| quote!(derive = "Default",));
    quote! {
        #[kube(
            group = #group, version = #version, kind = #name, plural = #plural, singular = #singular, #namespaced
            status = #status, schema = "disabled", #default derive = "PartialEq",
        )]
    }
}

pub(super) fn derives(has_default: bool) -> TokenStream {
    if has_default {
        quote!(Clone, Debug, Default, PartialEq, Serialize, Deserialize)
    } else {
        quote!(Clone, Debug, PartialEq, Serialize, Deserialize)
    }
}

pub(super) fn doc_attribute(text: Option<&str>) -> Option<TokenStream> {
    let text = doc_text(text?);
    (!text.is_empty()).then(|| {
        let text = format!(" {text}");
        quote!(#[doc = #text])
    })
}

/// Which fields of a struct are an `Option`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Optional {
    /// Those that the description makes optional or nullable.
    AsDescribed,
    /// All of them, because a status starts empty.
    All,
}

/// Collects the structs and enums that fields need, under names that are unique in the file.
pub(super) struct Writer<'a> {
    description: &'a Description,
    items: Vec<TokenStream>,
    taken: BTreeSet<String>,
    /// Whether an item derives traits of serde. Aliases of types do not.
    derives: bool,
}

impl<'a> Writer<'a> {
    fn empty(description: &'a Description) -> Self {
        // Imports, and the named types.
        let mut taken: BTreeSet<String> = TYPE_IMPORTS.iter().map(|name| (*name).to_owned()).collect();
        taken.extend(
            description
                .types
                .iter()
                .map(|named| named.name.value.as_str().to_owned()),
        );
        Self {
            description,
            items: Vec::new(),
            taken,
            derives: false,
        }
    }

    /// A writer for a module in which these names are taken.
    pub(super) fn with_names(description: &'a Description, taken: BTreeSet<String>) -> Self {
        let mut writer = Self::empty(description);
        writer.taken.extend(taken);
        writer
    }

    /// The items that were needed, and all names that are taken now.
    pub(super) fn finish(self) -> (Vec<TokenStream>, BTreeSet<String>) {
        (self.items, self.taken)
    }

    fn new(description: &'a Description, names: &KindNames) -> Self {
        let mut writer = Self::empty(description);
        let KindNames {
            kind,
            spec,
            status,
            machine,
            object_state,
            condition,
            module: _,
        } = names;
        let fixed = [kind, spec, status, machine, object_state];
        let taken = fixed.into_iter().chain(condition);
        writer.taken.extend(taken.map(ToString::to_string));
        writer
    }

    fn unique(&mut self, wanted: String) -> Ident {
        let mut name = wanted.clone();
        let mut number = 2;
        while !self.taken.insert(name.clone()) {
            name = format!("{wanted}{number}");
            number += 1;
        }
        ident(&name)
    }

    /// The fields of a struct. Types that they need are named after `owner`, the struct.
    pub(super) fn fields(&mut self, fields: &[Field], owner: &str, optional: Optional) -> Vec<TokenStream> {
        fields
            .iter()
            .map(|field| self.field(field, owner, optional))
            .collect()
    }

    fn field(&mut self, field: &Field, owner: &str, optional: Optional) -> TokenStream {
        let (schema, name) = (&field.schema, field.name.value.as_str());
        let rust_name = field.name.value.rust_field();
        let rust = ident(rust_name.strip_prefix("r#").unwrap_or(&rust_name));
        let inner = self.rust_type(schema, &format!("{owner}{}", pascal(name)));
        let is_option = optional == Optional::All || schema.optional || self.description.is_nullable(schema);
        let rust_type = if is_option { quote!(Option<#inner>) } else { inner };
        let rename =
            (rust_name.strip_prefix("r#").unwrap_or(&rust_name) != name).then(|| quote!(rename = #name,));
        // A required field that may be null has to be there, as null.
        let may_be_absent = schema.optional || self.description.is_filled_in(schema);
        let is_required = optional == Optional::AsDescribed && !may_be_absent;
        let skip = (is_option && !is_required).then(|| quote!(skip_serializing_if = "Option::is_none",));
        let allow = is_complex(&rust_type).then(|| quote!(#[allow(clippy::type_complexity)]));
        let serde = (rename.is_some() || skip.is_some()).then(|| quote!(#[serde(#rename #skip)]));
        let described = schema
            .description
            .as_ref()
            .or(self.description.resolve(schema).description.as_ref());
        let doc = doc_attribute(described.map(|d| d.value.as_str()));
        quote! {
            #doc
            #allow
            #serde
            pub #rust: #rust_type,
        }
    }

    /// The Rust type of values of this schema, without `Option`. A type that has to be made for it gets this name.
    fn rust_type(&mut self, schema: &Schema, name: &str) -> TokenStream {
        match &schema.shape {
            Shape::String => quote!(String),
            Shape::Boolean => quote!(bool),
            Shape::Integer => quote!(i64),
            Shape::Int32 => quote!(i32),
            Shape::Number => quote!(f64),
            Shape::DateTime => quote!(k8s_openapi::apimachinery::pkg::apis::meta::v1::Time),
            Shape::Duration => quote!(kube::core::Duration),
            Shape::Quantity => quote!(k8s_openapi::apimachinery::pkg::api::resource::Quantity),
            Shape::IntOrString => quote!(k8s_openapi::apimachinery::pkg::util::intstr::IntOrString),
            Shape::FreeForm => quote!(serde_json::Map<String, serde_json::Value>),
            Shape::Any => quote!(serde_json::Value),
            Shape::List(items) => {
                let items = self.element(items, name, "Item");
                quote!(Vec<#items>)
            }
            Shape::Map(values) => {
                let values = self.element(values, name, "Value");
                quote!(std::collections::BTreeMap<String, #values>)
            }
            Shape::Enum(values) => {
                let values: Vec<&str> = values.iter().map(|value| value.value.as_str()).collect();
                let name = self.unique(name.to_owned());
                self.enumeration(&name, &values, schema);
                quote!(#name)
            }
            Shape::Object(fields) => {
                let name = self.unique(name.to_owned());
                self.structure(&name, fields, schema);
                quote!(#name)
            }
            Shape::Named(id) => {
                let name = ident(self.description.type_(*id).name.value.as_str());
                quote!(#name)
            }
            Shape::Kubernetes(reference) => {
                let path = kubernetes::rust_path(reference);
                let path = path.and_then(|path| syn::parse_str::<syn::Path>(path).ok());
                // The model has only types that are known.
                path.map_or_else(|| quote!(serde_json::Value), |path| quote!(#path))
            }
        }
    }

    fn element(&mut self, schema: &Schema, name: &str, ending: &str) -> TokenStream {
        let inner = self.rust_type(schema, &format!("{name}{ending}"));
        if self.description.is_nullable(schema) {
            quote!(Option<#inner>)
        } else {
            inner
        }
    }

    fn structure(&mut self, name: &Ident, fields: &[Field], schema: &Schema) {
        self.derives = true;
        let default = fields
            .iter()
            .all(|field| has_default(self.description, &field.schema));
        let (derives, doc) = (
            derives(default),
            doc_attribute(schema.description.as_ref().map(|d| d.value.as_str())),
        );
        let place = self.items.len();
        let fields = self.fields(fields, &name.to_string(), Optional::AsDescribed);
        let item = quote! {
            #doc
            #[derive(#derives)]
            pub struct #name {
                #(#fields)*
            }
        };
        // The struct goes before the types of its fields, which were added since.
        self.items.insert(place, item);
    }

    fn enumeration(&mut self, name: &Ident, values: &[&str], schema: &Schema) {
        self.derives = true;
        let default = schema.default.as_ref().and_then(|d| d.value.as_str());
        let first = values
            .iter()
            .position(|value| Some(*value) == default)
            .unwrap_or(0);
        let variants = unique_variants(values.iter().copied())
            .into_iter()
            .zip(values)
            .enumerate();
        let variants = variants.map(|(at, (variant, value))| {
            let default = (at == first).then(|| quote!(#[default]));
            let rename = (variant != **value).then(|| quote!(#[serde(rename = #value)]));
            let variant = ident(&variant);
            quote!(#default #rename #variant,)
        });
        let doc = doc_attribute(schema.description.as_ref().map(|d| d.value.as_str()));
        self.items.push(quote! {
            #doc
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
            pub enum #name {
                #(#variants)*
            }
        });
    }

    /// A type in `types` of the description: a struct, an enum, or an alias.
    fn named_type(&mut self, id: TypeId) {
        let named = self.description.type_(id);
        let name = ident(named.name.value.as_str());
        match &named.schema.shape {
            Shape::Object(fields) => self.structure(&name, fields, &named.schema),
            Shape::Enum(values) => {
                let values: Vec<&str> = values.iter().map(|value| value.value.as_str()).collect();
                self.enumeration(&name, &values, &named.schema);
            }
            _ => {
                let target = self.rust_type(&named.schema, &name.to_string());
                let doc = doc_attribute(named.schema.description.as_ref().map(|d| d.value.as_str()));
                self.items.push(quote!(#doc pub type #name = #target;));
            }
        }
    }
}

/// Whether clippy calls a type too complex: each type counts 10 for each level that it is inside of others.
fn is_complex(rust_type: &TokenStream) -> bool {
    const MOST: u64 = 250;
    fn score(rust_type: &syn::Type, level: u64) -> u64 {
        let syn::Type::Path(path) = rust_type else {
            return 0;
        };
        let arguments = path
            .path
            .segments
            .iter()
            .filter_map(|segment| match &segment.arguments {
                syn::PathArguments::AngleBracketed(arguments) => Some(&arguments.args),
                _ => None,
            });
        let inner = arguments.flatten().filter_map(|argument| match argument {
            syn::GenericArgument::Type(inner) => Some(score(inner, level + 1)),
            _ => None,
        });
        10 * level + inner.sum::<u64>()
    }
    syn::parse2(rust_type.clone()).is_ok_and(|rust_type| score(&rust_type, 1) > MOST)
}

/// Whether the Rust type of a field implements `Default`.
pub(super) fn has_default(description: &Description, schema: &Schema) -> bool {
    if schema.optional || description.is_nullable(schema) {
        return true;
    }
    match &description.resolve(schema).shape {
        Shape::DateTime | Shape::Duration => false,
        Shape::Object(fields) => fields.iter().all(|field| has_default(description, &field.schema)),
        Shape::Kubernetes(reference) => kubernetes::has_default(reference),
        _ => true,
    }
}
