//! What can be wrong between a description and the files of the crate that was generated from it.

use super::rules;

rules! {
    Error EDITED_FILE "edited-file": "somebody edited a file that krator generates",
"krator writes such a file anew whenever the description changes, so that an edit in it would be lost. Nothing is written until
somebody has decided: the finding shows what krator would change. Where the edit belongs into a file of yours, or into the description,
move it there; `krator gen --force` then writes the file as the description has it.

Bad:

    src/moose/generated/machine.rs    edited

Good:

    src/moose/states/roam.rs          edited: yours";
    Error OCCUPIED_PATH "occupied-path": "a file of yours stands where krator has to generate one",
"The description came to need a file that somebody else has made: a kind `Elk` needs `src/elk/mod.rs`. Nothing is written until
the way is free. Move the file, or let `krator gen --force` move it to `.krator/pruned/`.

Bad:

    src/elk/mod.rs          yours, and then `kind: Elk` in krator.yaml

Good:

    src/elk_counting.rs     yours";
    Error MERGE_CONFLICT "merge-conflict": "krator and somebody else changed the same lines of a file",
"Files such as `src/main.rs` are yours, and krator takes its changes into them: a second kind is started there. Where you changed
the same lines, yours stay. Make the change by hand, as the finding shows it, and say so by `krator gen --merge=mine`; or let
`krator gen --merge=conflicts` write both versions into the file, between markers as git's.

Bad:

    krator_runtime::main(&ABOUT, |runtime| runtime.operator(herd()))        a kind `Elk` came into krator.yaml

Good:

    krator_runtime::main(&ABOUT, |runtime| runtime.operator(herd()).operator(ElkOperator::default()))";
    Error UNREADABLE_MANIFEST "unreadable-manifest": "Cargo.toml is not TOML",
"krator keeps its own dependencies in Cargo.toml current and has to read it for that. Nothing is written until it can.

Bad:

    [dependencies

Good:

    [dependencies]";
}
