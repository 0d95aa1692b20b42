//! A small in-memory API server for the development and the tests of operators. It serves the requests of operators,
//! kubectl and kube-rs for custom resources, and for the builtin kinds that operators own. It is not for production.
//!
//! A request that this server cannot treat like a real API server gets a 501 with an explanation, and never a wrong
//! success.

// In the order of the layers, lowest first: each module uses only modules above it in this list.
mod object;
mod world;
pub mod refusal;
mod selector;
mod request;
mod negotiation;
mod parameters;
mod protobuf;
mod body;
mod store;
mod values;
mod posting;
mod conversion;
mod types;
mod field_set;
mod typed;
mod managed;
mod patch;
mod json_path;
pub mod builtin;
mod custom;
mod definitions;
mod kinds;
mod openapi;
mod users;
mod expressions;
mod webhook_calls;
mod state;
mod rbac;
mod admission;
mod hooks;
mod snapshot;
mod rest;
mod access;
mod reviews;
mod listing;
mod answer;
mod watching;
mod discovery;
mod controllers;
mod workloads;
mod audit;
mod faults;
mod server;
mod local;
mod serving;

pub use conversion::Convert;
pub use faults::Faults;
pub use local::Refused;
pub use server::{Body, Builder, Server};
pub use serving::Serving;
pub use snapshot::Snapshot;
pub use store::versions::{Gone, Versions};
pub use workloads::WorkloadSimulator;
