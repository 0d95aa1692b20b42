//! Scans a pattern: each function parses the start of a text, and returns the rest.

use super::PatternError;
use super::class::Class;

pub(super) fn error(reason: &'static str, part: &str) -> PatternError {
    PatternError {
        reason,
        part: part.to_string(),
    }
}

/// The part of `from` before its suffix `rest`.
pub(super) fn consumed<'a>(from: &'a str, rest: &str) -> &'a str {
    &from[..from.len() - rest.len()]
}

pub(super) fn split_first(text: &str) -> Option<(char, &str)> {
    let mut chars = text.chars();
    chars.next().map(|c| (c, chars.as_str()))
}

/// Parses `{2}`, `{2,}` or `{2,5}` at the start of the text: the smallest and the largest count, and the rest.
pub(super) fn repetition(text: &str) -> Option<(u64, Option<u64>, &str)> {
    let (min, rest) = integer(text.strip_prefix('{')?)?;
    let (max, rest) = match rest.strip_prefix(',') {
        None => (Some(min), rest),
        Some(rest) if rest.starts_with('}') => (None, rest),
        Some(rest) => integer(rest).map(|(max, rest)| (Some(max), rest))?,
    };
    Some((min, max, rest.strip_prefix('}')?))
}

/// A decimal number without leading zeros, which saturates, and the rest.
fn integer(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    if digits.is_empty() || digits.len() > 1 && digits.starts_with('0') {
        return None;
    }
    Some((digits.parse().unwrap_or(u64::MAX), rest))
}

/// Parses a Unicode class such as `\pL`, `\p{Greek}` or `\P{^Lu}`, and returns the rest.
pub(super) fn unicode_class<'a>(text: &'a str, class: &mut Class) -> Result<&'a str, PatternError> {
    let mut negated = text.starts_with(r"\P");
    let rest = &text[2..];
    let (mut name, after) = match split_first(rest) {
        // Go's parser reads an empty character here, and then finds no such class.
        None => return Err(error("invalid character class range", text)),
        Some(('{', rest)) => match rest.split_once('}') {
            Some(found) => found,
            None => return Err(error("invalid character class range", text)),
        },
        Some((_, after)) => (consumed(rest, after), after),
    };
    if let Some(rest) = name.strip_prefix('^') {
        negated = !negated;
        name = rest;
    }
    if !class.unicode(name, negated) {
        return Err(error("invalid character class range", consumed(text, after)));
    }
    Ok(after)
}

pub(super) fn class_char<'a>(text: &'a str, whole: &str) -> Result<(u32, &'a str), PatternError> {
    match split_first(text) {
        None => Err(error("missing closing ]", whole)),
        Some(('\\', _)) => escaped_char(text),
        Some((c, after)) => Ok((u32::from(c), after)),
    }
}

/// The character of an escape, and the rest.
pub(super) fn escaped_char(text: &str) -> Result<(u32, &str), PatternError> {
    let Some((c, mut rest)) = split_first(&text[1..]) else {
        return Err(error("trailing backslash at end of expression", ""));
    };
    let code = match c {
        '0'..='7' if c == '0' || rest.starts_with(|c| matches!(c, '0'..='7')) => {
            let mut code = u32::from(c) - u32::from('0');
            for _ in 1..3 {
                let Some((digit @ '0'..='7', after)) = split_first(rest) else {
                    break;
                };
                code = code * 8 + (u32::from(digit) - u32::from('0'));
                rest = after;
            }
            Some(code)
        }
        'x' => {
            let (code, after) = hexadecimal(rest);
            rest = after;
            code
        }
        'a' => Some(0x07),
        'f' => Some(0x0C),
        'n' => Some(0x0A),
        'r' => Some(0x0D),
        't' => Some(0x09),
        'v' => Some(0x0B),
        c if c.is_ascii() && !c.is_ascii_alphanumeric() => Some(u32::from(c)),
        _ => None,
    };
    match code {
        Some(code) => Ok((code, rest)),
        None => Err(error("invalid escape sequence", consumed(text, rest))),
    }
}

/// Parses the digits after `\x`: two, or any number of them in braces.
fn hexadecimal(text: &str) -> (Option<u32>, &str) {
    let Some((first, mut rest)) = split_first(text) else {
        return (None, text);
    };
    if first != '{' {
        let Some((second, after)) = split_first(rest) else {
            return (None, rest);
        };
        let code = first
            .to_digit(16)
            .zip(second.to_digit(16))
            .map(|(first, second)| first * 16 + second);
        return (code, after);
    }
    let mut code = None;
    while let Some((c, after)) = split_first(rest) {
        rest = after;
        if c == '}' {
            return (code, rest);
        }
        let Some(digit) = c.to_digit(16) else {
            break;
        };
        let next = code.unwrap_or(0) * 16 + digit;
        if next > u32::from(char::MAX) {
            break;
        }
        code = Some(next);
    }
    (None, rest)
}
