//! The tokens of an expression, which are used to locate names and to check literals.

use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Name,
    Number,
    /// A string or bytes literal.
    Text,
    /// An operator or bracket, or a character that is not in the syntax of CEL.
    Sign,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) place: Range<usize>,
}

/// The tokens of an expression, without white space and comments.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        if rest[0].is_ascii_whitespace() {
            at += 1;
            continue;
        }
        if rest.starts_with(b"//") {
            at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            continue;
        }
        let (kind, length) = token(text, at);
        found.push(Token {
            kind,
            place: at..at + length,
        });
        at += length;
    }
    found
}

fn token(text: &str, at: usize) -> (TokenKind, usize) {
    let rest = &text.as_bytes()[at..];
    let is_prefix = |byte: &&u8| matches!(byte, b'r' | b'R' | b'b' | b'B');
    let prefix = rest.iter().take(2).take_while(is_prefix).count();
    if let Some(quote @ (b'"' | b'\'')) = rest.get(prefix).copied() {
        let raw = rest[..prefix].iter().any(|byte| matches!(byte, b'r' | b'R'));
        return (TokenKind::Text, prefix + quoted(&rest[prefix..], quote, raw));
    }
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    let begins_with_dot = rest[0] == b'.' && rest.get(1).is_some_and(u8::is_ascii_digit);
    if rest[0].is_ascii_digit() || begins_with_dot {
        let mut length = rest
            .iter()
            .skip(usize::from(begins_with_dot))
            .take_while(is_name)
            .count();
        length += usize::from(begins_with_dot);
        let fraction = !begins_with_dot
            && rest.get(length) == Some(&b'.')
            && rest.get(length + 1).is_some_and(u8::is_ascii_digit);
        if fraction {
            length += 1 + rest[length + 1..].iter().take_while(is_name).count();
        }
        let in_exponent = matches!(rest[length - 1], b'e' | b'E') && !rest.starts_with(b"0x");
        if in_exponent && matches!(rest.get(length), Some(b'+' | b'-')) {
            length += 1 + rest[length + 1..].iter().take_while(is_name).count();
        }
        return (TokenKind::Number, length);
    }
    if is_name(&&rest[0]) {
        return (TokenKind::Name, rest.iter().take_while(is_name).count());
    }
    const PAIRS: [&[u8]; 6] = [b"&&", b"||", b"==", b"!=", b"<=", b">="];
    if PAIRS.iter().any(|pair| rest.starts_with(pair)) {
        return (TokenKind::Sign, 2);
    }
    (
        TokenKind::Sign,
        text[at..].chars().next().map_or(1, char::len_utf8),
    )
}

/// The length of a quoted text, with its quotes.
fn quoted(text: &[u8], quote: u8, raw: bool) -> usize {
    let triple = [quote; 3];
    let end: &[u8] = if text.starts_with(&triple) {
        &triple
    } else {
        &triple[..1]
    };
    let mut at = end.len();
    while at < text.len() {
        if text[at..].starts_with(end) {
            return at + end.len();
        }
        at += if text[at] == b'\\' && !raw { 2 } else { 1 };
    }
    text.len()
}

/// Whether cel-go certainly refuses a number as out of range.
pub(crate) fn is_out_of_range(number: &str, negative: bool) -> bool {
    let is_hex = number.starts_with("0x");
    if !is_hex && number.contains(['.', 'e', 'E']) {
        return number.parse::<f64>().is_ok_and(f64::is_infinite);
    }
    let unsigned = number.strip_suffix(['u', 'U']);
    let digits = unsigned.unwrap_or(number);
    let value = match digits.strip_prefix("0x") {
        Some(hex) => u128::from_str_radix(hex, 16),
        None => digits.parse::<u128>(),
    };
    let most = match unsigned {
        Some(_) => u128::from(u64::MAX),
        None => (1 << 63) - u128::from(!negative),
    };
    value.is_ok_and(|value| value > most)
}

/// Whether a name is a keyword of CEL or reserved for one.
pub(crate) fn is_reserved(name: &str) -> bool {
    const RESERVED: [&str; 21] = [
        "true",
        "false",
        "null",
        "in",
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
        "while",
    ];
    RESERVED.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_where_cel_has_them() {
        let text = "self.a1 >= 1.5e-3 && r'\\'.size() != b\"x\\\"\" // the end\n|| 0x1F + 'é'";
        let found: Vec<&str> = tokens(text).into_iter().map(|token| &text[token.place]).collect();
        let wanted = "self . a1 >= 1.5e-3 && r'\\' . size ( ) != b\"x\\\"\" || 0x1F + 'é'";
        assert_eq!(found.join(" "), wanted);
    }

    #[test]
    fn numbers_out_of_range() {
        assert!(is_out_of_range("9223372036854775808", false));
        for number in [
            "9223372036854775809",
            "0x8000000000000001",
            "18446744073709551616u",
            "1e999",
        ] {
            assert!(is_out_of_range(number, true), "{number}");
        }
        for number in [
            "9223372036854775808",
            "0x7fffffffffffffff",
            "18446744073709551615u",
            "1e99",
            "7",
        ] {
            assert!(!is_out_of_range(number, true), "{number}");
        }
    }
}
