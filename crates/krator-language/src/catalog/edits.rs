//! Rules about edits of a description that break stored objects or clients.

use super::rules;

rules! {
    Error STATE_REMOVED "state-removed": "a state of the former description was removed without `renamedFrom` or `legacy`",
"The status of an object contains its state. If the new operator does not have that state, it parks the object: no
handler runs until the object is deleted, or until an operator that has the state is deployed again.

Use `renamedFrom` if another state takes the place of the removed one: objects then continue there. Or keep the state
with `legacy: true`: objects can then leave it, but no object enters it. If the state with `renamedFrom` existed before,
it keeps its own handler as long as its definition is closer to its own former one than to that of the removed state.
Otherwise it counts as the removed state under a new name, and the state that had its name before counts as removed.

In this example, the former description had a state `Graze`.

Bad:

    Roam: {next: [Eat]}

Good:

    Eat: {renamedFrom: [Graze], next: [Roam]}";

    Error BREAKING_SCHEMA "breaking-schema": "a change of the schema or the resource breaks stored objects or clients",
"An API server keeps stored objects that do not match its new schema, as long as their invalid parts do not change. It
rejects such objects when they are created again, for example from a backup or from manifests that are applied to
another cluster. Fields that the new schema does not have are dropped when an object is next read, and the new operator
may not be able to deserialize stored objects.

`krator diff OLD NEW` shows all changes, including harmless ones. `krator gen --allow-breaking` generates the new version
in spite of the finding.

In this example, the former description had a field `size` of type string.

Bad:

    spec: {size: integer}

Good:

    spec: {size: optional string, replicas: {type: integer, default: 1}}";
}
