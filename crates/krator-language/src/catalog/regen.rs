//! Rules about the files of a crate that no longer match what krator generated.

use super::rules;

rules! {
    Error EDITED_FILE "edited-file": "a file that krator generates was edited by hand",
"krator overwrites such a file whenever the description changes, so the edit would be lost. krator writes nothing until you
decide what to do; the finding shows what it would change. Move the edit to one of your own files or to the description,
then run `krator gen --force` to restore the generated file.

Bad:

    src/moose/generated/machine.rs    edited

Good:

    src/moose/states/roam.rs          edited: yours";
    Error OCCUPIED_PATH "occupied-path": "one of your files has the path of a generated file",
"The description now needs a file whose path is already taken; a kind `Elk` needs `src/elk/mod.rs`, for example. krator
writes nothing until the path is free. Move your file, or let `krator gen --force` move it to `.krator/pruned/`.

Bad:

    src/elk/mod.rs          yours, and then `kind: Elk` in krator.yaml

Good:

    src/elk_counting.rs     yours";
    Error MERGE_CONFLICT "merge-conflict": "krator's changes to a file conflict with yours",
"Files such as `src/main.rs` are yours, and krator merges its changes into them, for example to start the operator of a
second kind. If you changed the same lines, your version stays. Either make the change by hand, as the finding shows it,
and confirm that with `krator gen --merge=mine`; or let `krator gen --merge=conflicts` write both versions into the file,
between conflict markers like those of git.

Bad:

    krator_runtime::main(&ABOUT, |runtime| runtime.operator(configured()))        a kind `Elk` was added to krator.yaml

Good:

    krator_runtime::main(&ABOUT, |runtime| runtime.operator(configured()).operator(ElkOperator::default()))";
    Error CONFLICT_MARKERS "conflict-markers": "a merge has left conflict markers in a file",
"Both sides of a merge, such as two branches of git, changed the same lines. Edit the lines between `<<<<<<<` and
`>>>>>>>` until they are what you want, and delete the markers. Files that krator generates need no editing:
`krator gen` writes them anew from krator.yaml, even if they contain conflict markers.

Bad:

    <<<<<<< HEAD
      Roam: {next: [Eat, Sleep]}
    =======
      Roam: {next: [Eat, Hide]}
    >>>>>>> hiding

Good:

      Roam: {next: [Eat, Sleep, Hide]}";
    Error UNREADABLE_MANIFEST "unreadable-manifest": "Cargo.toml is not TOML, or not the manifest of a package",
"krator has to read Cargo.toml to keep the dependencies of the generated code up to date. It writes nothing until it can.

Bad:

    [dependencies

Good:

    [dependencies]";
    Warning UNLISTED_MANIFEST "unlisted-manifest": "deploy/kustomization.yaml lacks a manifest that krator generates",
"`deploy/kustomization.yaml` is yours, so krator does not change it, and `kubectl apply -k deploy` leaves out files that
it does not list: rights that the operator needs, or a policy that you rely on. Add the file to `resources`, let
`krator gen --merge` add it, or delete the file if you do not want it.

Bad:

    resources: [namespace.yaml, crd.yaml, rbac.yaml, deployment.yaml]        and there is a deploy/policies.yaml

Good:

    resources: [namespace.yaml, crd.yaml, rbac.yaml, policies.yaml, deployment.yaml]";
}
