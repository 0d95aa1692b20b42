//! Evaluates expressions, after the interpreter of cel-go and the libraries of `k8s.io/apiserver/pkg/cel/library`.

mod call;
mod constant;
mod convert;
mod equal;
mod fold;
mod format;
mod function;
mod go;
mod interpret;
mod library;
mod list;
mod named;
mod network;
mod operators;
mod quantity;
mod read;
mod select;
mod semver;
mod text;
mod time;
mod url;
mod value;

use std::fmt;

pub(crate) use constant::constant;
pub(crate) use convert::{dynamic, typed};
pub(crate) use format::check as check_format;
pub use interpret::Program;
pub(crate) use interpret::Variables;
pub(crate) use value::Value;

/// The reason why an expression has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The API server fails as well, with this message.
    Error(String),
    /// The result of the API server is unknown; with the reason.
    Unknown(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Failure::Error(why) | Failure::Unknown(why)) = self;
        f.write_str(why)
    }
}

impl std::error::Error for Failure {}

/// A value, or the reason why there is none.
pub(crate) type Fallible<T> = Result<T, Failure>;

/// The message of the API server for an expression that exceeds the cost limit: the text of a [`Failure::Error`].
pub const COST_LIMIT_EXCEEDED: &str = "operation cancelled: actual cost limit exceeded";

fn too_costly<T>() -> Fallible<T> {
    fail(COST_LIMIT_EXCEEDED.to_owned())
}

/// An error that the API server has, too.
fn fail<T>(why: String) -> Fallible<T> {
    Err(Failure::Error(why))
}
