//! Functions of strings, after `ext/strings.go` of cel-go and `library/regex.go` of the API server.

use super::function::{Call, CallResult, LONGEST};
use super::go::escape;
use super::value::Value;
use super::{Fallible, fail, too_costly};

pub(super) fn call<'a>(call: &Call<'_>, operands: &[Value<'a>]) -> CallResult<'a> {
    let [Value::Text(text), rest @ ..] = operands else {
        return None;
    };
    Some(match (call.function, rest) {
        ("contains", [Value::Text(part)]) => Ok(text.contains(&**part).into()),
        ("startsWith", [Value::Text(part)]) => Ok(text.starts_with(&**part).into()),
        ("endsWith", [Value::Text(part)]) => Ok(text.ends_with(&**part).into()),
        ("matches", [Value::Text(pattern)]) => {
            let matched = call.with_pattern(pattern, |pattern| pattern.is_match(text));
            matched.map(Value::Bool)
        }
        ("find", [Value::Text(pattern)]) => {
            let found = call.with_pattern(pattern, |pattern| pattern.find_all(text, 1));
            found.map(|found| found.first().copied().unwrap_or_default().into())
        }
        ("findAll", [Value::Text(pattern)]) => find_all(call, text, pattern, -1),
        ("findAll", [Value::Text(pattern), Value::Int(most)]) => find_all(call, text, pattern, *most),
        ("charAt", [Value::Int(at)]) => char_at(text, *at),
        ("indexOf", [Value::Text(part)]) => index_of(text, part, 0),
        ("indexOf", [Value::Text(part), Value::Int(from)]) => index_of(text, part, *from),
        ("lastIndexOf", [Value::Text(part)]) if part.is_empty() => Ok(Value::Int(length(text))),
        ("lastIndexOf", [Value::Text(part)]) if text.len() < part.len() => Ok(Value::Int(-1)),
        ("lastIndexOf", [Value::Text(part)]) => last_index_of(text, part, length(text) - 1),
        ("lastIndexOf", [Value::Text(part), Value::Int(from)]) => last_index_of(text, part, *from),
        ("lowerAscii", []) => Ok(text.to_ascii_lowercase().into()),
        ("upperAscii", []) => Ok(text.to_ascii_uppercase().into()),
        ("trim", []) => Ok(text.trim().into()),
        ("replace", [Value::Text(old), Value::Text(new)]) => replaced(text, old, new, -1),
        ("replace", [Value::Text(old), Value::Text(new), Value::Int(most)]) => {
            replaced(text, old, new, *most)
        }
        ("split", [Value::Text(separator)]) => Ok(split(text, separator, -1)),
        ("split", [Value::Text(separator), Value::Int(most)]) => Ok(split(text, separator, *most)),
        ("substring", [Value::Int(start)]) => substring(text, *start, None),
        ("substring", [Value::Int(start), Value::Int(end)]) => substring(text, *start, Some(*end)),
        ("strings.quote", []) => Ok(quoted(text).into()),
        _ => return None,
    })
}

fn length(text: &str) -> i64 {
    text.chars().count() as i64
}

fn out_of_range<'a>(at: i64) -> Fallible<Value<'a>> {
    fail(format!("index out of range: {at}"))
}

fn find_all<'a>(call: &Call<'_>, text: &str, pattern: &str, most: i64) -> Fallible<Value<'a>> {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let found = call.with_pattern(pattern, |pattern| pattern.find_all(text, most))?;
    Ok(found.into_iter().map(Value::from).collect::<Vec<_>>().into())
}

fn char_at<'a>(text: &str, at: i64) -> Fallible<Value<'a>> {
    let length = length(text);
    match usize::try_from(at) {
        Ok(index) if at <= length => {
            let found = text.chars().nth(index);
            Ok(found.map_or_else(String::new, String::from).into())
        }
        _ => out_of_range(at),
    }
}

fn index_of<'a>(text: &str, part: &str, from: i64) -> Fallible<Value<'a>> {
    if part.is_empty() {
        return Ok(Value::Int(from));
    }
    let Ok(skipped) = usize::try_from(from) else {
        return out_of_range(from);
    };
    let Some((start, _)) = text.char_indices().nth(skipped) else {
        return Ok(Value::Int(-1));
    };
    let found = text[start..].find(part);
    Ok(Value::Int(found.map_or(-1, |at| length(&text[..start + at]))))
}

fn last_index_of<'a>(text: &str, part: &str, from: i64) -> Fallible<Value<'a>> {
    if part.is_empty() {
        return Ok(Value::Int(from));
    }
    if from < 0 {
        return out_of_range(from);
    }
    if from >= length(text) {
        return Ok(Value::Int(-1));
    }
    // The last occurrence that starts at or before the given index.
    let places = text.char_indices().enumerate();
    let found = places
        .take_while(|(at, _)| *at as i64 <= from)
        .filter(|(_, (start, _))| text[*start..].starts_with(part))
        .last();
    Ok(Value::Int(found.map_or(-1, |(at, _)| at as i64)))
}

/// The limit of repetitions in Go's functions: a negative number means no limit.
fn times(most: i64) -> usize {
    usize::try_from(most).unwrap_or(usize::MAX)
}

fn replaced<'a>(text: &str, old: &str, new: &str, most: i64) -> Fallible<Value<'a>> {
    let count = text.matches(old).take(times(most)).count();
    if count.saturating_mul(new.len()) > LONGEST {
        return too_costly();
    }
    Ok(text.replacen(old, new, times(most)).into())
}

fn split<'a>(text: &str, separator: &str, most: i64) -> Value<'a> {
    let parts: Vec<&str> = match (separator, times(most)) {
        (_, 0) => Vec::new(),
        ("", most) => {
            // Each character is a part, and the last part is the remaining text.
            let mut parts = Vec::new();
            let mut rest = text;
            while let Some(first) = rest.chars().next() {
                if parts.len() + 1 == most {
                    break;
                }
                let (part, after) = rest.split_at(first.len_utf8());
                parts.push(part);
                rest = after;
            }
            if !rest.is_empty() {
                parts.push(rest);
            }
            parts
        }
        (separator, most) => text.splitn(most, separator).collect(),
    };
    parts.into_iter().map(Value::from).collect::<Vec<_>>().into()
}

fn substring<'a>(text: &str, start: i64, end: Option<i64>) -> Fallible<Value<'a>> {
    let length = length(text);
    let last = end.unwrap_or(length);
    if end.is_some() && start > last {
        return fail(format!("invalid substring range. start: {start}, end: {last}"));
    }
    for at in [start, last] {
        if at < 0 || at > length {
            return out_of_range(at);
        }
    }
    let part = text.chars().skip(start as usize).take((last - start) as usize);
    Ok(part.collect::<String>().into())
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match escape(c) {
            Some(escape) => quoted.push_str(escape),
            None => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
