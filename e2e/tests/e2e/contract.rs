//! The promises of the runtime under faults, kills and restarts, on a real API server.
//!
//! # The parts
//!
//! The tests in here do not prescribe the steps of objects. They run an operator under faults, and judge from all
//! writes whether the contract allows the behavior of the runtime. The parts are:
//!
//! | part | task | does not depend on |
//! |---|---|---|
//! | [`scripted_operator`](crate::scripted_operator) | Builds one operator from five descriptions, with faults compiled in. Its handlers are generated for the test (`scripted_operator/script.rs` is their common part): each records its start in a file, and then returns the state in the annotation `script` of its object, or a random one without a script. | the contract |
//! | [`session`] | The fixture of one test: a namespace, a watch and an oracle for each kind, and the files that operators write. It starts operators and passes the recorded writes to the oracles. | the graph |
//! | [`oracle`] | Judges the history of one kind's objects by the graph in the description: moves between states (`oracle/moves.rs`), effects of spec changes (`oracle/spec_changes.rs`), the fields of the status (`oracle/status.rs`), finalizers, and the handlers that ran. | the runtime, the scripts |
//! | [`kstatus`] | Computes the status of an object like kstatus, for Helm and Flux. The oracle compares it with the kind of the state. | states |
//! | `oracle/planted.rs` | Tests the oracle itself: it accepts a correct history, and rejects each of many histories with one defect. It needs no API server. | |
//!
//! # The flow of a run
//!
//! 1. A test asks for the [`ScriptedOperator`](crate::scripted_operator::ScriptedOperator), which the first test
//!    builds, and opens a [`Session`](session::Session).
//! 2. It creates objects, with a script each, and starts one or more operators. An operator can be configured to inject
//!    faults into requests, or to die before or after it writes the status of a certain state.
//! 3. While they run, the test disturbs them: it kills and restarts operators, changes and deletes objects. Each
//!    [`Watch`](crate::cluster::watch::Watch) records every write, and `Session::follow` passes the writes to the
//!    oracles. An oracle compares each write with the one before it: is there a path of edges between the two states,
//!    and did each of these edges have its cause (an expired timeout, a deleted object, a restart)? Is the status
//!    consistent?
//! 4. When all operators have ended, `Session::judge` passes the recorded starts of handlers to the oracles as well:
//!    did each handler run for an entry that had been written, and those with `effects: once` at most once? It panics
//!    with the findings of the oracles.
//!
//! So the test itself only asserts that the run was meaningful: that the kills happened at the right points, that
//! enough objects were seen, and that the operators exited successfully. The oracles judge all other parts, in the same
//! way for each test: [`real`], [`soak`], [`wait`] and [`annotations`] here, the tests of `moose`, and the simulations
//! in `sim`. Simulations take seconds, and a seed reproduces runs that a real server cannot repeat: kills, partitions,
//! replicas and lost requests.

mod annotations;
mod kstatus;
mod oracle;
mod real;
mod refused;
mod session;
mod soak;
mod wait;

pub use oracle::{Journal, Oracle};
