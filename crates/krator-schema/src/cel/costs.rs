//! The costs of the rules of a schema, and the limits of the API server, after
//! `apiextensions/validation/validation.go`.

use krator_cel::{Ast, Compilation, DeclType, Type, compile};

use crate::{Path, Schema};

use super::CostEstimate;
use super::place::Place;
use super::rules;
use super::schema_types::MAX_REQUEST;

/// The highest cost of one expression, over all values to which it applies.
const EXPRESSION_LIMIT: u64 = 10_000_000;
/// The highest total cost of all expressions of a schema.
const TOTAL_LIMIT: u64 = 100_000_000;

/// The costs of all rules of a schema, and finally their total.
pub(super) fn costs(root: &Schema, root_path: &Path) -> Vec<CostEstimate> {
    let mut estimates = Vec::new();
    let mut places = vec![Place::root(root, root_path)];
    while let Some(place) = places.pop() {
        costs_of_place(&place, &mut estimates);
        let mut children = place.children();
        children.reverse();
        places.append(&mut children);
    }
    let total = estimates
        .iter()
        .fold(0_u64, |total, estimate| total.saturating_add(estimate.cost));
    // Only bounds for the largest contributions would help.
    let contributing = estimates
        .iter()
        .filter(|estimate| estimate.cost >= TOTAL_LIMIT / 100);
    let mut unbounded: Vec<Path> = contributing
        .flat_map(|estimate| estimate.unbounded.clone())
        .collect();
    unbounded.sort();
    unbounded.dedup();
    estimates.push(CostEstimate {
        path: root_path.clone(),
        cost: total,
        limit: TOTAL_LIMIT,
        unbounded,
    });
    estimates
}

fn costs_of_place(place: &Place<'_>, estimates: &mut Vec<CostEstimate>) {
    let Some(declared) = place.declared().filter(|_| !place.rules().is_empty()) else {
        return;
    };
    for (index, rule) in place.rules().iter().enumerate() {
        let at = place.rule_path(index);
        let environment = rules::environment(&declared, rule.optional_old_self == Some(true));
        let Compilation::Compiled(compiled) = compile(&rule.rule, &environment, &Type::Bool) else {
            continue;
        };
        let mut estimate = estimate(&compiled, &declared, place, at.field("rule"));
        let values = place.cardinality.unwrap_or_else(|| largest_count(&declared));
        estimate.cost = estimate.cost.saturating_mul(values);
        if place.cardinality.is_none() {
            estimate.unbounded.extend(place.unbounded.clone());
        }
        estimates.push(estimate);
        let message = rule
            .message_expression
            .as_deref()
            .filter(|message| !message.is_empty());
        if let Some(Compilation::Compiled(compiled)) =
            message.map(|text| compile(text, &environment, &Type::String))
        {
            estimates.push(self::estimate(
                &compiled,
                &declared,
                place,
                at.field("messageExpression"),
            ));
        }
    }
}

/// The largest number of values of a type that fit into one request.
fn largest_count(declared: &DeclType) -> u64 {
    u64::try_from(MAX_REQUEST / (declared.min_size + 1)).unwrap_or(0)
}

fn estimate(compiled: &Ast, declared: &DeclType, place: &Place<'_>, path: Path) -> CostEstimate {
    let cost_with =
        |as_if_bounded: Option<&Path>| compiled.estimate_cost(declared, &place.path, as_if_bounded);
    let estimate = cost_with(None);
    let cost = estimate.max;
    // Only parts whose bounds would reduce the cost by more than a tenth are listed.
    let matters = |part: &Path| cost_with(Some(part)).max < cost - cost / 10;
    CostEstimate {
        path,
        cost,
        limit: EXPRESSION_LIMIT,
        unbounded: estimate.unbounded.into_iter().filter(matters).collect(),
    }
}
