//! CEL rules that look at more than the API server lets them.
//!
//! The API server bounds what a rule may cost by what its schema allows: a list without `maxItems` may be as long as
//! a request. Which lists a rule walks is read from its tokens; whether it is right CEL, the API server says.

use super::{Check, RuleHit, Subject};
use crate::catalog::COSTLY_RULE;
use crate::finding::Finding;
use crate::model::{Description, Schema, Shape, Validation};
use crate::text::shown;

pub(super) const CHECK: Check = Check::of_kind(&COSTLY_RULE, find);

/// Macros of CEL that walk what they are called on.
const WALKS: [&str; 5] = ["all", "exists", "exists_one", "map", "filter"];

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let mut found = Vec::new();
    let roots =
        std::iter::once(&subject.kind.spec).chain(subject.kind.status.iter().map(|field| &field.schema));
    for schema in roots {
        visit(subject.description, schema, &mut found);
    }
    // A type's own rules are looked at where the type stands, once for the whole description.
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
        found.extend(judge(description, schema, validation));
    }
    for child in schema.children() {
        visit(description, child, found);
    }
}

fn judge(description: &Description, schema: &Schema, validation: &Validation) -> Option<RuleHit> {
    for path in walked(&validation.rule) {
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
        let message = format!("this rule walks `{}`, which has no `{missing}`", shown(name));
        let finding = Finding::new(&COSTLY_RULE, validation.rule.span, message)
            .label("the API server may refuse what this could cost")
            .related(at.span, "unbounded")
            .help(format!("bound it: `{missing}: 64`"));
        return Some(RuleHit::of_document(finding));
    }
    None
}

/// The paths below `self` or `oldSelf` on which the rule calls a macro that walks.
fn walked(rule: &str) -> Vec<Vec<&str>> {
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
                if WALKS.contains(name) {
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

/// Names and marks of a rule; texts in quotes are left out.
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
    use super::walked;

    #[test]
    fn what_a_rule_walks() {
        assert_eq!(walked("self.all(x, x.values.size() != 0)"), [Vec::<&str>::new()]);
        assert_eq!(
            walked("!has(self.a) || !self.b.c.exists(n, n in self.a)"),
            [["b", "c"]]
        );
        assert!(walked("self.a == 'self.b.all(x, y)' && 'x'.size() > 0").is_empty());
        assert!(walked("'").is_empty());
    }
}
