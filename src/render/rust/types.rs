//! The Rust types of a kind: `.spec`, `.status` and everything in them, with serde attributes for the names of fields.

mod place;
mod root;

pub(super) use place::type_in;

use root::{absent_is_default, custom_resource};

use super::{
    KindNames,
    defaults::{Defaults, Filled, field_ident, first_variant, is_bytes},
    doc_attribute,
    fields::{FieldDefault, Fields, Optional, default_function, serde_attribute},
    file, ident, memory_type,
};
use crate::{
    model::{Description, Field, Kind, Schema, Shape, TypeId, kubernetes},
    names::{MACHINE_FIELD, TYPE_IMPORTS, pascal, unique_variants},
};
use proc_macro2::{Span, TokenStream};
use quote::quote;
use std::collections::BTreeSet;
use syn::Ident;

/// The names of all types in the scope of the handlers of a kind.
pub(super) fn names(description: &Description, kind: &Kind) -> BTreeSet<String> {
    let of_kind = KindNames::of(kind);
    let mut writer = Writer::new(description, kind, &of_kind);
    writer.kind(kind, &of_kind);
    if crate::render::shares_types(description) {
        let mut common = Writer::empty(description);
        common.common();
        writer.taken.extend(common.taken);
    }
    writer.taken
}

/// `src/<kind>/generated/types.rs`, or the types of an older version, which clients and tests use.
pub fn types(description: &Description, kind: &Kind, is_newest: bool) -> String {
    let names = KindNames::of(kind);
    let KindNames {
        kind: root,
        spec,
        status,
        ..
    } = &names;
    let mut writer = Writer::new(description, kind, &names);
    let (spec_fields, status_fields) = writer.kind(kind, &names);
    let own_spec = description.own_spec_type(kind);
    // If only the kind's own type would be imported, the import would be unused.
    let has_others = (0..description.types.len()).any(|at| own_spec != Some(TypeId(at)));
    let common = (has_others && crate::render::shares_types(description)).then(|| {
        quote!(
            pub use crate::types::*;
        )
    });
    let attribute = custom_resource(kind, spec_fields.have_default);
    let spec_doc = doc_attribute(kind.doc.as_ref().map(|doc| doc.value.as_str()));
    let machine_field = machine_field(kind);
    let (spec_derives, spec_defaults) = (spec_fields.derives(), spec_fields.defaults(spec, None));
    let (status_derives, status_defaults) = (
        status_fields.derives(),
        status_fields.defaults(status, Some(&machine_field)),
    );
    let may_be_absent = kind.spec.optional || description.is_nullable(&kind.spec);
    let (spec_remote, spec_serde) = (may_be_absent && spec_fields.have_default)
        .then(|| (quote!(#[serde(remote = "Self")]), absent_is_default(spec)))
        .unzip();
    let (spec_fields, status_fields, items) = (spec_fields.tokens, status_fields.tokens, writer.items);
    let about = format!(" The `.status` of `{root}` objects.");
    let allow = allow_complexity();
    let implementation = is_newest.then(|| {
        quote! {
            impl krator_runtime::ObjectStatus for #status {
                fn machine(&self) -> &krator_runtime::MachineStatus {
                    &self.#machine_field
                }
                fn machine_mut(&mut self) -> &mut krator_runtime::MachineStatus {
                    &mut self.#machine_field
                }
            }
        }
    });
    file(&quote! {
        #allow
        use serde::{Deserialize, Serialize};
        #common

        #spec_doc
        #[derive(kube::CustomResource, #spec_derives)]
        #attribute
        #spec_remote
        pub struct #spec {
            #(#spec_fields)*
        }
        #spec_defaults
        #spec_serde

        #[doc = #about]
        #[derive(#status_derives)]
        pub struct #status {
            #(#status_fields)*
            /// The fields that the runtime writes, such as `state` and `conditions`.
            #[serde(flatten)]
            pub #machine_field: krator_runtime::MachineStatus,
        }
        #status_defaults

        #implementation

        #(#items)*
    })
}

/// `src/types.rs`: the named types of a description with several kinds.
pub(crate) fn common_types(description: &Description) -> String {
    let mut writer = Writer::empty(description);
    let specs = writer.common();
    let import = writer.derives.then(|| {
        quote!(
            use serde::{Deserialize, Serialize};
        )
    });
    let items = writer.items;
    let allow = allow_complexity();
    file(&quote! {
        #allow
        #import
        #(#specs)*
        #(#items)*
    })
}

/// The name of the field with the runtime's part of `.status`, which differs from the fields of the description.
fn machine_field(kind: &Kind) -> Ident {
    let mut name = MACHINE_FIELD.to_owned();
    let is_taken = |name: &str| kind.status.iter().any(|field| field.rust_name() == name);
    while is_taken(&name) {
        name.push('_');
    }
    Ident::new(&name, Span::call_site())
}

/// The clippy attribute of modules with types of the description.
pub(super) fn allow_complexity() -> TokenStream {
    quote!(#![allow(clippy::type_complexity, reason = "types are as deep as in the description")])
}

/// Collects the structs and enums that fields need, under names that are unique in the file.
pub(super) struct Writer<'a> {
    description: &'a Description,
    defaults: Defaults<'a>,
    items: Vec<TokenStream>,
    taken: BTreeSet<String>,
    /// Whether an item derives traits of serde. Aliases of types do not.
    derives: bool,
    /// A schema whose type is requested, and its type once it is found.
    wanted: Option<(&'a Schema, Option<TokenStream>)>,
}

impl<'a> Writer<'a> {
    /// A writer for a separate module.
    fn empty(description: &'a Description) -> Self {
        // Imports, and the named types.
        let mut taken: BTreeSet<String> = TYPE_IMPORTS.iter().map(|name| (*name).to_owned()).collect();
        let named = description.types.iter().map(|named| named.name.value.as_str());
        taken.extend(named.map(str::to_owned));
        Self {
            description,
            defaults: Defaults { description },
            items: Vec::new(),
            taken,
            derives: false,
            wanted: None,
        }
    }

    /// A writer for a module in which these names are taken.
    pub(super) fn with_names(description: &'a Description, taken: BTreeSet<String>) -> Self {
        let mut writer = Self::empty(description);
        writer.taken.extend(taken);
        writer
    }

    /// The items that were needed, and all names that are taken.
    pub(super) fn finish(self) -> (Vec<TokenStream>, BTreeSet<String>) {
        (self.items, self.taken)
    }

    fn new(description: &'a Description, of: &Kind, names: &KindNames) -> Self {
        let mut writer = Self::empty(description);
        let KindNames {
            kind,
            spec,
            status,
            machine,
            condition,
            module: _,
        } = names;
        let memory = memory_type(of);
        let fixed = [kind, spec, status, machine, &memory];
        let taken = fixed.into_iter().chain(condition);
        writer.taken.extend(taken.map(ToString::to_string));
        writer
    }

    /// The fields of the spec and of the status of a kind. Named types are added if they belong to this kind alone.
    fn kind(&mut self, kind: &'a Kind, names: &KindNames) -> (Fields, Fields) {
        let description = self.description;
        let spec = match &description.resolve(&kind.spec).shape {
            Shape::Object(fields) => fields.as_slice(),
            // The model ensures that `.spec` is an object.
            _ => &[],
        };
        let spec = self.fields(spec, &names.spec.to_string(), Optional::AsDescribed);
        let status = self.fields(&kind.status, &names.status.to_string(), Optional::All);
        let own_spec = description.own_spec_type(kind);
        if !crate::render::shares_types(description) {
            self.named_types(own_spec);
        }
        (spec, status)
    }

    /// The named types, except for the type of the `.spec`.
    fn named_types(&mut self, own_spec: Option<TypeId>) {
        let ids = (0..self.description.types.len()).map(TypeId);
        ids.filter(|id| own_spec != Some(*id))
            .for_each(|id| self.named_type(id));
    }

    /// Adds the named types that several kinds share. Returns imports of those that are generated with a kind.
    fn common(&mut self) -> Vec<TokenStream> {
        let description = self.description;
        let mut specs = Vec::new();
        for id in (0..description.types.len()).map(TypeId) {
            let mut kinds = description.kinds.iter();
            match kinds.find(|kind| description.own_spec_type(kind) == Some(id)) {
                // A kind has this type as its `.spec`, so it is generated with the kind.
                Some(kind) => {
                    let KindNames { module, spec, .. } = KindNames::of(kind);
                    specs.push(quote!(pub use crate::#module::#spec;));
                }
                None => self.named_type(id),
            }
        }
        specs
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
    pub(super) fn fields(&mut self, fields: &'a [Field], owner: &str, optional: Optional) -> Fields {
        let mut written = Fields {
            tokens: Vec::new(),
            have_default: optional == Optional::All
                || fields.iter().all(|field| self.defaults.has_default(field)),
            filled: Vec::new(),
        };
        for field in fields {
            self.field(field, owner, optional, &mut written);
        }
        written
    }

    fn field(&mut self, field: &'a Field, owner: &str, optional: Optional, written: &mut Fields) {
        let (schema, name) = (&field.schema, field.name.value.as_str());
        let rust = field_ident(field);
        let rust_name = rust.to_string();
        let inner = self.rust_type(schema, &format!("{owner}{}", pascal(field.word())));
        let is_nullable = self.description.is_nullable(schema);
        let is_option = optional == Optional::All || schema.optional || is_nullable;
        let filled = self.defaults.of(schema, &inner, is_option);
        let rust_type = if is_option { quote!(Option<#inner>) } else { inner };
        let rename =
            (rust_name.strip_prefix("r#").unwrap_or(&rust_name) != name).then(|| quote!(rename = #name,));
        let default = filled.as_ref().map(|filled| match filled {
            Filled::Plain => quote!(default,),
            Filled::Value(_) => {
                let path = format!("{owner}::{}", default_function(&rust));
                quote!(default = #path,)
            }
        });
        // `None` is null in a required field that is nullable, and in a nullable field whose default is not null.
        let may_be_absent = schema.optional || self.description.is_filled_in(schema);
        let is_required = optional == Optional::AsDescribed && !may_be_absent;
        let is_null = is_nullable && filled.is_some();
        let has_times = self.defaults.has_times(schema);
        let read = has_times.then(|| quote!(deserialize_with = "krator_runtime::nearest",));
        // Without this, serde requires a field that is read by a function, even if it is an `Option`.
        let default = default.or_else(|| (has_times && is_option).then(|| quote!(default,)));
        let skip =
            (is_option && !is_required && !is_null).then(|| quote!(skip_serializing_if = "Option::is_none",));
        let serde = serde_attribute(&[rename, default, read, skip]);
        let of_type = || self.description.resolve(schema).description.as_ref();
        let described = schema.description.as_ref().or_else(of_type);
        let doc = doc_attribute(described.map(|d| d.value.as_str()));
        written.tokens.push(quote! {
            #doc
            #serde
            pub #rust: #rust_type,
        });
        let value = match filled {
            Some(Filled::Value(value)) => Some((rust_type, value)),
            _ => None,
        };
        written.filled.push(FieldDefault {
            name: rust,
            written: value,
            plain: self.defaults.plain(schema, is_option),
        });
    }

    /// The Rust type of values of this schema, without `Option`. A type that has to be generated gets this name.
    fn rust_type(&mut self, schema: &'a Schema, name: &str) -> TokenStream {
        let written = self.plain_type(schema, name);
        self.note(schema, &written);
        written
    }

    fn plain_type(&mut self, schema: &'a Schema, name: &str) -> TokenStream {
        match &schema.shape {
            Shape::String if is_bytes(schema) => quote!(k8s_openapi::ByteString),
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
                // The model accepts only known types.
                path.map_or_else(|| quote!(serde_json::Value), |path| quote!(#path))
            }
        }
    }

    fn element(&mut self, schema: &'a Schema, name: &str, ending: &str) -> TokenStream {
        let inner = self.rust_type(schema, &format!("{name}{ending}"));
        if self.description.is_nullable(schema) {
            quote!(Option<#inner>)
        } else {
            inner
        }
    }

    fn structure(&mut self, name: &Ident, fields: &'a [Field], schema: &Schema) {
        self.derives = true;
        let doc = doc_attribute(schema.description.as_ref().map(|d| d.value.as_str()));
        let place = self.items.len();
        let fields = self.fields(fields, &name.to_string(), Optional::AsDescribed);
        let (derives, defaults, fields) = (fields.derives(), fields.defaults(name, None), fields.tokens);
        let item = quote! {
            #doc
            #[derive(#derives)]
            pub struct #name {
                #(#fields)*
            }
            #defaults
        };
        // The struct precedes the types of its fields, which were added after it.
        self.items.insert(place, item);
    }

    fn enumeration(&mut self, name: &Ident, values: &[&str], schema: &Schema) {
        self.derives = true;
        let first = first_variant(schema, values.iter().copied());
        let variants = unique_variants(values.iter().copied()).into_iter().zip(values);
        let variants = variants.enumerate().map(|(at, (variant, value))| {
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
