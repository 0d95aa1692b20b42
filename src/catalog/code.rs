//! Rules about hand-written code that does not match the description.

use super::rules;

rules! {
    Warning EDGE_NEVER_TAKEN "edge-never-taken": "the handler of a state never takes one of the edges in `next`",
"The graph has an edge that no object will ever take. A handler that nobody has written yet,
with the line `const WRITTEN: bool = false`, is left alone. The rule reports an edge only if krator can see every transition
that the handler may return; a transition that comes from a macro or a variable hides its target.

Bad:

    Eat: {next: [Sleep, Roam]}
    // and in src/moose/states/eat.rs
    Ok(Transition::to(Sleep))

Good:

    if startled { Ok(Transition::to(Roam)) } else { Ok(Transition::to(Sleep)) }";
    Error EDGE_NOT_IN_GRAPH "edge-not-in-graph": "a handler goes to a state that is not in the `next` of its own state",
"The compiler rejects the transition as well; `krator check` finds it without compiling.

Bad:

    Eat: {next: [Sleep]}
    // and in src/moose/states/eat.rs
    Ok(Transition::to(Roam))

Good:

    Eat: {next: [Sleep, Roam]}";
    Error STAY_WITHOUT_WAIT "stay-without-wait": "a handler stays in a state that has no `wait`",
"Nothing would ever run the handler again. The compiler rejects it as well.

Bad:

    Tagged: {next: [Roam]}
    // and in src/moose/states/tagged.rs
    Ok(Transition::stay())

Good:

    Tagged: {next: [Roam], wait: {poll: 30s}}";
    Error DONE_BEFORE_FINAL "done-before-final": "a handler returns `done` in a state that is not `final`",
"Only the handler of a `final` state may release the object. The compiler rejects it as well.

Bad:

    Roam: {next: [Released]}
    // and in src/moose/states/roam.rs
    Ok(Transition::done())

Good:

    Ok(Transition::to(Released))";
    Warning NOT_FOLLOWED "not-followed": "code is included that krator does not read, and a check depends on it",
"krator reads the modules of the crate, also those with `#[path]` whose file is in `src/`. It does not read what `include!` names,
nor files elsewhere, so it cannot tell whether a handler is in there, and a rename does not reach them. Move the code into a
module, or let the compiler judge it.

Bad:

    // in src/moose/states/eat.rs
    include!(\"eat_impl.in\");

Good:

    mod eat_impl;";
    Error MODULE_TWICE "module-twice": "a module has two files",
"A module is in `x.rs` or in `x/mod.rs`. With both the crate does not compile, and krator cannot tell which one is the handler.

Bad:

    src/moose/states/eat.rs
    src/moose/states/eat/mod.rs

Good:

    src/moose/states/eat/mod.rs";
    Error HANDLER_MISSING "handler-missing": "a state has no `impl State for`",
"Every state needs a handler, which has a file of its own. `krator gen` creates the file again if it is missing.

Bad:

    // src/moose/states/eat.rs is empty

Good:

    impl State for Eat {
        async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> { … }
    }";
    Error HAND_WRITTEN_TRANSITION "hand-written-transition": "hand-written code implements a trait of the graph, such as `TransitionTo`",
"The graph is defined in krator.yaml, and the diagrams, checks and CRD are generated from it. An edge that is implemented
by hand appears in none of them. `cargo build` rejects such an edge, but `cargo check` does not.

Bad:

    impl TransitionTo<Roam> for Eat {}

Good:

    Eat: {next: [Sleep, Roam]}";
    Error NO_RIGHTS "no-rights": "a handler uses objects of a kind that `owns`, `watches` and `access` do not name",
"The generated RBAC rules do not permit the request. `cx.apply`, `cx.owned` and `cx.delete` require the kind in `owns`,
`cx.watched` requires it in `watches`, and `cx.api` in any of the three. The compiler rejects it as well.

Bad:

    let pods = cx.api::<Pod>();   // and no core/v1.Pod in krator.yaml

Good:

    access: [{kind: core/v1.Pod, verbs: [list]}]";
    Warning UNNAMED_CLIENT "unnamed-client": "code creates a client for a kind that `owns`, `watches` and `access` do not name",
"A client that is created by hand compiles, but the API server rejects requests that the generated RBAC rules do not
permit. Name the kind in krator.yaml and use `cx.api`. krator cannot see permissions that are granted elsewhere.

Bad:

    let pods: Api<Pod> = Api::all(client);   // and no core/v1.Pod in krator.yaml

Good:

    access: [{kind: core/v1.Pod, verbs: [list]}]
    // and in the handler
    let pods = cx.api::<Pod>();";
    Error NAME_GONE "name-gone": "code names a state, kind or type that the description does not have",
"Code that names a removed state, a renamed kind, or a value that an enum no longer has does not compile. If a state was
only renamed, give it `renamedFrom`: `krator gen` then renames it in the code, too.

Bad:

    use super::Grazing;   // and no state `Grazing` in krator.yaml

Good:

    Roam: {renamedFrom: Grazing}";
    Error FIELD_GONE "field-gone": "a struct literal or pattern names a field that the description does not have",
"The field was removed or renamed, and code that still names it does not compile. Other uses of the field, such as
`spec.height`, are reported by the compiler.

Bad:

    MooseSpec { height: 2.0, ..MooseSpec::default() }   // and no `height` in krator.yaml

Good:

    spec: {height: number}";
    Error FIELD_ADDED "field-added": "a struct literal or pattern lacks fields that the description has",
"A struct literal without `..` has to name every field, and so does a pattern. A field that was added to the description
is missing there. The compiler rejects it as well.

Bad:

    MooseSpec { height, weight }   // and `antlers` in krator.yaml

Good:

    MooseSpec { height, weight, ..MooseSpec::default() }";
    Error MODULE_MISSING "module-missing": "a generated file is not part of any module",
"`src/lib.rs` is your file, and it declares the modules of the kinds. The code of a kind that was added to krator.yaml is
not compiled until its module is declared there.

Bad:

    pub mod moose;   // and a second kind `Elk` in krator.yaml

Good:

    pub mod elk;
    pub mod moose;";
    Warning OPERATOR_NOT_RUN "operator-not-run": "no code starts the operator of a kind",
"`src/main.rs` is your file, and it starts the operators. The objects of a kind that was added to krator.yaml are not
reconciled until its operator is started there.

Bad:

    krator_runtime::main(&ABOUT, |runtime| runtime.operator(MooseOperator::default()))   // and a second kind `Elk`

Good:

    runtime
        .operator(MooseOperator::default())
        .operator(ElkOperator::default())";
    Warning NAME_LEFT "name-left": "a former name that renaming did not change in a comment, a string or a macro",
"`krator gen` renames in code what the description renames. It does not touch comments, strings and macros, because the
same word may mean something else there.

Bad:

    // Grazing moose are counted.   // and `Roam: {renamedFrom: Grazing}` in krator.yaml

Good:

    // Roaming moose are counted.";
}
