//! Names of objects, labels, ports and keys. Each function returns a message for each error.

use krator_schema::names::explained::mask_trailing_dash;
pub(super) use krator_schema::names::explained::{label, label_value, qualified, subdomain};

/// The rule for the names of a kind's objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameRule {
    /// Lower-case parts that are separated by dots.
    Subdomain,
    /// One lower-case part.
    Label,
    /// Any element of a path.
    PathSegment,
}

impl NameRule {
    /// The errors of a name, or of a `generateName` if `prefix` is set.
    pub fn check(self, name: &str, prefix: bool) -> Vec<String> {
        let masked = if prefix {
            mask_trailing_dash(name)
        } else {
            name.to_owned()
        };
        match self {
            Self::Subdomain => subdomain(&masked),
            Self::Label => label(&masked),
            Self::PathSegment => {
                let is_segment = !name.contains(['/', '%']) && (prefix || !matches!(name, "." | ".."));
                unless(
                    is_segment,
                    "may not be '.' or '..', and may not contain '/' or '%'",
                )
            }
        }
    }
}

fn unless(holds: bool, message: &str) -> Vec<String> {
    (!holds).then(|| message.to_owned()).into_iter().collect()
}

/// A key of a ConfigMap or a Secret.
pub(super) fn config_key(value: &str) -> Vec<String> {
    let is_key = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    let holds = (1..=253).contains(&value.len()) && value.chars().all(is_key);
    unless(
        holds && value != "." && !value.starts_with(".."),
        "must be up to 253 letters, digits, '-', '_' and '.', and may not be '.' or begin with '..'",
    )
}

/// The name of an environment variable.
pub(super) fn env_var(value: &str) -> Vec<String> {
    let is_printable = |c: char| (' '..='~').contains(&c) && c != '=';
    let message = "must be printable ASCII characters other than '='";
    unless(!value.is_empty() && value.chars().all(is_printable), message)
}

/// The name of a port of a container.
pub(super) fn port_name(value: &str) -> Vec<String> {
    let is_name = value.len() <= 15
        && value.contains(|c: char| c.is_ascii_lowercase())
        && value.chars().all(|c| matches!(c, 'a'..='z' | '0'..='9' | '-'))
        && value.split('-').all(|part| !part.is_empty());
    let message =
        "must be up to 15 lower-case letters, digits and single hyphens between them, with a letter";
    unless(is_name, message)
}

/// The name of a host, which may begin with `*.`.
pub(super) fn wildcard(value: &str) -> Vec<String> {
    subdomain(value.strip_prefix("*.").unwrap_or(value))
}

/// The name of a host that is not an address.
pub(super) fn host(value: &str) -> Vec<String> {
    match ip(value).is_empty() {
        true => unless(false, "must be a DNS name, not an IP address"),
        false => wildcard(value),
    }
}

pub(super) fn ip(value: &str) -> Vec<String> {
    let is_address = value.parse::<std::net::IpAddr>().is_ok();
    unless(
        is_address,
        "must be an IP address, such as 10.9.8.7 or 2001:db8::ffff",
    )
}

/// A percentage, such as `25%`.
pub(super) fn percent(value: &str) -> Vec<String> {
    let digits = value.strip_suffix('%').unwrap_or_default();
    let is_percent = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    unless(is_percent, "must be a number with '%' at its end, such as '25%'")
}

/// A path without `..`.
pub(super) fn path(value: &str) -> Vec<String> {
    unless(value.split('/').all(|part| part != ".."), "must not contain '..'")
}

/// A relative path without `..`.
pub(super) fn relative_path(value: &str) -> Vec<String> {
    match value.starts_with('/') {
        true => unless(false, "must be a relative path"),
        false => path(value),
    }
}
