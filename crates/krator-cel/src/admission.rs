//! Expressions of policies and of match conditions, after `admission/plugin/cel` of `k8s.io/apiserver`: their
//! environment, and their evaluation for a request.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value as Json;

use crate::TypeEnvironment;
use crate::authorizer::{AccessCheck, Authorizer, Decide};
use crate::compile::{Compilation, compile};
use crate::eval::{self, Failure, Fallible, Program, Value, Variables};
use crate::stack;
use crate::types::Type;

/// The fields of `request`, after `BuildRequestType`; those that end with `.` are objects. The API server omits empty
/// fields.
const REQUEST: [(&str, &str); 4] = [
    (
        "",
        "kind. requestKind. resource. requestResource. subResource requestSubResource name namespace operation userInfo. dryRun? options*",
    ),
    ("kind", "group version kind"),
    ("resource", "group version resource"),
    ("userInfo", "username uid groups[] extra{}"),
];

/// The deepest recursion of an evaluation that does not need a larger stack.
const SHALLOW: usize = 30;

/// The reason why an expression cannot be compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rejection {
    /// The API server refuses the expression, too.
    Refused(String),
    /// The API server may accept the expression, but this crate cannot evaluate it.
    Unknown(String),
}

/// The required type of an expression's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// A boolean.
    Bool,
    /// A string.
    Text,
}

/// The result of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evaluated {
    /// A boolean.
    Bool(bool),
    /// A string.
    Text(String),
    /// The API server cannot evaluate the expression; with its message.
    Failed(String),
    /// The result of the API server is unknown; with the reason.
    Unknown(String),
}

/// The environment of a policy's expressions, with the variables that it declares.
#[derive(Debug)]
pub struct Environment {
    types: TypeEnvironment,
    variables: Vec<(String, Program)>,
}

/// A compiled expression.
#[derive(Debug)]
pub struct Expression(Program);

/// The request for which expressions are evaluated.
pub struct Request<'a> {
    /// The new object; `null` in deletions.
    pub object: &'a Json,
    /// The old object; `null` in creations.
    pub old_object: &'a Json,
    /// The request without its objects, in the form of an `AdmissionRequest`.
    pub request: &'a Json,
    /// The namespace of the object, or `null`.
    pub namespace: &'a Json,
    /// Authorizes access checks of expressions.
    pub decide: Arc<Decide>,
    /// The access check for the request itself, without a verb.
    pub asked: AccessCheck,
}

impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("request", self.request)
            .finish_non_exhaustive()
    }
}

/// The values of the variables for a request.
pub struct Scope<'a>(Variables<'a>);

impl fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

impl Default for Environment {
    fn default() -> Self {
        let mut types = TypeEnvironment::default();
        for name in ["object", "oldObject"] {
            types.variables.insert(name.to_string(), Type::Dyn);
        }
        types.variables.insert("namespaceObject".to_string(), Type::Dyn);
        let authorization =
            |name: &str| Type::Opaque(format!("kubernetes.authorization.{name}").into(), Vec::new());
        types
            .variables
            .insert("authorizer".to_string(), authorization("Authorizer"));
        types.variables.insert(
            "authorizer.requestResource".to_string(),
            authorization("ResourceCheck"),
        );
        types
            .variables
            .insert("variables".to_string(), Type::Struct("variables".into()));
        types.objects.insert("variables".into(), BTreeMap::new());
        for (of, fields) in REQUEST {
            let fields = fields.split(' ').map(request_field).collect();
            types.objects.insert(format!("request.{of}").into(), fields);
        }
        types
            .variables
            .insert("request".to_string(), Type::Struct("request.".into()));
        Self {
            types,
            variables: Vec::new(),
        }
    }
}

fn request_field(written: &str) -> (String, Type) {
    let name = written.trim_end_matches(['.', '?', '*', '[', ']', '{', '}']);
    let of = match &written[name.len()..] {
        "." => match name {
            "requestKind" => Type::Struct("request.kind".into()),
            "requestResource" => Type::Struct("request.resource".into()),
            name => Type::Struct(format!("request.{name}").into()),
        },
        "?" => Type::Bool,
        "*" => Type::Dyn,
        "[]" => Type::list(Type::String),
        "{}" => Type::map(Type::String, Type::list(Type::String)),
        _ => Type::String,
    };
    (name.to_string(), of)
}

impl Environment {
    /// Declares `variables.name`, which later expressions can use.
    ///
    /// # Errors
    ///
    /// If its expression cannot be compiled.
    pub fn declare(&mut self, name: &str, expression: &str) -> Result<(), Rejection> {
        let (program, of) = self.program(expression, None)?;
        let variables = self.types.objects.entry("variables".into()).or_default();
        variables.insert(name.to_string(), of);
        self.variables.push((name.to_string(), program));
        Ok(())
    }

    /// Compiles an expression.
    ///
    /// # Errors
    ///
    /// If it cannot be compiled.
    pub fn compile(&self, expression: &str, wanted: Wanted) -> Result<Expression, Rejection> {
        let of = match wanted {
            Wanted::Bool => Type::Bool,
            Wanted::Text => Type::String,
        };
        let (program, _) = self.program(expression, Some(&of))?;
        Ok(Expression(program))
    }

    fn program(&self, text: &str, wanted: Option<&Type>) -> Result<(Program, Type), Rejection> {
        let program = || match compile(text, &self.types, wanted) {
            Compilation::Compiled(compiled) => {
                let program = compiled.into_program();
                let of = program.type_of().clone();
                Ok((program, of))
            }
            Compilation::Refused(issues) => {
                let messages: Vec<String> = issues.into_iter().map(|issue| issue.message).collect();
                Err(Rejection::Refused(messages.join("; ")))
            }
            Compilation::Unknown => Err(Rejection::Unknown("it cannot be read here".to_string())),
        };
        let otherwise = Rejection::Unknown("there is no stack for it".to_string());
        stack::on_large_stack(program, Err(otherwise))
    }

    /// The values of all variables for a request.
    pub fn scope<'a>(&self, request: Request<'a>) -> Scope<'a> {
        let authorizer = Authorizer::new(request.decide, request.asked);
        let mut variables = Variables::from([
            ("object", eval::dynamic(request.object)),
            ("oldObject", eval::dynamic(request.old_object)),
            ("request", eval::dynamic(request.request)),
            ("namespaceObject", eval::dynamic(request.namespace)),
            (
                "authorizer.requestResource",
                Value::Authorizer(Arc::new(authorizer.request_resource())),
            ),
            ("authorizer", Value::Authorizer(Arc::new(authorizer))),
        ]);
        let mut known = Vec::new();
        for (name, program) in &self.variables {
            variables.insert("variables", Value::Variables(Arc::new(known.clone())));
            let found = run(program, &variables).map_err(|failure| match failure {
                Failure::Error(why) => {
                    Failure::Error(format!("composited variable {name:?} fails to evaluate: {why}"))
                }
                unknown => unknown,
            });
            known.push((name.clone(), found));
        }
        variables.insert("variables", Value::Variables(Arc::new(known)));
        Scope(variables)
    }
}

/// Evaluates a program, on a larger stack if its depth requires that.
fn run<'a>(program: &Program, variables: &Variables<'a>) -> Fallible<Value<'a>> {
    match program.depth() {
        ..=SHALLOW => program.run(variables),
        _ => stack::on_large_stack(
            || program.run(variables),
            Err(Failure::Unknown("there is no stack for it".to_string())),
        ),
    }
}

impl Expression {
    /// The result for a request.
    pub fn evaluate(&self, scope: &Scope<'_>) -> Evaluated {
        match run(&self.0, &scope.0) {
            Ok(Value::Bool(value)) => Evaluated::Bool(value),
            Ok(Value::Text(text)) => Evaluated::Text(text.to_string()),
            Ok(_) => Evaluated::Unknown("it did not evaluate to a bool or a string".to_string()),
            Err(Failure::Error(why)) => Evaluated::Failed(why),
            Err(Failure::Unknown(why)) => Evaluated::Unknown(why),
        }
    }
}
