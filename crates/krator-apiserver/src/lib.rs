//! A small API server for the development and the tests of operators, in memory: what operators, kubectl and kube-rs need
//! of custom resources and of the kinds that they own. It is not for production.
//!
//! Where it stops short of a real API server it answers 501 with a sentence, and never a wrong success.

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
