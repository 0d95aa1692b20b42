//! The keys of the language as data: the place, the type and the meaning of each.
//!
//! The parser, `krator explain` and `docs/language.md` read this one table. Each mapping with a fixed set of keys is a
//! [`Section`], and each section has an enum with one variant for each of its keys. The parser looks a key up by its
//! variant, so the code does not compile if a key is missing from the table, or if the parser never reads a key of the
//! table.

mod deploy;
mod columns;
mod document;
mod machine;
mod schema;
mod text;
mod versions;
mod webhooks;

pub(crate) use columns::ColumnKey;
pub(crate) use deploy::{DeployKey, ResourcesKey};
pub(crate) use document::{
    AccessKey, AdmissionKey, DocumentKey, NameKey, OwnedKey, ProtectKey, ResourceKey, ScaleKey, WatchKey,
};
pub(crate) use machine::{
    EdgeKey, GateKey, LimitKey, MachineKey, ObjectiveKey, PlacesKey, PropertyKey, RetryKey, SlotsKey,
    SpecChangeKey, StateKey, TimeoutKey, WaitKey, WindowKey,
};
pub(crate) use schema::{SpecKey, TypeKey, ValidationKey};
pub(crate) use versions::{ChangeKey, VersionKey};
pub(crate) use webhooks::{MatchConditionKey, WebhookKey, WebhooksKey};

use crate::names::NamePattern;

/// The type of the value of a key.
#[derive(Debug, Clone, Copy)]
pub enum Type {
    /// Any scalar, with its text unchanged.
    String,
    /// `true` or `false`.
    Boolean,
    /// Only `true`. The value `false` is expressed by leaving the key out.
    True,
    /// An integer in a range, both ends included.
    Integer {
        /// The minimum.
        min: i64,
        /// The maximum.
        max: i64,
    },
    /// A number in a range, both ends included; any number without a range.
    Number(Option<(f64, f64)>),
    /// A duration such as `1h30m`.
    Duration,
    /// A quantity of Kubernetes, such as `500Mi`.
    Quantity,
    /// A value of any type.
    Any,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A string that matches a pattern.
    Name(NamePattern),
    /// A type as a phrase, such as `optional list of string`; the text describes it in messages.
    Phrase(&'static str),
    /// The name of a state of the same document.
    State,
    /// `group/version.Kind`.
    Kind,
    /// The path of a field of the resource.
    Path,
    /// A type of the schema: a phrase, or a mapping.
    Schema,
    /// A list.
    List {
        /// The type of each item.
        of: &'static Type,
        /// The smallest number of items.
        min: usize,
        /// The largest number of items.
        max: Option<usize>,
    },
    /// A mapping whose keys are names that the description chooses.
    Map {
        /// The kind of the names.
        by: NameOf,
        /// The type of each value.
        of: &'static Type,
    },
    /// A mapping with a fixed set of keys.
    Mapping(&'static Section),
    /// One of several types.
    Either(&'static [Type]),
}

/// The kinds of names that a description chooses as the keys of a mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameOf {
    /// States.
    State,
    /// Fields of a schema.
    Field,
    /// Types of `types`.
    Type,
    /// Conditions.
    Condition,
    /// Kinds, as `group/version.Kind`.
    Kind,
    /// Rules of krator, which are only names in `allow`.
    Rule,
    /// Versions of an API.
    Version,
    /// Resources of a container.
    Resource,
    /// Labels of nodes.
    Label,
    /// Values of an `enum`.
    Value,
}

/// The meaning of a missing key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absent {
    /// A missing key is a finding.
    Required,
    /// The feature that the key requests is absent.
    Nothing,
    /// This default.
    Default(&'static str),
}

/// A key of the language.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// The text of the key.
    pub name: &'static str,
    /// The type of its value.
    pub value: Type,
    /// The meaning of its absence.
    pub absent: Absent,
    /// Its meaning, in full sentences.
    pub doc: &'static str,
    /// A part of a description, from its top level, that uses the key.
    pub example: &'static str,
}

/// A mapping with a fixed set of keys.
#[derive(Debug)]
pub struct Section {
    /// The noun for such a mapping in messages: "a state".
    pub called: &'static str,
    /// Its keys, in the order of the reference.
    pub keys: &'static [Key],
}

/// The keys of one section as an enum, for the parser.
pub(crate) trait SectionKey: Copy {
    /// The section that the keys belong to.
    fn section() -> &'static Section;

    /// Its entry in the table.
    fn key(self) -> &'static Key;
}

const fn optional(name: &'static str, value: Type, doc: &'static str, example: &'static str) -> Key {
    Key {
        name,
        value,
        absent: Absent::Nothing,
        doc,
        example,
    }
}

const fn required(name: &'static str, value: Type, doc: &'static str, example: &'static str) -> Key {
    Key {
        absent: Absent::Required,
        ..optional(name, value, doc, example)
    }
}

impl Key {
    const fn default(self, default: &'static str) -> Key {
        Key {
            absent: Absent::Default(default),
            ..self
        }
    }
}

/// Declares a section: its enum, and its table as a static.
macro_rules! section {
    ($(#[$doc:meta])* $keys:ident in $section:ident, $called:literal: $($variant:ident = $key:expr;)*) => {
        $(#[$doc])*
        // A key that is added has to be read, too: a variant that is never constructed does not compile.
        #[deny(dead_code)]
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum $keys {
            $($variant,)*
        }

        $(#[$doc])*
        pub(super) static $section: $crate::catalog::keys::Section = $crate::catalog::keys::Section {
            called: $called,
            keys: &[$($key,)*],
        };

        impl $crate::catalog::keys::SectionKey for $keys {
            fn section() -> &'static $crate::catalog::keys::Section {
                &$section
            }

            fn key(self) -> &'static $crate::catalog::keys::Key {
                // Variants and keys are declared in pairs.
                &$section.keys[self as usize]
            }
        }
    };
}
use section;

/// A section, and the paths of the keys that lead to it, each from the top of a document.
#[derive(Debug)]
pub struct SectionPlace {
    /// The section.
    pub section: &'static Section,
    /// The paths; the top level has one, which is empty.
    pub paths: Vec<String>,
}

/// A key with all of its paths from the top of a document: `states.wait.poll`. Names that a description chooses, such as
/// those of states, are left out of paths.
#[derive(Debug)]
pub struct Located {
    /// The key.
    pub key: &'static Key,
    /// Its paths.
    pub paths: Vec<String>,
}

impl Type {
    /// The range of the integers that the type takes, if it takes any.
    pub(crate) fn range(&self) -> Option<(i64, i64)> {
        match self {
            Type::Integer { min, max } => Some((*min, *max)),
            Type::Either(types) => types.iter().find_map(Type::range),
            _ => None,
        }
    }

    /// The words that the type takes, in it or in its items and values.
    pub(crate) fn words(&self) -> &'static [&'static str] {
        match self {
            Type::Word(words) => words,
            Type::List { of, .. } | Type::Map { of, .. } => of.words(),
            Type::Either(types) => types
                .iter()
                .map(Type::words)
                .find(|words| !words.is_empty())
                .unwrap_or_default(),
            _ => &[],
        }
    }

    /// The sections that values of the type may be.
    fn sections(&self) -> Vec<&'static Section> {
        match self {
            Type::Mapping(section) => vec![section],
            Type::Schema => vec![&schema::TYPE],
            Type::List { of, .. } | Type::Map { of, .. } => of.sections(),
            Type::Either(types) => types.iter().flat_map(Type::sections).collect(),
            _ => Vec::new(),
        }
    }
}

/// The type of a whole document.
pub(crate) static WHOLE: Type = Type::Mapping(&document::DOCUMENT);

/// The section of types that are written as mappings.
pub(crate) fn type_section() -> &'static Section {
    &schema::TYPE
}

/// All sections, from the top level down, each once.
pub fn places() -> Vec<SectionPlace> {
    let mut found = Vec::new();
    collect(&document::DOCUMENT, "", &mut Vec::new(), &mut found);
    found
}

fn collect(
    section: &'static Section,
    path: &str,
    above: &mut Vec<&'static Section>,
    found: &mut Vec<SectionPlace>,
) {
    // Types are inside types; only the outermost has a path.
    if above.iter().any(|outer| std::ptr::eq(*outer, section)) {
        return;
    }
    match found
        .iter_mut()
        .find(|place| std::ptr::eq(place.section, section))
    {
        Some(place) => place.paths.push(path.to_owned()),
        None => found.push(SectionPlace {
            section,
            paths: vec![path.to_owned()],
        }),
    }
    above.push(section);
    for key in section.keys {
        for inner in key.value.sections() {
            collect(inner, &joined(path, key.name), above, found);
        }
    }
    above.pop();
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

/// All keys, section by section.
pub fn all() -> Vec<Located> {
    let mut keys = Vec::new();
    for place in places() {
        for key in place.section.keys {
            let paths = place.paths.iter().map(|path| joined(path, key.name)).collect();
            keys.push(Located { key, paths });
        }
    }
    keys
}

/// The keys that a name or the end of a path means: `poll`, `wait.poll` or `states.wait.poll`.
pub fn named(name: &str) -> Vec<Located> {
    let ending = format!(".{name}");
    let mut keys = all();
    for located in &mut keys {
        located
            .paths
            .retain(|path| path == name || path.ends_with(&ending));
    }
    keys.retain(|located| !located.paths.is_empty());
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_from_the_top_of_a_document() {
        let paths = |name: &str| -> Vec<Vec<String>> {
            named(name).into_iter().map(|located| located.paths).collect()
        };
        assert_eq!(paths("wait.poll"), [["states.wait.poll"]]);
        assert_eq!(paths("states.wait.poll"), [["states.wait.poll"]]);
        assert_eq!(
            paths("retry.factor"),
            [["machine.retry.factor", "states.retry.factor"]]
        );
        assert_eq!(paths("all.poll"), Vec::<Vec<String>>::new());
        assert!(paths("kind").len() > 3, "{:?}", paths("kind"));
    }

    #[test]
    fn each_key_is_there_once_and_is_not_a_rule() {
        for place in places() {
            let mut names: Vec<&str> = place.section.keys.iter().map(|key| key.name).collect();
            names.sort_unstable();
            let count = names.len();
            names.dedup();
            assert_eq!(names.len(), count, "{}", place.section.called);
        }
        for located in all() {
            let name = located.key.name;
            assert!(crate::rules::named(name).is_none(), "{name} is a rule too");
            assert!(located.key.doc.ends_with('.'), "{name}: {}", located.key.doc);
        }
    }
}
