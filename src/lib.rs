//! `krator` turns one description of a custom resource and its state graph into a complete Kubernetes operator.
//!
//! Data flows in one direction: text -> [`spec`] (the tree as written) -> [`model`] (the description as meant) ->
//! findings of `rules` -> [`plan`] -> [`changes`] -> [`disk`]. Everything before [`disk`] is pure and deterministic.

// Tests may use the file system and print.
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_macros))]

// In the order of the layers, lowest first: each module uses only modules above it in this list.
#[cfg(feature = "cluster")]
mod observed;
pub mod plan;
pub mod changes;
pub mod record;
pub mod render;
#[cfg(feature = "cluster")]
mod population;
pub mod examples;
pub mod code;
pub mod regen;
#[allow(
    clippy::disallowed_methods,
    reason = "the one room that touches the file system"
)]
pub mod disk;
pub mod workspace;
#[cfg(feature = "cluster")]
mod doctor;
#[cfg(feature = "cluster")]
mod why;
#[allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "reads arguments and prints"
)]
pub mod cli;

// The language is a crate of its own. Its modules are re-exported here as if they were part of this crate.
pub use krator_language::{
    Checked, assist, catalog, check, check_with, checked, compare, finding, fixes, graph, import,
    language_schema, model, names, policies, rules, spec, starter, text, versions,
};
use krator_language::{crd, machine, sample, yaml};
