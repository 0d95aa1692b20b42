//! Warnings and remarks on graphs that work, but perhaps not as meant.

use super::rules;

rules! {
    Warning FAILURE_TRAP "failure-trap": "a `failed` state that neither code, spec change nor time leaves",
"A user mends a failure by changing the spec, an operator by looking again. A failed state without `next`, `timeout` or
`onSpecChange: STATE` is left by neither: the object has to be deleted. Where that is meant, `allow` it and say why.

Bad:

    Failed: {kind: failed}

Good:

    Failed: {kind: failed, onSpecChange: Validating}";
    Warning UNUSED_ALLOW "unused-allow": "an `allow` that silences nothing",
"The finding is gone, or stands elsewhere: under the state that it is about, or beside `states` when it is about none.

Bad:

    Failed: {kind: failed, next: [Retry], allow: {failure-trap: nobody retries}}

Good:

    Failed: {kind: failed, next: [Retry]}";
    Warning NO_BACKOFF "no-backoff": "`retry` at a fixed delay under 1 s, or `poll` under 100 ms",
"What fails is asked again and again without a pause that grows, by every object at once. The runtime keeps a poll to one
a second at most, so that a shorter one promises what is not kept.

Bad:

    retry: {initial: 100ms, factor: 1}

Good:

    retry: {initial: 100ms, factor: 2}";
    Info DUPLICATE_PHASE "duplicate-phase": "several states show the same phase",
"People who look at `.status.phase` cannot tell these states apart. Often that is meant.

    Tagged: {phase: Roaming, next: [Roam]}
    Roam: {phase: Roaming, kind: ready}";
    Info NO_TIMEOUT "no-timeout": "a `working` state may wait for ever",
"The handler may stay, and nothing leads on when what it waits for never comes.

    Creating: {next: [Ready], wait: {watch: owned}}

With a timeout, time leads on:

    Creating: {next: [Ready], wait: {watch: owned}, timeout: {after: 10m, to: Failed}}";
    Info SPEC_CHANGE_IGNORED "spec-change-ignored": "a resting state ignores changes of the spec",
"Users change the spec and see nothing happen until the state is left by other means.

    Ready: {kind: ready, onSpecChange: ignore}

Better:

    Ready: {kind: ready, onSpecChange: Updating}";
    Info CHOKE_POINT "choke-point": "every way from `initial` to a `ready` state passes the state",
"While the state's handler fails, no new object becomes ready: a good place for tests, metrics and care.

    Validating: {next: [Creating]}
    Creating: {next: [Ready]}
    Ready: {kind: ready}";
}
