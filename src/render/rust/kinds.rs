//! The other kinds that handlers may use: a trait for each right, and the watches that fill the caches.

use super::{KindNames, conversions, file, foreign, ident, paths, types};
use crate::model::KubernetesType;
use crate::model::{
    ChildDeletion, Description, ForeignKind, Kind, LookIn, ObjectKind, Scope, Segment, WatchBy, kubernetes,
};
use crate::names::taken_in_handlers;
use crate::sample;
use crate::yaml;
use proc_macro2::TokenStream;
use quote::quote;
use std::collections::{BTreeMap, BTreeSet};

/// `fn field_values` of the machine, if the graph reads times or limits from fields.
pub fn field_values(description: &Description, kind: &Kind) -> Option<TokenStream> {
    let paths = crate::machine::fields(kind);
    let KindNames {
        module,
        kind: object,
        status,
        ..
    } = KindNames::of(kind);
    let uses = |name: &str| paths.iter().any(|(path, _)| format!("{path}").starts_with(name));
    let ignore_object = (!uses(".spec") && !uses(".metadata")).then(|| quote!(let _ = object;));
    let ignore_status = (!uses(".status")).then(|| quote!(let _ = status;));
    let values = paths
        .iter()
        .map(|(path, is_text)| paths::field_value(description, kind, path, *is_text));
    (!paths.is_empty()).then(|| {
        quote! {
            fn field_values(
                object: &crate::#module::#object,
                status: Option<&crate::#module::#status>,
            ) -> Vec<Option<rt::FieldValue>> {
                #ignore_object
                #ignore_status
                Vec::from([#(#values),*])
            }
        }
    })
}

/// `src/<kind>/generated/kinds.rs`.
pub fn kinds(description: &Description, kind: &Kind) -> String {
    let names = KindNames::of(kind);
    let KindNames { module, machine, .. } = &names;
    let mut types = KindTypes::new(description, kind);
    let (mut granted, mut owned, mut watched) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let mut links = Vec::new();
    for owns in &kind.owns {
        let (path, reference) = (types.path(&owns.kind.value), owns.kind.value.reference());
        links.push(quote!(rt::Link::owned::<#path>(#reference)));
        granted.insert(path.to_string(), (path.clone(), &owns.kind.value.described));
        owned.insert(path.to_string(), (path, owns.deletion.value));
    }
    for watch in &kind.watches {
        let (path, reference) = (types.path(&watch.kind.value), watch.kind.value.reference());
        let concerns = concerns(description, kind, watch);
        links.push(quote!(rt::Link::watched::<#path>(#reference, #concerns)));
        granted.insert(path.to_string(), (path.clone(), &watch.kind.value.described));
        watched.insert(path.to_string(), path);
    }
    for access in &kind.access {
        let path = types.path(&access.kind.value);
        granted.insert(path.to_string(), (path, &access.kind.value.described));
    }
    let grants = granted.values().map(|(path, described)| {
        let status = described.is_some().then(|| {
            let status = crate::crd::new_status().to_string();
            quote!(const NEW_STATUS: &'static str = #status;)
        });
        quote!(impl rt::Grants<#path> for #machine { #status })
    });
    let owns = owned.values().map(|(path, deletion)| {
        let constant = deletion_constant(*deletion);
        quote!(impl rt::Owns<#path> for #machine { #constant })
    });
    let watches = implement(&watched, quote!(rt::Watches), machine);
    let counts = [
        (granted.len(), quote!(rt::Grants)),
        (owned.len(), quote!(rt::Owns)),
        (watched.len(), quote!(rt::Watches)),
    ];
    // rustc names a sole implementor instead of printing our note; a second, hidden implementor prevents that. The
    // second one of `Owns` or `Watches` needs one of `Grants`, their supertrait.
    let any_sole = counts.iter().any(|(count, _)| *count == 1);
    let sole = counts
        .iter()
        .filter(|(count, name)| *count == 1 || (any_sole && name.to_string().ends_with("Grants")));
    let hidden = sole.map(|(_, name)| {
        quote! {
            #[diagnostic::do_not_recommend]
            impl #name<rt::Never<#machine>> for #machine {}
        }
    });
    let link_function = (!links.is_empty()).then(|| {
        quote! {
            fn links() -> Vec<rt::Link<Self>> {
                Vec::from([#(#links),*])
            }
        }
    });
    let functions = conversions::declaration(description, kind);
    let webhooks = webhooks(kind, &names);
    let reviewed = (!kind.webhooks.is_empty()).then(|| {
        let object = &names.kind;
        quote! {
            impl rt::Reviewed for crate::#module::#object {
                type Machine = #machine;
            }
        }
    });
    let mut sample = sample::object(description, kind);
    yaml::make_whole(&mut sample);
    let sample = sample.to_string();
    let opaque = types.opaque.values();
    let has_foreign = kind
        .other_kinds()
        .any(|other| foreign_kind(description, other).is_some());
    let import = has_foreign.then(|| {
        let allow = types::allow_complexity();
        quote!(#allow use serde::{Deserialize, Serialize};)
    });
    file(&quote! {
        #import
        use crate::#module::generated::machine::#machine;
        use krator_runtime as rt;

        impl rt::Linked for #machine {
            #[cfg(feature = "dev")]
            const SAMPLE: &'static str = #sample;
            #link_function
            #webhooks
        }
        #reviewed
        #functions
        #(#grants)*
        #(#owns)*
        #(#watches)*
        #(#hidden)*
        #(#opaque)*
    })
}

/// `fn webhooks` of the machine, if its kind has webhooks.
fn webhooks(kind: &Kind, names: &KindNames) -> Option<TokenStream> {
    let KindNames {
        module, kind: object, ..
    } = names;
    let webhooks = &kind.webhooks;
    let validate = webhooks
        .validate
        .as_ref()
        .map(|_| quote!(.validate::<crate::#module::#object>()));
    let mutate = webhooks
        .mutate
        .as_ref()
        .map(|_| quote!(.mutate::<crate::#module::#object>()));
    let scale = kind
        .resource
        .scale
        .as_ref()
        .filter(|_| webhooks.validate.is_some())
        .map(|scale| {
            let keys = scale
                .spec
                .value
                .segments
                .iter()
                .filter_map(|segment| match segment {
                    Segment::Field(name) => Some(name),
                    // Such a path is refused here.
                    Segment::Each | Segment::Where { .. } => None,
                });
            quote!(.scale(&["spec", #(#keys),*]))
        });
    let versions = kind.converts().then(|| {
        let functions = match kind.has_functions() {
            true => quote!(&convert),
            false => quote!(&|_, _, value| Ok(value)),
        };
        quote!(.versions(include_str!("versions.json"), #functions))
    });
    (!webhooks.is_empty() || versions.is_some()).then(|| {
        quote! {
            fn webhooks() -> rt::Webhooks<Self> {
                rt::Webhooks::none() #validate #mutate #scale #versions
            }
        }
    })
}

/// The constant of `rt::Owns`, unless it has its default.
fn deletion_constant(deletion: ChildDeletion) -> Option<TokenStream> {
    let deletion = match deletion {
        ChildDeletion::Owner => return None,
        ChildDeletion::Last => quote!(Last),
        ChildDeletion::Keep => quote!(Keep),
    };
    Some(quote!(const DELETION: rt::ChildDeletion = rt::ChildDeletion::#deletion;))
}

fn implement<'a>(
    paths: &'a BTreeMap<String, TokenStream>,
    name: TokenStream,
    machine: &'a syn::Ident,
) -> impl Iterator<Item = TokenStream> + 'a {
    paths
        .values()
        .map(move |path| quote!(impl #name<#path> for #machine {}))
}

fn concerns(description: &Description, kind: &Kind, watch: &crate::model::Watch) -> TokenStream {
    let KindNames {
        module, kind: object, ..
    } = KindNames::of(kind);
    match &watch.by {
        WatchBy::Path(path) => {
            let names = paths::strings(description, kind, &path.value);
            let look_in = match &watch.namespace {
                None => quote!(rt::LookIn::Own),
                Some(namespace) => match &namespace.value {
                    LookIn::Name(name) => {
                        let name = name.as_str();
                        quote!(rt::LookIn::Always(#name))
                    }
                    LookIn::Path(path) => {
                        let namespace = paths::strings(description, kind, path);
                        quote!(rt::LookIn::FromField(|object: &crate::#module::#object| #namespace))
                    }
                },
            };
            quote!(rt::Concerns::Named(|object: &crate::#module::#object| #names, #look_in))
        }
        WatchBy::Label(key) => {
            let key = key.value.as_str();
            quote!(rt::Concerns::Label(#key))
        }
        WatchBy::All => quote!(rt::Concerns::All),
    }
}

/// The Rust types of other kinds: those of k8s-openapi, those of this crate, and types that are generated here for
/// kinds whose schema is unknown.
struct KindTypes<'a> {
    description: &'a Description,
    kind: &'a Kind,
    opaque: BTreeMap<String, TokenStream>,
    /// The types that are generated here, by group, version and kind.
    names: BTreeMap<(&'a str, &'a str, &'a str), syn::Ident>,
    /// The names of types in the module.
    taken: BTreeSet<String>,
}

/// The foreign kind in `schemas` for another kind, if there is one.
fn foreign_kind<'d>(description: &'d Description, kind: &ObjectKind) -> Option<&'d ForeignKind> {
    description.foreign.iter().find(|foreign| foreign.is(kind))
}

/// The key of a kind in [`KindTypes::names`].
fn key(kind: &ObjectKind) -> (&str, &str, &str) {
    (&kind.group, &kind.version, kind.kind.as_str())
}

impl<'a> KindTypes<'a> {
    /// Names each type that is generated here after its kind. If that name is taken in handlers or generated code, it
    /// follows the group and the version.
    fn new(description: &'a Description, kind: &'a Kind) -> Self {
        let made: BTreeSet<_> = kind
            .other_kinds()
            .filter(|other| other.described.is_none() && !other.has_type)
            .map(|other| key(other))
            .collect();
        let mut taken = BTreeSet::new();
        if !made.is_empty() {
            taken = types::names(description, kind);
            taken.extend(taken_in_handlers().map(str::to_owned));
            taken.insert(format!("{}Operator", kind.resource.rust_name.value));
            taken.extend(kind.states.iter().map(|state| state.name.as_str().to_owned()));
        }
        let mut names = BTreeMap::new();
        for (group, version, own) in &made {
            let is_shared = made.iter().filter(|(_, _, name)| name == own).count() > 1;
            let mut name = (*own).to_owned();
            if is_shared || taken.contains(&name) {
                let prefix = crate::names::pascal(&format!("{}-{version}", group.replace('.', "-")));
                name = format!("{prefix}{own}");
            }
            while taken.contains(&name) {
                name.push('0');
            }
            taken.insert(name.clone());
            names.insert((*group, *version, *own), ident(&name));
        }
        KindTypes {
            description,
            kind,
            opaque: BTreeMap::new(),
            names,
            taken,
        }
    }

    fn path(&mut self, other: &ObjectKind) -> TokenStream {
        if let Some(described) = other.described {
            let KindNames { module, kind, .. } = KindNames::of(self.description.kind(described));
            return quote!(crate::#module::#kind);
        }
        let group = if other.group.is_empty() {
            "core"
        } else {
            &other.group
        };
        let reference = KubernetesType {
            group: group.to_owned(),
            version: other.version.clone(),
            name: other.kind.as_str().to_owned(),
        };
        let known = other
            .has_type
            .then(|| kubernetes::rust_path(&reference))
            .flatten();
        if let Some(path) = known.and_then(|path| syn::parse_str::<syn::Path>(path).ok()) {
            return quote!(#path);
        }
        // Each kind without another type was given a name in `new`.
        let name = self.names[&key(other)].clone();
        if !self.opaque.contains_key(&name.to_string()) {
            let structs = match foreign_kind(self.description, other) {
                Some(known) => foreign::structs(self.description, known, &name, &mut self.taken),
                None => opaque(&name, other),
            };
            let resource = resource(&name, other, self.kind.resource.scope.value);
            self.opaque.insert(name.to_string(), quote!(#structs #resource));
        }
        quote!(#name)
    }
}

/// The type of a kind whose schema is unknown: it has metadata, and JSON for all other fields.
fn opaque(name: &syn::Ident, kind: &ObjectKind) -> TokenStream {
    let doc = format!(
        " {} (`{}`). Its schema is unknown to krator, so only its metadata is typed.",
        kind.kind.as_str(),
        kind.api_version()
    );
    quote! {
        #[doc = #doc]
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        pub struct #name {
            /// Name, namespace, labels and other metadata.
            pub metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
            /// All other fields, such as `spec` and `status`.
            #[serde(flatten)]
            pub data: serde_json::Map<String, serde_json::Value>,
        }
    }
}

/// The implementation of `kube::Resource` for a kind that is not in k8s-openapi. An unknown scope is assumed to be that
/// of the operator's own kind.
fn resource(name: &syn::Ident, kind: &ObjectKind, own: Scope) -> TokenStream {
    let (group, version, kind_name) = (kind.group.as_str(), kind.version.as_str(), kind.kind.as_str());
    let (plural, api_version) = (kind.plural.as_str(), kind.api_version());
    let scope = match kind.scope.unwrap_or(own) {
        Scope::Namespaced => quote!(k8s_openapi::NamespaceResourceScope),
        Scope::Cluster => quote!(k8s_openapi::ClusterResourceScope),
    };
    quote! {
        impl kube::Resource for #name {
            type DynamicType = ();
            type Scope = #scope;
            fn kind(_: &()) -> std::borrow::Cow<'_, str> {
                #kind_name.into()
            }
            fn group(_: &()) -> std::borrow::Cow<'_, str> {
                #group.into()
            }
            fn version(_: &()) -> std::borrow::Cow<'_, str> {
                #version.into()
            }
            fn api_version(_: &()) -> std::borrow::Cow<'_, str> {
                #api_version.into()
            }
            fn plural(_: &()) -> std::borrow::Cow<'_, str> {
                #plural.into()
            }
            fn meta(&self) -> &k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
                &self.metadata
            }
            fn meta_mut(&mut self) -> &mut k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
                &mut self.metadata
            }
        }
    }
}
