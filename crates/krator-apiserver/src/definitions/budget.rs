//! The cost limits of the rules of a schema, with the messages of `pkg/apis/apiextensions/validation`.

use crate::refusal::FieldError;
use krator_schema::{
    Path, Schema,
    cel::{self, CostEstimate},
};

/// The number of rules that are listed if the total is too high.
const NAMED: usize = 4;

/// The errors of rules that may exceed the cost limits of the API server, each or in total.
pub(super) fn errors(schema: &Schema, root: &Path) -> Vec<FieldError> {
    let mut costs = cel::costs(schema, root);
    let (total, single): (Vec<CostEstimate>, Vec<CostEstimate>) =
        costs.drain(..).partition(|cost| cost.path == *root);
    let mut errors: Vec<FieldError> = single
        .iter()
        .filter(|cost| cost.cost > cost.limit)
        .map(|cost| {
            let path = cost.path.to_string();
            let what = match path.ends_with("messageExpression") {
                true => "estimated messageExpression cost",
                false => "estimated rule cost",
            };
            FieldError::forbidden(path, message(what, cost))
        })
        .collect();
    for total in total.iter().filter(|total| total.cost > total.limit) {
        let mut dearest: Vec<&CostEstimate> = single.iter().collect();
        dearest.sort_by_key(|cost| std::cmp::Reverse(cost.cost));
        for cost in dearest.into_iter().take(NAMED) {
            let why =
                "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
            errors.push(FieldError::forbidden(cost.path.to_string(), why));
        }
        let what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
        errors.push(FieldError::forbidden(root.to_string(), message(what, total)));
    }
    errors
}

#[expect(clippy::cast_precision_loss, reason = "the factor is shown to one digit")]
fn message(what: &str, cost: &CostEstimate) -> String {
    let factor = match cost.cost as f64 / cost.limit as f64 {
        factor if factor > 100.0 => "more than 100x".to_owned(),
        factor if factor < 1.5 => format!("{factor:.6}x"),
        factor => format!("{factor:.1}x"),
    };
    format!(
        "{what} exceeds budget by factor of {factor} (try simplifying the rule, or adding maxItems, maxProperties, and \
         maxLength where arrays, maps, and strings are declared)"
    )
}
