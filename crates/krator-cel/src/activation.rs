//! The evaluation of programs for those outside of this crate, who see the values of variables and results, and not how values are
//! represented.

use serde_json::Value as Json;

use crate::DeclType;
use crate::eval::{self, Failure, Program, Value, Variables};

/// The variables of an evaluation with their values. It is empty at first.
#[derive(Debug, Clone, Default)]
pub struct Activation<'a>(Variables<'a>);

/// The value of a variable. It borrows what it is made of, and a copy of it is cheap.
#[derive(Debug, Clone)]
pub struct Input<'a>(Value<'a>);

/// The value of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// A truth value.
    Bool(bool),
    /// A text.
    String(String),
    /// A value of another type, which the API server takes from no expression.
    Other,
}

impl<'a> Activation<'a> {
    /// Gives a value to a variable, and replaces the one that it had.
    pub fn bind(&mut self, variable: &'static str, value: Input<'a>) {
        self.0.insert(variable, value.0);
    }
}

impl<'a> Input<'a> {
    /// A value of a schema.
    ///
    /// # Errors
    ///
    /// If the value does not have the type. What is within lists, maps and objects is looked at when an expression uses it.
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
    /// Evaluates the expression. A variable that is not bound is an error if the expression uses it.
    ///
    /// The evaluation ends when it costs more than the API server allows for one expression. It recurses over
    /// [`Program::depth`] levels.
    ///
    /// # Errors
    ///
    /// If the API server fails as well, or its answer is not known.
    pub fn evaluate(&self, variables: &Activation<'_>) -> Result<Output, Failure> {
        self.run(&variables.0).map(|value| match value {
            Value::Bool(value) => Output::Bool(value),
            Value::Text(text) => Output::String(text.to_string()),
            _ => Output::Other,
        })
    }
}
