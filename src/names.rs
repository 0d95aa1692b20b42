//! Every rule about names, once: which texts are names at all, how they are cased for Rust, files and Kubernetes,
//! and which are taken.
//!
//! A name type can only be made from a text that is one. Whoever holds a [`StateName`] may write it into a path, a
//! Rust file or a shell line without thinking about what a hostile description could have put there.

mod casing;
mod taken;

pub use casing::{kebab, pascal, plural, rust_ident, snake, unique_variants};
pub use taken::{
    HANDLER_IMPORTS, KIND_ENDINGS, MACHINE_FIELD, MACHINE_STATICS, TYPE_IMPORTS, is_device, is_rust_keyword,
    unusable_module, unusable_operator,
};

use std::fmt;

/// Why a text is no name of its sort.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotAName {
    /// What it should be, as the rest of "… is no such thing: ".
    pub expected: &'static str,
}

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident, $expected:literal, $is:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// The form of such names, as the rest of "expected …".
            pub const EXPECTED: &'static str = $expected;

            /// The name, if the text is one.
            pub fn parse(text: &str) -> Result<Self, NotAName> {
                let is: fn(&str) -> bool = $is;
                if is(text) { Ok($name(text.to_owned())) } else { Err(NotAName { expected: Self::EXPECTED }) }
            }

            /// As written.
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
    /// A state: PascalCase.
    StateName, "a letter A-Z, then letters and digits, at most 63", is_pascal;
    /// The kind of a custom resource: PascalCase.
    KindName, "a letter A-Z, then letters and digits, at most 59: with `List` behind it, it is a name as well",
        |text| is_pascal(text) && text.len() <= 59;
    /// A type of `types`: PascalCase.
    TypeName, "a letter A-Z, then letters and digits, at most 63", is_pascal;
    /// The type of a condition: PascalCase, as the API conventions ask.
    ConditionName, "a letter A-Z, then letters and digits, at most 63", is_pascal;
    /// A field of a schema.
    FieldName, "a letter or `_`, then letters, digits, `_` and `-`, at most 63", is_field;
    /// The operator: crate, Deployment and ServiceAccount.
    OperatorName, "a letter a-z, then a-z, 0-9 and `-`, not `-` at the end, at most 40",
        |text| is_label(text, 40) && text.starts_with(|c: char| c.is_ascii_lowercase());
    /// A plural, singular or short name of a resource.
    ResourceName, "a letter a-z, then a-z, 0-9 and `-`, not `-` at the end, at most 63",
        |text| is_label(text, 63) && text.starts_with(|c: char| c.is_ascii_lowercase());
    /// A category of resources.
    Category, "a letter a-z, then a-z, 0-9 and `-`, not `-` at the end, at most 63",
        |text| is_label(text, 63) && text.starts_with(|c: char| c.is_ascii_lowercase());
    /// An API group: a domain of at least two parts.
    GroupName, "a DNS name of at least two parts, such as `animals.com`",
        |text| text.contains('.') && is_subdomain(text);
    /// An API version.
    VersionName, "a version such as `v1` or `v1beta1`", is_version;
    /// A namespace.
    NamespaceName, "a letter or digit, then a-z, 0-9 and `-`, not `-` at the end, at most 63",
        |text| is_label(text, 63);
    /// The key of a label, with its prefix if it has one.
    LabelKey, "the key of a label, such as `app` or `example.com/app`", is_label_key;
    /// The name of a printer column.
    ColumnName, "a letter, then letters, digits, spaces, `-` and `_`, at most 63",
        |text| is_word(text, " -_") && text.len() <= 63 && text.starts_with(|c: char| c.is_ascii_alphabetic()) && !text.ends_with(' ');
    /// A verb of the Kubernetes API.
    Verb, "a verb such as `get` or `patch`",
        |text| !text.is_empty() && text.len() <= 63 && text.chars().all(|c| c.is_ascii_lowercase());
}

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

/// Kubernetes takes any DNS label; more than this order of versions means nothing to its clients.
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

impl StateName {
    /// The module of its handler: `delete_vm` for `DeleteVM`. May be a keyword, see [`rust_ident`].
    pub fn module(&self) -> String {
        snake(&self.0)
    }
}

impl KindName {
    /// The module of all its code: `moose`.
    pub fn module(&self) -> String {
        snake(&self.0)
    }
}

impl FieldName {
    /// The name of its field in Rust, raw where it is a keyword; serde gets the name as written.
    pub fn rust_field(&self) -> String {
        rust_ident(&snake(&self.0))
    }
}

impl OperatorName {
    /// The crate's name as Rust code says it.
    pub fn crate_ident(&self) -> String {
        self.0.replace('-', "_")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hostile_is_a_name() {
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
            assert!(
                FieldName::parse(text).is_err() || text.starts_with('a') && is_field(text),
                "{text:?}"
            );
            assert!(OperatorName::parse(text).is_err(), "{text:?}");
            assert!(GroupName::parse(text).is_err(), "{text:?}");
            assert!(ResourceName::parse(text).is_err(), "{text:?}");
            assert!(LabelKey::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn names_of_every_sort() {
        assert!(StateName::parse("DeleteVM").is_ok());
        assert!(StateName::parse(&"A".repeat(63)).is_ok());
        assert!(StateName::parse(&"A".repeat(64)).is_err());
        assert!(FieldName::parse("type").is_ok());
        assert!(FieldName::parse("live-iso").is_ok());
        assert!(OperatorName::parse("moose-tracker").is_ok());
        assert!(OperatorName::parse("7up").is_err());
        assert!(VersionName::parse("v1alpha1").is_ok());
        assert!(VersionName::parse("v01").is_err());
        assert!(LabelKey::parse("karpenter.sh/nodepool").is_ok());
        assert!(ColumnName::parse("Up-to-date").is_ok());
    }
}
