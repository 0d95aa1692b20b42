//! Rules about handlers that must not run twice, and about states that are not saved.

use super::rules;

rules! {
    Error RESUME_HAZARD "resume-hazard": "a restart could run a `once` handler twice, or lose the state of an object",
"`effects: once` promises that the handler runs at most once each time the state is entered. Such a state therefore:

- cannot `wait` or `retry`, because both run the handler again;
- needs a `resume`: another state, not `once` itself, whose handler finds out after a crash what was done;
- cannot be on the deletion path, which has to continue after a crash.

`checkpoint: false` skips the write of `.status` when the state is entered. Only a `working` state that the object leaves
immediately can do without that write: one that has no `wait`, `timeout`, `limit` or `effects: once`, and that is not
entered from a `once` state.

Bad:

    Charge: {effects: once, next: [Charged]}

Good:

    Charge: {effects: once, resume: LookUp, next: [Charged]}
    LookUp: {next: [Charged, Charge], wait: {poll: 10s}}";
    Warning DELETE_INTERRUPTS_ONCE "delete-interrupts-once": "deletion may interrupt a `once` handler",
"Deletion interrupts a running handler unless the state has `onDelete: wait`. An interrupted `once` handler does not run
again, so nobody knows how far it got. If deletion waits for the handler, the state needs a timeout as well: otherwise
a handler that hangs blocks the deletion.

Bad:

    Charge: {effects: once, resume: LookUp, next: [Charged]}

Good:

    Charge: {effects: once, resume: LookUp, onDelete: wait, next: [Charged], timeout: {after: 5m, to: LookUp}}";
    Warning TIMEOUT_INTERRUPTS_ONCE "timeout-interrupts-once": "a timeout may interrupt a `once` handler",
"A timeout interrupts a running handler. An interrupted `once` handler does not run again, and the target of the timeout
cannot know how far it got. The state that `resume` names finds that out, so it is a good target.

Bad:

    Charge: {effects: once, resume: LookUp, next: [Charged], timeout: {after: 5m, to: Failed}}

Good:

    Charge: {effects: once, resume: LookUp, next: [Charged], timeout: {after: 5m, to: LookUp}}";
}
