//! The promises of the runtime under faults, kills and restarts, on a real API server.
//!
//! # Who judges what
//!
//! The tests in here do not say step by step what objects have to go through. They let an operator run under faults and
//! judge, from everything that was written, whether the runtime could have done that by its contract. The parts are:
//!
//! | part | what it does | what it does not know |
//! |---|---|---|
//! | [`scripted_operator`](crate::scripted_operator) | Builds one operator from five descriptions, with faults compiled in. Its handlers are generated for the test (`scripted_operator/script.rs` is their common part): each records its start in a file, and then goes where the annotation `script` of its object says, or where dice say if there is none. | what is right |
//! | [`session`] | Holds what one test needs: a namespace, a watch and an oracle for each kind, and the files that operators write. Starts operators and passes what the watches record on to the oracles. | the graph |
//! | [`oracle`] | Judges the history of one kind's objects by the graph in the description: moves between states (`oracle/moves.rs`), what changes of the spec led to (`oracle/spec_changes.rs`), the fields of the status (`oracle/status.rs`), finalizers, and which handlers ran. | the runtime, the scripts |
//! | [`kstatus`] | Reads an object as kstatus does, which is how Helm and Flux read it. The oracle holds the reading to what the state means. | states |
//! | `oracle/planted.rs` | Tests the oracle itself: it accepts a correct history, and rejects each of many histories with one defect. Needs no API server. | |
//!
//! # The flow of a run
//!
//! 1. A test asks for the [`ScriptedOperator`](crate::scripted_operator::ScriptedOperator), which the first test builds, and
//!    opens a [`Session`](session::Session).
//! 2. It creates objects, with a script each, and starts one or more operators. An operator may be told to inject faults
//!    into requests, or to die before or after it writes the status of a certain state.
//! 3. While they run, the test disturbs them: it kills and restarts operators, changes and deletes objects. Each
//!    [`Watch`](crate::cluster::watch::Watch) records every write, and `Session::follow` passes the writes to the oracles.
//!    An oracle compares each write with the one before it: is there a path of edges between the two states, and had
//!    each of these edges its cause (a timeout that had run out, a deleted object, a restart)? Does the status agree with
//!    itself?
//! 4. When all operators have ended, `Session::judge` has the oracles read the file of handlers' starts as well: did each
//!    handler run for an entry that had been written, and those with `effects: once` no more than once? It panics with
//!    what the oracles have found.
//!
//! So the test itself only asserts that the run was worth something: that the kills happened where they should, that
//! enough objects were seen, and that the operators ended well. Everything else is judged by the oracles, the same way
//! for each test: [`real`], [`soak`], [`wait`] and [`annotations`] here, the tests of `moose`, and the simulations in `sim`, which play
//! in seconds, from a seed, what cannot be played again on a real server: kills, partitions, replicas and lost requests.

mod annotations;
mod kstatus;
mod oracle;
mod real;
mod refused;
mod session;
mod soak;
mod wait;

pub use oracle::{Journal, Oracle};
