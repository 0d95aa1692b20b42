//! URLs, after Go's `net/url` and `library/urls.go` of the API server.

use super::go::quoted;
use super::{Fallible, fail};
use crate::formats::{is_authority, is_request_uri, split_scheme};

/// The parts of a URL.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Url {
    pub(super) scheme: String,
    user: String,
    pub(super) host: String,
    /// The path with escapes.
    pub(super) path: String,
    query: String,
    fragment: String,
}

/// The error of Go's `url.ParseRequestURI` for a text. If a single part is malformed, Go's error names that part.
pub(super) fn problem(text: &str) -> String {
    let why = match text {
        "" => "empty url",
        text if text.chars().any(|c| c.is_ascii_control()) => "net/url: invalid control character in URL",
        _ => "invalid URI for request",
    };
    format!("parse {}: {why}", quoted(text))
}

/// Parses a URL.
pub(super) fn parse(text: &str) -> Fallible<Url> {
    let wrong = || {
        fail(format!(
            "URL parse error during conversion from string: {}",
            problem(text)
        ))
    };
    if !is_request_uri(text) {
        return wrong();
    }
    let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
    let Some((scheme, rest)) = split_scheme(text) else {
        return wrong();
    };
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let has_authority = rest.starts_with("//") && (!scheme.is_empty() || !rest.starts_with("///"));
    let (authority, path) = match rest.strip_prefix("//").filter(|_| has_authority) {
        Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
        // Without a slash, the URL is opaque and has no path.
        None if !rest.starts_with('/') && rest != "*" => ("", ""),
        None => ("", rest),
    };
    if !is_authority(scheme, authority) {
        return wrong();
    }
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    Ok(Url {
        scheme: scheme.to_ascii_lowercase(),
        user: user.to_owned(),
        host: unescaped(host, false),
        path: escaped_path(path),
        query: query.to_owned(),
        fragment: fragment.to_owned(),
    })
}

/// The text without escapes; in a query, `+` is a space. Different invalid UTF-8 becomes the same text.
fn unescaped(text: &str, in_query: bool) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let digit =
                    |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16)).unwrap_or(0);
                bytes.push((digit(rest.next()) * 16 + digit(rest.next())) as u8);
            }
            b'+' if in_query => bytes.push(b' '),
            byte => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The path as it is written if it contains only valid characters; otherwise with all others escaped.
fn escaped_path(path: &str) -> String {
    let stays = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@".contains(&byte);
    let is_fine = |byte: u8| stays(byte) || b"!'()*[]%".contains(&byte);
    if path.bytes().all(is_fine) {
        return path.to_owned();
    }
    let mut escaped = String::new();
    for byte in unescaped(path, false).bytes() {
        match stays(byte) {
            true => escaped.push(char::from(byte)),
            false => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}

impl Url {
    /// The name and the port of the host.
    pub(super) fn host_and_port(&self) -> (&str, &str) {
        let (host, port) = match self.host.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (host, port),
            _ => (self.host.as_str(), ""),
        };
        let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        (inner.unwrap_or(host), port)
    }

    /// The values of each key of the query.
    pub(super) fn query(&self) -> Vec<(String, Vec<String>)> {
        let mut entries: Vec<(String, Vec<String>)> = Vec::new();
        let is_escaped = |text: &str| {
            text.split('%')
                .skip(1)
                .all(|after| after.len() >= 2 && after.as_bytes()[..2].iter().all(u8::is_ascii_hexdigit))
        };
        for pair in self
            .query
            .split('&')
            .filter(|pair| !pair.is_empty() && !pair.contains(';'))
        {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            if !is_escaped(key) || !is_escaped(value) {
                continue;
            }
            let (key, value) = (unescaped(key, true), unescaped(value, true));
            match entries.iter_mut().find(|(known, _)| *known == key) {
                Some((_, values)) => values.push(value),
                None => entries.push((key, vec![value])),
            }
        }
        entries
    }
}
