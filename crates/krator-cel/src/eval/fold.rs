//! Loops, after `evalFold` of `interpreter/interpretable.go` of cel-go. They are the expansion of macros such as `all`
//! and `map`.

use std::sync::Arc;

use super::interpret::{Run, Scope};
use super::value::{List, Value};
use super::{Fallible, fail};
use crate::syntax::tree::{Loop, Node, NodeKind};

/// The values of a loop's variables in one iteration, each of which may be an error.
type LoopVariables<'a> = (Fallible<Value<'a>>, Option<Fallible<Value<'a>>>);

impl<'a> Run<'_, 'a> {
    pub(super) fn fold(&self, fold: &Loop, scope: &Scope<'_, 'a>) -> Fallible<Value<'a>> {
        let range = self.eval(&fold.range, scope)?;
        let mut total = self.eval(&fold.start, scope);
        let two = &fold.second_variable;
        let entries: Vec<LoopVariables<'a>> = match &range {
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
            // An error in the condition does not end the loop.
            if matches!(goes_on, Ok(Value::Bool(false))) {
                break;
            }
            total = self.next(&fold.step, fold, total, entry, scope);
        }
        let scope = scope.with(&fold.accumulator, &total);
        self.eval(&fold.result, &scope)
    }

    /// The next value of a loop's accumulator.
    fn next(
        &self,
        step: &Node,
        fold: &Loop,
        total: Fallible<Value<'a>>,
        entry: &LoopVariables<'a>,
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
                // The list is extended in place, because a sum would copy it in each iteration.
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
