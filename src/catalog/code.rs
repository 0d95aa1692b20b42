//! What the code that people write lacks or has too much of, against the description.

use super::rules;

rules! {
    Warning EDGE_NEVER_TAKEN "edge-never-taken": "an edge of `next` that the handler of its state never takes",
"The graph promises a way that no object will ever go. A handler that was just generated takes its first edge only: then
this is what is left to write. It is said only where all that a handler may answer can be seen; an answer that comes
out of a macro or a variable hides what it is.

Bad:

    Eat: {next: [Sleep, Roam]}
    // and in src/moose/states/eat.rs
    Ok(Transition::to(Sleep))

Good:

    if startled { Ok(Transition::to(Roam)) } else { Ok(Transition::to(Sleep)) }";
    Error EDGE_NOT_IN_GRAPH "edge-not-in-graph": "a handler goes to a state that is not in `next` of its own",
"The compiler says the same; this is said before, and without it.

Bad:

    Eat: {next: [Sleep]}
    // and in src/moose/states/eat.rs
    Ok(Transition::to(Roam))

Good:

    Eat: {next: [Sleep, Roam]}";
    Error STAY_WITHOUT_WAIT "stay-without-wait": "a handler stays in a state that has no `wait`",
"Nothing would wake it again. The compiler says the same.

Bad:

    Tagged: {next: [Roam]}
    // and in src/moose/states/tagged.rs
    Ok(Transition::stay())

Good:

    Tagged: {next: [Roam], wait: {poll: 30s}}";
    Error DONE_BEFORE_FINAL "done-before-final": "a handler ends the machine in a state that is not `final`",
"Only a final state may let the object go. The compiler says the same.

Bad:

    Roam: {next: [Released]}
    // and in src/moose/states/roam.rs
    Ok(Transition::done())

Good:

    Ok(Transition::to(Released))";
    Error HANDLER_MISSING "handler-missing": "a state that no `impl State for` is written for",
"Every state has a handler, in a file of its own. `krator gen` writes a missing file anew.

Bad:

    // src/moose/states/eat.rs is empty

Good:

    impl State for Eat {
        async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> { … }
    }";
    Error HAND_WRITTEN_TRANSITION "hand-written-transition": "a trait of the graph implemented by hand, such as `TransitionTo`",
"The graph is krator.yaml: diagrams, checks and the CRD come from there, and what is implemented beside it is in none of
them. `cargo build` refuses such an edge, `cargo check` does not.

Bad:

    impl TransitionTo<Roam> for Eat {}

Good:

    Eat: {next: [Sleep, Roam]}";
    Error NO_RIGHTS "no-rights": "a handler reaches for objects that `owns`, `watches` and `access` do not name",
"The generated RBAC would refuse it. `cx.apply`, `cx.owned` and `cx.delete` want the kind in `owns`, `cx.watched` in
`watches`, `cx.api` in any of the three. The compiler says the same.

Bad:

    let pods = cx.api::<Pod>();   // and no core/v1.Pod in krator.yaml

Good:

    access: [{kind: core/v1.Pod, verbs: [list]}]";
    Warning UNNAMED_CLIENT "unnamed-client": "a client for objects that no `owns`, `watches` or `access` names",
"A client of its own compiles, and the API server then refuses what the generated RBAC does not allow. Name the kind in
krator.yaml and take `cx.api`; rights that were given elsewhere cannot be seen here.

Bad:

    let pods: Api<Pod> = Api::all(client);   // and no core/v1.Pod in krator.yaml

Good:

    access: [{kind: core/v1.Pod, verbs: [list]}]
    // and in the handler
    let pods = cx.api::<Pod>();";
    Error NAME_GONE "name-gone": "code names a state, kind or type that the description does not have",
"A state that was removed, a kind that was renamed, a value that an enum no longer has: code that still names it does not
compile. A state that only has another name wants `renamedFrom`, and `krator gen` renames it in code too.

Bad:

    use super::Grazing;   // and no state `Grazing` in krator.yaml

Good:

    Roam: {renamedFrom: Grazing}";
    Error FIELD_GONE "field-gone": "code names a field of `spec` or `status` that the description does not have",
"A field that was removed or has another name now: code that still names it does not compile.

Bad:

    let height = cx.manifest().spec.height;   // and no `height` in krator.yaml

Good:

    spec: {height: number}";
    Error FIELD_ADDED "field-added": "a struct is written out whole, and the description has more fields",
"A literal names every field, and so does a pattern without `..`; a field that was added since is missing there. The
compiler says the same.

Bad:

    MooseSpec { height, weight }   // and `antlers` in krator.yaml

Good:

    MooseSpec { height, weight, ..MooseSpec::default() }";
    Warning FIELD_RETYPED "field-retyped": "code uses a field whose type has changed since the last `krator gen`",
"Whether the code still compiles depends on what it does with the value: look at these lines. Said once, by the `krator
gen` that changes the type, and by `krator check` before it.

Bad:

    let height: f64 = spec.height;   // `height` was `number` and is `optional number`

Good:

    let height = spec.height.unwrap_or(1.0);";
    Error VARIANT_UNMATCHED "variant-unmatched": "a `match` without a case for a state or value that the description has",
"A `match` that names every case has to name those that were added, too. The compiler says the same.

Bad:

    match state { MooseMachine::Roam => 1, MooseMachine::Eat => 2 }   // and a state `Sleep` in krator.yaml

Good:

    match state { MooseMachine::Roam => 1, _ => 2 }";
    Error MODULE_MISSING "module-missing": "a generated file that no `mod` leads to",
"`src/lib.rs` is yours: it declares the modules of the kinds. A kind that was added to krator.yaml is not compiled before
it is declared there.

Bad:

    pub mod moose;   // and a second kind `Elk` in krator.yaml

Good:

    pub mod elk;
    pub mod moose;";
    Warning OPERATOR_NOT_RUN "operator-not-run": "a kind whose operator no code starts",
"`src/main.rs` is yours: it says which operators run. A kind that was added to krator.yaml is watched by nobody before
its operator is named there.

Bad:

    krator_runtime::main(&ABOUT, |runtime| runtime.operator(MooseOperator::default()))   // and a second kind `Elk`

Good:

    runtime
        .operator(MooseOperator::default())
        .operator(ElkOperator::default())";
    Warning NAME_LEFT "name-left": "a former name in a comment, a text or a macro, which renaming left alone",
"`krator gen` renames in code what the description renames. What a comment or a text means by the word, and what a macro
makes of it, only you know.

Bad:

    // Grazing moose are counted.   // and `Roam: {renamedFrom: Grazing}` in krator.yaml

Good:

    // Roaming moose are counted.";
}
