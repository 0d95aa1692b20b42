//! Validates values by the keywords of a schema, after `k8s.io/kube-openapi/pkg/validation/validate`.

mod whole;

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use krator_cel::formats;
use serde_json::{Map, Value as Json};

use super::number::GoNumber;
use crate::at::At;
use crate::schema::Properties;
use crate::{Items, Path, Pattern, Problem, ProblemKind, Schema};
pub(crate) use whole::equal;
use whole::{check_enum, check_number, check_type};

/// How keywords are interpreted. The API server has two interpretations of the same schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// For values of objects: formats that custom resources lack are ignored, and `x-kubernetes-int-or-string`
    /// determines the type.
    Value,
    /// For defaults in the schema: all formats of the library are checked, and any value is a valid `int-or-string`.
    Default,
}

/// The result of validating a value.
#[derive(Debug, Default)]
struct Outcome {
    problems: Vec<Problem>,
    /// The number of checks made, which selects the alternative of `anyOf` whose problems are reported.
    matches: usize,
}

impl Outcome {
    fn add(&mut self, problem: Problem) {
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    fn merge(&mut self, other: Outcome) {
        other.problems.into_iter().for_each(|problem| self.add(problem));
        self.matches += other.matches;
    }

    fn is_valid(&self) -> bool {
        self.problems.is_empty()
    }
}

impl From<Problem> for Outcome {
    fn from(problem: Problem) -> Self {
        Outcome {
            problems: vec![problem],
            matches: 0,
        }
    }
}

/// Validates values by schemas; each pattern is compiled once.
#[derive(Debug)]
pub(crate) struct Validator {
    reading: Reading,
    /// The patterns that were used; `None` for a pattern that Go does not accept.
    patterns: RwLock<HashMap<String, Option<Arc<Pattern>>>>,
}

impl Validator {
    pub(crate) fn new(reading: Reading) -> Self {
        Validator {
            reading,
            patterns: RwLock::default(),
        }
    }

    pub(crate) fn validate(&self, schema: &Schema, value: &Json, path: &Path) -> Vec<Problem> {
        self.check(schema, value, &At::Path(path)).problems
    }

    fn types<'a>(&self, schema: &'a Schema) -> Vec<&'a str> {
        if self.reading == Reading::Value && schema.int_or_string == Some(true) {
            return vec!["integer", "string"];
        }
        schema
            .type_
            .as_deref()
            .filter(|type_| !type_.is_empty())
            .into_iter()
            .collect()
    }

    fn format<'a>(&self, schema: &'a Schema, types: &[&str]) -> &'a str {
        let format = schema.format.as_deref().unwrap_or_default();
        let counts = match (self.reading, types) {
            (Reading::Default, _) => true,
            (_, ["integer"]) => matches!(format, "int32" | "int64"),
            (_, ["number"]) => matches!(format, "float" | "double"),
            (_, [] | [_, _] | ["string"]) => formats::is_known(format),
            _ => false,
        };
        if counts { format } else { "" }
    }

    fn check(&self, schema: &Schema, value: &Json, path: &At<'_>) -> Outcome {
        let types = self.types(schema);
        let format = self.format(schema, &types);
        let mut outcome = Outcome::default();
        if value.is_null() {
            outcome.merge(check_type(schema, &types, format, value, path));
            outcome.merge(check_enum(schema, value, path));
            return outcome;
        }
        if !types.is_empty() || !format.is_empty() {
            outcome.merge(check_type(schema, &types, format, value, path));
            outcome.matches += 1;
        }
        outcome.merge(self.check_junctors(schema, value, path));
        outcome.matches += 1;
        match value {
            Json::String(text) => {
                outcome.merge(self.check_string(schema, text, path));
                outcome.matches += 1;
                if formats::is_known(format) {
                    if !formats::is_valid(format, text) {
                        outcome.add(Problem::new(
                            path,
                            ProblemKind::TypeInvalid,
                            format!("must be of type {format}: {text:?}"),
                        ));
                    }
                    outcome.matches += 1;
                }
            }
            Json::Number(value) => {
                outcome.merge(check_number(schema, &types, format, GoNumber::read(value), path));
                outcome.matches += 1;
            }
            Json::Array(items) => {
                outcome.merge(self.check_items(schema, items, path));
                outcome.matches += 1;
            }
            _ => {}
        }
        outcome.merge(check_enum(schema, value, path));
        outcome.matches += 1;
        if let Json::Object(fields) = value {
            outcome.merge(self.check_fields(schema, fields, path));
            outcome.matches += 1;
        }
        outcome.matches += 1;
        outcome
    }

    /// Validates `anyOf`, `oneOf`, `allOf` and `not`.
    fn check_junctors(&self, schema: &Schema, value: &Json, path: &At<'_>) -> Outcome {
        let mut outcome = Outcome::default();
        let invalid = |detail: String| Problem::new(path, ProblemKind::Invalid, detail);

        let any_of = schema.any_of.as_deref().unwrap_or_default();
        if !any_of.is_empty() {
            let (valid, best) = self.try_all(any_of, value, path, true);
            if valid == 0 {
                outcome.add(invalid("must validate at least one schema (anyOf)".to_string()));
            }
            outcome.merge(best);
        }

        let one_of = schema.one_of.as_deref().unwrap_or_default();
        if !one_of.is_empty() {
            let (valid, best) = self.try_all(one_of, value, path, false);
            if valid != 1 {
                let found = match valid {
                    0 => "found none valid".to_string(),
                    valid => format!("found {valid} valid alternatives"),
                };
                outcome.add(invalid(format!(
                    "must validate one and only one schema (oneOf): {found}"
                )));
            }
            // If several alternatives are valid, no other problems are reported, and their checks do not count.
            if valid <= 1 {
                outcome.merge(best);
            }
        }

        let all_of = schema.all_of.as_deref().unwrap_or_default();
        let mut valid = 0;
        for part in all_of {
            let result = self.check(part, value, path);
            valid += usize::from(result.is_valid());
            outcome.merge(result);
        }
        if valid != all_of.len() {
            let none = if valid == 0 { ": none validated" } else { "" };
            outcome.add(invalid(format!("must validate all the schemas (allOf){none}")));
        }

        if let Some(not) = &schema.not
            && self.check(not, value, path).is_valid()
        {
            outcome.add(invalid("must not validate the schema (not)".to_string()));
        }
        outcome.matches += 1;
        outcome
    }

    /// The number of valid alternatives, and the first valid outcome or, without one, the closest.
    fn try_all(
        &self,
        schemas: &[Schema],
        value: &Json,
        path: &At<'_>,
        first_counts: bool,
    ) -> (usize, Outcome) {
        let mut valid = 0;
        let mut success: Option<Outcome> = None;
        let mut nearest: Option<Outcome> = None;
        for schema in schemas {
            let result = self.check(schema, value, path);
            if result.is_valid() {
                valid += 1;
                success.get_or_insert(result);
                if first_counts {
                    break;
                }
            } else if nearest
                .as_ref()
                .is_none_or(|nearest| result.matches > nearest.matches)
            {
                nearest = Some(result);
            }
        }
        (valid, success.or(nearest).unwrap_or_default())
    }

    fn check_string(&self, schema: &Schema, text: &str, path: &At<'_>) -> Outcome {
        let length = text.chars().count() as i64;
        let problem = |kind, detail| Outcome::from(Problem::new(path, kind, detail));
        if let Some(most) = schema.max_length.filter(|most| length > *most) {
            return problem(ProblemKind::TooLong, format!("may not be more than {most} bytes"));
        }
        if let Some(least) = schema.min_length.filter(|least| length < *least) {
            return problem(
                ProblemKind::Invalid,
                format!("should be at least {least} chars long"),
            );
        }
        if let Some(pattern) = schema.pattern.as_deref().filter(|pattern| !pattern.is_empty())
            && !self.matches(pattern, text)
        {
            return problem(ProblemKind::Invalid, format!("should match '{pattern}'"));
        }
        Outcome::default()
    }

    /// Whether a pattern matches. A pattern that is too large for this crate counts as matching, so that no value is
    /// refused that the server may accept.
    fn matches(&self, pattern: &str, text: &str) -> bool {
        let known = {
            let patterns = self.patterns.read().unwrap_or_else(PoisonError::into_inner);
            patterns.get(pattern).cloned()
        };
        let compiled = known.unwrap_or_else(|| {
            let compiled = Pattern::new(pattern).ok().map(Arc::new);
            let mut patterns = self.patterns.write().unwrap_or_else(PoisonError::into_inner);
            patterns.insert(pattern.to_string(), compiled.clone());
            compiled
        });
        compiled.is_some_and(|pattern| pattern.is_match(text).unwrap_or(true))
    }

    fn check_items(&self, schema: &Schema, items: &[Json], path: &At<'_>) -> Outcome {
        let mut outcome = Outcome::default();
        if let Some(Items::All(schema)) = &schema.items {
            for (index, item) in items.iter().enumerate() {
                outcome.merge(self.check(schema, item, &path.index(index)));
            }
        }
        let count = items.len() as i64;
        if let Some(least) = schema.min_items.filter(|least| count < *least) {
            outcome.add(Problem::new(
                path,
                ProblemKind::Invalid,
                format!("should have at least {least} items"),
            ));
        }
        if let Some(most) = schema.max_items.filter(|most| count > *most) {
            outcome.add(Problem::new(
                path,
                ProblemKind::TooMany,
                format!("must have at most {most} items"),
            ));
        }
        if schema.unique_items == Some(true)
            && (1..items.len()).any(|at| items[..at].iter().any(|item| equal(item, &items[at])))
        {
            outcome.add(Problem::new(
                path,
                ProblemKind::Invalid,
                "shouldn't contain duplicates",
            ));
        }
        outcome.matches += 1;
        outcome
    }

    fn check_fields(&self, schema: &Schema, fields: &Map<String, Json>, path: &At<'_>) -> Outcome {
        let mut outcome = Outcome::default();
        let count = fields.len() as i64;
        if let Some(least) = schema.min_properties.filter(|least| count < *least) {
            outcome.add(Problem::new(
                path,
                ProblemKind::Invalid,
                format!("should have at least {least} properties"),
            ));
        }
        if let Some(most) = schema.max_properties.filter(|most| count > *most) {
            outcome.add(Problem::new(
                path,
                ProblemKind::TooMany,
                format!("must have at most {most} items"),
            ));
        }
        let declared = |name: &str| {
            schema
                .properties
                .as_ref()
                .and_then(|properties| properties.get(name))
        };
        for (name, value) in fields {
            match (declared(name), &schema.additional_properties) {
                (None, Some(Properties::Allowed(false))) => outcome.add(Problem::new(
                    path,
                    ProblemKind::Invalid,
                    format!(".{name} is a forbidden property"),
                )),
                (None, Some(Properties::Schema(schema))) => {
                    outcome.merge(self.check(schema, value, &path.field(name)));
                }
                _ => {}
            }
        }
        for (name, schema) in schema.properties.iter().flatten() {
            if let Some(value) = fields.get(name) {
                outcome.merge(self.check(schema, value, &path.field(name)));
            }
        }
        for name in schema.required.iter().flatten() {
            if !fields.contains_key(name) {
                outcome.add(Problem::new(
                    &path.field(name),
                    ProblemKind::Required,
                    "is required",
                ));
            }
        }
        outcome
    }
}
