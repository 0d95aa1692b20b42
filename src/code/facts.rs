//! What was read of written code, as plain facts: rules judge them, and renaming edits by them.

use super::resolve::Target;
use super::tree::FileId;
use crate::finding::Span;
use crate::model::{KindId, StateId};
use std::collections::BTreeSet;

/// A state of a kind.
pub(super) type StateOf = (KindId, StateId);

/// A place in a file.
#[derive(Clone, Copy)]
pub(super) struct At {
    pub file: FileId,
    pub span: Span,
}

/// All that was read.
#[derive(Default)]
pub(super) struct Facts<'a> {
    pub names: Vec<Name>,
    pub exits: Vec<Exit>,
    /// States whose handlers may take edges in ways that cannot be seen.
    pub hidden_exits: BTreeSet<StateOf>,
    /// The same of all states.
    pub hides_all_exits: bool,
    pub handlers: Vec<(StateOf, At)>,
    pub accesses: Vec<Access>,
    pub structs: Vec<StructUse<'a>>,
    pub impls: Vec<Impl<'a>>,
    pub macros: Vec<MacroUse<'a>>,
}

/// One identifier of a path, and what it means.
pub(super) struct Name {
    pub at: At,
    pub text: String,
    pub meaning: Meaning,
}

pub(super) enum Meaning {
    /// What has this path in the crate.
    Item(Vec<String>),
    /// Nothing: the module or enum of this path was generated, and does not have it.
    Missing(Vec<String>),
    /// Nothing in sight.
    Unresolved,
    /// Not to be decided.
    Unknown,
}

/// An answer of a handler.
pub(super) struct Exit {
    pub at: At,
    /// The state that it leaves; none where that cannot be told.
    pub from: Option<StateOf>,
    pub answer: Answer,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    To(StateOf),
    Stay,
    Done,
    /// A state is named as a value, for whatever purpose.
    Names(StateOf),
}

/// A right that code needs.
pub(super) struct Access {
    pub at: At,
    pub need: Need,
    /// Whose handler; none for clients of their own.
    pub kind: Option<KindId>,
    /// The type, by its path.
    pub object: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// Any right.
    Grants,
    Owns,
    Watches,
}

/// A generated struct in a literal or in a pattern.
pub(super) struct StructUse<'a> {
    pub at: At,
    pub of: &'a syn::ItemStruct,
    /// The fields that are named.
    pub named: Vec<(String, At)>,
    /// Whether `..` stands for the others.
    pub has_rest: bool,
}

/// An impl of a trait.
pub(super) struct Impl<'a> {
    pub at: At,
    pub of: Target<'a>,
    pub for_: Target<'a>,
}

/// A macro whose tokens only its author understands.
pub(super) struct MacroUse<'a> {
    pub file: FileId,
    pub tokens: &'a proc_macro2::TokenStream,
}
