//! Names and addresses of the network. As in the API server, numbers of IPv4 may have leading zeros.

use std::sync::LazyLock;

use crate::Pattern;

/// The library's own pattern, so that it means what it means there.
static HOSTNAME: LazyLock<Option<Pattern>> = LazyLock::new(|| {
    Pattern::new(concat!(
        r"^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|",
        r"([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}",
        r"([a-zA-Z\p{L}]){2,63})$"
    ))
    .ok()
});

pub(super) fn is_hostname(text: &str) -> bool {
    let matches = || HOSTNAME.as_ref().and_then(|pattern| pattern.is_match(text));
    text.len() <= 255 && text.split('.').all(|label| label.len() <= 63) && matches() == Some(true)
}

/// The digits at the beginning, unless the number is far too large.
fn digits(text: &str, radix: u32) -> Option<(u32, &str)> {
    let end = text.find(|c: char| !c.is_digit(radix)).unwrap_or(text.len());
    let mut value: u32 = 0;
    for c in text[..end].chars() {
        value = value * radix + c.to_digit(radix)?;
        if value >= 0xFF_FFFF {
            return None;
        }
    }
    (end > 0).then(|| (value, &text[end..]))
}

pub(super) fn is_ipv4(text: &str) -> bool {
    // An address of IPv6 may end with one of IPv4. The first of `.` and `:` says which of both it is.
    match text.find(['.', ':']) {
        Some(at) if text[at..].starts_with('.') => is_ipv4_only(text),
        Some(_) => text.contains('.') && parse_ipv6(text, is_ipv4_only),
        None => false,
    }
}

fn is_ipv4_only(text: &str) -> bool {
    let mut rest = text;
    for part in 0..4 {
        if part > 0 {
            let Some(after) = rest.strip_prefix('.') else {
                return false;
            };
            rest = after;
        }
        match digits(rest, 10) {
            Some((value, after)) if value <= 0xFF => rest = after,
            _ => return false,
        }
    }
    rest.is_empty()
}

/// The standard library of Go allows no leading zeros.
fn is_strict_ipv4(text: &str) -> bool {
    let leading = |part: &str| part.len() > 1 && part.starts_with('0');
    is_ipv4_only(text) && !text.split('.').any(leading)
}

/// This one is parsed by the standard library of Go, too.
pub(super) fn is_ipv6(text: &str) -> bool {
    // A group has four digits there, and a zone is not allowed.
    let groups = text.split([':', '.']).all(|group| group.len() <= 4);
    text.contains(':') && groups && parse_ipv6(text, is_strict_ipv4)
}

fn parse_ipv6(text: &str, is_ipv4: impl Fn(&str) -> bool) -> bool {
    let mut rest = text;
    let mut ellipsis = false;
    if let Some(after) = rest.strip_prefix("::") {
        ellipsis = true;
        rest = after;
        if rest.is_empty() {
            return true;
        }
    }
    let mut bytes = 0;
    while bytes < 16 {
        let Some((_, after)) = digits(rest, 16).filter(|(value, _)| *value <= 0xFFFF) else {
            return false;
        };
        if after.starts_with('.') {
            if !ellipsis && bytes != 12 || bytes + 4 > 16 || !is_ipv4(rest) {
                return false;
            }
            rest = "";
            bytes += 4;
            break;
        }
        bytes += 2;
        rest = after;
        if rest.is_empty() {
            break;
        }
        let Some(after) = rest.strip_prefix(':').filter(|after| !after.is_empty()) else {
            return false;
        };
        rest = after;
        if let Some(after) = rest.strip_prefix(':') {
            if ellipsis {
                return false;
            }
            ellipsis = true;
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
    }
    rest.is_empty() && (bytes < 16) == ellipsis
}

pub(super) fn is_cidr(text: &str) -> bool {
    let Some((address, mask)) = text.split_once('/') else {
        return false;
    };
    let bits = if is_ipv4_only(address) {
        32
    } else if parse_ipv6(address, is_ipv4_only) {
        128
    } else {
        return false;
    };
    digits(mask, 10).is_some_and(|(value, rest)| rest.is_empty() && value <= bits)
}

/// A MAC of 6, 8 or 20 bytes: pairs of digits with `:` or `-`, groups of four with `.`, or, since Go 1.26, digits alone.
pub(super) fn is_mac(text: &str) -> bool {
    let hex =
        |group: &str, length: usize| group.len() == length && group.chars().all(|c| c.is_ascii_hexdigit());
    let Some(separator) = text.chars().find(|c| !c.is_ascii_hexdigit()) else {
        return matches!(text.len(), 12 | 16 | 40);
    };
    let groups: Vec<&str> = text.split(separator).collect();
    match separator {
        ':' | '-' => matches!(groups.len(), 6 | 8 | 20) && groups.iter().all(|group| hex(group, 2)),
        '.' => matches!(groups.len(), 3 | 4 | 10) && groups.iter().all(|group| hex(group, 4)),
        _ => false,
    }
}
