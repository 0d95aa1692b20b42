//! The runtime of operators that `krator` generates: each object goes through a state machine whose transitions the
//! compiler checks, and whose memory is the object's own `.status`.
//!
//! # Handlers
//!
//! `krator.yaml` describes the states of an object and the transitions between them. For each state you write a
//! handler: an `impl` of [`State`] in the state's file. It is given a [`Context`] and returns a [`Transition`].
//!
//! ```
#![doc = include_str!("doc/website.txt")]
//! impl State for Publish {
//!     async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
//!         let website = cx.manifest();
//!         if website.spec.replicas == 0 {
//!             // Retrying is useless before somebody changes the spec.
//!             return Err(Error::permanent("a website has at least one replica"));
//!         }
//!         if cx.first_run() {
//!             return Ok(Transition::stay()); // The handler runs again when the state's `wait` is over.
//!         }
//!         cx.object.updates += 1;
//!         cx.status_mut().url = Some(format!("updated {} times", cx.object.updates));
//!         Ok(Transition::to(Live)) // It compiles because `Live` is a `next` of `Publish` in krator.yaml.
//!     }
//! }
//! ```
//!
//! | You want to | use |
//! |---|---|
//! | read the object | [`Context::manifest`]; [`Context::changes`] to wait for changes |
//! | remember something across restarts | [`Context::status_mut`]; [`Context::save`] to store it before the run ends |
//! | remember something in memory | [`Context::object`] for this object, [`Context::shared`] for all of them |
//! | tell people something | [`Context::message`], [`Context::set`], [`Context::event`] |
//! | know how often it was tried | [`Context::attempt`], [`Context::first_run`], [`Context::in_state_for`] |
//! | make a request idempotent | [`Context::entry`] |
//! | create or change children | `Context::child`, `Context::apply` |
//! | read or delete children | `Context::owned`, `Context::delete`, `Context::prune` |
//! | know whether an object is ready | `Context::readiness` |
//! | read other objects | `Context::watched`, `Context::all_watched`, `Context::api` |
//! | calculate with quantities such as `500m` and `2Gi` | [`Amount`] |
//! | retry, or not | return an [`Error`]; [`Error::permanent`] is not retried |
//!
//! # What a handler can rely on
//!
//! - It sees the object at least as new as the operator's own last write.
//! - The state is stored in `.status` before the handler runs, unless the state has `checkpoint: false`. An operator
//!   that restarts goes on from there.
//! - Only one handler runs for an object at any time. Handlers of different objects run concurrently.
//! - It may run more than once in one stay, unless the state has `effects: once`: write it so that it checks first what
//!   is already done.
//! - It may be dropped at any `await` when the object is deleted or a timeout passes.
//!
//! # The program
//!
//! `main.rs` passes your [`Operator`]s to `krator_runtime::main`, which parses the command line and runs them;
//! `krator_runtime::main_with` adds arguments of your own. In `object.rs` you write what an object keeps in memory, an
//! [`ObjectState`], and the [`Operator`] that makes it.
//!
//! # Tests
//!
//! [`Local`] drives one object through the whole machine in memory, and [`Fixture`] calls a single handler; neither needs
//! a cluster or a clock. [`testing::crashes`] lets the process end, and requests fail, wherever your handlers make them.
//!
//! # Features
//!
//! Without the feature `kube` the crate knows nothing of Kubernetes. With it, operators talk to an API server, and
//! handlers reach objects of other kinds. With the feature `dev`, for development only, the page of an operator can change
//! objects and kill the process, and is served to its own machine only. With the feature `otel` an operator sends traces to a
//! collector.
#![forbid(unsafe_code)]

// In the order of the layers, lowest first: a module imports only from those above it in this list.
mod lock;
mod read_field;
#[cfg(feature = "kube")]
mod nearest;
mod error;
mod applied;
mod machine;
#[cfg(feature = "kube")]
mod resource;
mod readiness;
mod operator;
#[cfg(feature = "kube")]
mod admission;
#[cfg_attr(
    not(feature = "kube"),
    allow(
        dead_code,
        reason = "only a process with a cluster has objects that others hold up"
    )
)]
mod poll_times;
mod world;
mod actor;
mod local;
pub mod testing;
#[cfg(feature = "kube")]
mod cluster;
#[cfg(feature = "source")]
pub mod source;

#[cfg(feature = "kube")]
pub use admission::{Mutate, Operation, Review, Reviewed, Validate, Verdict, Webhooks};
/// For the arguments of your own that [`main_with`] takes.
#[cfg(feature = "kube")]
pub use clap;
#[cfg(feature = "simulation")]
pub use cluster::simulation;
#[cfg(feature = "kube")]
pub use cluster::{
    About, Admission, ApiCaching, ApiHandles, Concerns, Grants, Handlers, Link, Linked, LookIn,
    OperatorRuntime, Owns, Watches, main, main_with,
};
pub use error::{Error, Fallible, Result};
pub use krator_machine::graph::{
    Exit, Graph, Limit, Objective, OnDelete, OnSpecChange, Period, Policy, Recurrence, Retry, SpecChange,
    StateId, StateKind, Text, Watch, Window,
};
pub use krator_machine::{
    Amount, Class, FieldValue,
    spec_digest::{SpecDigest, spec_digest, spec_digests},
    status::{Ask, Condition, EntryId, MachineStatus, ObjectStatus, ObjectiveStart, TimeoutFired},
    versions,
};
#[cfg(feature = "kube")]
pub use kube::api::PropagationPolicy;
// The decisions of the machine, under the names that they have there.
#[cfg(feature = "kube")]
use krator_machine::text;
use krator_machine::{conditions, engine, field_value, graph, spec_digest, status};
pub use local::{Fixture, Handle, Local, LocalObject, LocalStatus};
pub use machine::{
    Context, Dispatch, Edit, Event, Final, Machine, Manifest, ManifestOf, MayStay, Never, Node, Object,
    ObjectState, OwnCondition, SharedOf, State, StatePolicy, StatusOf, Stay, Transition, TransitionTo,
    dispatch,
};
#[cfg(feature = "kube")]
pub use nearest::{Nearest, nearest};
pub use operator::Operator;
pub use read_field::ReadField;
pub use readiness::Readiness;
#[cfg(feature = "kube")]
pub use resource::{Child, ChildDeletion, KubeObject, Place};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
