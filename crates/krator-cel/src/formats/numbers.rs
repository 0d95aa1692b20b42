//! UUIDs, and binary data in base 64.

/// Whether a text is a UUID. Upper case is allowed, and dashes are optional. If a version is given, the UUID must have
/// it.
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
