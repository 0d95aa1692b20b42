//! What can be wrong between a description and the crate that was made of it.

use crate::finding::{Rule, Severity};

/// Every rule of this module.
pub static RULES: &[&Rule] = &[
    &EDITED_FILE,
    &OCCUPIED_PATH,
    &MERGE_CONFLICT,
    &UNREADABLE_MANIFEST,
];

/// See its summary.
pub static EDITED_FILE: Rule = Rule {
    name: "edited-file",
    severity: Severity::Error,
    summary: "somebody edited a file that krator generates",
    explanation: "krator writes such a file anew whenever the description changes, so that an edit in it would be lost. Nothing is written until
somebody has decided: the finding shows what krator would change. Where the edit belongs into a file of yours, or into the description,
move it there; `krator gen --force` then writes the file as the description has it.

Bad:

    src/moose/generated/machine.rs    edited

Good:

    src/moose/states/roam.rs          edited: yours",
};

/// See its summary.
pub static OCCUPIED_PATH: Rule = Rule {
    name: "occupied-path",
    severity: Severity::Error,
    summary: "a file of yours stands where krator has to generate one",
    explanation: "The description came to need a file that somebody else has made: a kind `Elk` needs `src/elk/mod.rs`. Nothing is written until
the way is free. Move the file, or let `krator gen --force` move it to `.krator/pruned/`.

Bad:

    src/elk/mod.rs          yours, and then `kind: Elk` in krator.yaml

Good:

    src/elk_counting.rs     yours",
};

/// See its summary.
pub static MERGE_CONFLICT: Rule = Rule {
    name: "merge-conflict",
    severity: Severity::Error,
    summary: "krator and somebody else changed the same lines of a file",
    explanation: "Files such as `src/main.rs` are yours, and krator takes its changes into them: a second kind is started there. Where you changed
the same lines, yours stay. Make the change by hand, as the finding shows it, and say so by `krator gen --merge=mine`; or let
`krator gen --merge=conflicts` write both versions into the file, between markers as git's.

Bad:

    krator_runtime::main(&ABOUT, |runtime| runtime.operator(herd()))        a kind `Elk` came into krator.yaml

Good:

    krator_runtime::main(&ABOUT, |runtime| runtime.operator(herd()).operator(ElkOperator::default()))",
};

/// See its summary.
pub static UNREADABLE_MANIFEST: Rule = Rule {
    name: "unreadable-manifest",
    severity: Severity::Error,
    summary: "Cargo.toml is not TOML",
    explanation: "krator keeps its own dependencies in Cargo.toml current and has to read it for that. Nothing is written until it can.

Bad:

    [dependencies

Good:

    [dependencies]",
};
