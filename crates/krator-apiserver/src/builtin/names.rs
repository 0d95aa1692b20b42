//! Names of objects, labels, ports and keys, after `k8s.io/apimachinery/pkg/util/validation` and
//! `pkg/api/validate/content`. Each function gives a message for each thing that is wrong.

pub(super) use krator_schema::names::explained::{label, label_value, qualified, subdomain};
use krator_schema::names::explained::{mask_trailing_dash, not_matching};

/// Which names objects of a kind may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameRule {
    /// Lower-case parts with dots between them.
    Subdomain,
    /// One lower-case part.
    Label,
    /// Anything that can be one element of a path.
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
            Self::PathSegment => path_segment(name, prefix),
        }
    }
}

fn path_segment(name: &str, prefix: bool) -> Vec<String> {
    if !prefix && matches!(name, "." | "..") {
        return vec![format!("may not be '{name}'")];
    }
    let found = ["/", "%"].into_iter().filter(|text| name.contains(text));
    found.map(|text| format!("may not contain '{text}'")).collect()
}

/// A key of a ConfigMap or a Secret.
pub(super) fn config_key(value: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if value.len() > 253 {
        errors.push("must be no more than 253 characters".to_owned());
    }
    let is_key = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    if value.is_empty() || !value.chars().all(is_key) {
        let message = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
        let examples = ["key.name", "KEY_NAME", "key-name"];
        errors.push(not_matching(message, "[-._a-zA-Z0-9]+", &examples));
    }
    match value {
        "." | ".." => errors.push(format!("must not be '{value}'")),
        _ if value.starts_with("..") => errors.push("must not start with '..'".to_owned()),
        _ => {}
    }
    errors
}

/// The name of an environment variable.
pub(super) fn env_var(value: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if value.is_empty() {
        errors.push("environment variable name must be non-empty".to_owned());
    }
    if !value.chars().all(|c| (' '..='~').contains(&c) && c != '=') {
        let message = "a valid environment variable name must consist only of printable ASCII characters other than '='";
        errors.push(message.to_owned());
    }
    errors
}

/// The name of a port of a container.
pub(super) fn port_name(value: &str) -> Vec<String> {
    let is_other = |c: char| !matches!(c, 'a'..='z' | '0'..='9' | '-');
    let problems = [
        (value.len() > 15, "must be no more than 15 characters"),
        (
            value.is_empty() || value.contains(is_other),
            "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
        ),
        (
            !value.contains(|c: char| c.is_ascii_lowercase()),
            "must contain at least one letter (a-z)",
        ),
        (value.contains("--"), "must not contain consecutive hyphens"),
        (
            value.starts_with('-') || value.ends_with('-'),
            "must not begin or end with a hyphen",
        ),
    ];
    let problems = problems.into_iter().filter(|(is_there, _)| *is_there);
    problems.map(|(_, problem)| problem.to_owned()).collect()
}

/// The number of a port.
pub(super) fn port_number(port: i64) -> Vec<String> {
    in_range(port, 1, 65535)
}

/// A number between two others.
pub(super) fn in_range(value: i64, least: i64, most: i64) -> Vec<String> {
    if (least..=most).contains(&value) {
        return Vec::new();
    }
    vec![format!("must be between {least} and {most}, inclusive")]
}

/// A percentage, such as `25%`.
pub(super) fn percent(value: &str) -> Vec<String> {
    let digits = value.strip_suffix('%').unwrap_or_default();
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Vec::new();
    }
    let message = "a valid percent string must be a numeric string followed by an ending '%'";
    vec![not_matching(message, "[0-9]+%", &["1%", "93%"])]
}
