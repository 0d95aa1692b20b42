//! The interpreter, after `interpreter/interpretable.go` and `interpreter/attributes.go` of cel-go.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::constant::literal_value;
use super::function::{Call, Patterns};
use super::value::{Map, Value};
use super::{Failure, Fallible, fail, too_costly};
use crate::Pattern;
use crate::check::Checked;
use crate::syntax::parse::Parsed;
use crate::syntax::tree::{Literal, Node, NodeKind};
use crate::types::Type;

/// The API server's cost limit of one expression. Costs are counted almost as there.
const MOST_COST: u64 = 1_000_000;

/// The cost of an access check, after `library/cost.go` of the API server.
const CHECK_COST: u64 = 350_000;

/// An expression that can be evaluated.
#[derive(Debug)]
pub struct Program {
    root: Node,
    pub(super) checked: Checked,
    depth: usize,
    patterns: Patterns,
}

/// The values of variables by name.
pub(crate) type Variables<'a> = BTreeMap<&'static str, Value<'a>>;

impl Program {
    /// Creates a program from an expression whose types are correct.
    pub(crate) fn new(parsed: Parsed, checked: Checked) -> Self {
        let mut patterns = Patterns::new();
        parsed.root.visit(&mut |node| {
            if let NodeKind::Call {
                function, arguments, ..
            } = &node.kind
                && matches!(function.as_str(), "matches" | "find" | "findAll")
            {
                for argument in arguments {
                    if let NodeKind::Literal(Literal::String(text)) = &argument.kind
                        && let Ok(pattern) = Pattern::new(text)
                    {
                        patterns.insert(text.clone(), pattern);
                    }
                }
            }
        });
        Program {
            depth: depth(&parsed.root),
            root: parsed.root,
            checked,
            patterns,
        }
    }

    /// The recursion depth of the evaluation, which is the depth of the expression's tree. See
    /// [`on_large_stack`](crate::on_large_stack).
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The type of the result.
    pub(crate) fn type_of(&self) -> &Type {
        self.checked.type_of(&self.root)
    }

    /// Evaluates the expression.
    pub(crate) fn run<'a>(&self, variables: &Variables<'a>) -> Fallible<Value<'a>> {
        let run = Run {
            program: self,
            variables,
            cost: Cell::new(0),
        };
        run.eval(&self.root, &Scope::default())
    }
}

fn depth(node: &Node) -> usize {
    1 + node.children().into_iter().map(depth).max().unwrap_or(0)
}

/// The variables of loops, the innermost first.
#[derive(Default)]
pub(super) struct Scope<'s, 'a> {
    variable: Option<(&'s str, &'s Fallible<Value<'a>>)>,
    around: Option<&'s Scope<'s, 'a>>,
}

impl<'s, 'a> Scope<'s, 'a> {
    pub(super) fn with(&'s self, name: &'s str, value: &'s Fallible<Value<'a>>) -> Scope<'s, 'a> {
        Scope {
            variable: Some((name, value)),
            around: Some(self),
        }
    }

    pub(super) fn find(&self, name: &str) -> Option<&'s Fallible<Value<'a>>> {
        match self.variable {
            Some((known, value)) if known == name => Some(value),
            _ => self.around?.find(name),
        }
    }
}

/// The evaluation of an expression.
pub(super) struct Run<'p, 'a> {
    pub(super) program: &'p Program,
    pub(super) variables: &'p Variables<'a>,
    cost: Cell<u64>,
}

impl<'a> Run<'_, 'a> {
    pub(super) fn spend(&self, cost: u64) -> Fallible<()> {
        let spent = self.cost.get().saturating_add(cost);
        self.cost.set(spent);
        if spent > MOST_COST {
            return too_costly();
        }
        Ok(())
    }

    pub(super) fn eval(&self, node: &Node, scope: &Scope<'_, 'a>) -> Fallible<Value<'a>> {
        match &node.kind {
            NodeKind::Literal(literal) => Ok(literal_value(literal)),
            NodeKind::Select {
                operand,
                field,
                test: true,
            } => {
                let (operand, _) = self.eval(operand, scope)?.opened();
                let found = operand.map(|operand| operand.find(&field.as_str().into()));
                Ok(Value::Bool(found.transpose()?.flatten().is_some()))
            }
            NodeKind::Ident(_) | NodeKind::Select { .. } => self.selected(node, scope),
            NodeKind::Call {
                function,
                target,
                arguments,
            } => self.call(node, function, target.as_deref(), arguments, scope),
            NodeKind::List(elements) => {
                self.spend(10)?;
                let mut made = Vec::with_capacity(elements.len());
                for (element, optional) in elements {
                    match (self.eval(element, scope)?, optional) {
                        (Value::Optional(value), true) => made.extend(value.map(Arc::unwrap_or_clone)),
                        (other, true) => {
                            return fail(format!(
                                "cannot initialize optional list element from non-optional value {other}"
                            ));
                        }
                        (value, false) => made.push(value),
                    }
                }
                Ok(made.into())
            }
            NodeKind::Map(entries) => {
                self.spend(30)?;
                let mut made: Vec<(Value<'a>, Value<'a>)> = Vec::with_capacity(entries.len());
                for (key, value, optional) in entries {
                    let (key, value) = (self.eval(key, scope)?, self.eval(value, scope)?);
                    // The last entry of a key is used; keys of different types differ.
                    made.retain(|(known, _)| {
                        known.type_name() != key.type_name() || !known.is_same_key(&key)
                    });
                    match (value, optional) {
                        (Value::Optional(value), true) => {
                            made.extend(value.map(|value| (key, Arc::unwrap_or_clone(value))));
                        }
                        (other, true) => {
                            return fail(format!(
                                "cannot initialize optional entry '{key}' from non-optional value {other}"
                            ));
                        }
                        (value, false) => made.push((key, value)),
                    }
                }
                Ok(Value::Map(Map::Made(Arc::new(made))))
            }
            NodeKind::Message(..) => Err(Failure::Unknown("a message literal".to_owned())),
            NodeKind::Loop(fold) => self.fold(fold, scope),
        }
    }

    fn call(
        &self,
        node: &Node,
        function: &str,
        target: Option<&Node>,
        arguments: &[Node],
        scope: &Scope<'_, 'a>,
    ) -> Fallible<Value<'a>> {
        match (function, target, arguments) {
            ("_[_]" | "_[?_]" | "_?._", None, _) => return self.selected(node, scope),
            // cel-go does not evaluate the value in this case.
            ("@in", None, [_, list]) if matches!(&list.kind, NodeKind::List(none) if none.is_empty()) => {
                return Ok(Value::Bool(false));
            }
            ("_&&_", None, [left, right]) => return self.logical(false, left, right, scope),
            ("_||_", None, [left, right]) => return self.logical(true, left, right, scope),
            ("_?_:_", None, [condition, yes, no]) => {
                return match self.eval(condition, scope)? {
                    Value::Bool(true) => self.eval(yes, scope),
                    Value::Bool(false) => self.eval(no, scope),
                    _ => fail("no such overload".to_owned()),
                };
            }
            ("@not_strictly_false" | "__not_strictly_false__", None, [value]) => {
                let is_false = matches!(self.eval(value, scope), Ok(Value::Bool(false)));
                return Ok(Value::Bool(!is_false));
            }
            ("_==_", None, [left, right]) => {
                let (left, right) = (self.eval(left, scope), self.eval(right, scope));
                let (left, right) = (left?, right?);
                self.spend(1 + weight(&left).min(weight(&right)))?;
                return left.equals(&right).map(Value::Bool);
            }
            ("_!=_", None, [left, right]) => {
                let (left, right) = (self.eval(left, scope), self.eval(right, scope));
                let (left, right) = (left?, right?);
                self.spend(1 + weight(&left).min(weight(&right)))?;
                return Ok(Value::Bool(left.equals(&right) != Ok(true)));
            }
            ("or" | "orValue", Some(target), [other]) => {
                return match self.eval(target, scope)? {
                    Value::Optional(None) => self.eval(other, scope),
                    Value::Optional(Some(value)) if function == "orValue" => Ok(Arc::unwrap_or_clone(value)),
                    value @ Value::Optional(_) => Ok(value),
                    other => fail(format!("no such overload: {}.{function}", other.type_name())),
                };
            }
            _ => {}
        }
        let name = self.program.checked.references.get(&node.id);
        let (function, target) = match name {
            // The target is the first part of the qualified function name.
            Some(name) => (name.as_str(), None),
            None => (function.trim_start_matches('.'), target),
        };
        let operands = target.into_iter().chain(arguments);
        let operands: Vec<Value<'a>> = operands
            .map(|operand| self.eval(operand, scope))
            .collect::<Fallible<_>>()?;
        let is_check = function == "check" && matches!(operands.first(), Some(Value::Authorizer(_)));
        self.spend(if is_check { CHECK_COST } else { 1 })?;
        self.spend(operands.iter().map(weight).sum())?;
        let overloads = self.program.checked.overloads.get(&node.id);
        let call = Call {
            function,
            overload: match overloads.map(Vec::as_slice) {
                Some([one]) => Some(one),
                _ => None,
            },
            patterns: &self.program.patterns,
        };
        let result = call.evaluate(&operands)?;
        self.spend(weight(&result) / 2)?;
        Ok(result)
    }

    /// Evaluates `&&` and `||`, in which a decisive operand overrides an error of the other one.
    fn logical(
        &self,
        decides: bool,
        left: &Node,
        right: &Node,
        scope: &Scope<'_, 'a>,
    ) -> Fallible<Value<'a>> {
        let mut failed = None;
        for operand in [left, right] {
            match self.eval(operand, scope) {
                Ok(Value::Bool(value)) if value == decides => return Ok(Value::Bool(decides)),
                Ok(Value::Bool(_)) => {}
                Ok(_) => {
                    failed.get_or_insert(Failure::Error("no such overload".to_owned()));
                }
                Err(why) => {
                    failed.get_or_insert(why);
                }
            }
        }
        failed.map_or(Ok(Value::Bool(!decides)), Err)
    }
}

/// The cost of traversing a value once.
fn weight(value: &Value<'_>) -> u64 {
    let size = match value {
        Value::Text(text) => text.len() / 10,
        Value::Bytes(bytes) => bytes.len() / 10,
        Value::List(list) => list.len(),
        Value::Map(map) => map.len(),
        _ => 0,
    };
    size as u64
}
