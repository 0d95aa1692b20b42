//! The compiled expressions of a policy or of a webhook.

use crate::{object::at, refusal::Refusal};
use krator_schema::cel::admission::{Environment, Evaluated, Expression, Rejection, Scope, Wanted};
use serde_json::Value as Json;

/// The items of a list; none if it is absent.
pub(crate) fn list<'a>(object: &'a Json, key: &str) -> impl Iterator<Item = &'a Json> {
    at(object, &[key]).as_array().into_iter().flatten()
}

/// A text; empty if it is absent.
pub(crate) fn text<'a>(object: &'a Json, key: &str) -> &'a str {
    at(object, &[key]).as_str().unwrap_or_default()
}

/// The compiled expressions of a policy or of a webhook.
#[derive(Debug, Default)]
pub(crate) struct Compiled {
    pub environment: Environment,
    conditions: Vec<(String, Expression)>,
    pub validations: Vec<Validation>,
}

/// A validation of a policy.
#[derive(Debug)]
pub(crate) struct Validation {
    pub expression: Expression,
    pub message: Option<Expression>,
    pub text: String,
}

/// The result of match conditions.
pub(crate) enum Conditions {
    Hold,
    DoNotHold,
    /// Some conditions failed, and all others hold.
    Failed(String),
}

/// An invalid expression of a configuration: its field, its text and the error.
pub(crate) type Wrong = (String, String, Rejection);

impl Compiled {
    /// Compiles the expressions of a policy's specification, or of a webhook.
    ///
    /// # Errors
    ///
    /// If an expression is invalid.
    pub fn of(configuration: &Json) -> Result<Self, Wrong> {
        let mut compiled = Self::default();
        let wrong = |list: &str, at: usize, key: &str, text: &str| {
            let (field, text) = (format!("{list}[{at}].{key}"), text.to_owned());
            move |why| (field, text, why)
        };
        for (at, variable) in list(configuration, "variables").enumerate() {
            let (name, expression) = (text(variable, "name"), text(variable, "expression"));
            let declared = compiled.environment.declare(name, expression);
            declared.map_err(wrong("variables", at, "expression", expression))?;
        }
        for (at, condition) in list(configuration, "matchConditions").enumerate() {
            let expression = text(condition, "expression");
            let made = compiled.environment.compile(expression, Wanted::Bool);
            let made = made.map_err(wrong("matchConditions", at, "expression", expression))?;
            compiled.conditions.push((expression.to_owned(), made));
        }
        for (at, validation) in list(configuration, "validations").enumerate() {
            let (expression, message) = (
                text(validation, "expression"),
                text(validation, "messageExpression"),
            );
            let made = compiled.environment.compile(expression, Wanted::Bool);
            let made = made.map_err(wrong("validations", at, "expression", expression))?;
            let says = (!message.is_empty()).then(|| compiled.environment.compile(message, Wanted::Text));
            let says = says.transpose();
            compiled.validations.push(Validation {
                expression: made,
                message: says.map_err(wrong("validations", at, "messageExpression", message))?,
                text: expression.to_owned(),
            });
        }
        Ok(compiled)
    }

    /// Evaluates the match conditions. If one is false, the result is `DoNotHold`, even if others fail.
    pub fn conditions(&self, scope: &Scope<'_>) -> Result<Conditions, Refusal> {
        let mut failed = Vec::new();
        for (text, condition) in &self.conditions {
            match condition.evaluate(scope) {
                Evaluated::Bool(true) => {}
                Evaluated::Bool(false) => return Ok(Conditions::DoNotHold),
                Evaluated::Failed(why) => failed.push(failure(text, &why)),
                other => return Err(unknown(text, &other)),
            }
        }
        Ok(match failed.as_slice() {
            [] => Conditions::Hold,
            [one] => Conditions::Failed(one.clone()),
            all => Conditions::Failed(format!("[{}]", all.join(", "))),
        })
    }
}

/// The message of the API server for a failed expression.
pub(crate) fn failure(expression: &str, why: &str) -> String {
    format!("expression '{expression}' resulted in error: {why}")
}

/// The response if this server cannot evaluate an expression.
pub(crate) fn unknown(expression: &str, value: &Evaluated) -> Refusal {
    let why = match value {
        Evaluated::Unknown(why) => why,
        _ => "its value has another type",
    };
    Refusal::not_built(&format!("Evaluating the expression '{expression}' ({why})"))
}
