//! Validation of names with the messages of the older functions of `k8s.io/apimachinery/pkg/util/validation`, which
//! contain examples and the pattern. Each function returns a message for each error.

use super::{dns_1123_label, dns_1123_subdomain, qualified_name};

const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const KEY: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

/// Replaces a trailing dash, which is allowed in the prefix of a generated name. Like the original, this also replaces
/// the character before it.
pub fn mask_trailing_dash(name: &str) -> String {
    match name.get(..name.len().saturating_sub(2)) {
        Some(head) if name.len() > 1 && name.ends_with('-') => format!("{head}a"),
        _ => name.to_owned(),
    }
}

/// A message with the suffix of the API server: examples and the pattern.
pub fn not_matching(message: &str, pattern: &str, examples: &[&str]) -> String {
    let examples: Vec<String> = examples.iter().map(|example| format!("'{example}', ")).collect();
    format!(
        "{message} (e.g. {}regex used for validation is '{pattern}')",
        examples.join(" or ")
    )
}

/// Adds examples and the pattern to the messages that have them in the API server.
fn with_pattern(messages: Vec<String>, pattern: &str, examples: &[&str]) -> Vec<String> {
    let add = |message: String| match message.ends_with("alphanumeric character") {
        true => not_matching(&message, pattern, examples),
        false => message,
    };
    messages.into_iter().map(add).collect()
}

/// The older functions of the original count characters instead of bytes in their messages.
fn in_characters(messages: Vec<String>) -> Vec<String> {
    let older = |message: String| message.replace(" bytes", " characters");
    messages.into_iter().map(older).collect()
}

/// A lower-case label of RFC 1123, such as `my-name`.
pub fn label(value: &str) -> Vec<String> {
    let mut errors = in_characters(dns_1123_label(value));
    if value.contains('.') && dns_1123_subdomain(value).is_empty() {
        errors.pop();
        errors.push("must not contain dots".to_owned());
    }
    with_pattern(errors, LABEL, &["my-name", "123-abc"])
}

/// Labels that are separated by dots, such as `example.com`.
pub fn subdomain(value: &str) -> Vec<String> {
    let pattern = format!(r"{LABEL}(\.{LABEL})*");
    with_pattern(
        in_characters(dns_1123_subdomain(value)),
        &pattern,
        &["example.com"],
    )
}

/// The key of a label, with or without a prefix: `app` or `example.com/app`.
pub fn qualified(value: &str) -> Vec<String> {
    const EXAMPLES: [&str; 3] = ["MyName", "my.name", "123-abc"];
    if value.matches('/').count() > 1 {
        let rule = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
        let rule = not_matching(rule, KEY, &EXAMPLES);
        return vec![format!(
            "a valid label key {rule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        )];
    }
    let prefix = value.split_once('/').map_or("", |(prefix, _)| prefix);
    let pattern = format!(r"{LABEL}(\.{LABEL})*");
    let (of_prefix, of_name): (Vec<String>, Vec<String>) = qualified_name(value)
        .into_iter()
        .partition(|message| !prefix.is_empty() && message.starts_with("prefix part"));
    let mut errors = with_pattern(of_prefix, &pattern, &["example.com"]);
    errors.extend(with_pattern(of_name, KEY, &EXAMPLES));
    errors
}

/// The value of a label.
pub fn label_value(value: &str) -> Vec<String> {
    let messages = super::label_value(value);
    with_pattern(messages, &format!("({KEY})?"), &["MyValue", "my_value", "12345"])
}

/// A label of RFC 1035, such as `my-name`.
pub fn dns_1035_label(value: &str) -> Vec<String> {
    let messages = in_characters(super::dns_1035_label(value));
    with_pattern(messages, "[a-z]([-a-z0-9]*[a-z0-9])?", &["my-name", "abc-123"])
}
