//! The types that handlers have rights on, read from the trait implementations in generated code.

use super::facts::Need;
use super::items::Namespace;
use super::resolve::{LexicalScope, Target, segments};
use super::tree::Tree;
use crate::model::{Kind, kubernetes};
use std::collections::{BTreeMap, BTreeSet};
use syn::{GenericArgument, Item, PathArguments, Type};

/// Whether a path is that of a built-in Kubernetes kind.
pub(super) fn is_kubernetes_type(path: &[String]) -> bool {
    path.first().is_some_and(|first| first == "k8s_openapi")
        && kubernetes::kind_of_rust(&path.join("::")).is_some()
}

/// The name of a kind in a description, such as `batch/v1.Job`.
pub(super) fn reference(object: &[String]) -> Option<&'static str> {
    kubernetes::kind_of_rust(&object.join("::"))
}

/// The types that the handlers of one kind have rights on, by their paths.
#[derive(Default)]
pub(super) struct Rights {
    grants: BTreeSet<Vec<String>>,
    owns: BTreeSet<Vec<String>>,
    watches: BTreeSet<Vec<String>>,
}

impl Rights {
    /// Reads the rights from the generated module of a kind; `None` if the module is not part of the crate.
    pub fn of(tree: &Tree<'_>, kind: &Kind) -> Option<Self> {
        let module = tree.module(&[&kind.resource.kind.value.module(), "generated", "kinds"])?;
        let mut rights = Rights::default();
        let at = LexicalScope {
            module,
            blocks: &[],
            generics: &[],
            self_type: None,
        };
        for item in tree.modules[module].items {
            let Item::Impl(item) = item else { continue };
            let Some(segment) = item.trait_.as_ref().and_then(|(path, _)| path.segments.last()) else {
                continue;
            };
            let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
                continue;
            };
            let Some(GenericArgument::Type(Type::Path(object))) = arguments.args.first() else {
                continue;
            };
            let (names, is_absolute) = segments(&object.path);
            let target = tree.resolve(at, &names, is_absolute, Namespace::Types).pop();
            let object = match target {
                Some(Target::External(path)) => path,
                Some(target) => match tree.canonical(&target) {
                    Some(path) => path,
                    None => continue,
                },
                None => continue,
            };
            match segment.ident.to_string().as_str() {
                "Grants" => rights.grants.insert(object),
                "Owns" => rights.owns.insert(object),
                "Watches" => rights.watches.insert(object),
                _ => continue,
            };
        }
        Some(rights)
    }

    /// Whether the handlers have the right on the object.
    pub fn allow(&self, need: Need, object: &[String]) -> bool {
        match need {
            Need::Grants => self.grants.contains(object),
            Need::Owns => self.owns.contains(object),
            Need::Watches => self.watches.contains(object),
        }
    }
}

/// The rights of all kinds, by the index of the kind.
pub(super) fn rights(tree: &Tree<'_>, kinds: &[Kind]) -> BTreeMap<usize, Rights> {
    kinds
        .iter()
        .enumerate()
        .filter_map(|(id, kind)| Some((id, Rights::of(tree, kind)?)))
        .collect()
}
