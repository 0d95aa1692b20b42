//! Collects the edges that handlers may take.

use super::CodeWalk;
use crate::code::facts::StateOf;
use crate::code::items::{Namespace, unraw};
use crate::code::macros;
use crate::code::resolve::Target;
use std::collections::BTreeSet;
use syn::visit::{self, Visit};

impl<'a> CodeWalk<'_, 'a> {
    /// The state in a return type such as `Result<Transition<Roam>>`.
    pub(super) fn answers_for(&self, output: &'a syn::ReturnType) -> Option<StateOf> {
        struct Answers<'a>(Vec<&'a syn::Path>);
        impl<'a> Visit<'a> for Answers<'a> {
            fn visit_path(&mut self, path: &'a syn::Path) {
                self.0.push(path);
                visit::visit_path(self, path);
            }
        }
        let mut paths = Answers(Vec::new());
        paths.visit_return_type(output);
        let states = paths.0.into_iter().filter_map(|path| {
            let Target::External(of) = self.target(path, Namespace::Types) else {
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
                    self.state_of(&self.target(&state.path, Namespace::Types))
                }
                _ => None,
            }
        });
        // With several states in the type, it is unknown which of them a transition belongs to.
        let states: BTreeSet<StateOf> = states.collect();
        states.first().copied().filter(|_| states.len() == 1)
    }

    /// Whether a path is `Transition::to`.
    pub(super) fn is_transition_to(&self, target: &Target<'a>) -> bool {
        matches!(target, Target::External(path) if *path == ["krator_runtime", "Transition", "to"])
    }

    /// Records that the current function names a state, which may be the target of a transition.
    pub(super) fn name_state(&mut self, state: StateOf) {
        if let Some(from) = self.from {
            self.facts.taken.insert((from, state));
        }
    }

    /// Records that the current function may take edges that the walk cannot see.
    pub(super) fn hide_exits(&mut self) {
        match self.from {
            Some(state) => {
                self.facts.hidden_exits.insert(state);
            }
            None => self.facts.hides_all_exits |= !self.is_test(),
        }
    }

    /// Hides the exits of the current function, unless the argument of `Transition::to` is a state.
    pub(super) fn exit(&mut self, argument: Option<&syn::Path>) {
        let state = argument.and_then(|path| self.state_of(&self.target(path, Namespace::Values)));
        if state.is_none() || self.from.is_none() {
            self.hide_exits();
        }
    }

    /// Collects paths and transitions from the tokens of a macro that cannot be parsed as a whole, such as `select!`.
    pub(super) fn token_paths(&mut self, tokens: &'a proc_macro2::TokenStream) {
        for path in macros::paths(tokens) {
            let names: Vec<String> = path.idents.iter().map(unraw).collect();
            let idents: Vec<&syn::Ident> = path.idents.iter().collect();
            // A single identifier that does not resolve may be part of the macro's own syntax.
            let target = self
                .tree
                .resolve(self.place(), &names, false, Namespace::Values)
                .pop()
                .unwrap_or(Target::Unknown);
            if names.len() == 1 && self.tree.canonical(&target).is_none() {
                continue;
            }
            self.note(&idents, false, Namespace::Values);
            if self.is_transition_to(&target) {
                let argument = path
                    .behind
                    .and_then(|tokens| syn::parse2::<syn::Path>(tokens).ok());
                self.exit(argument.as_ref());
            } else if let Some(state) = self.state_of(&target) {
                self.name_state(state);
            }
        }
    }
}
