//! What operators that `krator` generates are built on: each object goes through a state machine whose transitions
//! the compiler checks, and whose memory is the object's own `.status`.
#![forbid(unsafe_code)]

// In the order of the layers, lowest first: a module imports only from those above it in this list.
mod graph;
mod field_value;
mod error;
mod status;
mod conditions;
mod engine;
mod applied;
mod machine;
#[cfg(feature = "kube")]
mod resource;
mod operator;
mod world;
mod actor;
mod local;
pub mod testing;
#[cfg(feature = "kube")]
mod cluster;
#[cfg(feature = "source")]
pub mod source;

#[cfg(feature = "kube")]
pub use cluster::{About, Concerns, Grants, Link, Linked, LookIn, OperatorRuntime, Owns, Watches, main};
pub use error::{Class, Error, Fallible, Result};
pub use field_value::{FieldValue, ReadField};
pub use graph::{
    Effects, Exit, Graph, OnDelete, OnSpecChange, Period, Policy, Retry, StateId, StateKind, Times, Wait,
    Watch,
};
pub use local::{Fixture, Handle, Local};
pub use machine::{
    Context, Dispatch, Edit, Event, Final, Machine, Manifest, ManifestOf, MayStay, Never, Node, Object,
    ObjectState, SharedOf, State, StatusOf, Stay, Transition, TransitionTo, dispatch,
};
pub use operator::Operator;
#[cfg(feature = "kube")]
pub use resource::{Child, KubeObject, Place};
pub use status::{Condition, EntryId, MachineStatus, ObjectStatus};
