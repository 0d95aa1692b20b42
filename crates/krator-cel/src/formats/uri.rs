//! URIs as parsed by Go's `url.ParseRequestURI`.

/// Whether Go's `url.ParseRequestURI` accepts a text.
pub(crate) fn is_request_uri(text: &str) -> bool {
    if text.bytes().any(|byte| byte < 0x20 || byte == 0x7F) || text.is_empty() {
        return false;
    }
    if text == "*" {
        return true;
    }
    let Some((scheme, rest)) = split_scheme(text) else {
        return false;
    };
    let rest = rest.split('?').next().unwrap_or_default();
    if !rest.starts_with('/') {
        return !scheme.is_empty();
    }
    let path = match rest.strip_prefix("//").filter(|_| !scheme.is_empty()) {
        Some(rest) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            if !is_authority(scheme, authority) {
                return false;
            }
            path
        }
        None => rest,
    };
    is_escaped(path)
}

/// Whether Go's `url.Parse` returns a URL with a scheme and a host.
pub fn is_url_with_host(text: &str) -> bool {
    let text = text.split('#').next().unwrap_or_default();
    let host = split_scheme(text)
        .filter(|(scheme, _)| !scheme.is_empty())
        .and_then(|(_, rest)| rest.strip_prefix("//"))
        .and_then(|rest| rest.split(['/', '?']).next())
        .and_then(|authority| authority.rsplit('@').next());
    host.is_some_and(|host| !host.is_empty()) && is_request_uri(text)
}

/// The scheme of a URL, which may be empty, and the rest; `None` if the text begins with a colon.
pub(crate) fn split_scheme(text: &str) -> Option<(&str, &str)> {
    for (at, c) in text.char_indices() {
        match c {
            'a'..='z' | 'A'..='Z' => {}
            '0'..='9' | '+' | '-' | '.' if at > 0 => {}
            ':' if at == 0 => return None,
            ':' => return Some((&text[..at], &text[at + 1..])),
            _ => break,
        }
    }
    Some(("", text))
}

/// Whether a text is a valid authority, between `//` and the path of a URL with this scheme.
pub(crate) fn is_authority(scheme: &str, authority: &str) -> bool {
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    let user_char = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
    let is_user = |user: &str| user.chars().all(user_char) && user.splitn(2, ':').all(is_escaped);
    user.is_none_or(is_user) && is_host(scheme, host)
}

fn is_host(scheme: &str, host: &str) -> bool {
    match host.rfind('[') {
        Some(0) => return is_bracketed(&host[1..]),
        Some(_) => return false,
        None => {}
    }
    // A host with several colons is refused only for these two schemes.
    let strict = ["http", "https"]
        .iter()
        .any(|strict| scheme.eq_ignore_ascii_case(strict));
    let port = if strict { host.find(':') } else { host.rfind(':') };
    is_port(port.map_or("", |at| &host[at..])) && is_escaped_host(host)
}

/// Whether a text is an IPv6 address followed by a closing bracket, with an optional zone and an optional port.
fn is_bracketed(text: &str) -> bool {
    let Some((inner, port)) = text.rsplit_once(']') else {
        return false;
    };
    let (address, zone) = match inner.split_once("%25") {
        Some((address, zone)) => (address, Some(zone)),
        None => (inner, None),
    };
    is_port(port) && super::address::is_ipv6(address) && zone.is_none_or(is_zone)
}

/// Whether a text is a valid zone. It may contain the characters of hosts, and these and spaces may be escaped.
fn is_zone(zone: &str) -> bool {
    let byte = |escaped: &str| u8::from_str_radix(&escaped[..2], 16).map(char::from);
    let may_be_escaped = |after: &str| {
        after.starts_with("25") || byte(after).is_ok_and(|c| c == ' ' || c.is_ascii() && is_host_char(c))
    };
    !zone.is_empty()
        && zone.chars().all(|c| c == '%' || is_host_char(c))
        && is_escaped(zone)
        && zone.split('%').skip(1).all(may_be_escaped)
}

fn is_port(port: &str) -> bool {
    match port.strip_prefix(':') {
        Some(digits) => digits.chars().all(|c| c.is_ascii_digit()),
        None => port.is_empty(),
    }
}

/// Whether each `%` is followed by two hexadecimal digits.
fn is_escaped(text: &str) -> bool {
    text.split('%').skip(1).all(|after| {
        let digits = after.as_bytes();
        digits.len() >= 2 && digits[..2].iter().all(u8::is_ascii_hexdigit)
    })
}

/// Whether the escapes of a host are valid: only characters outside of ASCII may be escaped, and many characters are
/// forbidden.
fn is_escaped_host(text: &str) -> bool {
    let not_ascii = |after: &str| after.as_bytes()[0] >= b'8' || after.starts_with("25");
    text.chars().all(|c| c == '%' || is_host_char(c))
        && is_escaped(text)
        && text.split('%').skip(1).all(not_ascii)
}

fn is_host_char(c: char) -> bool {
    !c.is_ascii() || c.is_ascii_alphanumeric() || "-_.~!$&'()*+,;=:[]<>\"".contains(c)
}
