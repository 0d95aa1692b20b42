//! A small API server for the development and the tests of operators, in memory: what operators, kubectl and kube-rs need
//! of custom resources and of the kinds that they own. It is not for production.
//!
//! Where it stops short of a real API server it answers 501 with a sentence, and never a wrong success.

// In the order of the layers, lowest first: each module uses only modules above it in this list.
mod object;
pub mod refusal;
mod values;
pub mod types;
pub mod field_set;
mod typed;
pub mod managed;
pub mod patch;
