//! URIs as Go's `url.ParseRequestURI` reads them.

pub(super) fn is_request_uri(text: &str) -> bool {
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
            if !is_authority(authority) {
                return false;
            }
            path
        }
        None => rest,
    };
    is_escaped(path)
}

/// The scheme, which may be empty, and what follows; `None` where it begins with a colon.
fn split_scheme(text: &str) -> Option<(&str, &str)> {
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

fn is_authority(authority: &str) -> bool {
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    let user_char = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
    user.is_none_or(|user| user.chars().all(user_char) && is_escaped(user)) && is_host(host)
}

fn is_host(host: &str) -> bool {
    let bracket = host.rfind('[').filter(|at| *at == 0);
    if let Some(open) = bracket {
        let Some(close) = host.rfind(']') else {
            return false;
        };
        let inner = &host[open + 1..close];
        let (address, zone) = match inner.find("%25") {
            Some(at) => (&inner[..at], &inner[at..]),
            None => (inner, ""),
        };
        return is_port(&host[close + 1..])
            && is_escaped_host(address)
            && is_escaped(zone)
            && super::address::is_ipv6(address);
    }
    if host.contains('[') {
        return false;
    }
    let port = host.rfind(':').map_or("", |at| &host[at..]);
    is_port(port) && is_escaped_host(host)
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

/// In a host, only what is not ASCII may be escaped, and many signs may not be there at all.
fn is_escaped_host(text: &str) -> bool {
    let allowed =
        |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || "-_.~!$&'()*+,;=:[]<>\"%".contains(c);
    let not_ascii = |after: &str| after.as_bytes()[0] >= b'8' || after.starts_with("25");
    text.chars().all(allowed) && is_escaped(text) && text.split('%').skip(1).all(not_ascii)
}
