//! What an edit breaks, against the description as it was: found by [`crate::compare`].

use crate::finding::{Rule, Severity};

/// See its summary.
pub static STATE_REMOVED: Rule = Rule {
    name: "state-removed",
    severity: Severity::Error,
    summary: "a state of the former description is gone without `renamedFrom` or `legacy`",
    explanation: "The state of an object is in its status. A new operator that finds a state that it does not know parks the
object: no handler runs, until somebody deletes it or an operator that knows the state comes back.

With `renamedFrom` objects go on in the state that takes its place; with `legacy: true` they leave it, and no other enters.
There was a state `Graze`.

Bad:

    Roam: {next: [Eat]}

Good:

    Eat: {renamedFrom: [Graze], next: [Roam]}",
};

/// See its summary.
pub static BREAKING_SCHEMA: Rule = Rule {
    name: "breaking-schema",
    severity: Severity::Error,
    summary: "against the former description, stored objects or clients would break",
    explanation: "An API server keeps objects that its new schema does not fit, as long as nobody changes the part that does not fit.
Created anew, from a backup or by a tool that applies manifests to another cluster, they are refused. What the schema
lacks is dropped from them when they are next read. And the types of the new operator may have no place for what is stored.
`krator diff OLD NEW` shows all changes, the harmless ones too; `krator gen --allow-breaking` goes on.

There was a text `size`.

Bad:

    spec: {size: integer}

Good:

    spec: {size: optional string, replicas: {type: integer, default: 1}}",
};

/// The rules that need two descriptions.
pub(super) const ALL: &[&Rule] = &[&STATE_REMOVED, &BREAKING_SCHEMA];
