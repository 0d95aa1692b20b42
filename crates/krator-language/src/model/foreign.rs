//! Kinds of other projects, with the schemas of their CustomResourceDefinitions.

use super::{Field, ObjectKind, Scope};
use crate::finding::Spanned;
use crate::names::{KindName, ResourceName};

/// A kind of `schemas`: the parts of its CustomResourceDefinition that the Rust types of its objects depend on.
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
    /// The fields of its objects besides `apiVersion`, `kind` and `metadata`.
    pub fields: Vec<Field>,
    /// The path of the file in the folder of the description.
    pub file: Spanned<String>,
}

impl ForeignKind {
    /// Whether a reference is to this kind.
    pub fn is(&self, kind: &ObjectKind) -> bool {
        (&self.group, &self.version, &self.kind) == (&kind.group, &kind.version, &kind.kind)
    }
}
