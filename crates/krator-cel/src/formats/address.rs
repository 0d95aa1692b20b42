//! Host names and addresses. As in the API server, the numbers of IPv4 addresses may have leading zeros.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use crate::Pattern;

/// The original pattern of the library, so that the results are the same.
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

/// The address without leading zeros, which the standard library does not accept.
fn without_leading_zeros(text: &str) -> String {
    let mut plain = String::new();
    for part in text.split_inclusive([':', '.']) {
        let (number, separator) = part.split_at(part.trim_end_matches([':', '.']).len());
        let significant = number.trim_start_matches('0');
        let is_zero = significant.is_empty() && !number.is_empty();
        plain.push_str(if is_zero { "0" } else { significant });
        plain.push_str(separator);
    }
    plain
}

fn is_ipv4_only(text: &str) -> bool {
    without_leading_zeros(text).parse::<Ipv4Addr>().is_ok()
}

fn is_ipv6_only(text: &str) -> bool {
    without_leading_zeros(text).parse::<Ipv6Addr>().is_ok()
}

/// Whether a text is an IPv4 address. The API server also accepts an IPv6 address that ends with an IPv4 address.
pub(super) fn is_ipv4(text: &str) -> bool {
    is_ipv4_only(text) || text.contains('.') && is_ipv6_only(text)
}

/// Whether a text is an IPv6 address. Go's standard library parses it, which allows no leading zeros.
pub(super) fn is_ipv6(text: &str) -> bool {
    text.parse::<Ipv6Addr>().is_ok()
}

pub(super) fn is_cidr(text: &str) -> bool {
    let Some((address, mask)) = text.split_once('/') else {
        return false;
    };
    let bits = match (is_ipv4_only(address), is_ipv6_only(address)) {
        (true, _) => 32,
        (_, true) => 128,
        _ => return false,
    };
    let is_number = !mask.is_empty() && mask.bytes().all(|byte| byte.is_ascii_digit());
    is_number && mask.parse().is_ok_and(|mask: u32| mask <= bits)
}

/// Whether a text is a MAC address of 6, 8 or 20 bytes: pairs of digits with `:` or `-`, groups of four with `.`, or,
/// since Go 1.26, only digits.
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
