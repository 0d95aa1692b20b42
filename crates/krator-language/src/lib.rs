#![doc = include_str!("../README.md")]
//!
//! # Rooms
//!
//! Data flows in one direction: text -> [`spec`] (the tree as written) -> [`model`] (the description as meant) -> findings of
//! [`rules`]. All of it is pure and deterministic.

// Nothing here reads files, the environment or the clock, and nothing prints: see clippy.toml. Tests may.
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_macros))]

// In the order of the layers, lowest first: each module uses only modules above it in this list.
pub mod text;
pub mod yaml;
pub mod names;
pub mod catalog;
pub mod finding;
pub mod spec;
pub mod tolerant_tree;
pub mod model;
pub mod graph;
pub mod crd;
pub mod machine;
pub mod sample;
pub mod versions;
pub mod policies;
pub mod rules;
pub mod language_schema;
pub mod starter;
pub mod import;
pub mod compare;
pub mod checked;
pub mod fixes;
pub mod assist;

pub use checked::{Checked, check, check_with};
