#![doc = include_str!("../README.md")]

// In the order of the layers, lowest first: each module uses only modules above it in this list.
mod path;
mod pattern;
pub mod names;
pub mod formats;
mod types;
mod syntax;
mod check;
mod decl_type;
mod cost;
mod authorizer;
mod eval;
mod compile;
mod activation;
mod stack;
pub mod admission;

pub use activation::{Activation, Input, Output};
pub use authorizer::{AccessCheck, Decide};
pub use check::{DECLARATIONS, TypeEnvironment};
pub use compile::{Ast, Compilation, Issue, compile};
pub use cost::Cost;
pub use decl_type::{DeclField, DeclType, ListType, ObjectType, Shape, escape};
pub use eval::{COST_LIMIT_EXCEEDED, Failure, Program};
pub use path::{Path, Segment};
pub use pattern::{Pattern, PatternError};
pub use stack::on_large_stack;
pub use types::Type;
