//! Warnings and hints about graphs that work, but perhaps not as intended.

use super::rules;

rules! {
    Warning FAILURE_TRAP "failure-trap": "a `failed` state that an object can only leave by being deleted",
"An object recovers from a failure when its user changes the spec, or when the operator tries again. A failed state
without `next`, `timeout` or `onSpecChange: STATE` allows neither, so the object has to be deleted. If that is intended,
`allow` the rule and give the reason.

Bad:

    Failed: {kind: failed}

Good:

    Failed: {kind: failed, onSpecChange: Validating}";
    Warning UNUSED_ALLOW "unused-allow": "an entry of `allow` that silences no finding",
"Either the finding is gone, or the entry is in the wrong place. An `allow` belongs to the state that the finding is
about, or next to `states` if the finding is not about a single state.

Bad:

    Failed: {kind: failed, next: [Retry], allow: {failure-trap: nobody retries}}

Good:

    Failed: {kind: failed, next: [Retry]}";
    Warning NO_BACKOFF "no-backoff": "a `retry` with a constant delay or a maximum below 1 s, or a `poll` below 100 ms",
"When a service is down, every object retries at the same time. If the delay does not grow, these retries can keep the
service from recovering. The runtime polls at most once per second, so a shorter `poll` has no effect.

Bad:

    retry: {initial: 100ms, factor: 1}

Good:

    retry: {initial: 100ms, factor: 2}";
    Warning MISSPELLED_CONDITION "misspelled-condition": "a state sets a condition whose name is almost that of a declared one",
"States may set conditions that `conditions` does not declare. If the name of one is very similar to a declared one, it is
probably misspelled: users would wait for the declared condition, which this state does not set.

Bad:

    conditions: {Healthy: The last check found no parasites.}
    states:
      Roam: {conditions: {Helthy: \"True\"}}

Good:

    conditions: {Healthy: The last check found no parasites.}
    states:
      Roam: {conditions: {Healthy: \"True\"}}";
    Warning STALE_CONDITION "stale-condition": "a condition that a state sets is still there when the object is ready again",
"A condition keeps its status until another state or a handler sets it. Here an object goes from a ready state to one that sets
a condition, and comes back, and nothing that follows takes the condition back. So the same ready state shows one status
before and another one ever after. Let the ready state set the condition, too. If a handler sets it there, or if the condition
says that something has happened once and for all, `allow` the rule and give the reason.

Bad:

    Running: {kind: ready, next: [Suspended]}
    Suspended: {kind: ready, next: [Running], conditions: {Suspended: \"True\"}}

Good:

    Running: {kind: ready, next: [Suspended], conditions: {Suspended: \"False\"}}
    Suspended: {kind: ready, next: [Running], conditions: {Suspended: \"True\"}}";
    Info DUPLICATE_PHASE "duplicate-phase": "several states have the same phase",
"Users cannot tell these states apart by `.status.phase`, which is often intended.

    Tagged: {phase: Roaming, next: [Roam]}
    Roam: {phase: Roaming, kind: ready}";
    Info NO_TIMEOUT "no-timeout": "a `working` state in which an object may wait forever",
"The handler may stay, and if the event that it waits for never happens, the object stays with it.

    Creating: {next: [Ready], wait: {watch: owned}}

A timeout gives the object a way out:

    Creating: {next: [Ready], wait: {watch: owned}, timeout: {after: 10m, to: Failed}}";
    Info SPEC_CHANGE_IGNORED "spec-change-ignored": "a `ready` or `failed` state ignores changes of the spec",
"When a user changes the spec, nothing happens until something else moves the object to another state.

    Ready: {kind: ready, onSpecChange: ignore}

Better:

    Ready: {kind: ready, onSpecChange: Updating}";
    Info CHOKE_POINT "choke-point": "every path from `initial` to a `ready` state contains this state",
"While this state's handler fails, no new object becomes ready. Such a state deserves tests, metrics and care.

    Validating: {next: [Creating]}
    Creating: {next: [Ready]}
    Ready: {kind: ready}";
}
