//! Checks the rules of a schema with the types of their places, after `apiextensions/validation/validation.go` and
//! `cel_validation.go`.

use krator_cel::{Ast, Compilation, DeclType, Type, TypeEnvironment, compile};

use crate::{Path, Problem, ProblemKind, Schema};

use super::CelProblem;
use super::field_path;
use super::place::Place;

/// The type environment for the rules of a place.
pub(super) fn environment(declared: &DeclType, optional_old_self: bool) -> TypeEnvironment {
    let mut environment = TypeEnvironment::default();
    let this = declared.cel_type("self", &mut environment);
    let old = if optional_old_self {
        Type::optional(this.clone())
    } else {
        this.clone()
    };
    environment.declare("self", this);
    environment.declare("oldSelf", old);
    environment
}

/// Whether a rule is a transition rule.
pub(super) fn uses_old_self(rule: &Ast) -> bool {
    rule.refers_to("oldSelf")
}

/// Checks the rules of a schema.
pub(super) fn check_rules(root: &Schema, root_path: &Path) -> Vec<CelProblem> {
    let mut problems = Vec::new();
    for_each_place(root, root_path, |place| check_place(place, &mut problems));
    problems
}

/// The rules of a schema that cannot be compiled here.
pub(super) fn unjudged(root: &Schema, root_path: &Path) -> Vec<Path> {
    let mut found = Vec::new();
    for_each_place(root, root_path, |place| {
        let Some(declared) = place.declared() else {
            return;
        };
        for (index, rule) in place.rules().iter().enumerate() {
            let environment = environment(&declared, rule.optional_old_self == Some(true));
            let is_empty = rule.rule.trim().is_empty();
            if !is_empty
                && matches!(
                    compile(&rule.rule, &environment, &Type::Bool),
                    Compilation::Unknown
                )
            {
                found.push(place.rule_path(index).field("rule"));
            }
        }
    });
    found
}

fn for_each_place(root: &Schema, root_path: &Path, mut visit: impl FnMut(&Place<'_>)) {
    let mut places = vec![Place::root(root, root_path)];
    while let Some(place) = places.pop() {
        visit(&place);
        let mut children = place.children();
        children.reverse();
        places.append(&mut children);
    }
}

fn check_place(place: &Place<'_>, problems: &mut Vec<CelProblem>) {
    if place.rules().is_empty() {
        return;
    }
    let mut report = |path: Path, kind, detail: String, offset| {
        problems.push(CelProblem {
            problem: Problem::new(&path, kind, detail),
            offset,
        });
    };
    for (index, rule) in place.rules().iter().enumerate() {
        if let Some(field) = rule.field_path.as_deref().filter(|field| !field.is_empty())
            && let Err(why) = field_path::resolve(field, place.schema)
        {
            report(
                place.rule_path(index).field("fieldPath"),
                ProblemKind::Invalid,
                why,
                None,
            );
        }
    }
    let Some(declared) = place.declared() else {
        report(
            place.path.field("x-kubernetes-validations"),
            ProblemKind::Internal,
            "rules need a schema whose type is known here: `type`, and for lists and maps the type of their values"
                .to_string(),
            None,
        );
        return;
    };
    for (index, rule) in place.rules().iter().enumerate() {
        if rule.rule.trim().is_empty() {
            continue;
        }
        let at = place.rule_path(index);
        let environment = environment(&declared, rule.optional_old_self == Some(true));
        let compiled = match compile(&rule.rule, &environment, &Type::Bool) {
            Compilation::Compiled(compiled) => compiled,
            Compilation::Refused(issues) => {
                // The API server also reports that such a rule does not use `oldSelf`, which is only a consequence.
                for issue in issues {
                    report(
                        at.field("rule"),
                        ProblemKind::Invalid,
                        issue.message,
                        issue.offset,
                    );
                }
                continue;
            }
            Compilation::Unknown => continue,
        };
        let message = rule
            .message_expression
            .as_deref()
            .filter(|message| !message.trim().is_empty());
        if let Some(Compilation::Refused(issues)) =
            message.map(|text| compile(text, &environment, &Type::String))
        {
            for issue in issues {
                report(
                    at.field("messageExpression"),
                    ProblemKind::Invalid,
                    issue.message,
                    issue.offset,
                );
            }
        }
        if uses_old_self(&compiled) {
            if let Some(within) = &place.uncorrelated {
                let detail = format!(
                    "`oldSelf` cannot be used here: the old and new values within {within} cannot be told apart"
                );
                report(at.field("rule"), ProblemKind::Invalid, detail, None);
            }
        } else if rule.optional_old_self.is_some() {
            let detail = "may not be set if the rule does not use `oldSelf`".to_string();
            report(at.field("optionalOldSelf"), ProblemKind::Invalid, detail, None);
        }
    }
}
