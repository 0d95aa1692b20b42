//! References to images, after `github.com/distribution/reference`.

use regex::Regex;
use std::sync::LazyLock;

/// The tag of an image: `latest` if the reference has neither a tag nor a digest, an empty one if it has only a digest,
/// and none if it is malformed.
pub(super) fn tag(reference: &str) -> Option<String> {
    static REFERENCE: LazyLock<Regex> = LazyLock::new(|| {
        let component = "[a-z0-9]+(?:(?:[.]|_|__|-+)[a-z0-9]+)*";
        let label = "(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])";
        let host = format!(r"(?:{label}(?:\.{label})*|\[(?:[a-fA-F0-9:]+)\])(?::[0-9]+)?");
        let digest = "[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*[:][[:xdigit:]]{32,}";
        let tag = r"[0-9A-Za-z_][0-9A-Za-z_.-]{0,127}";
        let pattern = format!("^(?:{host}/)?{component}(?:/{component})*(?::({tag}))?(?:@({digest}))?$");
        Regex::new(&pattern).expect("a constant pattern")
    });
    let is_identifier = reference.len() == 64
        && reference
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if is_identifier {
        return None;
    }
    let found = REFERENCE
        .captures(&with_domain(reference))?
        .iter()
        .skip(1)
        .map(|group| group.map(|group| group.as_str().to_owned()))
        .collect::<Vec<_>>();
    match (found[0].clone(), &found[1]) {
        (Some(tag), _) => Some(tag),
        (None, Some(_)) => Some(String::new()),
        (None, None) => Some("latest".to_owned()),
    }
}

/// The first part of a reference is a registry only if it looks like a host.
fn with_domain(reference: &str) -> String {
    match reference.split_once('/') {
        Some((host, _))
            if host.contains(['.', ':']) || host == "localhost" || host.to_lowercase() != host =>
        {
            reference.to_owned()
        }
        _ => format!("docker.io/{reference}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_read_as_docker_does() {
        let digest = format!("nginx@sha256:{}", "a".repeat(64));
        for (reference, expected) in [
            ("nginx", Some("latest")),
            ("nginx:1.25", Some("1.25")),
            ("localhost:5000/a/b", Some("latest")),
            ("registry.example.com/a/b:v1", Some("v1")),
            (digest.as_str(), Some("")),
            ("", None),
            ("Nginx", None),
            ("nginx:", None),
            (" nginx", None),
        ] {
            assert_eq!(tag(reference).as_deref(), expected, "{reference:?}");
        }
    }
}
