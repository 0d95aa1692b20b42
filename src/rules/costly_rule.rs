//! CEL rules that the API server may reject because they iterate over lists or maps of unlimited size.
//!
//! The API server estimates the worst-case cost of a rule from its schema: it assumes that a list without `maxItems` is
//! as long as a request can be. This check only looks at the tokens of a rule to see what it iterates over; it does not
//! validate the CEL.

use super::{Check, RuleHit, Subject};
use crate::catalog::COSTLY_RULE;
use crate::finding::Finding;
use crate::model::{Description, Schema, Shape, Validation};
use crate::text::shown;

pub(super) const CHECK: Check = Check::of_kind(&COSTLY_RULE, find);

/// Macros of CEL that iterate over the value that they are called on.
const ITERATING_MACROS: [&str; 5] = ["all", "exists", "exists_one", "map", "filter"];

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let mut found = Vec::new();
    let roots =
        std::iter::once(&subject.kind.spec).chain(subject.kind.status.iter().map(|field| &field.schema));
    for schema in roots {
        visit(subject.description, schema, &mut found);
    }
    // The rules inside shared types belong to no kind, so they are checked together with the first one.
    if subject
        .description
        .kinds
        .first()
        .is_some_and(|first| std::ptr::eq(first, subject.kind))
    {
        for named in &subject.description.types {
            visit(subject.description, &named.schema, &mut found);
        }
    }
    found
}

fn visit(description: &Description, schema: &Schema, found: &mut Vec<RuleHit>) {
    for validation in &schema.validations {
        found.extend(unbounded_iteration(description, schema, validation));
    }
    for child in schema.children() {
        visit(description, child, found);
    }
}

fn unbounded_iteration(
    description: &Description,
    schema: &Schema,
    validation: &Validation,
) -> Option<RuleHit> {
    for path in iterated_paths(&validation.rule) {
        let mut at = schema;
        let mut bounds = [at, description.resolve(at)];
        let is_known = path.iter().all(|step| {
            let Shape::Object(fields) = &description.resolve(at).shape else {
                return false;
            };
            let Some(field) = fields.iter().find(|field| field.name.as_str() == *step) else {
                return false;
            };
            at = &field.schema;
            bounds = [at, description.resolve(at)];
            true
        });
        if !is_known {
            continue;
        }
        let bound = |get: fn(&Schema) -> bool| bounds.iter().any(|schema| get(schema));
        let missing = match &description.resolve(at).shape {
            Shape::List(_) if !bound(|schema| schema.constraints.max_items.is_some()) => "maxItems",
            Shape::Map(_) if !bound(|schema| schema.constraints.max_properties.is_some()) => "maxProperties",
            _ => continue,
        };
        let name = path.last().copied().unwrap_or("self");
        let message = format!(
            "this rule iterates over `{}`, which has no `{missing}`",
            shown(name)
        );
        let finding = Finding::new(&COSTLY_RULE, validation.rule.span, message)
            .label("the API server may reject this rule as too costly")
            .related(at.span, "has no maximum size")
            .help(format!("limit its size: `{missing}: 64`"));
        return Some(RuleHit::of_document(finding));
    }
    None
}

/// The paths below `self` or `oldSelf` on which the rule calls a macro that iterates.
fn iterated_paths(rule: &str) -> Vec<Vec<&str>> {
    let tokens = tokens(rule);
    let mut paths = Vec::new();
    for at in 0..tokens.len() {
        if !matches!(tokens[at], "self" | "oldSelf") || at > 0 && tokens[at - 1] == "." {
            continue;
        }
        let mut path = Vec::new();
        let mut rest = &tokens[at + 1..];
        while let [".", name, after @ ..] = rest {
            if after.first() == Some(&"(") {
                if ITERATING_MACROS.contains(name) {
                    paths.push(path);
                }
                break;
            }
            path.push(*name);
            rest = after;
        }
    }
    paths
}

/// The identifiers and punctuation of a rule, without string literals.
fn tokens(rule: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = rule;
    while let Some(c) = rest.chars().next() {
        let length = if c.is_ascii_alphabetic() || c == '_' {
            rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                .unwrap_or(rest.len())
        } else if c == '"' || c == '\'' {
            quoted_length(rest, c)
        } else {
            c.len_utf8()
        };
        let (token, after) = rest.split_at(length);
        if !c.is_whitespace() && c != '"' && c != '\'' {
            tokens.push(token);
        }
        rest = after;
    }
    tokens
}

fn quoted_length(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::iterated_paths;

    #[test]
    fn paths_that_a_rule_iterates_over() {
        assert_eq!(
            iterated_paths("self.all(x, x.values.size() != 0)"),
            [Vec::<&str>::new()]
        );
        assert_eq!(
            iterated_paths("!has(self.a) || !self.b.c.exists(n, n in self.a)"),
            [["b", "c"]]
        );
        assert!(iterated_paths("self.a == 'self.b.all(x, y)' && 'x'.size() > 0").is_empty());
        assert!(iterated_paths("'").is_empty());
    }
}
