//! Validation of names as in the API server, after `k8s.io/apimachinery/pkg/util/validation`. Each function returns the
//! errors, and none if the name is valid.

pub mod explained;

/// A label of RFC 1035: letters, digits and `-`, with a letter first.
pub fn dns_1035_label(name: &str) -> Vec<String> {
    let mut problems = too_long(name, 63);
    if !is_label(name) || !name.starts_with(|c: char| c.is_ascii_lowercase()) {
        problems.push(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic \
             character, and end with an alphanumeric character"
                .to_string(),
        );
    }
    problems
}

/// A label of RFC 1123: letters, digits and `-`.
pub fn dns_1123_label(name: &str) -> Vec<String> {
    let mut problems = too_long(name, 63);
    if !is_label(name) {
        problems.push(
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and \
             end with an alphanumeric character"
                .to_string(),
        );
    }
    problems
}

/// Labels of RFC 1123, separated by dots.
pub fn dns_1123_subdomain(name: &str) -> Vec<String> {
    let mut problems = too_long(name, 253);
    if !name.split('.').all(is_label) {
        problems.push(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must \
             start and end with an alphanumeric character"
                .to_string(),
        );
    }
    problems
}

/// The key of a label or an annotation, or the name of a finalizer.
pub fn qualified_name(name: &str) -> Vec<String> {
    const RULE: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                        alphanumeric character";
    let mut problems = Vec::new();
    let name = match name.split('/').collect::<Vec<_>>()[..] {
        [name] => name,
        ["", name] => {
            problems.push("prefix part must be non-empty".to_string());
            name
        }
        [prefix, name] => {
            problems.extend(
                dns_1123_subdomain(prefix)
                    .into_iter()
                    .map(|problem| format!("prefix part {problem}")),
            );
            name
        }
        _ => {
            return vec![format!(
                "a valid label key {RULE}, with an optional DNS subdomain prefix and '/'"
            )];
        }
    };
    if name.is_empty() {
        problems.push("name part must be non-empty".to_string());
    } else if name.len() > 63 {
        problems.push("name part must be no more than 63 bytes".to_string());
    }
    if !is_key(name) {
        problems.push(format!("name part {RULE}"));
    }
    problems
}

/// The value of a label.
pub fn label_value(value: &str) -> Vec<String> {
    let mut problems = too_long(value, 63);
    if !value.is_empty() && !is_key(value) {
        problems.push(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must \
             start and end with an alphanumeric character"
                .to_string(),
        );
    }
    problems
}

fn too_long(name: &str, most: usize) -> Vec<String> {
    if name.len() > most {
        vec![format!("must be no more than {most} bytes")]
    } else {
        Vec::new()
    }
}

fn is_label(name: &str) -> bool {
    let inner = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '-');
    !name.is_empty() && name.chars().all(inner) && !name.starts_with('-') && !name.ends_with('-')
}

fn is_key(name: &str) -> bool {
    let outer = |c: char| c.is_ascii_alphanumeric();
    let inner = |c: char| outer(c) || matches!(c, '-' | '_' | '.');
    name.chars().all(inner) && name.starts_with(outer) && name.ends_with(outer)
}
