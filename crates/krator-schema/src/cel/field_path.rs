//! The `fieldPath` of a rule, after `ValidFieldPath` of `apiextensions/schema/cel/validation.go`.

use crate::{Properties, Schema};

const UNKNOWN_FIELD: &str = "does not refer to a field of the schema";

/// Finds the subschema to which a path such as `.spec['a.b']` refers.
pub(super) fn resolve<'a>(path: &str, schema: &'a Schema) -> Result<&'a Schema, String> {
    let mut schema = schema;
    let mut tokens = tokens(path).into_iter();
    while let Some(token) = tokens.next() {
        let name = match token {
            "." => tokens.next().ok_or("ends where a name is expected")?.to_string(),
            "[" => {
                let token = tokens
                    .next()
                    .ok_or("ends where a name in single quotes is expected")?;
                let quoted = token
                    .strip_prefix('\'')
                    .and_then(|token| token.strip_suffix('\''));
                quoted
                    .map(unescape)
                    .ok_or("has a name in brackets without single quotes")??
            }
            _ => return Err(format!("has `{token}` where `.` or `[` is expected")),
        };
        schema = match (&schema.properties, &schema.additional_properties) {
            (Some(properties), _) if !properties.is_empty() => properties.get(&name).ok_or(UNKNOWN_FIELD)?,
            (_, Some(Properties::Schema(values))) => values,
            _ => return Err(UNKNOWN_FIELD.to_string()),
        };
        if token == "[" && tokens.next() != Some("]") {
            return Err("lacks a closing bracket".to_string());
        }
    }
    Ok(schema)
}

/// Splits a path into delimiters and the texts between them.
fn tokens(path: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        let end = if rest.starts_with('\'') {
            let bytes = rest.as_bytes();
            let closes = |at: &usize| bytes[*at] == b'\'' && bytes[at - 1] != b'\\';
            (1..bytes.len()).find(closes).map_or(rest.len(), |at| at + 1)
        } else {
            rest.find(['.', '[', ']']).unwrap_or(rest.len()).max(1)
        };
        found.push(&rest[..end]);
        rest = &rest[end..];
    }
    found
}

fn unescape(quoted: &str) -> Result<String, String> {
    let mut text = String::new();
    let mut characters = quoted.chars();
    while let Some(next) = characters.next() {
        if next != '\\' {
            text.push(next);
            continue;
        }
        // cel-go keeps a trailing backslash.
        let Some(escaped) = characters.next() else {
            text.push('\\');
            break;
        };
        text.push(match escaped {
            'a' => '\x07',
            'b' => '\x08',
            'f' => '\x0c',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\x0b',
            '\'' | '\\' => escaped,
            _ => return Err(format!("has the unknown escape `\\{escaped}`")),
        });
    }
    Ok(text)
}
