//! Rewrites parts that the parser and cel-go read differently into an equivalent form that both read alike: strings
//! with escapes, raw and triple-quoted strings, and repeated signs before an operand.

use super::tokens::{Token, TokenKind};

/// The expression for the parser, and whether offsets in it are those of the original.
pub(super) fn rewrite(text: &str, found: &[Token]) -> (String, bool) {
    let mut plain = text.to_string();
    let mut same_places = true;
    for at in (0..found.len()).rev() {
        let place = found[at].place.clone();
        match found[at].kind {
            TokenKind::Text => {
                let literal = &text[place.clone()];
                if let Some(rewritten) = plain_literal(literal).filter(|rewritten| rewritten != literal) {
                    same_places = false;
                    plain.replace_range(place, &rewritten);
                }
            }
            TokenKind::Sign if is_doubled(text, found, at) => plain.replace_range(place, " "),
            _ => {}
        }
    }
    (plain, same_places)
}

/// Whether a sign before an operand cancels with another one: the parser reads `!!a` as `!a`.
fn is_doubled(text: &str, found: &[Token], at: usize) -> bool {
    let sign = |at: usize| &text[found[at].place.clone()];
    let this = sign(at);
    if this != "!" && this != "-" {
        return false;
    }
    let same = |at: &usize| sign(*at) == this;
    let before = (0..at).rev().take_while(same).count();
    let after = (at + 1..found.len()).take_while(same).count();
    let first = at - before;
    let after_operand = first > 0
        && match found[first - 1].kind {
            TokenKind::Sign => matches!(sign(first - 1), ")" | "]" | "}"),
            TokenKind::Name => sign(first - 1) != "in",
            _ => true,
        };
    // After an operand, the first minus is a subtraction.
    let (signs, index) = match (this == "-" && after_operand, before) {
        (true, 0) => return false,
        (true, before) => (before + after, before - 1),
        (false, before) => (before + after + 1, before),
    };
    index < signs - signs % 2
}

/// A string or bytes literal that the parser reads like cel-go reads the given one.
fn plain_literal(literal: &str) -> Option<String> {
    let body = literal.trim_start_matches(['r', 'R', 'b', 'B']);
    let prefix = &literal[..literal.len() - body.len()];
    let (raw, is_bytes) = (prefix.contains(['r', 'R']), prefix.contains(['b', 'B']));
    let triple = body.len() >= 6 && (body.starts_with("'''") || body.starts_with("\"\"\""));
    let quotes = if triple { 3 } else { 1 };
    let inner = body.get(quotes..body.len().checked_sub(quotes)?)?;
    if !triple && inner.contains(['\n', '\r']) {
        return None;
    }
    let value = unescape(inner, raw, is_bytes)?;
    if is_bytes {
        let bytes = value.iter().map(|unit| match unit {
            Unit::Char(character) => character.to_string().bytes().map(hex).collect(),
            Unit::Byte(byte) => hex(*byte),
        });
        return Some(format!("b\"{}\"", bytes.collect::<String>()));
    }
    let mut plain = String::from("\"");
    for unit in value {
        match unit {
            Unit::Char('\\') => plain.push_str("\\\\"),
            Unit::Char('"') => plain.push_str("\\\""),
            Unit::Char('\n') => plain.push_str("\\n"),
            Unit::Char('\r') => plain.push_str("\\r"),
            Unit::Char(character) => plain.push(character),
            Unit::Byte(byte) => plain.push(char::from(byte)),
        }
    }
    plain.push('"');
    let unchanged = !triple && !raw && !inner.contains(['\\', '"']);
    Some(if unchanged { literal.to_string() } else { plain })
}

fn hex(byte: u8) -> String {
    format!("\\x{byte:02x}")
}

enum Unit {
    Char(char),
    /// In bytes, an escape denotes one byte, not a character.
    Byte(u8),
}

/// The value between the quotes, or `None` if an escape is invalid.
fn unescape(inner: &str, raw: bool, is_bytes: bool) -> Option<Vec<Unit>> {
    let mut value = Vec::new();
    let mut characters = inner.chars();
    while let Some(next) = characters.next() {
        if next != '\\' || raw {
            value.push(Unit::Char(next));
            continue;
        }
        let escape = characters.next()?;
        let mut code = |digits: usize, radix: u32, start: u32| {
            (0..digits).try_fold(start, |code, _| {
                Some(code * radix + characters.next()?.to_digit(radix)?)
            })
        };
        let code = match escape {
            'a' => 0x07,
            'b' => 0x08,
            'f' => 0x0c,
            'n' => 0x0a,
            'r' => 0x0d,
            't' => 0x09,
            'v' => 0x0b,
            '\\' | '\'' | '"' | '`' | '?' => u32::from(escape),
            'x' | 'X' => code(2, 16, 0)?,
            'u' if !is_bytes => code(4, 16, 0)?,
            'U' if !is_bytes => code(8, 16, 0)?,
            '0'..='3' => code(2, 8, escape.to_digit(8)?)?,
            _ => return None,
        };
        value.push(match u8::try_from(code) {
            Ok(byte) if is_bytes => Unit::Byte(byte),
            _ => Unit::Char(char::from_u32(code)?),
        });
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::tokens::tokens;

    fn rewritten(text: &str) -> String {
        rewrite(text, &tokens(text)).0
    }

    #[test]
    fn texts_become_plain() {
        for (from, to) in [
            (r"'it\'s'", "\"it's\""),
            (r"r'\d+'", r#""\\d+""#),
            ("'''a\n\"b'''", r#""a\n\"b""#),
            (r"'\u00e9\x41\101'", "\"éAA\""),
            (r"b'é\xff'", r#"b"\xc3\xa9\xff""#),
            ("'a'", "'a'"),
            (r"'\q'", r"'\q'"),
        ] {
            assert_eq!(rewritten(from), to);
        }
    }

    #[test]
    fn doubled_signs_cancel() {
        for (from, to) in [
            ("!!a", "  a"),
            ("!!!a", "  !a"),
            ("a--b", "a--b"),
            ("a---b", "a-  b"),
            ("--b", "  b"),
            ("x in --b", "x in   b"),
        ] {
            assert_eq!(rewritten(from), to);
        }
    }
}
