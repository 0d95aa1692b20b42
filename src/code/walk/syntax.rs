//! The visitor of the syntax tree.

use super::{CodeWalk, decides::only_decides};
use crate::code::facts::{Impl, MacroUse};
use crate::code::items::{Namespace, names_of};
use crate::code::macros::{self, Body};
use crate::code::resolve::Target;
use syn::{
    Expr, Item,
    visit::{self, Visit},
};

impl<'a> Visit<'a> for CodeWalk<'_, 'a> {
    // The arguments of attributes are not expressions in this scope.
    fn visit_attribute(&mut self, _: &'a syn::Attribute) {}

    fn visit_item_mod(&mut self, item: &'a syn::ItemMod) {
        // The items of the module are visited separately, as a module of the tree.
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
                syn::Type::Path(path) if path.qself.is_none() => walk.target(&path.path, Namespace::Types),
                _ => Target::Unknown,
            };
            if let Some((path, _)) = &item.trait_ {
                let of = walk.note_path(path, Namespace::Types);
                let at = walk.at(syn::spanned::Spanned::span(path));
                let handler = walk.at(syn::spanned::Spanned::span(&*item.self_ty));
                let is_state = matches!(&of, Target::External(of) if *of == ["krator_runtime", "State"]);
                if let Some(state) = walk.state_of(&for_).filter(|_| is_state) {
                    walk.facts.handlers.push((state, handler));
                    if item.items.iter().any(says_not_written) {
                        walk.facts.not_written.insert(state);
                    }
                    if item.items.iter().any(only_decides) {
                        walk.facts.only_decide.insert(state);
                    }
                }
                if matches!(&of, Target::External(of) if *of == ["krator_runtime", "Validate"]) {
                    walk.webhook(&for_, handler, &item.items);
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
        visit::visit_block(self, block);
        if has_names {
            self.blocks.pop();
        }
    }

    fn visit_expr_call(&mut self, call: &'a syn::ExprCall) {
        let function = match &*call.func {
            Expr::Path(path) if path.qself.is_none() => Some(&path.path),
            _ => None,
        };
        let to = function.filter(|path| self.is_transition_to(&self.target(path, Namespace::Values)));
        let Some(to) = to else {
            visit::visit_expr_call(self, call);
            return;
        };
        self.note_path(to, Namespace::Values);
        self.exit(match call.args.first() {
            Some(Expr::Path(path)) if path.qself.is_none() => Some(&path.path),
            _ => None,
        });
        for argument in &call.args {
            self.visit_expr(argument);
        }
    }

    fn visit_expr_path(&mut self, path: &'a syn::ExprPath) {
        let target = self.note_qualified(path.qself.as_ref(), &path.path, Namespace::Values);
        self.client(&path.path, &target);
        // `visit_expr_call` visits calls of the function, so here it is passed on as a value.
        if self.is_transition_to(&target) {
            self.hide_exits();
        }
        if let Some(state) = self.state_of(&target) {
            self.name_state(state);
        }
    }

    fn visit_expr_struct(&mut self, literal: &'a syn::ExprStruct) {
        self.note_qualified(literal.qself.as_ref(), &literal.path, Namespace::Types);
        for field in &literal.fields {
            self.visit_field_value(field);
        }
        if let Some(rest) = &literal.rest {
            self.visit_expr(rest);
        }
    }

    fn visit_field_value(&mut self, field: &'a syn::FieldValue) {
        // In the shorthand `S { field }` the value is a variable, not a path to an item.
        if field.colon_token.is_some() {
            self.visit_expr(&field.expr);
        }
    }

    fn visit_pat_struct(&mut self, pattern: &'a syn::PatStruct) {
        self.note_qualified(pattern.qself.as_ref(), &pattern.path, Namespace::Types);
        for field in pattern.fields.iter().filter(|field| field.colon_token.is_some()) {
            self.visit_pat(&field.pat);
        }
    }

    fn visit_pat_tuple_struct(&mut self, pattern: &'a syn::PatTupleStruct) {
        self.note_qualified(pattern.qself.as_ref(), &pattern.path, Namespace::Any);
        for inner in &pattern.elems {
            self.visit_pat(inner);
        }
    }

    fn visit_pat_ident(&mut self, pattern: &'a syn::PatIdent) {
        // The name of a constant, a variant or a state does not bind a variable.
        let is_name = pattern.subpat.is_none() && pattern.by_ref.is_none() && pattern.mutability.is_none();
        if is_name && self.is_item(&pattern.ident) {
            self.note(&[&pattern.ident], false, Namespace::Values);
        }
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_type_path(&mut self, path: &'a syn::TypePath) {
        let target = self.note_qualified(path.qself.as_ref(), &path.path, Namespace::Types);
        self.client(&path.path, &target);
    }

    fn visit_trait_bound(&mut self, bound: &'a syn::TraitBound) {
        self.note_path(&bound.path, Namespace::Types);
    }

    fn visit_vis_restricted(&mut self, visibility: &'a syn::VisRestricted) {
        self.note_path(&visibility.path, Namespace::Types);
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
            Some(Body::Matches(expr, pattern, guard)) => {
                self.visit_expr(expr);
                self.visit_pat(pattern);
                guard.iter().for_each(|guard| self.visit_expr(guard));
            }
            None => {
                let name = macros::name(of);
                if macros::repeats_paths(&name) && !tree.own_macros.contains(&name) {
                    self.token_paths(&of.tokens);
                    return;
                }
                // A macro of this crate may expand to anything. A macro of another crate can only name the states in
                // its arguments.
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

/// Whether tokens contain an identifier, including in nested groups.
fn mentions(tokens: &proc_macro2::TokenStream, word: &str) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        proc_macro2::TokenTree::Ident(ident) => ident == word,
        proc_macro2::TokenTree::Group(group) => mentions(&group.stream(), word),
        _ => false,
    })
}

/// Whether a handler has the line `const WRITTEN: bool = false;`.
fn says_not_written(item: &syn::ImplItem) -> bool {
    let syn::ImplItem::Const(constant) = item else {
        return false;
    };
    let is_false = |expr: &syn::Expr| matches!(expr, syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Bool(value), .. }) if !value.value);
    constant.ident == "WRITTEN" && is_false(&constant.expr)
}
