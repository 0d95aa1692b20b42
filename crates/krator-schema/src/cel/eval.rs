//! Evaluation of expressions, after the interpreter of cel-go and the libraries of `k8s.io/apiserver/pkg/cel/library`.

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

pub(super) use constant::constant;
pub(super) use convert::{dynamic, typed};
pub(super) use format::check as check_format;
pub(super) use interpret::{Program, Variables};
pub(super) use value::Value;

/// Why there is no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    /// The API server fails as well, and says this.
    Error(String),
    /// The answer of the API server is not known.
    Unknown(String),
}

/// A value, or why there is none.
pub(super) type Fallible<T> = Result<T, Failure>;

/// What the API server says of expressions that cost too much.
pub(super) const TOO_COSTLY: &str = "operation cancelled: actual cost limit exceeded";

fn too_costly<T>() -> Fallible<T> {
    fail(TOO_COSTLY.to_owned())
}

/// An error of the API server.
fn fail<T>(why: String) -> Fallible<T> {
    Err(Failure::Error(why))
}
