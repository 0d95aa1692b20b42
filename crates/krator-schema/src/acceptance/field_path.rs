//! Paths of fields in rules and selectable fields, after `ValidFieldPath` of `pkg/apiserver/schema/cel`.

use crate::schema::Properties;
use crate::{Path, Schema};

/// Follows a path such as `.spec.tls['secret.name']` through a schema. The schema in the result is `None` if any value
/// is allowed there.
pub(crate) fn resolve<'a>(
    path: &str,
    schema: &'a Schema,
    brackets: bool,
) -> Result<(Path, Option<&'a Schema>), String> {
    let mut found = Path::root();
    let mut here = Some(schema);
    let mut rest = path;
    while let Some((token, after)) = next_token(rest) {
        rest = after;
        let name = match token {
            "[" if !brackets => return Err("array notation is not allowed".to_string()),
            "[" => {
                let (token, after) = next_token(rest).ok_or("unexpected end of JSON path")?;
                rest = after;
                let quoted = token
                    .strip_prefix('\'')
                    .and_then(|token| token.strip_suffix('\''));
                let quoted =
                    quoted.ok_or_else(|| format!("expected single quoted string but got {token}"))?;
                unescape(quoted)?
            }
            "." => {
                let (token, after) = next_token(rest).ok_or("unexpected end of JSON path")?;
                rest = after;
                token.to_string()
            }
            token => return Err(format!("expected [ or . but got: {token}")),
        };
        let no_field = || "does not refer to a valid field".to_string();
        let schema = here.ok_or_else(no_field)?;
        let has_properties = schema
            .properties
            .as_ref()
            .is_some_and(|properties| !properties.is_empty());
        if has_properties {
            found = found.field(&name);
            here = Some(schema.property(&name).ok_or_else(no_field)?);
        } else {
            here = match &schema.additional_properties {
                Some(Properties::Schema(schema)) => Some(schema),
                Some(Properties::Allowed(_)) => None,
                None => return Err(no_field()),
            };
            found = found.key(&name);
        }
        if token == "[" {
            let (token, after) = next_token(rest).ok_or("unexpected end of JSON path")?;
            rest = after;
            if token != "]" {
                return Err(format!("expected ] but got {token}"));
            }
        }
    }
    Ok((found, here))
}

/// The next token: a delimiter, a quoted text, or the text up to the next delimiter.
fn next_token(text: &str) -> Option<(&str, &str)> {
    if text.is_empty() {
        return None;
    }
    let end = if text.starts_with('\'') {
        let bytes = text.as_bytes();
        let closes = |at: &usize| bytes[*at] == b'\'' && bytes[*at - 1] != b'\\';
        (1..bytes.len()).find(closes).map_or(text.len(), |at| at + 1)
    } else {
        match text.find(['.', '[', ']']) {
            Some(0) => 1,
            Some(at) => at,
            None => text.len(),
        }
    };
    Some(text.split_at(end))
}

fn unescape(text: &str) -> Result<String, String> {
    let mut unescaped = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            unescaped.push(c);
            continue;
        }
        unescaped.push(match chars.next() {
            Some('a') => '\u{7}',
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('v') => '\u{b}',
            Some(c @ ('\'' | '\\')) => c,
            Some(c) => return Err(format!("invalid string literal: invalid escape char \\{c}")),
            // A trailing backslash is not an escape.
            None => '\\',
        });
    }
    Ok(unescaped)
}
