//! Evaluation of the rules of a schema, which are compiled once for many values.

use std::fmt;

use krator_cel::{
    Activation, COST_LIMIT_EXCEEDED, Compilation, DeclType, Failure, Input, Output, Program, Type, compile,
    on_large_stack,
};
use serde_json::Value as Json;

use crate::{Path, Rule, Schema};

use super::place::{Below, Place};
use super::rules;
use super::{Outcome, RuleOutcome};

/// The deepest recursion of an evaluation that does not need a larger stack.
const SHALLOW: usize = 50;

/// The compiled rules of a schema.
pub struct Rules {
    root: Option<CompiledPlace>,
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
    /// Compiles the rules of a schema of a whole object, `openAPIV3Schema`. The paths of the rules start with
    /// `root_path`.
    pub fn compile(root: &Schema, root_path: &Path) -> Self {
        let root = on_large_stack(|| CompiledPlace::compile(&Place::root(root, root_path)), None);
        let programs = || root.iter().flat_map(CompiledPlace::programs);
        Rules {
            is_shallow: programs().all(|program| program.depth() <= SHALLOW),
            root,
        }
    }

    /// Whether the schema has no rules.
    pub fn is_empty(&self) -> bool {
        self.root.is_none()
    }

    /// Evaluates the rules for a value and, in an update, the old value.
    ///
    /// Without an old value, transition rules have no outcome.
    pub fn evaluate(&self, value: &Json, old: Option<&Json>) -> Vec<RuleOutcome> {
        let Some(root) = &self.root else {
            return Vec::new();
        };
        let evaluate = || {
            let mut outcomes = Vec::new();
            root.evaluate(&Path::root(), value, old, &mut outcomes);
            outcomes
        };
        if self.is_shallow {
            evaluate()
        } else {
            on_large_stack(evaluate, Vec::new())
        }
    }
}

/// A subschema with rules, or with rules below it.
#[derive(Debug)]
struct CompiledPlace {
    /// The rules, and the type of the values to which they apply.
    rules: Option<(DeclType, Vec<CompiledRule>)>,
    below: Vec<(Below, CompiledPlace)>,
}

impl CompiledPlace {
    /// Compiles the rules at a place and below it; `None` if there are none.
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

    fn evaluate(&self, at: &Path, value: &Json, old: Option<&Json>, outcomes: &mut Vec<RuleOutcome>) {
        if value.is_null() {
            return;
        }
        let old = old.filter(|old| !old.is_null());
        if let Some((declared, rules)) = &self.rules {
            let values = Values::of(declared, value, old);
            for rule in rules {
                let Some(outcome) = rule.judge(&values) else {
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
                part.evaluate(at, value, old, outcomes);
            });
        }
    }
}

/// The values to which the rules of a place apply.
struct Values<'a> {
    value: Result<Input<'a>, Failure>,
    old: Option<Result<Input<'a>, Failure>>,
}

impl<'a> Values<'a> {
    fn of(declared: &'a DeclType, value: &'a Json, old: Option<&'a Json>) -> Self {
        Self {
            value: Input::typed(value, declared),
            old: old.map(|old| Input::typed(old, declared)),
        }
    }

    fn run(&self, program: &Program, has_optional: bool) -> Result<Output, Failure> {
        let mut variables = Activation::default();
        variables.bind("self", self.value.clone()?);
        let old = self.old.clone().transpose()?;
        match old {
            old if has_optional => variables.bind("oldSelf", Input::optional(old)),
            Some(old) => variables.bind("oldSelf", old),
            None => {}
        }
        program.evaluate(&variables)
    }
}

#[derive(Debug)]
struct CompiledRule {
    path: Path,
    /// The message for a violation, unless the rule has an expression for it.
    says: String,
    /// The name of the rule in messages about failed evaluations.
    called: String,
    program: Result<Program, &'static str>,
    message_program: Option<Program>,
    uses_old_self: bool,
    /// Whether `oldSelf` is an optional value, so that the rule also applies to new values.
    has_optional: bool,
}

impl CompiledRule {
    fn compile(path: Path, rule: &Rule, declared: &DeclType) -> Self {
        let optional = rule.optional_old_self == Some(true);
        let environment = rules::environment(declared, optional);
        let mut uses_old_self = false;
        let program = match compile(&rule.rule, &environment, &Type::Bool) {
            Compilation::Compiled(compiled) => {
                uses_old_self = rules::uses_old_self(&compiled);
                Ok(compiled.into_program())
            }
            Compilation::Refused(_) => Err("the rule itself is wrong"),
            Compilation::Unknown => Err("the rule cannot be read here"),
        };
        let message = rule.message_expression.as_deref();
        let message_program = message.and_then(|text| match compile(text, &environment, &Type::String) {
            Compilation::Compiled(compiled) => Some(compiled.into_program()),
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
            has_optional: optional,
        }
    }

    /// Evaluates the rule for a value; `None` if it does not apply.
    fn judge(&self, values: &Values<'_>) -> Option<Outcome> {
        let program = match &self.program {
            Ok(_) if self.uses_old_self && !self.has_optional && values.old.is_none() => return None,
            Ok(program) => program,
            Err(why) => return Some(Outcome::Unknown((*why).to_string())),
        };
        Some(match values.run(program, self.has_optional) {
            Ok(Output::Bool(true)) => Outcome::Holds,
            Ok(Output::Bool(false)) => Outcome::Violated(self.message(values)),
            Ok(_) => Outcome::Unknown("the rule did not evaluate to a bool".to_string()),
            Err(Failure::Error(why)) => Outcome::Failed(self.failure(&why)),
            Err(Failure::Unknown(why)) => Outcome::Unknown(why),
        })
    }

    /// The message of the API server for an error of the rule.
    fn failure(&self, why: &str) -> String {
        let called = &self.called;
        if why.starts_with("no such overload") {
            return format!(
                "'{why}': call arguments did not match a supported operator, function or macro signature for rule: {called}"
            );
        }
        if why == COST_LIMIT_EXCEEDED {
            return format!(
                "'{why}': no further validation rules will be run due to call cost exceeds limit for rule: {called}"
            );
        }
        format!("{why} evaluating rule: {called}")
    }

    fn message(&self, values: &Values<'_>) -> String {
        let program = self.message_program.as_ref();
        let found = program.map(|program| values.run(program, self.has_optional));
        match found {
            Some(Ok(Output::String(message))) if is_fit(message.trim()) => message.trim().to_string(),
            _ => self.says.clone(),
        }
    }
}

/// Whether the API server accepts a text as a message.
fn is_fit(message: &str) -> bool {
    const LONGEST: usize = 5 * 1024;
    !message.is_empty() && message.len() <= LONGEST && !message.contains('\n')
}
