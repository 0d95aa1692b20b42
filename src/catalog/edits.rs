//! What an edit of a description breaks, against the description as it was.

use super::rules;

rules! {
    Error STATE_REMOVED "state-removed": "a state of the former description is gone without `renamedFrom` or `legacy`",
"The state of an object is in its status. A new operator that finds a state that it does not know parks the
object: no handler runs, until somebody deletes it or an operator that knows the state comes back.

With `renamedFrom` objects go on in the state that takes its place; with `legacy: true` they leave it, and no other enters.
There was a state `Graze`.

Bad:

    Roam: {next: [Eat]}

Good:

    Eat: {renamedFrom: [Graze], next: [Roam]}";
    Error BREAKING_SCHEMA "breaking-schema": "against the former description, stored objects or clients would break",
"An API server keeps objects that its new schema does not fit, as long as nobody changes the part that does not fit.
Created anew, from a backup or by a tool that applies manifests to another cluster, they are refused. What the schema
lacks is dropped from them when they are next read. And the types of the new operator may have no place for what is stored.
`krator diff OLD NEW` shows all changes, the harmless ones too; `krator gen --allow-breaking` goes on.

There was a text `size`.

Bad:

    spec: {size: integer}

Good:

    spec: {size: optional string, replicas: {type: integer, default: 1}}";
}
