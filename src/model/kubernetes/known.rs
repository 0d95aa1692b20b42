//! One entry for each of Kubernetes' own types, made from its Rust type: the compiler proves that the type exists, and
//! plural and scope of a kind come from it.

mod types;

pub(super) use types::KNOWN;

use k8s_openapi::schemars::{Schema, SchemaGenerator};
use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope};

use crate::model::Scope;

/// A type of Kubernetes' own.
pub(super) struct Known {
    /// API group; `core` and `meta` by these names.
    pub group: &'static str,
    /// Version.
    pub version: &'static str,
    /// Name of the type.
    pub name: &'static str,
    /// Its schema, as k8s-openapi has it.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    /// The full name of its Rust type, private modules and all.
    pub rust: fn() -> &'static str,
    /// Whether the Rust type implements `Default`.
    pub has_default: bool,
    /// For a kind that can be listed: plural and scope.
    pub resource: Option<(&'static str, Scope)>,
}

trait HasScope {
    const SCOPE: Scope;
}

impl HasScope for ClusterResourceScope {
    const SCOPE: Scope = Scope::Cluster;
}

impl HasScope for NamespaceResourceScope {
    const SCOPE: Scope = Scope::Namespaced;
}

/// Tells whether a type implements `Default`: where it does, the constant of the `impl` block comes before that of the trait.
struct Probe<T>(std::marker::PhantomData<T>);

trait HasNoDefault {
    const HAS_DEFAULT: bool = false;
}

impl<T> HasNoDefault for Probe<T> {}

impl<T: Default> Probe<T> {
    const HAS_DEFAULT: bool = true;
}

macro_rules! known {
    ($($module:ident = $group:literal, $version:literal:
        kinds {$($kind:ident,)*}
        types {$($type:ident,)*}
    )*) => {
        /// All types, in one slice for each group and version.
        pub(in crate::model::kubernetes) static KNOWN: &[&[Known]] = &[$(
            &[$(Known {
                group: $group,
                version: $version,
                name: stringify!($kind),
                schema: <$module::$kind as JsonSchema>::json_schema,
                rust: std::any::type_name::<$module::$kind>,
                has_default: <Probe<$module::$kind>>::HAS_DEFAULT,
                resource: Some((
                    <$module::$kind as Resource>::URL_PATH_SEGMENT,
                    <<$module::$kind as Resource>::Scope as HasScope>::SCOPE,
                )),
            },)*
            $(Known {
                group: $group,
                version: $version,
                name: stringify!($type),
                schema: <$module::$type as JsonSchema>::json_schema,
                rust: std::any::type_name::<$module::$type>,
                has_default: <Probe<$module::$type>>::HAS_DEFAULT,
                resource: None,
            },)*],
        )*];
    };
}
use known;
