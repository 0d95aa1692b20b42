//! Evaluation of the rules of a schema, which are compiled once for many values.

use std::fmt;

use kube_cel::cel::{Context, Value};
use serde_json::Value as Json;

use crate::{Path, Rule, Schema};

use super::place::{Below, Place};
use super::program::{self, Failure, Program};
use super::rules::{self, Compilation};
use super::schema_types::Declared;
use super::stack;
use super::types::Type;
use super::values;
use super::{Outcome, RuleOutcome};

/// The deepest recursion of evaluation on the stack of the caller.
const SHALLOW: usize = 50;

/// The rules of a schema, compiled.
pub struct Rules {
    root: Option<CompiledPlace>,
    context: Context<'static>,
    is_shallow: bool,
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rules")
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}

impl Rules {
    /// Compiles the rules of a schema: that of a whole object, `openAPIV3Schema`. Its path begins those of the rules.
    pub fn compile(root: &Schema, root_path: &Path) -> Self {
        let root = stack::on_large_stack(|| CompiledPlace::compile(&Place::root(root, root_path)), None);
        let programs = || root.iter().flat_map(CompiledPlace::programs);
        Rules {
            context: program::context(programs()),
            is_shallow: programs().all(|program| program.depth() <= SHALLOW),
            root,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.root.is_none()
    }

    /// Evaluates the rules for a value and, if the value is an update, the value before.
    ///
    /// `kube-cel` evaluates them. Where it is known to differ from the API server, or fails otherwise than the API server
    /// does, the outcome is unknown. Rules that compare with a value before have no outcome where there is none.
    pub fn evaluate(&self, value: &Json, old: Option<&Json>) -> Vec<RuleOutcome> {
        let Some(root) = &self.root else {
            return Vec::new();
        };
        let evaluate = || {
            let mut outcomes = Vec::new();
            root.evaluate(&self.context, &Path::root(), value, old, &mut outcomes);
            outcomes
        };
        if self.is_shallow {
            evaluate()
        } else {
            stack::on_large_stack(evaluate, Vec::new())
        }
    }
}

/// A part of a schema with its rules, and the parts below it that have some.
#[derive(Debug)]
struct CompiledPlace {
    /// The rules, and the type of the values that they judge.
    rules: Option<(Declared, Vec<CompiledRule>)>,
    below: Vec<(Below, CompiledPlace)>,
}

impl CompiledPlace {
    /// Compiles what is at a place and below it; `None` if there are no rules.
    fn compile(place: &Place<'_>) -> Option<Self> {
        let rules = match (place.rules(), place.declared()) {
            ([], _) | (_, None) => None,
            (rules, Some(declared)) => {
                let rules = (0..).zip(rules).filter(|(_, rule)| !rule.rule.trim().is_empty());
                let rules = rules.map(|(index, rule)| {
                    let path = place.rule_path(index).field("rule");
                    CompiledRule::compile(path, rule, &declared)
                });
                let rules: Vec<CompiledRule> = rules.collect();
                Some((declared, rules))
            }
        };
        let parts = place.parts().into_iter();
        let below: Vec<(Below, CompiledPlace)> = parts
            .filter_map(|(place, below)| Some((below, CompiledPlace::compile(&place)?)))
            .collect();
        (rules.is_some() || !below.is_empty()).then_some(CompiledPlace { rules, below })
    }

    fn programs(&self) -> Vec<&Program> {
        let rules = self.rules.iter().flat_map(|(_, rules)| rules);
        let own = rules.flat_map(|rule| rule.program.iter().chain(&rule.message_program));
        own.chain(self.below.iter().flat_map(|(_, part)| part.programs()))
            .collect()
    }

    fn evaluate(
        &self,
        context: &Context<'_>,
        at: &Path,
        value: &Json,
        old: Option<&Json>,
        outcomes: &mut Vec<RuleOutcome>,
    ) {
        if value.is_null() {
            return;
        }
        let old = old.filter(|old| !old.is_null());
        if let Some((declared, rules)) = &self.rules {
            let scope = Scope::new(context, declared, value, old);
            for rule in rules {
                let Some(outcome) = rule.judge(&scope, old.is_some()) else {
                    continue;
                };
                outcomes.push(RuleOutcome {
                    rule: rule.path.clone(),
                    value: at.clone(),
                    is_transition: rule.uses_old_self,
                    outcome,
                });
            }
        }
        for (below, part) in &self.below {
            below.for_each(at, value, old, |at, value, old| {
                part.evaluate(context, at, value, old, outcomes);
            });
        }
    }
}

/// The variables of the rules of one value.
struct Scope<'a> {
    context: Result<Context<'a>, &'static str>,
    /// The size of the largest list, map or text in it.
    largest: usize,
    has_nulls: bool,
    value: &'a Json,
    old: Option<&'a Json>,
}

impl<'a> Scope<'a> {
    fn new(root: &'a Context<'a>, declared: &Declared, value: &'a Json, old: Option<&'a Json>) -> Self {
        let (mut largest, mut has_nulls) = (0, false);
        let mut context = root.new_inner_scope();
        let mut add = |name: &str, value: &Json| {
            let converted = values::convert(value, declared)?;
            largest = program::largest(value).max(largest);
            has_nulls |= converted.has_nulls;
            context.add_variable_from_value(name, converted.value);
            Ok(())
        };
        let added = add("self", value).and_then(|()| old.map_or(Ok(()), |old| add("oldSelf", old)));
        Scope {
            context: added.map(|()| context),
            largest,
            has_nulls,
            value,
            old,
        }
    }

    fn run(&self, program: &Program) -> Result<Value, Failure> {
        match &self.context {
            Ok(_) if !program.is_decidable(self.value, self.old) => {
                let why = "the API server compares such lists, maps or objects otherwise";
                Err(Failure::Unknown(why.to_string()))
            }
            Ok(context) => program.run(context, self.largest, self.has_nulls),
            Err(why) => Err(Failure::Unknown((*why).to_string())),
        }
    }
}

#[derive(Debug)]
struct CompiledRule {
    path: Path,
    /// The message for a value that breaks the rule, unless an expression makes it.
    says: String,
    /// The name of the rule in messages about its failure.
    called: String,
    program: Result<Program, &'static str>,
    message_program: Option<Program>,
    uses_old_self: bool,
    /// Of a rule with an optional `oldSelf`: the program for a new value, and that for one that there was before.
    with_optional: Option<[Option<Program>; 2]>,
}

/// The one question to an optional `oldSelf` that is answered before the rule is evaluated.
const IS_OLD: &str = "oldSelf.hasValue()";

impl CompiledRule {
    fn compile(path: Path, rule: &Rule, declared: &Declared) -> Self {
        let optional = rule.optional_old_self == Some(true);
        let environment = rules::environment(declared, optional);
        let mut uses_old_self = false;
        let program = match rules::compile(&rule.rule, &environment, &Type::Bool) {
            Compilation::Good(compiled) => {
                uses_old_self = compiled.uses_old_self();
                Ok(Program::new(compiled, declared))
            }
            Compilation::Refused(_) => Err("the rule itself is wrong"),
            Compilation::Unknown => Err("the rule cannot be read here"),
        };
        let message = rule.message_expression.as_deref();
        let message_program =
            message.and_then(|text| match rules::compile(text, &environment, &Type::String) {
                Compilation::Good(compiled) => Some(Program::new(compiled, declared)),
                _ => None,
            });
        let message = rule.message.as_deref().map(str::trim);
        let message = message.filter(|message| !message.is_empty());
        CompiledRule {
            path,
            says: message.map_or_else(|| format!("failed rule: {}", rule.rule.trim()), str::to_string),
            called: message.unwrap_or(rule.rule.trim()).to_string(),
            program,
            message_program,
            uses_old_self,
            with_optional: (optional && uses_old_self).then(|| {
                ["false", "true"].map(|is_old| {
                    let text = rule.rule.replace(IS_OLD, is_old);
                    let environment = rules::environment(declared, false);
                    match rules::compile(&text, &environment, &Type::Bool) {
                        Compilation::Good(compiled) if !text.contains("oldSelf") => {
                            Some(Program::new(compiled, declared))
                        }
                        _ => None,
                    }
                })
            }),
        }
    }

    /// Evaluates the rule for a value; `None` if it does not apply.
    fn judge(&self, scope: &Scope<'_>, has_old: bool) -> Option<Outcome> {
        let unknown = |why: &str| Some(Outcome::Unknown(why.to_string()));
        let program = match (&self.with_optional, &self.program) {
            (Some(programs), _) => match &programs[usize::from(has_old)] {
                Some(program) => program,
                None => return unknown("the rule uses an optional `oldSelf`"),
            },
            (None, Ok(_)) if self.uses_old_self && !has_old => return None,
            (None, Ok(program)) => program,
            (None, Err(why)) => return unknown(why),
        };
        Some(match scope.run(program) {
            Ok(Value::Bool(true)) => Outcome::Holds,
            Ok(Value::Bool(false)) => Outcome::Violated(self.message(scope)),
            Ok(_) => Outcome::Unknown("the rule did not evaluate to a bool".to_string()),
            Err(Failure::Error(why)) => Outcome::Failed(format!("{why} evaluating rule: {}", self.called)),
            Err(Failure::Unknown(why)) => Outcome::Unknown(why),
        })
    }

    fn message(&self, scope: &Scope<'_>) -> String {
        let found = self.message_program.as_ref().map(|program| scope.run(program));
        match found {
            Some(Ok(Value::String(message))) if !message.trim().is_empty() => message.trim().to_string(),
            _ => self.says.clone(),
        }
    }
}
