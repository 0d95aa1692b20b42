//! Formats of digits: identifiers, colours, and binary data in base 64.

/// A UUID in letters of any size, whose dashes may be left out; of a version if one is given.
pub(super) fn is_uuid(text: &str, version: Option<char>) -> bool {
    let mut rest = text;
    let mut digits = String::new();
    for length in [8, 4, 4, 4, 12] {
        if !digits.is_empty() {
            rest = rest.strip_prefix('-').unwrap_or(rest);
        }
        let Some((group, after)) = rest.split_at_checked(length) else {
            return false;
        };
        digits.push_str(group);
        rest = after;
    }
    let nth = |index: usize| digits.chars().nth(index);
    rest.is_empty()
        && digits.chars().all(|c| c.is_ascii_hexdigit())
        && version.is_none_or(|version| {
            nth(12) == Some(version) && (version == '3' || nth(16).is_some_and(|c| "89abAB".contains(c)))
        })
}

/// What Go's `\s` matches, and the dash.
fn without_separators(text: &str) -> String {
    text.chars()
        .filter(|c| !matches!(c, '\t' | '\n' | '\u{c}' | '\r' | ' ' | '-'))
        .collect()
}

fn digits(text: &str) -> Option<Vec<u32>> {
    text.chars()
        .map(|c| c.is_ascii_digit().then(|| u32::from(c) - u32::from('0')))
        .collect()
}

pub(super) fn is_isbn10(text: &str) -> bool {
    let text = without_separators(text);
    let (text, last) = match text.strip_suffix('X') {
        Some(text) => (text, Some(10)),
        None => (text.as_str(), None),
    };
    let Some(mut digits) = digits(text) else {
        return false;
    };
    digits.extend(last);
    let sum = |digits: &[u32]| -> u32 { (1..).zip(digits).map(|(factor, digit)| factor * digit).sum() };
    digits.len() == 10 && sum(&digits) % 11 == 0
}

pub(super) fn is_isbn13(text: &str) -> bool {
    let Some(digits) = digits(&without_separators(text)) else {
        return false;
    };
    let [first @ .., last] = &digits[..] else {
        return false;
    };
    let sum: u32 = first
        .iter()
        .zip([1, 3].iter().cycle())
        .map(|(digit, factor)| digit * factor)
        .sum();
    digits.len() == 13 && *last == (10 - sum % 10) % 10
}

pub(super) fn is_credit_card(text: &str) -> bool {
    let text: String = text.chars().filter(char::is_ascii_digit).collect();
    let Some(digits) = digits(&text) else {
        return false;
    };
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| text.starts_with(prefix));
    let five = digits.first() == Some(&5) && digits.get(1).is_some_and(|digit| (1..=5).contains(digit));
    let known = match digits.len() {
        13 => starts(&["4"]),
        14 => starts(&["300", "301", "302", "303", "304", "305", "36", "38"]),
        15 => starts(&["34", "37", "2131", "1800"]),
        16 => starts(&["4", "6011", "65", "35"]) || five,
        _ => false,
    };
    let doubled = |digit: u32| if digit >= 5 { digit * 2 - 9 } else { digit * 2 };
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, digit)| if at % 2 == 1 { doubled(*digit) } else { *digit })
        .sum();
    known && sum.is_multiple_of(10)
}

pub(super) fn is_ssn(text: &str) -> bool {
    // With eleven characters, neither of the separators can be missing.
    let bytes = text.as_bytes();
    bytes.len() == 11
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            3 | 6 => matches!(byte, b'-' | b' '),
            _ => byte.is_ascii_digit(),
        })
}

pub(super) fn is_hex_color(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or(text);
    matches!(digits.len(), 3 | 6) && digits.chars().all(|c| c.is_ascii_hexdigit())
}

pub(super) fn is_rgb_color(text: &str) -> bool {
    let Some(parts) = text.strip_prefix("rgb(").and_then(|text| text.strip_suffix(')')) else {
        return false;
    };
    let space = |c: char| matches!(c, '\t' | '\n' | '\u{c}' | '\r' | ' ');
    let parts: Vec<&str> = parts.split(',').map(|part| part.trim_matches(space)).collect();
    parts.len() == 3 && parts.iter().all(|part| is_color_value(part))
}

/// A number up to 255. As in the library, `1`, one digit and an optional second one is any of 10 to 199.
fn is_color_value(text: &str) -> bool {
    let canonical = text == "0" || !text.starts_with('0');
    canonical && text.chars().all(|c| c.is_ascii_digit()) && text.parse::<u8>().is_ok()
}

pub(super) fn is_base64(text: &str) -> bool {
    let data = text.trim_end_matches('=');
    let padding = text.len() - data.len();
    !text.is_empty()
        && text.len().is_multiple_of(4)
        && padding <= 2
        && data
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '/'))
}
