//! The types and keys that the table has for a place in a description.

use crate::catalog::keys::{self, Key, Section, Type};
use crate::tolerant_tree::Step;

/// The types that a value at a path may have. None of them is [`Type::Either`].
pub(super) fn types_at(path: &[Step]) -> Vec<&'static Type> {
    let mut types = Vec::new();
    flatten(&keys::WHOLE, &mut types);
    for step in path {
        types = match step {
            Step::Key(key) => under_key(&types, key),
            Step::Item => items(&types),
            Step::Document | Step::Word => Vec::new(),
        };
    }
    types
}

/// The key of the language at the end of a path, unless the description chose that name.
pub(super) fn key_at(path: &[Step]) -> Option<&'static Key> {
    let (Step::Key(name), above) = path.split_last()? else {
        return None;
    };
    sections(&types_at(above)).find_map(|section| key_of(section, name))
}

/// The sections among types.
pub(super) fn sections(types: &[&'static Type]) -> impl Iterator<Item = &'static Section> {
    let sections = types.iter().filter_map(|of| match of {
        Type::Mapping(section) => Some(*section),
        Type::Schema => Some(keys::type_section()),
        _ => None,
    });
    sections.collect::<Vec<_>>().into_iter()
}

fn key_of(section: &'static Section, name: &str) -> Option<&'static Key> {
    section.keys.iter().find(|key| key.name == name)
}

fn flatten(of: &'static Type, into: &mut Vec<&'static Type>) {
    match of {
        Type::Either(types) => types.iter().for_each(|of| flatten(of, into)),
        _ => into.push(of),
    }
}

fn under_key(types: &[&'static Type], name: &str) -> Vec<&'static Type> {
    let mut found = Vec::new();
    if let Some(key) = sections(types).find_map(|section| key_of(section, name)) {
        flatten(&key.value, &mut found);
        return found;
    }
    for of in types {
        if let Type::Map { of, .. } = of {
            flatten(of, &mut found);
        }
    }
    found
}

fn items(types: &[&'static Type]) -> Vec<&'static Type> {
    let mut found = Vec::new();
    for of in types {
        if let Type::List { of, .. } = of {
            flatten(of, &mut found);
        }
    }
    found
}
