//! Collects the transitions that handlers return, which are the edges that the code takes.

use super::CodeWalk;
use crate::code::facts::{Answer, Exit, StateOf};
use crate::code::items::{Namespace, unraw};
use crate::code::macros;
use crate::code::resolve::Target;
use std::collections::BTreeSet;
use syn::{
    Expr,
    visit::{self, Visit},
};

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

    /// The kind of transition that a path such as `Transition::to` constructs.
    pub(super) fn answer_of(&self, target: &Target<'a>) -> Option<&'static str> {
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

    /// Records that the current function may take edges that the walk cannot see.
    pub(super) fn hide_exits(&mut self) {
        match self.from {
            Some(state) => {
                self.facts.hidden_exits.insert(state);
            }
            None => self.facts.hides_all_exits |= !self.is_test(),
        }
    }

    pub(super) fn exit(&mut self, call: &'a syn::ExprCall, how: &str, target_span: proc_macro2::Span) {
        let (answer, span) = match (how, call.args.first()) {
            ("stay", _) => (Answer::Stay, target_span),
            ("done", _) => (Answer::Done, target_span),
            (_, Some(argument)) => {
                let state = match argument {
                    Expr::Path(path) if path.qself.is_none() => {
                        self.state_of(&self.target(&path.path, Namespace::Values))
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
                .and_then(|argument| self.state_of(&self.target(argument, Namespace::Values)));
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

    pub(super) fn answer(&mut self, answer: Answer, span: proc_macro2::Span) {
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
}
