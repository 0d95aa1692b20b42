//! The rules that hold between written code and the description.

use crate::finding::{Rule, Severity};

/// All of them.
pub(crate) static RULES: &[&Rule] = &[
    &EDGE_NEVER_TAKEN,
    &EDGE_NOT_IN_GRAPH,
    &STAY_WITHOUT_WAIT,
    &DONE_BEFORE_FINAL,
    &HANDLER_MISSING,
    &HAND_WRITTEN_TRANSITION,
    &NO_RIGHTS,
    &UNNAMED_CLIENT,
    &NAME_GONE,
    &FIELD_GONE,
    &FIELD_ADDED,
    &FIELD_RETYPED,
    &VARIANT_UNMATCHED,
    &MODULE_MISSING,
    &OPERATOR_NOT_RUN,
    &NAME_LEFT,
];

/// See its summary.
pub static EDGE_NEVER_TAKEN: Rule = Rule {
    name: "edge-never-taken",
    severity: Severity::Warning,
    summary: "an edge of `next` that the handler of its state never takes",
    explanation: "The graph promises a way that no object will ever go. A handler that was just generated takes its first edge only: then
this is what is left to write. It is said only where all that a handler may answer can be seen; an answer that comes
out of a macro or a variable hides what it is.

Bad:

    Eat: {next: [Sleep, Roam]}
    // and in src/moose/states/eat.rs
    Ok(Transition::to(Sleep))

Good:

    if startled { Ok(Transition::to(Roam)) } else { Ok(Transition::to(Sleep)) }",
};

/// See its summary.
pub static EDGE_NOT_IN_GRAPH: Rule = Rule {
    name: "edge-not-in-graph",
    severity: Severity::Error,
    summary: "a handler goes to a state that is not in `next` of its own",
    explanation: "The compiler says the same; this is said before, and without it.

Bad:

    Eat: {next: [Sleep]}
    // and in src/moose/states/eat.rs
    Ok(Transition::to(Roam))

Good:

    Eat: {next: [Sleep, Roam]}",
};

/// See its summary.
pub static STAY_WITHOUT_WAIT: Rule = Rule {
    name: "stay-without-wait",
    severity: Severity::Error,
    summary: "a handler stays in a state that has no `wait`",
    explanation: "Nothing would wake it again. The compiler says the same.

Bad:

    Tagged: {next: [Roam]}
    // and in src/moose/states/tagged.rs
    Ok(Transition::stay())

Good:

    Tagged: {next: [Roam], wait: {poll: 30s}}",
};

/// See its summary.
pub static DONE_BEFORE_FINAL: Rule = Rule {
    name: "done-before-final",
    severity: Severity::Error,
    summary: "a handler ends the machine in a state that is not `final`",
    explanation: "Only a final state may let the object go. The compiler says the same.

Bad:

    Roam: {next: [Released]}
    // and in src/moose/states/roam.rs
    Ok(Transition::done())

Good:

    Ok(Transition::to(Released))",
};

/// See its summary.
pub static HANDLER_MISSING: Rule = Rule {
    name: "handler-missing",
    severity: Severity::Error,
    summary: "a state that no `impl State for` is written for",
    explanation: "Every state has a handler, in a file of its own. `krator gen` writes a missing file anew.

Bad:

    // src/moose/states/eat.rs is empty

Good:

    impl State for Eat {
        async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> { … }
    }",
};

/// See its summary.
pub static HAND_WRITTEN_TRANSITION: Rule = Rule {
    name: "hand-written-transition",
    severity: Severity::Error,
    summary: "a trait of the graph implemented by hand, such as `TransitionTo`",
    explanation: "The graph is krator.yaml: diagrams, checks and the CRD come from there, and what is implemented beside it is in none of
them. `cargo build` refuses such an edge, `cargo check` does not.

Bad:

    impl TransitionTo<Roam> for Eat {}

Good:

    Eat: {next: [Sleep, Roam]}",
};

/// See its summary.
pub static NO_RIGHTS: Rule = Rule {
    name: "no-rights",
    severity: Severity::Error,
    summary: "a handler reaches for objects that `owns`, `watches` and `access` do not name",
    explanation: "The generated RBAC would refuse it. `cx.apply`, `cx.owned` and `cx.delete` want the kind in `owns`, `cx.watched` in
`watches`, `cx.api` in any of the three. The compiler says the same.

Bad:

    let pods = cx.api::<Pod>();   // and no core/v1.Pod in krator.yaml

Good:

    access: [{kind: core/v1.Pod, verbs: [list]}]",
};

/// See its summary.
pub static UNNAMED_CLIENT: Rule = Rule {
    name: "unnamed-client",
    severity: Severity::Warning,
    summary: "a client for objects that no `owns`, `watches` or `access` names",
    explanation: "A client of its own compiles, and the API server then refuses what the generated RBAC does not allow. Name the kind in
krator.yaml and take `cx.api`; rights that were given elsewhere cannot be seen here.

Bad:

    let pods: Api<Pod> = Api::all(client);   // and no core/v1.Pod in krator.yaml

Good:

    access: [{kind: core/v1.Pod, verbs: [list]}]
    // and in the handler
    let pods = cx.api::<Pod>();",
};

/// See its summary.
pub static NAME_GONE: Rule = Rule {
    name: "name-gone",
    severity: Severity::Error,
    summary: "code names a state, kind or type that the description does not have",
    explanation: "A state that was removed, a kind that was renamed, a value that an enum no longer has: code that still names it does not
compile. A state that only has another name wants `renamedFrom`, and `krator gen` renames it in code too.

Bad:

    use super::Grazing;   // and no state `Grazing` in krator.yaml

Good:

    Roam: {renamedFrom: Grazing}",
};

/// See its summary.
pub static FIELD_GONE: Rule = Rule {
    name: "field-gone",
    severity: Severity::Error,
    summary: "code names a field of `spec` or `status` that the description does not have",
    explanation:
        "A field that was removed or has another name now: code that still names it does not compile.

Bad:

    let height = cx.manifest().spec.height;   // and no `height` in krator.yaml

Good:

    spec: {height: number}",
};

/// See its summary.
pub static FIELD_ADDED: Rule = Rule {
    name: "field-added",
    severity: Severity::Error,
    summary: "a struct is written out whole, and the description has more fields",
    explanation: "A literal names every field, and so does a pattern without `..`; a field that was added since is missing there. The
compiler says the same.

Bad:

    MooseSpec { height, weight }   // and `antlers` in krator.yaml

Good:

    MooseSpec { height, weight, ..MooseSpec::default() }",
};

/// See its summary.
pub static FIELD_RETYPED: Rule = Rule {
    name: "field-retyped",
    severity: Severity::Warning,
    summary: "code uses a field whose type has changed since the last `krator gen`",
    explanation: "Whether the code still compiles depends on what it does with the value: look at these lines. Said once, by the `krator
gen` that changes the type, and by `krator check` before it.

Bad:

    let height: f64 = spec.height;   // `height` was `number` and is `optional number`

Good:

    let height = spec.height.unwrap_or(1.0);",
};

/// See its summary.
pub static VARIANT_UNMATCHED: Rule = Rule {
    name: "variant-unmatched",
    severity: Severity::Error,
    summary: "a `match` without a case for a state or value that the description has",
    explanation:
        "A `match` that names every case has to name those that were added, too. The compiler says the same.

Bad:

    match state { MooseMachine::Roam => 1, MooseMachine::Eat => 2 }   // and a state `Sleep` in krator.yaml

Good:

    match state { MooseMachine::Roam => 1, _ => 2 }",
};

/// See its summary.
pub static MODULE_MISSING: Rule = Rule {
    name: "module-missing",
    severity: Severity::Error,
    summary: "a generated file that no `mod` leads to",
    explanation: "`src/lib.rs` is yours: it declares the modules of the kinds. A kind that was added to krator.yaml is not compiled before
it is declared there.

Bad:

    pub mod moose;   // and a second kind `Elk` in krator.yaml

Good:

    pub mod elk;
    pub mod moose;",
};

/// See its summary.
pub static OPERATOR_NOT_RUN: Rule = Rule {
    name: "operator-not-run",
    severity: Severity::Warning,
    summary: "a kind whose operator no code starts",
    explanation: "`src/main.rs` is yours: it says which operators run. A kind that was added to krator.yaml is watched by nobody before
its operator is named there.

Bad:

    krator_runtime::main(&ABOUT, |runtime| runtime.operator(MooseOperator::default()))   // and a second kind `Elk`

Good:

    runtime
        .operator(MooseOperator::default())
        .operator(ElkOperator::default())",
};

/// See its summary.
pub static NAME_LEFT: Rule = Rule {
    name: "name-left",
    severity: Severity::Warning,
    summary: "a former name in a comment, a text or a macro, which renaming left alone",
    explanation: "`krator gen` renames in code what the description renames. What a comment or a text means by the word, and what a macro
makes of it, only you know.

Bad:

    // Grazing moose are counted.   // and `Roam: {renamedFrom: Grazing}` in krator.yaml

Good:

    // Roaming moose are counted.",
};
