//! Formats and parses numbers and texts like Go.

use std::sync::LazyLock;

use regex::Regex;

/// The escape of a character, which is the same in Go and CEL.
pub(super) fn escape(c: char) -> Option<&'static str> {
    Some(match c {
        '"' => "\\\"",
        '\\' => "\\\\",
        '\u{7}' => "\\a",
        '\u{8}' => "\\b",
        '\u{c}' => "\\f",
        '\n' => "\\n",
        '\r' => "\\r",
        '\t' => "\\t",
        '\u{b}' => "\\v",
        _ => return None,
    })
}

/// A text as formatted by Go's `%q`.
pub(super) fn quoted(text: &str) -> String {
    static PRINTED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^[\pL\pM\pN\pP\pS ]$").ok());
    let is_printed = |c: char| {
        let printed = PRINTED.as_ref();
        c.is_ascii() || printed.is_some_and(|printed| printed.is_match(c.encode_utf8(&mut [0; 4])))
    };
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match (escape(c), c) {
            (Some(escape), _) => quoted.push_str(escape),
            (_, '\u{0}'..='\u{1f}' | '\u{7f}') => quoted.push_str(&format!("\\x{:02x}", u32::from(c))),
            (_, c) if is_printed(c) => quoted.push(c),
            (_, c @ ..='\u{ffff}') => quoted.push_str(&format!("\\u{:04x}", u32::from(c))),
            (_, c) => quoted.push_str(&format!("\\U{:08x}", u32::from(c))),
        }
    }
    quoted.push('"');
    quoted
}

/// A number as formatted by Go's `%g`: the shortest text that is parsed as the same number.
pub(super) fn shortest(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if !(-4..6).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.unsigned_abs());
    }
    number.to_string()
}

/// A duration as formatted by cel-go: in seconds.
pub(super) fn seconds(nanoseconds: i64) -> String {
    const SECOND: i64 = 1_000_000_000;
    let seconds = (nanoseconds / SECOND) as f64 + (nanoseconds % SECOND) as f64 / 1e9;
    format!("{seconds}s")
}

/// A number as parsed by Go's `strconv.ParseFloat`.
pub(super) fn number(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_hexadecimal = unsigned.starts_with("0x") || unsigned.starts_with("0X");
    if is_hexadecimal {
        return hexadecimal(unsigned).map(|number| if text.starts_with('-') { -number } else { number });
    }
    if unsigned.contains('_') {
        let digit = |at: usize| unsigned.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
        let between = |(at, _): (usize, &str)| at > 0 && digit(at - 1) && digit(at + 1);
        return unsigned
            .match_indices('_')
            .all(between)
            .then(|| number(&text.replace('_', "")))
            .flatten();
    }
    // Like Go, Rust parses `infinity` and `nan` case-insensitively; but only Rust accepts a sign before `nan`.
    if unsigned.eq_ignore_ascii_case("nan") && unsigned.len() < text.len() {
        return None;
    }
    let number: f64 = text.parse().ok()?;
    let is_written_infinite = unsigned.starts_with(['i', 'I']);
    (number.is_finite() || number.is_nan() || is_written_infinite).then_some(number)
}

/// A hexadecimal number with an exponent, such as `0x1.8p3`.
fn hexadecimal(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text[2..].split_once(['p', 'P'])?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    // More digits would have to be rounded like in Go, so they are refused.
    let value = u64::from_str_radix(&digits, 16)
        .ok()
        .filter(|value| *value < 1 << 53)?;
    let exponent: i32 = exponent.parse().ok()?;
    let number = value as f64 * 2_f64.powi(exponent.checked_sub(4 * fraction.len() as i32)?);
    number.is_finite().then_some(number)
}
