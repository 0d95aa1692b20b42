//! The type checker, after `checker/checker.go` of cel-go.

pub(crate) mod declarations;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use self::declarations::DECLARATIONS;
use self::declarations::{Declarations, Overload};
use crate::syntax::Mistake;
use crate::syntax::tokens::is_reserved;
use crate::syntax::tree::{Literal, Loop, Node, NodeKind};
use crate::types::{Bindings, Type};

/// The declarations that an expression can use besides the functions and constants of the API server: variables with
/// their types, and the fields of objects. It is empty by default.
#[derive(Debug, Clone, Default)]
pub struct TypeEnvironment {
    pub(crate) variables: BTreeMap<String, Type>,
    /// The fields of each object type, by the name of the type.
    pub(crate) objects: BTreeMap<Arc<str>, BTreeMap<String, Type>>,
}

impl TypeEnvironment {
    /// Declares a variable, and replaces one of the same name. The fields of objects in the type must be declared, too,
    /// as [`DeclType::cel_type`](crate::DeclType::cel_type) does it.
    pub fn declare(&mut self, variable: impl Into<String>, of: Type) {
        self.variables.insert(variable.into(), of);
    }
}

/// The results of the type checker for an expression.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    pub(crate) mistakes: Vec<Mistake>,
    /// Whether the expression uses something unknown to this checker, so that the mistakes are unreliable.
    pub(crate) unsure: bool,
    /// The type of each node.
    types: Vec<Type>,
    /// The overloads that match the call of each node.
    pub(crate) overloads: BTreeMap<usize, Vec<&'static str>>,
    /// The name to which each node refers, if it is a variable, a constant or a function.
    pub(crate) references: BTreeMap<usize, String>,
}

impl Checked {
    pub(crate) fn type_of(&self, node: &Node) -> &Type {
        self.types.get(node.id).unwrap_or(&Type::Error)
    }
}

/// Checks the types of an expression.
pub(crate) fn check(expression: &Node, nodes: usize, environment: &TypeEnvironment) -> Checked {
    let mut checker = Checker {
        environment,
        declarations: Declarations::get(),
        scopes: Vec::new(),
        bindings: Bindings::default(),
        unknowns: 0,
        checked: Checked {
            types: vec![Type::Error; nodes],
            ..Checked::default()
        },
    };
    checker.check(expression);
    let Checker {
        bindings,
        mut checked,
        ..
    } = checker;
    for of in &mut checked.types {
        *of = without_parameters(&bindings.substitute(of));
    }
    checked
}

/// The type with `dyn` for unbound type parameters.
fn without_parameters(of: &Type) -> Type {
    match of {
        Type::Param(_) => Type::Dyn,
        Type::List(of) => Type::list(without_parameters(of)),
        Type::Map(key, value) => Type::map(without_parameters(key), without_parameters(value)),
        Type::Meta(Some(of)) => Type::Meta(Some(Arc::new(without_parameters(of)))),
        Type::Opaque(name, of) => Type::Opaque(name.clone(), of.iter().map(without_parameters).collect()),
        _ => of.clone(),
    }
}

struct Checker<'a> {
    environment: &'a TypeEnvironment,
    declarations: &'static Declarations,
    /// The variables of loops, the innermost last.
    scopes: Vec<(String, Type)>,
    bindings: Bindings,
    unknowns: usize,
    checked: Checked,
}

impl Checker<'_> {
    fn check(&mut self, node: &Node) -> Type {
        let found = match &node.kind {
            NodeKind::Literal(literal) => literal_type(literal),
            NodeKind::Ident(name) => match self.lookup(name) {
                Some(found) => {
                    self.refer(node, name);
                    found
                }
                None => self.undeclared(name),
            },
            NodeKind::Select { operand, field, test } => self.select(node, operand, field, *test),
            NodeKind::Call {
                function,
                target,
                arguments,
            } => self.call(node, function, target.as_deref(), arguments),
            NodeKind::List(elements) => {
                let mut joined = None;
                for (element, optional) in elements {
                    joined = Some(self.join(joined, element, *optional));
                }
                Type::list(joined.unwrap_or_else(|| self.unknown()))
            }
            NodeKind::Map(entries) => {
                let (mut keys, mut values) = (None, None);
                for (key, value, optional) in entries {
                    keys = Some(self.join(keys, key, false));
                    values = Some(self.join(values, value, *optional));
                }
                match (keys, values) {
                    (Some(keys), Some(values)) => Type::map(keys, values),
                    _ => Type::map(self.unknown(), self.unknown()),
                }
            }
            NodeKind::Message(name, fields) => {
                for field in fields {
                    self.check(field);
                }
                let name = name.strip_prefix('.').unwrap_or(name);
                match self.lookup(name) {
                    Some(Type::Meta(Some(of))) if !of.is_plain() => {
                        // Protobuf messages can be constructed by their names, but this checker does not have their
                        // fields.
                        self.checked.unsure = true;
                        Type::Error
                    }
                    Some(_) => self.mistake(format!("`{name}` is no type of messages"), name),
                    None => self.undeclared(name),
                }
            }
            NodeKind::Loop(fold) => self.fold(fold),
        };
        self.checked.types[node.id] = found.clone();
        found
    }

    fn lookup(&mut self, name: &str) -> Option<Type> {
        let local = self.scopes.iter().rev().find(|(variable, _)| variable == name);
        if let Some((_, found)) = local {
            return Some(found.clone());
        }
        let variable = self.environment.variables.get(name);
        if let Some(found) = variable.or_else(|| self.declarations.constant(name)) {
            return Some(found.clone());
        }
        if name.starts_with("google.") {
            self.checked.unsure = true;
        }
        None
    }

    fn refer(&mut self, node: &Node, name: &str) {
        if !self.scopes.iter().any(|(variable, _)| variable == name) {
            self.checked.references.insert(node.id, name.to_string());
        }
    }

    fn mistake(&mut self, detail: String, about: &str) -> Type {
        self.checked.mistakes.push(Mistake {
            detail,
            about: Some(about.to_string()),
        });
        Type::Error
    }

    fn undeclared(&mut self, name: &str) -> Type {
        self.mistake(format!("`{name}` is not declared"), name)
    }

    fn mismatch(&mut self, wanted: &Type, found: &Type) -> Type {
        let (wanted, found) = (self.shown(wanted), self.shown(found));
        self.checked.mistakes.push(Mistake {
            detail: format!("the type {wanted} is expected, but it is {found}"),
            about: None,
        });
        Type::Error
    }

    fn shown(&self, of: &Type) -> String {
        without_parameters(&self.bindings.substitute(of)).to_string()
    }

    fn unknown(&mut self) -> Type {
        self.unknowns += 1;
        Type::Param(format!("_{}", self.unknowns).into())
    }

    fn select(&mut self, node: &Node, operand: &Node, field: &str, test: bool) -> Type {
        if let Some(name) = node.qualified_name()
            && let Some(found) = self.lookup(&name)
        {
            self.refer(node, &name);
            return found;
        }
        let found = self.field(operand, field, false);
        if test {
            Type::Bool
        } else {
            self.bindings.substitute(&found)
        }
    }

    fn field(&mut self, operand: &Node, field: &str, optional: bool) -> Type {
        let operand = self.check(operand);
        let operand = self.bindings.substitute(&operand);
        let (of, is_optional) = match operand.unwrap_optional() {
            Some(of) => (of.clone(), true),
            None => (operand, false),
        };
        let found = match &of {
            Type::Map(_, value) => (**value).clone(),
            Type::Struct(name) => {
                let fields = self.environment.objects.get(name);
                let declared = |name: &str| fields.and_then(|fields| fields.get(name)).cloned();
                // A field whose name is a keyword can also be selected by its unescaped name.
                match declared(field)
                    .or_else(|| declared(&format!("__{field}__")).filter(|_| is_reserved(field)))
                {
                    Some(found) => found,
                    None => self.mistake(format!("there is no field `{field}`"), field),
                }
            }
            Type::Param(_) => {
                self.bindings.assign(&Type::Dyn, &of);
                Type::Dyn
            }
            _ if of.is_dyn_or_error() => Type::Dyn,
            _ => {
                let shown = self.shown(&of);
                self.mistake(
                    format!("the type {shown} has no fields, so `{field}` cannot be selected"),
                    field,
                );
                Type::Dyn
            }
        };
        if is_optional || optional {
            Type::optional(found)
        } else {
            found
        }
    }

    fn call(&mut self, node: &Node, function: &str, target: Option<&Node>, arguments: &[Node]) -> Type {
        if function == "_?._"
            && let [operand, field] = arguments
        {
            let NodeKind::Literal(Literal::String(name)) = &field.kind else {
                self.checked.unsure = true;
                return Type::Error;
            };
            self.check(field);
            self.checked
                .overloads
                .insert(node.id, vec!["select_optional_field"]);
            let found = self.field(operand, name, true);
            return self.bindings.substitute(&found);
        }
        let operands: Vec<Type> = arguments.iter().map(|argument| self.check(argument)).collect();
        let function = function.strip_prefix('.').unwrap_or(function);
        let Some(target) = target else {
            let Some(overloads) = self.declarations.function(function) else {
                return self.undeclared(function);
            };
            return self.resolve(node, function, overloads, false, operands);
        };
        if let Some(prefix) = target.qualified_name()
            && let name = format!("{prefix}.{function}")
            && let Some(overloads) = self.declarations.function(&name)
        {
            self.checked.references.insert(node.id, name.clone());
            return self.resolve(node, &name, overloads, false, operands);
        }
        let target = self.check(target);
        let Some(overloads) = self.declarations.function(function) else {
            return self.undeclared(function);
        };
        let operands = std::iter::once(target).chain(operands).collect();
        self.resolve(node, function, overloads, true, operands)
    }

    fn resolve(
        &mut self,
        node: &Node,
        function: &str,
        overloads: &'static [Overload],
        receiver: bool,
        operands: Vec<Type>,
    ) -> Type {
        let mut result = None;
        for overload in overloads.iter().filter(|overload| overload.receiver == receiver) {
            let mut fresh = Bindings::default();
            for parameter in &overload.parameters {
                fresh.bind(parameter.clone(), self.unknown());
            }
            let wanted: Vec<Type> = overload
                .operands
                .iter()
                .map(|operand| fresh.substitute(operand))
                .collect();
            let (given, wanted) = (
                operands.iter().collect::<Vec<_>>(),
                wanted.iter().collect::<Vec<_>>(),
            );
            if !self.bindings.assign_all(&given, &wanted) {
                continue;
            }
            self.checked
                .overloads
                .entry(node.id)
                .or_default()
                .push(overload.id);
            let found = self.bindings.substitute(&fresh.substitute(&overload.result));
            result = Some(match result {
                None => found,
                Some(Type::Dyn) => Type::Dyn,
                Some(before) if before == found => before,
                Some(_) => Type::Dyn,
            });
        }
        if let Some(found) = result {
            return found;
        }
        let shown: Vec<String> = operands.iter().map(|operand| self.shown(operand)).collect();
        let sign = function.replace(['_', '@'], "");
        let is_operator = function.starts_with(['_', '!', '-', '@']);
        let name = if is_operator { sign } else { function.to_string() };
        let detail = match shown.split_first() {
            Some((first, rest)) if receiver => {
                format!(
                    "`{name}` is no function of the type {first} with operands ({})",
                    rest.join(", ")
                )
            }
            _ => format!(
                "`{name}` does not take operands of the types ({})",
                shown.join(", ")
            ),
        };
        self.mistake(detail, &name)
    }

    /// The common type of the elements of a literal, with one more element.
    fn join(&mut self, before: Option<Type>, element: &Node, optional: bool) -> Type {
        let mut found = self.check(element);
        if optional {
            match found.unwrap_optional() {
                Some(of) => found = of.clone(),
                None if matches!(found, Type::Dyn) => {}
                None => {
                    self.mismatch(&Type::optional(found.clone()), &found);
                }
            }
        }
        match before {
            None => found,
            Some(before) if self.bindings.assign(&before, &found) => Type::most_general(&before, &found),
            // Literals with elements of different types are checked later, because they are allowed in calls of
            // `format`.
            Some(_) => Type::Dyn,
        }
    }

    fn fold(&mut self, fold: &Loop) -> Type {
        let range = self.check(&fold.range);
        let accumulator = self.check(&fold.start);
        let range = self.bindings.substitute(&range);
        let outside = self.scopes.len();
        self.scopes.push((fold.accumulator.clone(), accumulator.clone()));
        let two = fold.second_variable.is_some();
        let (first, second) = match &range {
            Type::List(of) if two => (Type::Int, (**of).clone()),
            Type::List(of) => ((**of).clone(), Type::Error),
            Type::Map(key, value) => ((**key).clone(), (**value).clone()),
            Type::Dyn | Type::Error | Type::Param(_) => {
                self.bindings.assign(&Type::Dyn, &range);
                (Type::Dyn, Type::Dyn)
            }
            _ => {
                let shown = self.shown(&range);
                self.checked.mistakes.push(Mistake {
                    detail: format!("the type {shown} has no items to go through: only lists and maps have"),
                    about: None,
                });
                (Type::Error, Type::Error)
            }
        };
        self.scopes.push((fold.variable.clone(), first));
        if let Some(name) = &fold.second_variable {
            self.scopes.push((name.clone(), second));
        }
        let condition = self.check(&fold.condition);
        self.assert(&condition, &Type::Bool);
        let step = self.check(&fold.step);
        self.assert(&step, &accumulator);
        self.scopes.truncate(outside + 1);
        let result = self.check(&fold.result);
        self.scopes.truncate(outside);
        self.bindings.substitute(&result)
    }

    fn assert(&mut self, found: &Type, wanted: &Type) {
        if !self.bindings.assign(wanted, found) {
            self.mismatch(wanted, found);
        }
    }
}

fn literal_type(literal: &Literal) -> Type {
    match literal {
        Literal::Bool(_) => Type::Bool,
        Literal::Int(_) => Type::Int,
        Literal::Uint(_) => Type::Uint,
        Literal::Double(_) => Type::Double,
        Literal::String(_) => Type::String,
        Literal::Bytes(_) => Type::Bytes,
        Literal::Null => Type::Null,
    }
}
