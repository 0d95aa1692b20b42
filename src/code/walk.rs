//! Visits user code once and collects the facts that the rules and renaming need. It tracks Rust's scopes: blocks that
//! contain items, and generic parameters.

mod decides;
mod edges;
mod syntax;
mod validation;

use super::facts::{Client, Facts, Location, Name, StateOf};
use super::items::{Def, ModuleId, Names, Namespace, unraw};
use super::resolve::{LexicalScope, Target, is_kubernetes_type, segments};
use super::tree::Tree;
use crate::model::KindId;
use std::collections::BTreeMap;
use syn::visit::{self, Visit as _};

/// The names of a kind that the walk looks for.
pub(super) struct KindCode {
    /// The name of the kind, such as `Moose`.
    pub name: String,
    /// The name of its module, such as `moose`.
    pub module: String,
    /// Its states, by their names.
    pub states: BTreeMap<String, StateOf>,
}

/// The visitor of one module.
pub(super) struct CodeWalk<'s, 'a> {
    pub tree: &'s Tree<'a>,
    pub kinds: &'s [KindCode],
    module: ModuleId,
    blocks: Vec<Names<'a>>,
    generics: Vec<String>,
    self_type: Option<Target<'a>>,
    /// The state whose transition the current function returns.
    from: Option<StateOf>,
    pub facts: Facts<'a>,
}

/// Visits all modules that users wrote.
pub(super) fn walk<'a>(tree: &Tree<'a>, kinds: &[KindCode]) -> Facts<'a> {
    let mut facts = Facts::default();
    for (id, module) in tree
        .modules
        .iter()
        .enumerate()
        .filter(|(_, module)| !module.is_generated)
    {
        let mut walk = CodeWalk {
            tree,
            kinds,
            module: id,
            blocks: Vec::new(),
            generics: Vec::new(),
            self_type: None,
            from: None,
            facts,
        };
        for item in module.items {
            walk.visit_item(item);
        }
        facts = walk.facts;
    }
    facts
}

impl<'a> CodeWalk<'_, 'a> {
    pub fn place(&self) -> LexicalScope<'_, 'a> {
        LexicalScope {
            module: self.module,
            blocks: &self.blocks,
            generics: &self.generics,
            self_type: self.self_type.as_ref(),
        }
    }

    /// Whether a name in a pattern refers to an item, so that it does not bind a variable.
    pub fn is_item(&self, ident: &syn::Ident) -> bool {
        let target = self
            .tree
            .resolve(self.place(), &[unraw(ident)], false, Namespace::Values)
            .pop();
        matches!(
            target,
            Some(
                Target::Variant { .. }
                    | Target::Item {
                        def: Def::Struct(_) | Def::Constant,
                        ..
                    }
            )
        )
    }

    /// Resolves a path in the current scope.
    pub fn target(&self, path: &syn::Path, space: Namespace) -> Target<'a> {
        let (names, is_absolute) = segments(path);
        self.tree
            .resolve(self.place(), &names, is_absolute, space)
            .pop()
            .unwrap_or(Target::Unknown)
    }

    /// The state that a type represents.
    fn state_of(&self, target: &Target<'a>) -> Option<StateOf> {
        let path = self.tree.canonical(target)?;
        let [module, states, name] = &path[..] else {
            return None;
        };
        let kind = self.kinds.iter().find(|kind| kind.module == *module)?;
        kind.states.get(name).copied().filter(|_| states == "states")
    }

    /// Records a webhook that a validation rule could replace.
    fn webhook(&mut self, kind: &Target<'a>, at: Location, items: &[syn::ImplItem]) {
        let Some(path) = self.tree.canonical(kind) else {
            return;
        };
        let kind = self
            .kinds
            .iter()
            .position(|kind| path.first() == Some(&kind.module) && path.last() == Some(&kind.name));
        let bodies = &self.tree.files[self.file()].bodies;
        let mut handlers = items.iter().filter_map(|item| match item {
            syn::ImplItem::Fn(handler) => Some(handler),
            _ => None,
        });
        if let Some(kind) = kind.filter(|_| handlers.any(|handler| validation::is_rule(handler, bodies))) {
            self.facts.rule_like_webhooks.push((KindId(kind), at));
        }
    }

    fn file(&self) -> usize {
        self.tree.modules[self.module].file
    }

    fn at(&self, span: proc_macro2::Span) -> Location {
        let file = self.file();
        Location {
            file,
            span: self.tree.files[file].span(span),
        }
    }

    /// Records the target of each segment of a path, and returns the target of the last one.
    fn note(&mut self, idents: &[&syn::Ident], is_absolute: bool, space: Namespace) -> Target<'a> {
        let names: Vec<String> = idents.iter().map(|ident| unraw(ident)).collect();
        let targets = self.tree.resolve(self.place(), &names, is_absolute, space);
        for (index, target) in targets.iter().enumerate() {
            let item = self.tree.canonical(target);
            if item.is_none() && !matches!(target, Target::Unknown) {
                continue;
            }
            let at = self.at(idents[index].span());
            self.facts.names.push(Name {
                at,
                text: names[index].clone(),
                item,
            });
        }
        targets.into_iter().next_back().unwrap_or(Target::Unknown)
    }

    fn note_path(&mut self, path: &'a syn::Path, space: Namespace) -> Target<'a> {
        let idents: Vec<&syn::Ident> = path.segments.iter().map(|segment| &segment.ident).collect();
        let target = self.note(&idents, path.leading_colon.is_some(), space);
        for segment in &path.segments {
            self.visit_path_arguments(&segment.arguments);
        }
        target
    }

    /// Records a path that may begin with `<T as Trait>`.
    fn note_qualified(
        &mut self,
        qself: Option<&'a syn::QSelf>,
        path: &'a syn::Path,
        space: Namespace,
    ) -> Target<'a> {
        let Some(qself) = qself else {
            return self.note_path(path, space);
        };
        self.visit_type(&qself.ty);
        let idents: Vec<&syn::Ident> = path.segments.iter().map(|segment| &segment.ident).collect();
        self.note(
            &idents[..qself.position.min(idents.len())],
            path.leading_colon.is_some(),
            Namespace::Types,
        );
        for segment in &path.segments {
            self.visit_path_arguments(&segment.arguments);
        }
        Target::Unknown
    }

    fn note_definition(&mut self, ident: &syn::Ident) {
        if !self.blocks.is_empty() {
            return;
        }
        let mut path = self.tree.modules[self.module].path.clone();
        path.push(unraw(ident));
        let at = self.at(ident.span());
        self.facts.names.push(Name {
            at,
            text: unraw(ident),
            item: Some(path),
        });
    }

    fn note_import(&mut self, tree: &'a syn::UseTree, before: &mut Vec<&'a syn::Ident>, is_absolute: bool) {
        match tree {
            syn::UseTree::Path(inner) => {
                before.push(&inner.ident);
                self.note_import(&inner.tree, before, is_absolute);
                before.pop();
            }
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.note_import(tree, before, is_absolute);
                }
            }
            syn::UseTree::Name(leaf) => self.note_leaf(&leaf.ident, before, is_absolute),
            syn::UseTree::Rename(leaf) => self.note_leaf(&leaf.ident, before, is_absolute),
            syn::UseTree::Glob(_) => {
                self.note(before, is_absolute, Namespace::Types);
            }
        }
    }

    fn note_leaf(&mut self, leaf: &'a syn::Ident, before: &mut Vec<&'a syn::Ident>, is_absolute: bool) {
        if leaf == "self" {
            self.note(before, is_absolute, Namespace::Types);
        } else {
            before.push(leaf);
            self.note(before, is_absolute, Namespace::Any);
            before.pop();
        }
    }

    fn generic<T>(&mut self, generics: &'a syn::Generics, read: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.generics.len();
        let names = generics.params.iter().filter_map(|parameter| match parameter {
            syn::GenericParam::Type(parameter) => Some(unraw(&parameter.ident)),
            syn::GenericParam::Const(parameter) => Some(unraw(&parameter.ident)),
            syn::GenericParam::Lifetime(_) => None,
        });
        self.generics.extend(names);
        let read = read(self);
        self.generics.truncate(before);
        read
    }

    /// Visits a function with its parameters in scope, and determines the state whose transition it returns.
    fn function(&mut self, signature: &'a syn::Signature, body: Option<&'a syn::Block>) {
        let outer = self.from.take();
        self.generic(&signature.generics, |walk| {
            visit::visit_signature(walk, signature);
            walk.from = walk.answers_for(&signature.output);
            if let Some(body) = body {
                walk.visit_block(body);
            }
        });
        self.from = outer;
    }

    fn is_test(&self) -> bool {
        self.tree.modules[self.module].is_test
    }

    /// Records the use of a plain client `Api<K>`, if `K` is a kind of Kubernetes.
    fn client(&mut self, path: &'a syn::Path, target: &Target<'a>) {
        let Target::External(of) = target else { return };
        let is_kube = matches!(of.first().map(String::as_str), Some("kube" | "kube_client"));
        let Some(at) = of.iter().position(|name| is_kube && name == "Api") else {
            return;
        };
        let segment = path.segments.iter().rev().nth(of.len() - at - 1);
        let Some(syn::PathArguments::AngleBracketed(arguments)) = segment.map(|segment| &segment.arguments)
        else {
            return;
        };
        let Some(syn::GenericArgument::Type(syn::Type::Path(kind))) = arguments.args.first() else {
            return;
        };
        if let Target::External(object) = self.target(&kind.path, Namespace::Types)
            && is_kubernetes_type(&object)
        {
            let at = self.at(syn::spanned::Spanned::span(kind));
            self.facts.clients.push(Client { at, object });
        }
    }
}
