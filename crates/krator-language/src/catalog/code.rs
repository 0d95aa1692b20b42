//! Rules about hand-written code that does not match the description.

use super::rules;

rules! {
    Warning EDGE_NEVER_TAKEN "edge-never-taken": "the handler of a state never takes one of the edges in `next`",
"The graph has an edge that no object will ever take. A handler that is unchanged since krator generated it, or that has
the line `const WRITTEN: bool = false`, is not checked. The rule reports an edge only if krator can see every transition
that the handler may return; it cannot see the target of a transition that comes from a macro or a variable.

Bad:

    Eat: {next: [Sleep, Roam]}
    // and in src/moose/states/eat.rs
    Ok(Transition::to(Sleep))

Good:

    if startled { Ok(Transition::to(Roam)) } else { Ok(Transition::to(Sleep)) }";
    Info NEEDLESS_CHECKPOINT "needless-checkpoint": "a state is stored although its handler only chooses the next state",
"A state is written to `.status` before its handler runs, so that a restarted operator continues there. A handler that
waits for nothing does not need this, because it can choose the next state again. With `checkpoint: false` the object
passes the state without a write; writes are most of the load of an operator on the API server. The state then never
appears in `.status`, unless its handler fails. The state is reported only if no other key of it needs the write.

Bad:

    Sort: {next: [Load, Return]}
    // and in src/parcel/states/sort.rs
    Ok(if cx.manifest().spec.fragile { Transition::to(Return) } else { Transition::to(Load) })

Good:

    Sort: {next: [Load, Return], checkpoint: false}";
    Error HAND_WRITTEN_TRANSITION "hand-written-transition": "hand-written code implements a trait of the graph, such as `TransitionTo`",
"The graph is defined in krator.yaml, and the diagrams, checks and CRD are generated from it. An edge that is implemented
by hand appears in none of them. `cargo build` rejects such an edge, but `cargo check` does not.

Bad:

    impl TransitionTo<Roam> for Eat {}

Good:

    Eat: {next: [Sleep, Roam]}";
    Warning UNNAMED_CLIENT "unnamed-client": "code creates a client for a kind without access in krator.yaml",
"A client that is created by hand compiles, but the API server rejects requests that the generated RBAC rules do not
permit. Name the kind in krator.yaml and use `cx.api`. krator cannot see permissions that are granted elsewhere.

Bad:

    let pods: Api<Pod> = Api::all(client);   // and no core/v1.Pod in krator.yaml

Good:

    access: [{kind: core/v1.Pod, verbs: [list]}]
    // and in the handler
    let pods = cx.api::<Pod>();";
    Warning RULE_INSTEAD_OF_WEBHOOK "rule-instead-of-webhook": "a webhook that a rule of the schema could replace",
"A webhook is a process that the API server has to reach, trust and wait for: while no replica responds, requests fail or
are not validated. A rule is part of the CRD and always available. A handler is reported only if CEL can certainly
express it: it only refuses requests, and uses only `review.object` and `review.old`.

Bad:

    impl Validate for Moose {
        async fn validate(review: &Review<'_, Self>) -> Verdict {
            match review.object.spec.height > 3.0 {
                true => Verdict::deny_field(\".spec.height\", \"no moose is that tall\"),
                false => Verdict::allow(),
            }
        }
    }

Good:

    spec:
      height: {type: number, validations: [{rule: self <= 3.0, message: no moose is that tall}]}";
    Error MODULE_MISSING "module-missing": "a generated file is not part of any module",
"`src/lib.rs` is your file, and it declares the modules of the kinds. The code of a kind that was added to krator.yaml is
not compiled until its module is declared there.

Bad:

    pub mod moose;   // and a second kind `Elk` in krator.yaml

Good:

    pub mod elk;
    pub mod moose;";
    Warning OPERATOR_NOT_RUN "operator-not-run": "the operator of a kind is not started",
"`src/main.rs` is your file, and it starts the operators. The objects of a kind that was added to krator.yaml are not
reconciled until its operator is started there.

Bad:

    krator_runtime::main(&ABOUT, |runtime| runtime.operator(MooseOperator::default()))   // and a second kind `Elk`

Good:

    runtime
        .operator(MooseOperator::default())
        .operator(ElkOperator::default())";
    Warning NAME_LEFT "name-left": "a former name that renaming did not change in a comment, a string or a macro",
"When the description renames a state, `krator gen` renames it in code. It does not touch comments, strings and macros,
because the same word may mean something else there.

Bad:

    // Grazing moose are counted.   // and `Roam: {renamedFrom: Grazing}` in krator.yaml

Good:

    // Roaming moose are counted.";
}
