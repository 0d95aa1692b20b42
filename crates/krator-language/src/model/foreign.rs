//! Kinds that other projects describe, with the schemas of their CustomResourceDefinitions.

use super::{Field, ObjectKind, Scope};
use crate::finding::Spanned;
use crate::names::{KindName, ResourceName};

/// A kind of `schemas`: its CustomResourceDefinition, as far as the Rust types of its objects follow from it.
#[derive(Debug, Clone, PartialEq)]
pub struct ForeignKind {
    /// Its API group.
    pub group: String,
    /// Its version.
    pub version: String,
    /// The name of the kind.
    pub kind: KindName,
    /// The plural.
    pub plural: ResourceName,
    /// Whether its objects live in namespaces.
    pub scope: Scope,
    /// The description of the kind in its definition.
    pub description: Option<String>,
    /// The fields of its objects beside `apiVersion`, `kind` and `metadata`.
    pub fields: Vec<Field>,
    /// The path of the file in the folder of the description.
    pub file: Spanned<String>,
}

impl ForeignKind {
    /// Whether a reference names this kind.
    pub fn is(&self, kind: &ObjectKind) -> bool {
        (&self.group, &self.version, &self.kind) == (&kind.group, &kind.version, &kind.kind)
    }
}
