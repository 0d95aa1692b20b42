//! `krator` turns one description of a custom resource and its state graph into a complete Kubernetes operator.
//!
//! Data flows in one direction: text -> [`spec`] (the tree as written) -> [`model`] (the description as meant) ->
//! findings of `rules` -> [`plan`] -> [`changes`] -> [`disk`]. Everything before [`disk`] is pure and deterministic.

// Tests may use the file system and print.
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_macros))]

// In the order of the layers, lowest first: each module uses only modules above it in this list.
pub mod text;
pub mod names;
pub mod catalog;
#[cfg(feature = "cluster")]
mod observed;
pub mod finding;
pub mod spec;
mod outline;
pub mod model;
pub mod language_schema;
pub mod graph;
mod crd;
mod sample;
pub mod versions;
pub mod policies;
mod rules;
pub mod plan;
pub mod changes;
pub mod record;
pub mod render;
#[cfg(feature = "cluster")]
mod population;
pub mod starter;
pub mod import;
pub mod examples;
pub mod compare;
pub mod checked;
pub mod fixes;
pub mod code;
pub mod drift;
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
pub mod assist;
#[allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "reads arguments and prints"
)]
pub mod cli;

pub use checked::{Checked, check, check_with};
