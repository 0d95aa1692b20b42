//! The prelude of a kind. Its documentation is the guide to writing handlers, because every handler imports it and
//! `krator gen` keeps it current.

use super::{KindNames, file_with_docs, memory_type};
use crate::model::{Kind, ObjectKind};
use quote::quote;
use syn::Ident;

/// `src/<kind>/generated/prelude.rs`.
pub fn prelude(kind: &Kind) -> String {
    let KindNames {
        module,
        machine,
        condition,
        ..
    } = KindNames::of(kind);
    let memory = memory_type(kind);
    let condition = condition.map(|condition| {
        quote!(
            pub use super::machine::#condition;
        )
    });
    let kinds = kind.other_kinds().any(|other| is_opaque(other)).then(|| {
        quote!(
            pub use super::kinds::*;
        )
    });
    let about = format!(
        " The context of a handler of `{}`: see [`krator_runtime::Context`].",
        kind.resource.rust_name.value
    );
    let items = quote! {
        #kinds
        #condition
        pub use super::machine::#machine;
        pub use super::types::*;
        pub use crate::#module::object::#memory;
        pub use crate::shared::SharedState;
        pub use krator_runtime::{Fallible as _, ObjectState, Operator, Result, State, Transition};
        #[doc = #about]
        pub type Context<'a> = krator_runtime::Context<'a, #machine>;
    };
    file_with_docs(&guide(kind, &memory), &items)
}

/// Whether the crate has its own type for the kind, in `kinds.rs`.
fn is_opaque(other: &ObjectKind) -> bool {
    other.described.is_none() && !other.has_type
}

/// The guide to writing a handler, in Markdown. It only names items that the handlers of this kind have.
fn guide(kind: &Kind, memory: &Ident) -> String {
    let names = KindNames::of(kind);
    let (module, name) = (&names.module, &names.kind);
    let mut text = format!(
        "The imports of the handlers of `{name}`: `use crate::{module}::prelude::*;`.

# Writing a handler

The handler of a state is its implementation of [`State`]. It does the work of the state and returns what follows:

- [`Transition::to`] enters another state, one of those in the state's `next`. [`because`](Transition::because) says why, in
  `.status.message` and in the conditions.
- [`Transition::stay`] keeps the object in the state. The handler runs again as the state's `wait` says: after the poll
  interval, or when something that it watches changes.
- [`Transition::done`] ends the state machine: the object is deleted. Only final states have it.
- An error is retried with growing delays, as the state's `retry` says. After the last retry the object enters the
  state in `then`. Call `.permanent()` on a result, from [`krator_runtime::Fallible`], where retries are of no use.

A transition that the graph does not have is a compile error. The runtime stops a handler at an `.await` when the
object is deleted or the timeout of the state expires, and it runs the handler again after a restart. Everything that a
handler does must therefore be safe to repeat, unless the state has `effects: once`.

# What a handler can use

| Item of [`Context`] | What it is for |
|---|---|
"
    );
    for (item, about) in rows(kind, memory) {
        text.push_str(&format!("| {item} | {about} |\n"));
    }
    text.push_str(
        "
`Context` is the same type in every state, so your own functions can take a `&mut Context<'_>`. A
[`krator_runtime::Fixture`] runs one handler in a test, and a [`krator_runtime::Local`] runs the whole state machine.
[`krator_runtime::Class`] says what the runtime does with each error.
",
    );
    text
}

/// The items of a handler's context: links to them, and their purpose.
fn rows(kind: &Kind, memory: &Ident) -> Vec<(String, String)> {
    let memory =
        format!("Its [`{memory}`]: what the operator keeps in memory for this object, until a restart.");
    let condition = KindNames::of(kind).condition;
    let conditions = condition.as_ref().map_or(String::new(), |condition| {
        format!("Sets a condition that `krator.yaml` declares, one of [`{condition}`].")
    });
    let (owns, watches) = (!kind.owns.is_empty(), !kind.watches.is_empty());
    let uses_others = kind.other_kinds().next().is_some();
    let rows: [(bool, &[&str], &str); 15] = [
        (true, &["manifest()"], "The object, as last seen in the cluster."),
        (true, &["object"], &memory),
        (
            true,
            &["shared"],
            "The [`SharedState`] of all objects of the kind.",
        ),
        (true, &["status()", "status_mut()"], STATUS),
        (true, &["save()"], "Stores your fields of `.status` at once."),
        (true, &["message()"], MESSAGE),
        (true, &["event()", "warn()"], EVENTS),
        (true, &["name()", "namespace()", "now()"], NAMES),
        (
            true,
            &["first_run()", "attempt()", "in_state_for()", "deleting()"],
            RUN,
        ),
        (true, &["entry()"], ENTRY),
        (condition.is_some(), &["set()"], &conditions),
        (
            owns,
            &["child()", "apply()", "owned()", "delete()", "prune()"],
            CHILDREN,
        ),
        (
            watches,
            &["watched()", "all_watched()"],
            "Read the objects that this one watches.",
        ),
        (owns || watches, &["readiness()"], READINESS),
        (uses_others, &["api()"], API),
    ];
    let link = |shown: &str| {
        let item = shown.trim_end_matches("()");
        format!("[`{shown}`](krator_runtime::Context::{item})")
    };
    rows.into_iter()
        .filter(|(is_there, ..)| *is_there)
        .map(|(_, items, about)| {
            let links: Vec<String> = items.iter().map(|item| link(item)).collect();
            (links.join(", "), about.to_owned())
        })
        .collect()
}

const STATUS: &str =
    "Your fields of `.status`. Changes are stored when the handler returns, also if it returns an error.";
const MESSAGE: &str = "Sets `.status.message` for the state that the object is in after the run, instead of that state's `message`.";
const EVENTS: &str =
    "Publishes an event about the object. The same event again during one entry of a state is one event.";
const NAMES: &str = "The name of the object, its namespace, and the time by the clock of the API server.";
const RUN: &str = "The causes and the attempts of this run of the handler.";
const ENTRY: &str = "An idempotency key, which is new for each entry into a state.";
const CHILDREN: &str = "Create or update, list and delete the objects that this one owns.";
const READINESS: &str = "Whether one of these objects is ready, and if not, why.";
const API: &str = "Makes other requests for a kind in `owns`, `watches` or `access`.";
