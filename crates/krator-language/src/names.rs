//! Valid names, their conversions for Rust, files and Kubernetes, and reserved names.
//!
//! A name type can only be created from a valid name. Code that has a [`StateName`] can therefore write it into a path,
//! a Rust file or a shell command without escaping, even if the description is hostile.

mod casing;
mod taken;

pub use casing::snake;
pub use casing::{capitalized, kebab, pascal, plural, rust_ident, unique_rust_field, unique_variants};
pub use taken::{
    CONDITION_ENDING, HANDLER_IMPORTS, KIND_ENDINGS, MACHINE_FIELD, MACHINE_STATICS, RUST_PRELUDE,
    TYPE_IMPORTS, is_rust_keyword, is_taken, taken_in_handlers, unusable_kind, unusable_module,
    unusable_operator,
};

use std::fmt;

use crate::text::is_unprintable;

/// The pattern of the strings that a key or a name accepts: a phrase, a regular expression for schemas, and a function.
#[derive(Debug, Clone, Copy)]
pub struct NamePattern {
    /// The pattern as a phrase that can follow "expected".
    pub expected: &'static str,
    /// A regular expression that matches every string of the pattern. It uses only features that Rust and ECMA-262
    /// share, and may match additional strings if an expression cannot express the lengths.
    pub pattern: &'static str,
    /// Whether a string matches the pattern.
    pub is: fn(&str) -> bool,
}

/// The reason why a string is not a valid name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotAName {
    /// The pattern that is required, as a phrase for messages.
    pub expected: &'static str,
}

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident, $expected:literal, $pattern:literal, $is:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// The pattern of such a name.
            pub const PATTERN: NamePattern = NamePattern { expected: $expected, pattern: $pattern, is: $is };

            /// The name, if the string is valid.
            pub fn parse(text: &str) -> Result<Self, NotAName> {
                let pattern = Self::PATTERN;
                if (pattern.is)(text) { Ok($name(text.to_owned())) } else { Err(NotAName { expected: pattern.expected }) }
            }

            /// The name as written.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

names! {
    /// The name of a state, in PascalCase.
    StateName, "a letter A-Z, then letters and digits, at most 63 characters", r"^[A-Z][A-Za-z0-9]{0,62}$", is_pascal;
    /// The kind of a custom resource.
    KindName, "a letter, then letters and digits, at most 59 characters (63 with `List` appended)", r"^[A-Za-z][A-Za-z0-9]{0,58}$",
        |text| is_word(text, "") && text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.len() <= 59;
    /// The name of a kind in Rust, in PascalCase.
    RustKindName, "a letter A-Z, then letters and digits, at most 59 characters", r"^[A-Z][A-Za-z0-9]{0,58}$",
        |text| is_pascal(text) && text.len() <= 59;
    /// The name of a type of `types`, in PascalCase.
    TypeName, "a letter A-Z, then letters and digits, at most 63 characters", r"^[A-Z][A-Za-z0-9]{0,62}$", is_pascal;
    /// The type of a condition, in PascalCase as the API conventions require.
    ConditionName, "a letter A-Z, then letters and digits, at most 63 characters", r"^[A-Z][A-Za-z0-9]{0,62}$", is_pascal;
    /// The name of a field of a schema: a key of JSON. Unlike the other names it has to be escaped in every output.
    FieldName, "at most 253 printable characters", r"^[^\u0000-\u001f]{1,253}$",
        |text| !text.is_empty() && text.chars().count() <= 253 && !text.chars().any(is_unprintable);
    /// The name of a field in Rust, if it does not follow from that in JSON.
    RustFieldName, "a name in snake case, such as `key_url`", r"^_?[a-z][a-z0-9]*(_[a-z0-9]+)*$", is_snake;
    /// The name of the operator, which is also that of its crate, Deployment and ServiceAccount.
    OperatorName, "a letter a-z, then a-z, 0-9 and `-`, not `-` at the end, at most 40 characters", r"^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$",
        |text| is_label(text, 40) && text.starts_with(|c: char| c.is_ascii_lowercase());
    /// The plural, singular or a short name of a resource.
    ResourceName, "a letter a-z, then a-z, 0-9 and `-`, not `-` at the end, at most 63 characters", r"^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$",
        |text| is_label(text, 63) && text.starts_with(|c: char| c.is_ascii_lowercase());
    /// A category of resources.
    Category, "a letter a-z, then a-z, 0-9 and `-`, not `-` at the end, at most 63 characters", r"^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$",
        |text| is_label(text, 63) && text.starts_with(|c: char| c.is_ascii_lowercase());
    /// An API group, which is a DNS name of at least two parts.
    GroupName, "a DNS name of at least two parts, such as `animals.com`",
        r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)+$",
        |text| text.contains('.') && is_subdomain(text);
    /// An API version.
    VersionName, "a version such as `v1` or `v1beta1`", r"^v[1-9][0-9]{0,5}((alpha|beta)[1-9][0-9]{0,5})?$", is_version;
    /// The name of a namespace.
    NamespaceName, "a letter or digit, then a-z, 0-9 and `-`, not `-` at the end, at most 63 characters",
        r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$", |text| is_label(text, 63);
    /// The key of a label, which may have a prefix.
    LabelKey, "the key of a label, such as `app` or `example.com/app`",
        r"^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$", is_label_key;
    /// The name of an image, with its tag or its digest.
    ImageName, "the name of an image, such as `ghcr.io/acme/zoo:1.2.0`",
        r"^[A-Za-z0-9]([A-Za-z0-9._:/-]*[A-Za-z0-9_])?(@sha256:[0-9a-f]{64})?$", is_image;
    /// The address of a page, without a fragment.
    PageAddress, "an address such as `https://example.com/runbook`", r"^https?://[A-Za-z0-9][A-Za-z0-9._~:/%?=&+-]*$",
        |text| text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")).is_some_and(|rest| {
            rest.starts_with(|c: char| c.is_ascii_alphanumeric()) && is_word(rest, "._~:/%?=&+-")
        });
    /// The heading of a printer column, which has to be escaped in every output.
    ColumnName, "at most 63 printable characters, no space at either end", r"^[^\u0000-\u0020]([^\u0000-\u001f]{0,61}[^\u0000-\u0020])?$",
        |text| !text.is_empty() && text.chars().count() <= 63 && text.trim() == text && !text.chars().any(is_unprintable);
    /// A verb of the Kubernetes API.
    Verb, "a verb such as `get` or `patch`", r"^[a-z]{1,63}$",
        |text| !text.is_empty() && text.len() <= 63 && text.chars().all(|c| c.is_ascii_lowercase());
    /// The format of a string or number in a schema.
    FormatName, "letters, digits and `-`", r"^[A-Za-z0-9-]+$", |text| is_word(text, "-");
}

/// The verbs of requests for objects, in the order of Kubernetes' own roles: three that read, four that write, and one
/// that deletes collections.
pub const VERBS: [&str; 8] = [
    "get",
    "list",
    "watch",
    "create",
    "update",
    "patch",
    "delete",
    "deletecollection",
];

fn is_word(text: &str, also: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || also.contains(c))
}

fn is_pascal(text: &str) -> bool {
    text.len() <= 63 && text.starts_with(|c: char| c.is_ascii_uppercase()) && is_word(text, "")
}

fn is_field(text: &str) -> bool {
    text.len() <= 63 && text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && is_word(text, "_-")
}

fn is_snake(text: &str) -> bool {
    let words = text.strip_prefix('_').unwrap_or(text);
    words.starts_with(|c: char| c.is_ascii_lowercase())
        && words.split('_').all(|word| {
            !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        })
        && !matches!(words, "self" | "super" | "crate")
}

fn is_label(text: &str, longest: usize) -> bool {
    text.len() <= longest
        && !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        && !text.starts_with('-')
        && !text.ends_with('-')
}

fn is_subdomain(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(|part| is_label(part, 63))
}

/// Kubernetes accepts any DNS label as a version, but its clients can only order versions of this form.
fn is_version(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('v') else {
        return false;
    };
    let is_number = |text: &str| {
        !text.is_empty()
            && text.len() <= 6
            && !text.starts_with('0')
            && text.chars().all(|c| c.is_ascii_digit())
    };
    match rest.split_once("alpha").or_else(|| rest.split_once("beta")) {
        Some((major, minor)) => is_number(major) && is_number(minor),
        None => is_number(rest),
    }
}

fn is_label_key(text: &str) -> bool {
    let (prefix, name) = match text.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, text),
    };
    let alphanumeric = |c: char| c.is_ascii_alphanumeric();
    prefix.is_none_or(is_subdomain)
        && name.len() <= 63
        && is_word(name, "-_.")
        && name.starts_with(alphanumeric)
        && name.ends_with(alphanumeric)
}

/// Follows the grammar of references of the distribution project: a registry with its port, a path in lower case, a
/// tag, a digest.
fn is_image(text: &str) -> bool {
    let (name, digest) = match text.split_once("@sha256:") {
        Some((name, digest)) => (name, Some(digest)),
        None => (text, None),
    };
    let (name, tag) = split_tag(name);
    let is_digest = |digest: &str| {
        digest.len() == 64
            && digest
                .chars()
                .all(|c| c.is_ascii_digit() || matches!(c, 'a'..='f'))
    };
    let is_tag = |tag: &str| tag.len() <= 128 && is_word(tag, "_.-") && !tag.starts_with(['.', '-']);
    let is_path = |part: &str| {
        let alphanumeric = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        is_word(part, "._-")
            && !part.contains(|c: char| c.is_ascii_uppercase())
            && part.starts_with(alphanumeric)
            && part.ends_with(alphanumeric)
    };
    let mut parts: Vec<&str> = name.split('/').collect();
    if let [registry, _, ..] = parts[..]
        && let Some((host, port)) = registry.split_once(':')
    {
        let is_port = !port.is_empty() && port.chars().all(|c| c.is_ascii_digit());
        if !is_port || !is_subdomain(&host.to_ascii_lowercase()) {
            return false;
        }
        parts.remove(0);
    }
    name.len() <= 255
        && parts.into_iter().all(is_path)
        && tag.is_none_or(is_tag)
        && digest.is_none_or(is_digest)
}

/// The name of an image without its tag, and the tag.
fn split_tag(name: &str) -> (&str, Option<&str>) {
    match name.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => (name, Some(tag)),
        _ => (name, None),
    }
}

impl ImageName {
    /// The name without tag and digest, the tag, and the digest with its algorithm.
    pub fn parts(&self) -> (&str, Option<&str>, Option<&str>) {
        let (name, digest) = match self.0.split_once('@') {
            Some((name, digest)) => (name, Some(digest)),
            None => (&*self.0, None),
        };
        let (name, tag) = split_tag(name);
        (name, tag, digest)
    }
}

impl StateName {
    /// The module of its handler, such as `delete_vm` for `DeleteVM`. It may be a keyword; see [`rust_ident`].
    pub fn module(&self) -> String {
        snake(&self.0)
    }
}

impl KindName {
    /// A kind whose name is also a valid name in Rust.
    pub fn parse_pascal(text: &str) -> Result<Self, NotAName> {
        RustKindName::parse(text).and_then(|_| KindName::parse(text))
    }

    /// A name in Rust for the kind: its own, unless Rust or generated code reserves it.
    pub(crate) fn in_rust(&self) -> RustKindName {
        let own = capitalized(&self.0);
        let mut other = own.clone();
        other.truncate(55);
        let mut names = [own, other + "Kind"].into_iter().map(RustKindName);
        let usable = names.find(|name| unusable_kind(name).is_none());
        // No reserved name has this ending.
        usable.unwrap_or_else(|| RustKindName("OtherKind".to_owned()))
    }
}

impl RustKindName {
    /// The module of the kind's code, such as `moose`.
    pub fn module(&self) -> String {
        snake(&self.0)
    }
}

impl FieldName {
    /// The name of the field in Rust that is derived from this one, as a raw identifier if it is a keyword. `None` if
    /// the result is not a valid name in Rust, or meaningless, as for `-` or `1st`. serde uses the name as written.
    pub fn rust_field(&self) -> Option<String> {
        let name = rust_ident(&snake(&self.0));
        let is_written = !matches!(
            name.trim_start_matches('_'),
            "" | "self" | "super" | "crate" | "Self"
        );
        (is_field(&self.0) && is_written).then_some(name)
    }
}

impl OperatorName {
    /// The name of the operator's crate in Rust code.
    pub fn crate_ident(&self) -> String {
        self.0.replace('-', "_")
    }
}

/// A name with its numbers padded with zeros: its order as a text is that of rustfmt, in which `S9` is before `S10`.
pub fn with_wide_numbers(name: &str) -> String {
    let mut wide = String::new();
    let mut digits = String::new();
    for c in name.chars().chain(std::iter::once(' ')) {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        if !digits.is_empty() {
            wide.push_str(&format!("{digits:0>64}"));
            digits.clear();
        }
        wide.push(c);
    }
    wide
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_strings_are_not_names() {
        let long = "A".repeat(300);
        for text in [
            "",
            "../x",
            "/x",
            "a b",
            "Ä",
            "a\n",
            "\u{202e}",
            "\"",
            "{{x}}",
            "$(X)",
            "A`",
            long.as_str(),
        ] {
            assert!(StateName::parse(text).is_err(), "{text:?}");
            let field = FieldName::parse(text).ok();
            assert!(field.and_then(|field| field.rust_field()).is_none(), "{text:?}");
            assert!(RustFieldName::parse(text).is_err(), "{text:?}");
            assert!(OperatorName::parse(text).is_err(), "{text:?}");
            assert!(GroupName::parse(text).is_err(), "{text:?}");
            assert!(ResourceName::parse(text).is_err(), "{text:?}");
            assert!(LabelKey::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn valid_names_are_accepted() {
        assert!(StateName::parse("DeleteVM").is_ok());
        assert!(StateName::parse(&"A".repeat(63)).is_ok());
        assert!(StateName::parse(&"A".repeat(64)).is_err());
        assert!(FieldName::parse("type").is_ok());
        assert!(FieldName::parse("live-iso").is_ok());
        assert!(FieldName::parse("-Xmx").is_ok());
        assert!(FieldName::parse("a\nb").is_err());
        assert!(RustFieldName::parse("_key_url2").is_ok());
        for text in ["_", "a__b", "a_", "1a", "self", "_super", "keyUrl"] {
            assert!(RustFieldName::parse(text).is_err(), "{text}");
        }
        assert!(OperatorName::parse("moose-tracker").is_ok());
        assert!(OperatorName::parse("7up").is_err());
        assert!(VersionName::parse("v1alpha1").is_ok());
        assert!(VersionName::parse("v01").is_err());
        assert!(LabelKey::parse("karpenter.sh/nodepool").is_ok());
        for text in ["Up-to-date", "Origin (Kind)", "Uses %", "1st", "Größe"] {
            assert!(ColumnName::parse(text).is_ok(), "{text}");
        }
        assert!(ColumnName::parse(" a").is_err());
    }

    #[test]
    fn images_are_named_as_registries_name_them() {
        let digest = format!("@sha256:{}", "0a".repeat(32));
        let pinned = format!("localhost:5000/zoo:1.2.0{digest}");
        for (text, parts) in [
            ("zoo", ("zoo", None, None)),
            (
                "ghcr.io/acme/zoo:v1.2_3",
                ("ghcr.io/acme/zoo", Some("v1.2_3"), None),
            ),
            ("localhost:5000/zoo", ("localhost:5000/zoo", None, None)),
            (
                &*pinned,
                ("localhost:5000/zoo", Some("1.2.0"), Some(&digest[1..])),
            ),
        ] {
            assert_eq!(ImageName::parse(text).unwrap().parts(), parts, "{text}");
        }
        for text in [
            "",
            "Zoo",
            "zoo:",
            "zoo:-1",
            "a//b",
            "zoo@sha256:00",
            "zoo:x:y",
            "zoo y",
            "{{x}}",
            "a:b/c",
        ] {
            assert!(ImageName::parse(text).is_err(), "{text:?}");
        }
    }
}
