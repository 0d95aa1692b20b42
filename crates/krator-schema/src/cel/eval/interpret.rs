//! The interpreter of expressions, after `interpreter/interpretable.go` and `interpreter/attributes.go` of cel-go.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::check::Checked;
use super::super::declarations::Declarations;
use super::super::rules::Compiled;
use super::super::tree::{Literal, Loop, Node, NodeKind};
use super::super::types::Type;
use super::value::{List, Map, Value};
use super::{Failure, Fallible, call, fail, too_costly};
use crate::Pattern;

/// What an expression may cost: the limit of the API server for a call. Costs are counted nearly as there.
const MOST_COST: u64 = 1_000_000;

/// What a question to the authorizer costs, after `library/cost.go` of the API server.
const CHECK_COST: u64 = 350_000;

/// An expression that is ready to be evaluated.
#[derive(Debug)]
pub(in crate::cel) struct Program {
    root: Node,
    checked: Checked,
    depth: usize,
    patterns: Patterns,
}

/// The patterns that are written in an expression, each read once.
pub(super) type Patterns = BTreeMap<String, Pattern>;

/// The values of variables by their names.
pub(in crate::cel) type Variables<'a> = BTreeMap<&'static str, Value<'a>>;

impl Program {
    pub(in crate::cel) fn new(compiled: Compiled) -> Self {
        let Compiled { parsed, checked } = compiled;
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

    /// The depth of evaluation's recursion.
    pub(in crate::cel) fn depth(&self) -> usize {
        self.depth
    }

    /// The type of its values.
    pub(in crate::cel) fn type_of(&self) -> &Type {
        self.checked.type_of(&self.root)
    }

    /// Evaluates the expression.
    pub(in crate::cel) fn run<'a>(&self, variables: &Variables<'a>) -> Fallible<Value<'a>> {
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
struct Scope<'s, 'a> {
    variable: Option<(&'s str, &'s Fallible<Value<'a>>)>,
    around: Option<&'s Scope<'s, 'a>>,
}

impl<'s, 'a> Scope<'s, 'a> {
    fn with(&'s self, name: &'s str, value: &'s Fallible<Value<'a>>) -> Scope<'s, 'a> {
        Scope {
            variable: Some((name, value)),
            around: Some(self),
        }
    }

    fn find(&self, name: &str) -> Option<&'s Fallible<Value<'a>>> {
        match self.variable {
            Some((known, value)) if known == name => Some(value),
            _ => self.around?.find(name),
        }
    }
}

/// The evaluation of an expression.
struct Run<'p, 'a> {
    program: &'p Program,
    variables: &'p Variables<'a>,
    cost: Cell<u64>,
}

/// What a loop's variables are in one turn; each may have no value.
type Entry<'a> = (Fallible<Value<'a>>, Option<Fallible<Value<'a>>>);

/// What is selected from an operand.
enum Step<'a> {
    Field(Value<'a>),
    Index(Value<'a>),
}

impl<'a> Step<'a> {
    fn key(&self) -> &Value<'a> {
        match self {
            Step::Field(key) | Step::Index(key) => key,
        }
    }
}

impl<'a> Run<'_, 'a> {
    fn spend(&self, cost: u64) -> Fallible<()> {
        let spent = self.cost.get().saturating_add(cost);
        self.cost.set(spent);
        if spent > MOST_COST {
            return too_costly();
        }
        Ok(())
    }

    fn eval(&self, node: &Node, scope: &Scope<'_, 'a>) -> Fallible<Value<'a>> {
        match &node.kind {
            NodeKind::Literal(literal) => Ok(literal_value(literal)),
            NodeKind::Select {
                operand,
                field,
                test: true,
            } => {
                let operand = self.eval(operand, scope)?;
                let key = field.as_str().into();
                match operand {
                    Value::Optional(None) => Ok(Value::Bool(false)),
                    Value::Optional(Some(value)) => {
                        Ok(Value::Bool(value.without_schema().find(&key)?.is_some()))
                    }
                    value => Ok(Value::Bool(value.find(&key)?.is_some())),
                }
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
                    // The last one of a key counts; keys of different types are different ones.
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

    /// A name, or a chain of selections from an operand.
    fn selected(&self, node: &Node, scope: &Scope<'_, 'a>) -> Fallible<Value<'a>> {
        let (value, optional) = self.chain(node, scope)?;
        Ok(match (value, optional) {
            (Some(value), false) => value,
            (value, _) => value.into(),
        })
    }

    /// The value of a chain of selections, and whether a part of it is optional; there may be none then.
    fn chain(&self, node: &Node, scope: &Scope<'_, 'a>) -> Fallible<(Option<Value<'a>>, bool)> {
        let name = self.program.checked.references.get(&node.id);
        let (operand, step, optional) = match &node.kind {
            NodeKind::Ident(_) => return self.variable(node, name.map(String::as_str), scope),
            NodeKind::Select { .. } if name.is_some() => {
                return self.variable(node, name.map(String::as_str), scope);
            }
            NodeKind::Select { operand, field, .. } => {
                (operand.as_ref(), Step::Field(field.as_str().into()), false)
            }
            NodeKind::Call {
                function, arguments, ..
            } => match (function.as_str(), arguments.as_slice()) {
                ("_[_]" | "_[?_]", [operand, index]) => {
                    let optional = function == "_[?_]";
                    // The operand comes first, and with it its error.
                    let (value, was_optional) = self.chain(operand, scope)?;
                    if value.is_none() {
                        return Ok((None, true));
                    }
                    let step = Step::Index(self.eval(index, scope)?);
                    return self.step(value, was_optional, &step, optional);
                }
                ("_?._", [operand, field]) => (operand, Step::Field(self.eval(field, scope)?), true),
                _ => return opened(self.eval(node, scope)?),
            },
            _ => return opened(self.eval(node, scope)?),
        };
        let (value, was_optional) = self.chain(operand, scope)?;
        self.step(value, was_optional, &step, optional)
    }

    fn step(
        &self,
        value: Option<Value<'a>>,
        was_optional: bool,
        step: &Step<'a>,
        optional: bool,
    ) -> Fallible<(Option<Value<'a>>, bool)> {
        self.spend(1)?;
        let Some(value) = value else {
            return Ok((None, true));
        };
        if let Value::Authorizer(authorizer) = &value {
            return Ok((Some(authorizer.request_resource()), false));
        }
        let (key, optional) = (step.key(), optional || was_optional);
        if !key.can_be_key() {
            return fail(format!("invalid qualifier type: {}", key.type_name()));
        }
        match value.find(key)? {
            Some(found) => Ok((Some(found), optional)),
            None if optional => Ok((None, true)),
            None if matches!((&value, step), (Value::List(_), _)) => {
                fail(format!("index out of bounds: {key}"))
            }
            None => fail(format!("no such key: {key}")),
        }
    }

    fn variable(
        &self,
        node: &Node,
        name: Option<&str>,
        scope: &Scope<'_, 'a>,
    ) -> Fallible<(Option<Value<'a>>, bool)> {
        self.spend(1)?;
        let own = match &node.kind {
            NodeKind::Ident(own) => own.as_str(),
            _ => "",
        };
        let name = name.unwrap_or(own).trim_start_matches('.');
        if let Some(value) = scope.find(name) {
            return opened(value.clone()?);
        }
        if let Some(value) = self.variables.get(name) {
            return opened(value.clone());
        }
        match Declarations::get().constant(name) {
            Some(Type::Meta(Some(of))) => Ok((Some(Value::Type(runtime_name(of).into())), false)),
            Some(_) => Ok((Some(Value::Type("type".into())), false)),
            None => fail(format!("no such attribute(s): {name}")),
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
            // cel-go does not even evaluate the value then.
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
            // The target is the first part of the function's name.
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
        let call = call::Call {
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

    /// `&&` and `||`, whose operand that decides makes up for an error of the other one.
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

    fn fold(&self, fold: &Loop, scope: &Scope<'_, 'a>) -> Fallible<Value<'a>> {
        let range = self.eval(&fold.range, scope)?;
        let mut total = self.eval(&fold.start, scope);
        let two = &fold.second_variable;
        let entries: Vec<Entry<'a>> = match &range {
            Value::List(list) if two.is_some() => {
                let elements = (0_i64..).zip(list.elements());
                elements
                    .map(|(at, element)| (Ok(at.into()), Some(element)))
                    .collect()
            }
            Value::List(list) => list.elements().map(|element| (element, None)).collect(),
            Value::Map(map) => {
                let keys = map.keys().into_iter();
                let entry = |key: Value<'a>| {
                    let value = two.is_some().then(|| {
                        let missing = || fail(format!("no such key: {key}"));
                        map.find(&key).transpose().unwrap_or_else(missing)
                    });
                    (Ok(key), value)
                };
                keys.map(entry).collect()
            }
            other => {
                return fail(format!("got '{}', expected iterable type", other.type_name()));
            }
        };
        for entry in &entries {
            self.spend(1)?;
            let goes_on = {
                let scope = scope.with(&fold.accumulator, &total);
                self.eval(&fold.condition, &scope)
            };
            // An error does not end the loop.
            if matches!(goes_on, Ok(Value::Bool(false))) {
                break;
            }
            total = self.next(&fold.step, fold, total, entry, scope);
        }
        let scope = scope.with(&fold.accumulator, &total);
        self.eval(&fold.result, &scope)
    }
}

impl<'a> Run<'_, 'a> {
    /// The next value of a loop's accumulator.
    fn next(
        &self,
        step: &Node,
        fold: &Loop,
        total: Fallible<Value<'a>>,
        entry: &Entry<'a>,
        scope: &Scope<'_, 'a>,
    ) -> Fallible<Value<'a>> {
        let eval = |node: &Node, total: &Fallible<Value<'a>>| {
            let scope = scope.with(&fold.accumulator, total);
            let scope = scope.with(&fold.variable, &entry.0);
            match (&fold.second_variable, &entry.1) {
                (Some(name), Some(value)) => self.eval(node, &scope.with(name, value)),
                _ => self.eval(node, &scope),
            }
        };
        let is_total = |node: &Node| matches!(&node.kind, NodeKind::Ident(name) if *name == fold.accumulator);
        if is_total(step) {
            return total;
        }
        if let NodeKind::Call {
            function,
            target: None,
            arguments,
        } = &step.kind
        {
            match (function.as_str(), arguments.as_slice()) {
                ("_?_:_", [condition, yes, no]) => {
                    return match eval(condition, &total)? {
                        Value::Bool(true) => self.next(yes, fold, total, entry, scope),
                        Value::Bool(false) => self.next(no, fold, total, entry, scope),
                        _ => fail("no such overload".to_owned()),
                    };
                }
                // The list grows in place: a sum would copy it each time.
                ("_+_", [sum, more])
                    if is_total(sum)
                        && let NodeKind::List(more) = &more.kind
                        && let [(more, false)] = more.as_slice()
                        && matches!(total, Ok(Value::List(List::Made(_)))) =>
                {
                    let more = eval(more, &total)?;
                    if let Ok(Value::List(List::Made(mut elements))) = total {
                        Arc::make_mut(&mut elements).push(more);
                        return Ok(Value::List(List::Made(elements)));
                    }
                    return total;
                }
                _ => {}
            }
        }
        eval(step, &total)
    }
}

fn literal_value<'a>(literal: &Literal) -> Value<'a> {
    match literal {
        Literal::Bool(value) => Value::Bool(*value),
        Literal::Int(value) => Value::Int(*value),
        Literal::Uint(value) => Value::Uint(*value),
        Literal::Double(value) => Value::Double(*value),
        Literal::String(text) => text.as_str().into(),
        Literal::Bytes(bytes) => Value::Bytes(bytes.as_slice().into()),
        Literal::Null => Value::Null,
    }
}

/// The value that cel-go gives to constants, to lists and maps of them, and to their conversions when it compiles an expression;
/// `None` for all else.
pub(in crate::cel) fn constant<'a>(node: &Node) -> Option<Fallible<Value<'a>>> {
    const CONVERSIONS: [&str; 10] = [
        "bool",
        "bytes",
        "double",
        "duration",
        "dyn",
        "int",
        "string",
        "timestamp",
        "type",
        "uint",
    ];
    match &node.kind {
        NodeKind::Literal(literal) => Some(Ok(literal_value(literal))),
        NodeKind::List(elements) => {
            let values = elements.iter().map(|(element, optional)| match optional {
                true => None,
                false => constant(element),
            });
            let values: Vec<Fallible<Value<'a>>> = values.collect::<Option<_>>()?;
            Some(values.into_iter().collect::<Fallible<Vec<_>>>().map(Value::from))
        }
        NodeKind::Map(entries) => {
            let mut made = Vec::new();
            for (key, value, optional) in entries {
                if *optional {
                    return None;
                }
                match (constant(key)?, constant(value)?) {
                    (Ok(key), Ok(value)) => made.push((key, value)),
                    (Err(why), _) | (_, Err(why)) => return Some(Err(why)),
                }
            }
            Some(Ok(Value::Map(Map::Made(Arc::new(made)))))
        }
        NodeKind::Call {
            function,
            target: None,
            arguments,
        } if CONVERSIONS.contains(&function.as_str()) => {
            let [operand] = arguments.as_slice() else {
                return None;
            };
            let patterns = Patterns::new();
            let call = call::Call {
                function,
                overload: None,
                patterns: &patterns,
            };
            Some(constant(operand)?.and_then(|operand| call.evaluate(&[operand])))
        }
        _ => None,
    }
}

/// The operand of a selection, whose optional value is opened; and whether it was one.
fn opened(value: Value<'_>) -> Fallible<(Option<Value<'_>>, bool)> {
    Ok(match value {
        Value::Optional(value) => (value.map(|value| value.without_schema()), true),
        value => (Some(value), false),
    })
}

/// The cost of going through a value once.
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

/// The name of a type as values know it.
fn runtime_name(of: &Type) -> &str {
    match of {
        Type::Null => "null_type",
        Type::Timestamp => "google.protobuf.Timestamp",
        Type::Duration => "google.protobuf.Duration",
        Type::List(_) => "list",
        Type::Map(..) => "map",
        Type::Meta(_) => "type",
        Type::Bool => "bool",
        Type::Int => "int",
        Type::Uint => "uint",
        Type::Double => "double",
        Type::String => "string",
        Type::Bytes => "bytes",
        Type::Opaque(name, _) | Type::Struct(name) | Type::Param(name) => name,
        Type::Dyn | Type::Error => "dyn",
    }
}
