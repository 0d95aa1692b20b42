#![doc = include_str!("../README.md")]

// In the order of the layers, lowest first: each module uses only modules above it in this list.
mod at;
mod problem;
mod schema;
mod definition;
mod value;
pub mod cel;
mod acceptance;

pub use acceptance::{is_approval, validate_definition};
pub use definition::{
    Column, Definition, Names, Scale, SelectableField, Subresources, Version, VersionSchema,
};
pub use krator_cel::formats::parse_duration;
pub use krator_cel::{Path, Pattern, PatternError, Segment, names};
pub use problem::{Problem, ProblemKind};
pub use schema::{Items, Properties, Rule, Schema};
pub use value::{CompiledSchema, admit, admit_metadata, default, prune, validate, validate_metadata};
