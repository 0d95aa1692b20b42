//! What the walk found in user code, as plain data for the rules and for renaming.

use super::resolve::Target;
use super::tree::FileId;
use crate::finding::Span;
use crate::model::{KindId, StateId};
use std::collections::BTreeSet;

/// A state of a kind.
pub(super) type StateOf = (KindId, StateId);

/// A location in a file.
#[derive(Clone, Copy)]
pub(super) struct Location {
    pub file: FileId,
    pub span: Span,
}

/// Everything that the walk found.
#[derive(Default)]
pub(super) struct Facts<'a> {
    pub names: Vec<Name>,
    pub exits: Vec<Exit>,
    /// States whose handlers may take edges that the walk cannot see, so that no edge of theirs is reported as never taken.
    pub hidden_exits: BTreeSet<StateOf>,
    /// Whether the same holds for all states.
    pub hides_all_exits: bool,
    pub handlers: Vec<(StateOf, Location)>,
    /// States whose handlers say that nobody has written them.
    pub not_written: BTreeSet<StateOf>,
    pub accesses: Vec<NeededRight>,
    pub structs: Vec<StructUse<'a>>,
    pub impls: Vec<Impl<'a>>,
    pub macros: Vec<MacroUse<'a>>,
}

/// One identifier of a path, and what it resolves to.
pub(super) struct Name {
    pub at: Location,
    pub text: String,
    pub meaning: Meaning,
}

pub(super) enum Meaning {
    /// The item with this path in the crate.
    Item(Vec<String>),
    /// No item: the generated module or enum with this path does not contain it.
    Missing(Vec<String>),
    /// A single name that no declaration or import in scope introduces.
    Unresolved,
    /// Only the compiler can resolve the identifier.
    Unknown,
}

/// A transition that a handler returns.
pub(super) struct Exit {
    pub at: Location,
    /// The state that the transition leaves; `None` if it cannot be determined.
    pub from: Option<StateOf>,
    pub answer: Answer,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    To(StateOf),
    Stay,
    Done,
    /// A state is used as a value outside `Transition::to`; it may be a target.
    Names(StateOf),
}

/// A right that user code needs.
pub(super) struct NeededRight {
    pub at: Location,
    pub need: Need,
    /// The kind whose handler needs it; `None` for a plain `Api<K>` client.
    pub kind: Option<KindId>,
    /// The path of the type.
    pub object: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// Any right on the type is enough.
    Grants,
    Owns,
    Watches,
}

/// A use of a generated struct in a literal or a pattern.
pub(super) struct StructUse<'a> {
    pub at: Location,
    pub of: &'a syn::ItemStruct,
    /// The fields that are named.
    pub named: Vec<(String, Location)>,
    /// Whether `..` covers the other fields.
    pub has_rest: bool,
}

/// An implementation of a trait.
pub(super) struct Impl<'a> {
    pub at: Location,
    pub of: Target<'a>,
    pub for_: Target<'a>,
}

/// A macro call whose tokens cannot be interpreted as Rust code.
pub(super) struct MacroUse<'a> {
    pub file: FileId,
    pub tokens: &'a proc_macro2::TokenStream,
}
