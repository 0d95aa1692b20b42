//! From the model to the contents of files. Everything here is pure: no disk, no clock, no order but the text's.

pub mod crd;
pub mod deploy;
pub mod documents;
pub mod rbac;
pub mod sample;

mod mermaid;
mod templates;
mod yaml;
