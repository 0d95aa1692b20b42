//! The facts that the walk collects in user code, as plain data for the rules and for renaming.

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
    /// The edges that handlers may take: the state of the handler, and a state that its code names.
    pub taken: BTreeSet<(StateOf, StateOf)>,
    /// States whose handlers may take edges that the walk cannot see, so that no edge of theirs is reported as never taken.
    pub hidden_exits: BTreeSet<StateOf>,
    /// Whether the handlers of all states may take such edges.
    pub hides_all_exits: bool,
    pub handlers: Vec<(StateOf, Location)>,
    /// States whose handlers are marked as not written.
    pub not_written: BTreeSet<StateOf>,
    /// States whose handlers wait for nothing.
    pub only_decide: BTreeSet<StateOf>,
    /// The webhooks that a validation rule could replace.
    pub rule_like_webhooks: Vec<(KindId, Location)>,
    pub clients: Vec<Client>,
    pub impls: Vec<Impl<'a>>,
    pub macros: Vec<MacroUse<'a>>,
}

/// One identifier of a path, and what it resolves to.
pub(super) struct Name {
    pub at: Location,
    pub text: String,
    /// The path of the item in the crate; `None` if only the compiler can resolve the identifier.
    pub item: Option<Vec<String>>,
}

/// A plain client `Api<K>`, which makes requests with the rights of the operator.
pub(super) struct Client {
    pub at: Location,
    /// The path of `K`.
    pub object: Vec<String>,
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
