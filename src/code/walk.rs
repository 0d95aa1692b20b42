//! Goes through written code once and notes what rules and renaming ask for. Scopes are those of Rust: blocks with
//! items of their own, type parameters, variables.

use super::facts::{
    Access, Answer, At, Exit, Facts, FieldUse, Impl, MacroUse, MatchUse, Meaning, Name, Need, StateOf,
    StructUse,
};
use super::macros::{self, Body};
use super::resolve::{Place, Target, segments};
use super::tree::{Def, ModuleId, Names, Space, Tree, names_of};
use super::types::{Ty, unraw};
use crate::model::KindId;
use std::collections::{BTreeMap, BTreeSet};
use syn::{
    Expr, Item, Pat,
    visit::{self, Visit},
};

/// What the walk has to know of a kind.
pub(super) struct KindCode {
    /// `Moose`.
    pub name: String,
    /// `moose`.
    pub module: String,
    /// The module of its types.
    pub types: Option<ModuleId>,
    /// Its states, by their names.
    pub states: BTreeMap<String, StateOf>,
}

/// One module being read.
pub(super) struct Walk<'s, 'a> {
    pub tree: &'s Tree<'a>,
    pub kinds: &'s [KindCode],
    module: ModuleId,
    blocks: Vec<Names<'a>>,
    generics: Vec<String>,
    self_type: Option<Target<'a>>,
    variables: Vec<BTreeMap<String, Ty<'a>>>,
    /// The state whose answers are given here.
    from: Option<StateOf>,
    /// How many declarations were followed to get here.
    pub depth: usize,
    pub facts: Facts<'a>,
}

/// Reads all modules that people wrote.
pub(super) fn walk<'a>(tree: &Tree<'a>, kinds: &[KindCode]) -> Facts<'a> {
    let mut facts = Facts::default();
    for (id, module) in tree
        .modules
        .iter()
        .enumerate()
        .filter(|(_, module)| !module.is_generated)
    {
        let mut walk = Walk::new(tree, kinds, id, 0);
        walk.facts = facts;
        for item in module.items {
            walk.visit_item(item);
        }
        facts = walk.facts;
    }
    facts
}

impl<'s, 'a> Walk<'s, 'a> {
    fn new(tree: &'s Tree<'a>, kinds: &'s [KindCode], module: ModuleId, depth: usize) -> Self {
        Walk {
            tree,
            kinds,
            module,
            blocks: Vec::new(),
            generics: Vec::new(),
            self_type: None,
            variables: vec![BTreeMap::new()],
            from: None,
            depth,
            facts: Facts::default(),
        }
    }

    /// The eyes of another module.
    pub fn elsewhere(&self, module: ModuleId) -> Self {
        Walk::new(self.tree, self.kinds, module, self.depth + 1)
    }

    pub fn place(&self) -> Place<'_, 'a> {
        Place {
            module: self.module,
            blocks: &self.blocks,
            generics: &self.generics,
            self_type: self.self_type.as_ref(),
        }
    }

    /// What a path means here.
    pub fn target(&self, path: &syn::Path, space: Space) -> Target<'a> {
        let (names, is_absolute) = segments(path);
        self.tree
            .resolve(self.place(), &names, is_absolute, space)
            .pop()
            .unwrap_or(Target::Unknown)
    }

    pub fn variable(&self, name: &str) -> Option<Ty<'a>> {
        self.variables
            .iter()
            .rev()
            .find_map(|scope| scope.get(name))
            .cloned()
    }

    pub fn declare(&mut self, name: String, ty: Ty<'a>) {
        if let Some(scope) = self.variables.last_mut() {
            scope.insert(name, ty);
        }
    }

    /// The kind that has the machine.
    pub fn kind_of(&self, machine: &Target<'a>) -> Option<KindId> {
        let path = self.tree.canonical(machine)?;
        let (first, last) = (path.first()?, path.last()?);
        self.kinds
            .iter()
            .position(|kind| kind.module == *first && *last == format!("{}Machine", kind.name))
            .map(KindId)
    }

    /// The state that a type is.
    fn state_of(&self, target: &Target<'a>) -> Option<StateOf> {
        let path = self.tree.canonical(target)?;
        let [module, states, name] = &path[..] else {
            return None;
        };
        let kind = self.kinds.iter().find(|kind| kind.module == *module)?;
        kind.states.get(name).copied().filter(|_| states == "states")
    }

    fn file(&self) -> usize {
        self.tree.modules[self.module].file
    }

    fn at(&self, span: proc_macro2::Span) -> At {
        let file = self.file();
        At {
            file,
            span: self.tree.files[file].span(span),
        }
    }

    /// Notes what each name of a path means.
    fn note(&mut self, idents: &[&syn::Ident], is_absolute: bool, space: Space) -> Target<'a> {
        let names: Vec<String> = idents.iter().map(|ident| unraw(ident)).collect();
        let targets = self.tree.resolve(self.place(), &names, is_absolute, space);
        for (index, target) in targets.iter().enumerate() {
            let meaning = match target {
                Target::Missing => {
                    let within = index
                        .checked_sub(1)
                        .and_then(|before| self.tree.canonical(&targets[before]));
                    Meaning::Missing(within.unwrap_or_default())
                }
                Target::Unresolved => Meaning::Unresolved,
                Target::Unknown => Meaning::Unknown,
                target => match self.tree.canonical(target) {
                    Some(path) => Meaning::Item(path),
                    None => continue,
                },
            };
            let at = self.at(idents[index].span());
            self.facts.names.push(Name {
                at,
                text: names[index].clone(),
                meaning,
            });
        }
        targets.into_iter().next_back().unwrap_or(Target::Unknown)
    }

    fn note_path(&mut self, path: &'a syn::Path, space: Space) -> Target<'a> {
        let idents: Vec<&syn::Ident> = path.segments.iter().map(|segment| &segment.ident).collect();
        let target = self.note(&idents, path.leading_colon.is_some(), space);
        for segment in &path.segments {
            self.visit_path_arguments(&segment.arguments);
        }
        target
    }

    /// A path that may begin with `<T as Trait>`.
    fn note_qualified(
        &mut self,
        qself: Option<&'a syn::QSelf>,
        path: &'a syn::Path,
        space: Space,
    ) -> Target<'a> {
        let Some(qself) = qself else {
            return self.note_path(path, space);
        };
        self.visit_type(&qself.ty);
        let idents: Vec<&syn::Ident> = path.segments.iter().map(|segment| &segment.ident).collect();
        self.note(
            &idents[..qself.position.min(idents.len())],
            path.leading_colon.is_some(),
            Space::Types,
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
            meaning: Meaning::Item(path),
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
                self.note(before, is_absolute, Space::Types);
            }
        }
    }

    fn note_leaf(&mut self, leaf: &'a syn::Ident, before: &mut Vec<&'a syn::Ident>, is_absolute: bool) {
        if leaf == "self" {
            self.note(before, is_absolute, Space::Types);
        } else {
            before.push(leaf);
            self.note(before, is_absolute, Space::Any);
            before.pop();
        }
    }

    fn within<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        self.variables.push(BTreeMap::new());
        let read = read(self);
        self.variables.pop();
        read
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

    /// A function: its parameters, and whose answers it gives.
    fn function(&mut self, signature: &'a syn::Signature, body: Option<&'a syn::Block>) {
        let outer = (
            std::mem::take(&mut self.from),
            std::mem::take(&mut self.variables),
        );
        self.variables.push(BTreeMap::new());
        self.generic(&signature.generics, |walk| {
            visit::visit_signature(walk, signature);
            for input in &signature.inputs {
                if let syn::FnArg::Typed(input) = input {
                    let ty = walk.ty(&input.ty);
                    walk.bind(&input.pat, ty);
                }
            }
            walk.from = walk.answers_for(&signature.output);
            if let Some(body) = body {
                walk.visit_block(body);
            }
        });
        (self.from, self.variables) = outer;
    }

    /// The state in `-> Result<Transition<Roam>>`.
    fn answers_for(&self, output: &'a syn::ReturnType) -> Option<StateOf> {
        struct Answers<'a>(Vec<&'a syn::Path>);
        impl<'a> Visit<'a> for Answers<'a> {
            fn visit_path(&mut self, path: &'a syn::Path) {
                self.0.push(path);
                visit::visit_path(self, path);
            }
        }
        let mut paths = Answers(Vec::new());
        paths.visit_return_type(output);
        let mut states = paths.0.into_iter().filter_map(|path| {
            let Target::External(of) = self.target(path, Space::Types) else {
                return None;
            };
            if of != ["krator_runtime", "Transition"] {
                return None;
            }
            let syn::PathArguments::AngleBracketed(arguments) = &path.segments.last()?.arguments else {
                return None;
            };
            match arguments.args.first()? {
                syn::GenericArgument::Type(syn::Type::Path(state)) => {
                    self.state_of(&self.target(&state.path, Space::Types))
                }
                _ => None,
            }
        });
        states.next()
    }

    /// Which answer a path of a function gives: `Transition::to`.
    fn answer_of(&self, target: &Target<'a>) -> Option<&'static str> {
        let Target::External(path) = target else {
            return None;
        };
        match path.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["krator_runtime", "Transition", "to"] => Some("to"),
            ["krator_runtime", "Transition", "stay"] => Some("stay"),
            ["krator_runtime", "Transition", "done"] => Some("done"),
            _ => None,
        }
    }

    /// Edges may be taken here that cannot be seen.
    fn hide_exits(&mut self) {
        match self.from {
            Some(state) => {
                self.facts.hidden_exits.insert(state);
            }
            None => self.facts.hides_all_exits |= !self.is_test(),
        }
    }

    fn exit(&mut self, call: &'a syn::ExprCall, how: &str, target_span: proc_macro2::Span) {
        let (answer, span) = match (how, call.args.first()) {
            ("stay", _) => (Answer::Stay, target_span),
            ("done", _) => (Answer::Done, target_span),
            (_, Some(argument)) => {
                let state = match argument {
                    Expr::Path(path) if path.qself.is_none() => {
                        self.state_of(&self.target(&path.path, Space::Values))
                    }
                    _ => None,
                };
                match state {
                    Some(state) => (Answer::To(state), syn::spanned::Spanned::span(argument)),
                    None => return self.hide_exits(),
                }
            }
            _ => return,
        };
        self.answer(answer, span);
    }

    /// Code in a macro that is not understood as a whole, such as `select!`.
    fn token_paths(&mut self, tokens: &'a proc_macro2::TokenStream) {
        for path in macros::paths(tokens) {
            let names: Vec<String> = path.idents.iter().map(unraw).collect();
            let idents: Vec<&syn::Ident> = path.idents.iter().collect();
            // A single word that means nothing here means something to the macro.
            let target = self
                .tree
                .resolve(self.place(), &names, false, Space::Values)
                .pop()
                .unwrap_or(Target::Unknown);
            if names.len() == 1 && self.tree.canonical(&target).is_none() {
                continue;
            }
            self.note(&idents, false, Space::Values);
            let Some(how) = self.answer_of(&target) else {
                if let Some(state) = self.state_of(&target) {
                    let at = self.at(idents[idents.len() - 1].span());
                    self.facts.exits.push(Exit {
                        at,
                        from: self.from,
                        answer: Answer::Names(state),
                    });
                }
                continue;
            };
            let argument = path
                .behind
                .and_then(|tokens| syn::parse2::<syn::Path>(tokens).ok());
            let state = argument
                .as_ref()
                .and_then(|argument| self.state_of(&self.target(argument, Space::Values)));
            let (answer, span) = match (how, state, &argument) {
                ("stay", ..) => (Answer::Stay, idents[0].span()),
                ("done", ..) => (Answer::Done, idents[0].span()),
                (_, Some(state), Some(argument)) => {
                    (Answer::To(state), syn::spanned::Spanned::span(argument))
                }
                _ => {
                    self.hide_exits();
                    continue;
                }
            };
            self.answer(answer, span);
        }
    }

    fn answer(&mut self, answer: Answer, span: proc_macro2::Span) {
        if self.from.is_none() && matches!(answer, Answer::To(_)) {
            self.hide_exits();
        }
        let at = self.at(span);
        self.facts.exits.push(Exit {
            at,
            from: self.from,
            answer,
        });
    }

    fn is_test(&self) -> bool {
        self.tree.modules[self.module].is_test
    }

    /// The path of a type for which rights are given, if it could be one.
    fn object(&self, ty: &Ty<'a>) -> Option<Vec<String>> {
        match ty {
            Ty::Named(Target::External(path)) => {
                super::access::is_kubernetes_type(path).then(|| path.clone())
            }
            Ty::Resource(module, name) => {
                let mut path = self.tree.modules[*module].path.clone();
                path.push(name.clone());
                Some(path)
            }
            Ty::Struct(module, item) if self.tree.modules[*module].is_generated => {
                let mut path = self.tree.modules[*module].path.clone();
                path.push(unraw(&item.ident));
                Some(path)
            }
            _ => None,
        }
    }

    /// `cx.owned::<K>()` and the like; `expected` is what the answer is declared to be.
    fn access(&mut self, call: &'a syn::ExprMethodCall, expected: Option<&Ty<'a>>) {
        let need = match call.method.to_string().as_str() {
            "api" => Need::Grants,
            "apply" | "owned" | "delete" => Need::Owns,
            "watched" | "all_watched" => Need::Watches,
            _ => return,
        };
        let Ty::Context(kind) = self.type_of(&call.receiver) else {
            return;
        };
        let turbofish = call
            .turbofish
            .as_ref()
            .and_then(|turbofish| match turbofish.args.first() {
                Some(syn::GenericArgument::Type(ty)) => Some(ty),
                _ => None,
            });
        let (ty, span) = match (turbofish, call.args.first(), expected) {
            (Some(syn::Type::Infer(_)), None, Some(ty)) | (None, None, Some(ty)) => {
                (ty.clone(), call.method.span())
            }
            (Some(syn::Type::Infer(_)) | None, Some(argument), _) => {
                (self.type_of(argument), syn::spanned::Spanned::span(argument))
            }
            (Some(ty), ..) => (self.ty(ty), syn::spanned::Spanned::span(ty)),
            (None, None, None) => return,
        };
        let Some(object) = self.object(&ty) else { return };
        let at = self.at(span);
        self.facts.accesses.push(Access {
            at,
            need,
            kind: Some(kind),
            object,
        });
    }

    /// `Api<K>`: a client of its own, which has no more rights than the operator.
    fn client(&mut self, path: &'a syn::Path, target: &Target<'a>) {
        let Target::External(of) = target else { return };
        let Some(at) = of.iter().position(|name| name == "Api") else {
            return;
        };
        let is_kube = of
            .first()
            .is_some_and(|first| first == "kube" || first == "kube_client");
        let behind = of.len() - at;
        let segment = path.segments.iter().rev().nth(behind - 1);
        let Some(syn::PathArguments::AngleBracketed(arguments)) =
            segment.filter(|_| is_kube).map(|segment| &segment.arguments)
        else {
            return;
        };
        let Some(syn::GenericArgument::Type(ty)) = arguments.args.first() else {
            return;
        };
        if let Some(object) = self.object(&self.ty(ty)) {
            let at = self.at(syn::spanned::Spanned::span(ty));
            self.facts.accesses.push(Access {
                at,
                need: Need::Grants,
                kind: None,
                object,
            });
        }
    }

    fn struct_use(&mut self, path: &'a syn::Path, named: Vec<String>, has_rest: bool) {
        let Ty::Struct(module, of) = self.ty_of_target(self.target(path, Space::Types)) else {
            return;
        };
        if !self.tree.modules[module].is_generated {
            return;
        }
        let at = self.at(syn::spanned::Spanned::span(path));
        self.facts.structs.push(StructUse {
            at,
            of,
            named,
            has_rest,
        });
    }

    fn field_use(&mut self, ident: &syn::Ident, of: &Ty<'a>) {
        let Ty::Struct(module, of) = of else { return };
        if !self.tree.modules[*module].is_generated {
            return;
        }
        let at = self.at(ident.span());
        self.facts.fields.push(FieldUse {
            at,
            of,
            module: *module,
            name: unraw(ident),
        });
    }

    /// A `match` that names variants of one enum only, without a word for the rest.
    fn match_use(&mut self, expr: &'a syn::ExprMatch) {
        let mut of: Option<Vec<String>> = None;
        let mut covered = BTreeSet::new();
        for arm in &expr.arms {
            let (pattern, guard) = parts(&arm.pat);
            let mut cases = Vec::new();
            flatten(pattern, &mut cases);
            for case in cases {
                let target = match case {
                    Pat::Path(path) if path.qself.is_none() => self.target(&path.path, Space::Values),
                    Pat::Ident(ident) if ident.subpat.is_none() => {
                        let name = [unraw(&ident.ident)];
                        self.tree
                            .resolve(self.place(), &name, false, Space::Values)
                            .pop()
                            .unwrap_or(Target::Unknown)
                    }
                    _ => return,
                };
                let Target::Variant { module, name, .. } = &target else {
                    return;
                };
                let Some(mut path) = self
                    .tree
                    .canonical(&target)
                    .filter(|_| self.tree.modules[*module].is_generated)
                else {
                    return;
                };
                path.pop();
                if of.get_or_insert_with(|| path.clone()) != &path {
                    return;
                }
                if guard.is_none() {
                    covered.insert(name.clone());
                }
            }
        }
        if let Some(of) = of {
            let at = self.at(syn::spanned::Spanned::span(&*expr.expr));
            self.facts.matches.push(MatchUse { at, of, covered });
        }
    }
}

/// The pattern of an arm, and its condition.
fn parts(pattern: &Pat) -> (&Pat, Option<&Expr>) {
    match pattern {
        Pat::Guard(guarded) => (&guarded.pat, Some(&guarded.guard)),
        pattern => (pattern, None),
    }
}

fn flatten<'a>(pattern: &'a Pat, cases: &mut Vec<&'a Pat>) {
    match pattern {
        Pat::Or(or) => or.cases.iter().for_each(|case| flatten(case, cases)),
        Pat::Paren(inner) => flatten(&inner.pat, cases),
        Pat::Reference(inner) => flatten(&inner.pat, cases),
        case => cases.push(case),
    }
}

/// The call in the middle of `cx.owned().await?`.
fn innermost_call(expr: &Expr) -> Option<&syn::ExprMethodCall> {
    match expr {
        Expr::Try(inner) => innermost_call(&inner.expr),
        Expr::Await(inner) => innermost_call(&inner.base),
        Expr::Paren(inner) => innermost_call(&inner.expr),
        Expr::MethodCall(call) => match call.method.to_string().as_str() {
            "unwrap" | "expect" | "unwrap_or_default" => innermost_call(&call.receiver),
            _ => Some(call),
        },
        _ => None,
    }
}

fn innermost<'a>(ty: Ty<'a>) -> Ty<'a> {
    match ty {
        Ty::Within(inner) | Ty::Many(inner) => innermost(*inner),
        ty => ty,
    }
}

impl<'a> Visit<'a> for Walk<'_, 'a> {
    // What attributes say is not code.
    fn visit_attribute(&mut self, _: &'a syn::Attribute) {}

    fn visit_item_mod(&mut self, item: &'a syn::ItemMod) {
        // Its items are a module of their own.
        self.note_definition(&item.ident);
    }

    fn visit_item_use(&mut self, item: &'a syn::ItemUse) {
        self.note_import(&item.tree, &mut Vec::new(), item.leading_colon.is_some());
    }

    fn visit_item_struct(&mut self, item: &'a syn::ItemStruct) {
        self.note_definition(&item.ident);
        self.generic(&item.generics, |walk| visit::visit_item_struct(walk, item));
    }

    fn visit_item_enum(&mut self, item: &'a syn::ItemEnum) {
        self.note_definition(&item.ident);
        self.generic(&item.generics, |walk| visit::visit_item_enum(walk, item));
    }

    fn visit_item_type(&mut self, item: &'a syn::ItemType) {
        self.note_definition(&item.ident);
        self.generic(&item.generics, |walk| visit::visit_item_type(walk, item));
    }

    fn visit_item_trait(&mut self, item: &'a syn::ItemTrait) {
        self.note_definition(&item.ident);
        let outer = self.self_type.replace(Target::Unknown);
        self.generic(&item.generics, |walk| visit::visit_item_trait(walk, item));
        self.self_type = outer;
    }

    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        self.function(&item.sig, Some(&item.block));
    }

    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        self.function(&item.sig, Some(&item.block));
    }

    fn visit_trait_item_fn(&mut self, item: &'a syn::TraitItemFn) {
        self.function(&item.sig, item.default.as_ref());
    }

    fn visit_item_impl(&mut self, item: &'a syn::ItemImpl) {
        self.generic(&item.generics, |walk| {
            walk.visit_generics(&item.generics);
            walk.visit_type(&item.self_ty);
            let for_ = match &*item.self_ty {
                syn::Type::Path(path) if path.qself.is_none() => walk.target(&path.path, Space::Types),
                _ => Target::Unknown,
            };
            if let Some((path, _)) = &item.trait_ {
                let of = walk.note_path(path, Space::Types);
                let at = walk.at(syn::spanned::Spanned::span(path));
                let handler = walk.at(syn::spanned::Spanned::span(&*item.self_ty));
                let is_state = matches!(&of, Target::External(of) if *of == ["krator_runtime", "State"]);
                if let Some(state) = walk.state_of(&for_).filter(|_| is_state) {
                    walk.facts.handlers.push((state, handler));
                }
                walk.facts.impls.push(Impl {
                    at,
                    of,
                    for_: for_.clone(),
                });
            }
            let outer = walk.self_type.replace(for_);
            for item in &item.items {
                walk.visit_impl_item(item);
            }
            walk.self_type = outer;
        });
    }

    fn visit_block(&mut self, block: &'a syn::Block) {
        let items = || {
            block.stmts.iter().filter_map(|statement| match statement {
                syn::Stmt::Item(item) => Some(item),
                _ => None,
            })
        };
        let has_names = items().any(|item| !matches!(item, Item::Macro(_)));
        if has_names {
            self.blocks.push(names_of(items()));
        }
        self.within(|walk| visit::visit_block(walk, block));
        if has_names {
            self.blocks.pop();
        }
    }

    fn visit_local(&mut self, local: &'a syn::Local) {
        let mut ty = Ty::Unknown;
        if let Some(init) = &local.init {
            self.visit_expr(&init.expr);
            ty = self.type_of(&init.expr);
            if let Some((_, otherwise)) = &init.diverge {
                self.visit_expr(otherwise);
            }
            if let (Pat::Type(typed), Some(call)) = (&local.pat, innermost_call(&init.expr)) {
                let expected = innermost(self.ty(&typed.ty));
                self.access(call, Some(&expected));
            }
        }
        self.visit_pat(&local.pat);
        self.bind(&local.pat, ty);
    }

    fn visit_expr_let(&mut self, expr: &'a syn::ExprLet) {
        self.visit_expr(&expr.expr);
        let ty = self.type_of(&expr.expr);
        self.visit_pat(&expr.pat);
        self.bind(&expr.pat, ty);
    }

    fn visit_expr_if(&mut self, expr: &'a syn::ExprIf) {
        self.within(|walk| {
            walk.visit_expr(&expr.cond);
            walk.visit_block(&expr.then_branch);
        });
        if let Some((_, otherwise)) = &expr.else_branch {
            self.visit_expr(otherwise);
        }
    }

    fn visit_expr_while(&mut self, expr: &'a syn::ExprWhile) {
        self.within(|walk| visit::visit_expr_while(walk, expr));
    }

    fn visit_expr_for_loop(&mut self, expr: &'a syn::ExprForLoop) {
        self.visit_expr(&expr.expr);
        let ty = match self.type_of(&expr.expr) {
            Ty::Many(inner) => *inner,
            _ => Ty::Unknown,
        };
        self.within(|walk| {
            walk.visit_pat(&expr.pat);
            walk.bind(&expr.pat, ty);
            walk.visit_block(&expr.body);
        });
    }

    fn visit_expr_match(&mut self, expr: &'a syn::ExprMatch) {
        self.match_use(expr);
        self.visit_expr(&expr.expr);
        let ty = self.type_of(&expr.expr);
        for arm in &expr.arms {
            let (pattern, guard) = parts(&arm.pat);
            self.within(|walk| {
                walk.visit_pat(pattern);
                walk.bind(pattern, ty.clone());
                guard.into_iter().for_each(|guard| walk.visit_expr(guard));
                walk.visit_expr(&arm.body);
            });
        }
    }

    fn visit_expr_closure(&mut self, closure: &'a syn::ExprClosure) {
        self.within(|walk| {
            for input in &closure.inputs {
                walk.visit_pat(input);
                walk.bind(input, Ty::Unknown);
            }
            visit::visit_return_type(walk, &closure.output);
            walk.visit_expr(&closure.body);
        });
    }

    fn visit_expr_method_call(&mut self, call: &'a syn::ExprMethodCall) {
        visit::visit_expr_method_call(self, call);
        self.access(call, None);
    }

    fn visit_expr_call(&mut self, call: &'a syn::ExprCall) {
        let how = match &*call.func {
            Expr::Path(path) if path.qself.is_none() => {
                let how = self.answer_of(&self.target(&path.path, Space::Values));
                how.map(|how| (how, path))
            }
            _ => None,
        };
        let Some((how, path)) = how else {
            visit::visit_expr_call(self, call);
            return;
        };
        self.note_path(&path.path, Space::Values);
        self.exit(call, how, syn::spanned::Spanned::span(path));
        for argument in &call.args {
            match argument {
                // Named to be gone to, which has been noted.
                Expr::Path(path) => {
                    self.note_qualified(path.qself.as_ref(), &path.path, Space::Values);
                }
                argument => self.visit_expr(argument),
            }
        }
    }

    fn visit_expr_path(&mut self, path: &'a syn::ExprPath) {
        let target = self.note_qualified(path.qself.as_ref(), &path.path, Space::Values);
        self.client(&path.path, &target);
        if self.answer_of(&target) == Some("to") {
            self.hide_exits();
        }
        if let Some(state) = self.state_of(&target) {
            let exit = Exit {
                at: self.at(syn::spanned::Spanned::span(path)),
                from: self.from,
                answer: Answer::Names(state),
            };
            self.facts.exits.push(exit);
        }
    }

    fn visit_expr_field(&mut self, expr: &'a syn::ExprField) {
        self.visit_expr(&expr.base);
        if let syn::Member::Named(name) = &expr.member {
            let of = self.type_of(&expr.base);
            self.field_use(name, &of);
        }
    }

    fn visit_expr_struct(&mut self, literal: &'a syn::ExprStruct) {
        self.note_qualified(literal.qself.as_ref(), &literal.path, Space::Types);
        let of = self.ty_of_target(self.target(&literal.path, Space::Types));
        let mut named = Vec::new();
        for field in &literal.fields {
            if let syn::Member::Named(name) = &field.member {
                named.push(unraw(name));
                self.field_use(name, &of);
            }
            // `S { field }` names a variable, which is no path to what is generated.
            if field.colon_token.is_some() {
                self.visit_expr(&field.expr);
            }
        }
        self.struct_use(&literal.path, named, literal.dot2_token.is_some());
        if let Some(rest) = &literal.rest {
            self.visit_expr(rest);
        }
    }

    fn visit_pat_struct(&mut self, pattern: &'a syn::PatStruct) {
        self.note_qualified(pattern.qself.as_ref(), &pattern.path, Space::Types);
        let of = self.ty_of_target(self.target(&pattern.path, Space::Types));
        let mut named = Vec::new();
        for field in &pattern.fields {
            if let syn::Member::Named(name) = &field.member {
                named.push(unraw(name));
                self.field_use(name, &of);
            }
            if field.colon_token.is_some() {
                self.visit_pat(&field.pat);
            }
        }
        self.struct_use(&pattern.path, named, pattern.rest.is_some());
    }

    fn visit_pat_tuple_struct(&mut self, pattern: &'a syn::PatTupleStruct) {
        self.note_qualified(pattern.qself.as_ref(), &pattern.path, Space::Any);
        for inner in &pattern.elems {
            self.visit_pat(inner);
        }
    }

    fn visit_pat_ident(&mut self, pattern: &'a syn::PatIdent) {
        // A name that stands for a constant, a variant or a state is no variable.
        let is_name = pattern.subpat.is_none() && pattern.by_ref.is_none() && pattern.mutability.is_none();
        let name = [unraw(&pattern.ident)];
        let target = self.tree.resolve(self.place(), &name, false, Space::Values).pop();
        let is_item = matches!(
            target,
            Some(
                Target::Variant { .. }
                    | Target::Item {
                        def: Def::Struct(_) | Def::OtherValue,
                        ..
                    }
            )
        );
        if is_name && is_item {
            self.note(&[&pattern.ident], false, Space::Values);
        }
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_type_path(&mut self, path: &'a syn::TypePath) {
        let target = self.note_qualified(path.qself.as_ref(), &path.path, Space::Types);
        self.client(&path.path, &target);
    }

    fn visit_trait_bound(&mut self, bound: &'a syn::TraitBound) {
        self.note_path(&bound.path, Space::Types);
    }

    fn visit_vis_restricted(&mut self, visibility: &'a syn::VisRestricted) {
        self.note_path(&visibility.path, Space::Types);
    }

    fn visit_item_macro(&mut self, item: &'a syn::ItemMacro) {
        let file = self.file();
        let tokens = &item.mac.tokens;
        self.facts.macros.push(MacroUse { file, tokens });
    }

    fn visit_macro(&mut self, of: &'a syn::Macro) {
        let (tree, file) = (self.tree, self.file());
        match tree.files[file].bodies.get(&macros::key(of)) {
            Some(Body::Exprs(exprs)) => exprs.iter().for_each(|expr| self.visit_expr(expr)),
            Some(Body::Matches(expr, pattern, guard)) => self.within(|walk| {
                walk.visit_expr(expr);
                walk.visit_pat(pattern);
                walk.bind(pattern, Ty::Unknown);
                guard.iter().for_each(|guard| walk.visit_expr(guard));
            }),
            None => {
                let name = macros::name(of);
                if macros::repeats_paths(&name) && !tree.own_macros.contains(&name) {
                    self.token_paths(&of.tokens);
                    return;
                }
                // A macro of this crate may say anything; one of another crate can only repeat what it is given.
                let is_own = tree.own_macros.contains(&name) || name == "include";
                if is_own || mentions(&of.tokens, "Transition") {
                    self.hide_exits();
                }
                let tokens = &of.tokens;
                self.facts.macros.push(MacroUse { file, tokens });
            }
        }
    }
}

/// Whether a word is among tokens, however deep.
fn mentions(tokens: &proc_macro2::TokenStream, word: &str) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        proc_macro2::TokenTree::Ident(ident) => ident == word,
        proc_macro2::TokenTree::Group(group) => mentions(&group.stream(), word),
        _ => false,
    })
}
