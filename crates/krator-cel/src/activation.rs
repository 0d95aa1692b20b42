//! The public interface of evaluations. It hides the representation of values.

use serde_json::Value as Json;

use crate::DeclType;
use crate::eval::{self, Failure, Program, Value, Variables};

/// The variables of an evaluation with their values; empty by default.
#[derive(Debug, Clone, Default)]
pub struct Activation<'a>(Variables<'a>);

/// The value of a variable. It borrows its data, so that a clone is cheap.
#[derive(Debug, Clone)]
pub struct Input<'a>(Value<'a>);

/// The result of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// A boolean.
    Bool(bool),
    /// A string.
    String(String),
    /// A value of another type, which the API server does not accept from any expression.
    Other,
}

impl<'a> Activation<'a> {
    /// Binds a value to a variable, and replaces a former one.
    pub fn bind(&mut self, variable: &'static str, value: Input<'a>) {
        self.0.insert(variable, value.0);
    }
}

impl<'a> Input<'a> {
    /// A value with a schema.
    ///
    /// # Errors
    ///
    /// If the value does not have the type. Values inside lists, maps and objects are checked when an expression uses
    /// them.
    pub fn typed(value: &'a Json, of: &'a DeclType) -> Result<Self, Failure> {
        eval::typed(value, of).map(Input)
    }

    /// A value without a schema, whose type is [`Type::Dyn`](crate::Type::Dyn).
    pub fn dynamic(value: &'a Json) -> Self {
        Input(eval::dynamic(value))
    }

    /// An optional value.
    pub fn optional(value: Option<Self>) -> Self {
        Input(value.map(|value| value.0).into())
    }
}

impl Program {
    /// Evaluates the expression. An unbound variable is an error if the expression uses it.
    ///
    /// The evaluation is aborted when it exceeds the API server's cost limit for one expression. It recurses over
    /// [`Program::depth`] levels.
    ///
    /// # Errors
    ///
    /// If the API server fails as well, or its result is unknown.
    pub fn evaluate(&self, variables: &Activation<'_>) -> Result<Output, Failure> {
        self.run(&variables.0).map(|value| match value {
            Value::Bool(value) => Output::Bool(value),
            Value::Text(text) => Output::String(text.to_string()),
            _ => Output::Other,
        })
    }
}
