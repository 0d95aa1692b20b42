//! Rules of handlers that must not run twice, and of states that are not written.

use super::rules;

rules! {
    Error RESUME_HAZARD "resume-hazard": "a restart could run a `once` handler twice, or lose the state",
"`effects: once` promises that a handler runs at most once per entry. So it cannot `wait` or `retry`; after a crash the
object goes to `resume`, a state that looks at the world, which is another one and not `once` itself; and it has no
place on the deletion path, which must go on after a crash.

`checkpoint: false` leaves out a write of `.status`. Only a `working` state that is left at once can do without: one
without wait, timeout, limit or `once`, and not entered from a `once` one.

Bad:

    Charge: {effects: once, next: [Charged]}

Good:

    Charge: {effects: once, resume: LookUp, next: [Charged]}
    LookUp: {next: [Charged, Charge], wait: {poll: 10s}}";
    Warning DELETE_INTERRUPTS_ONCE "delete-interrupts-once": "deletion may cut a `once` handler short",
"Deletion interrupts a running handler, unless `onDelete: wait` says otherwise. A `once` handler that is cut short is not
run again: nobody knows how far it came. A handler that deletion waits for needs a timeout in turn, or a deleted
object waits as long as the handler hangs.

Bad:

    Charge: {effects: once, resume: LookUp, next: [Charged]}

Good:

    Charge: {effects: once, resume: LookUp, onDelete: wait, next: [Charged], timeout: {after: 5m, to: LookUp}}";
    Warning TIMEOUT_INTERRUPTS_ONCE "timeout-interrupts-once": "a timeout may cut a `once` handler short",
"A timeout interrupts a running handler. A `once` handler that is cut short is not run again, and the state that the
timeout leads to must not assume how far it came: the state that `resume` names looks, and is a good target.

Bad:

    Charge: {effects: once, resume: LookUp, next: [Charged], timeout: {after: 5m, to: Failed}}

Good:

    Charge: {effects: once, resume: LookUp, next: [Charged], timeout: {after: 5m, to: LookUp}}";
}
