//! Sets of fields, after `fieldpath/set.go` of structured-merge-diff. A set is a tree. A field may be in the set
//! without the fields below it, and vice versa.

mod path;
mod fields_v1;

pub use path::PathElement;
pub(crate) use path::{display_path, list_item};

use crate::types::{Arena, TypeId};
use std::collections::{BTreeMap, BTreeSet};

/// A set of fields of an object.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FieldSet {
    members: BTreeSet<PathElement>,
    children: BTreeMap<PathElement, FieldSet>,
}

/// The treatment of fields below a field that a difference removes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Below {
    Stays,
    Goes,
}

impl FieldSet {
    /// A set of named fields, such as `[&["metadata"], &["status", "conditions"]]`.
    pub fn of(paths: &[&[&str]]) -> Self {
        let mut set = Self::default();
        for path in paths {
            let path: Vec<PathElement> = path.iter().copied().map(PathElement::field).collect();
            set.insert(&path);
        }
        set
    }

    /// Adds a field, without its parents and children. No set contains the empty path, which is the whole object.
    pub fn insert(&mut self, path: &[PathElement]) {
        match path {
            [] => {}
            [last] => {
                self.members.insert(last.clone());
            }
            [first, rest @ ..] => self.children.entry(first.clone()).or_default().insert(rest),
        }
    }

    /// Adds the fields below a child and, if `member` is set, the child itself.
    pub(crate) fn graft(&mut self, element: PathElement, member: bool, below: FieldSet) {
        if !below.is_empty() {
            self.children.entry(element.clone()).or_default().add(below);
        }
        if member {
            self.members.insert(element);
        }
    }

    /// Adds the fields of another set.
    pub fn add(&mut self, other: Self) {
        if self.members.is_empty() && self.children.is_empty() {
            *self = other;
            return;
        }
        self.members.extend(other.members);
        for (element, theirs) in other.children {
            self.children.entry(element).or_default().add(theirs);
        }
    }

    /// Whether a field is in the set.
    pub fn has(&self, path: &[PathElement]) -> bool {
        match path {
            [] => false,
            [last] => self.members.contains(last),
            [first, rest @ ..] => self
                .children
                .get(first)
                .is_some_and(|children| children.has(rest)),
        }
    }

    /// Whether the set has no fields.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty() && self.children.values().all(FieldSet::is_empty)
    }

    /// The fields that are in at least one of the sets.
    #[must_use]
    pub fn union(mut self, other: Self) -> Self {
        self.add(other);
        self
    }

    /// Whether the other set contains each of the fields.
    pub fn is_subset(&self, other: &Self) -> bool {
        let is_below = |(element, ours): (&PathElement, &FieldSet)| match other.children.get(element) {
            Some(theirs) => ours.is_subset(theirs),
            None => ours.is_empty(),
        };
        self.members.is_subset(&other.members) && self.children.iter().all(is_below)
    }

    /// The fields that are in both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let children = self.children.iter().filter_map(|(element, ours)| {
            let both = ours.intersection(other.children.get(element)?);
            (!both.is_empty()).then(|| (element.clone(), both))
        });
        Self {
            members: self.members.intersection(&other.members).cloned().collect(),
            children: children.collect(),
        }
    }

    /// The fields that the other set does not contain. Fields below a field of the other set stay.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        self.without(other, Below::Stays)
    }

    /// The fields that the other set does not contain, without those below its fields.
    #[must_use]
    pub fn recursive_difference(&self, other: &Self) -> Self {
        self.without(other, Below::Goes)
    }

    fn without(&self, other: &Self, what_is_below: Below) -> Self {
        let goes = |element: &PathElement| what_is_below == Below::Goes && other.members.contains(element);
        let children = self.children.iter().filter(|(element, _)| !goes(element));
        let children = children.filter_map(|(element, ours)| {
            let rest = match other.children.get(element) {
                Some(theirs) => ours.without(theirs, what_is_below),
                None => ours.clone(),
            };
            (!rest.is_empty()).then(|| (element.clone(), rest))
        });
        Self {
            members: self.members.difference(&other.members).cloned().collect(),
            children: children.collect(),
        }
    }

    /// Adds the parents of fields if the type declares them as fields. Entries of maps and items of lists are not
    /// added.
    #[must_use]
    pub(crate) fn with_named_fields(&self, arena: &Arena, id: TypeId) -> Self {
        let atom = arena.atom(id);
        let mut out = Self {
            members: self.members.clone(),
            children: BTreeMap::new(),
        };
        for (element, below) in &self.children {
            let type_ = match (element, &atom.map, &atom.list) {
                (PathElement::Field(name), Some(map), _) => {
                    if map.fields.contains_key(name) {
                        out.members.insert(element.clone());
                    }
                    map.type_of(name)
                }
                (PathElement::Key(_), _, Some(list)) => list.element,
                _ => Arena::NOTHING,
            };
            out.children
                .insert(element.clone(), below.with_named_fields(arena, type_));
        }
        out
    }

    /// The fields below a field.
    pub(crate) fn below(&self, element: &PathElement) -> Option<&FieldSet> {
        self.children.get(element).filter(|below| !below.is_empty())
    }

    /// Whether the set contains a top-level field.
    pub(crate) fn has_member(&self, element: &PathElement) -> bool {
        self.members.contains(element)
    }

    /// The top-level fields: first those with fields below them that are not members, then the members.
    pub(crate) fn top(&self) -> impl Iterator<Item = (&PathElement, bool, Option<&FieldSet>)> {
        let only_children = self
            .children
            .iter()
            .filter(|(element, _)| !self.members.contains(element));
        let only_children = only_children.map(|(element, below)| (element, false, Some(below)));
        let members = self
            .members
            .iter()
            .map(|element| (element, true, self.children.get(element)));
        only_children.chain(members)
    }

    /// The paths of the fields: top-level fields first, then those below them.
    pub fn paths(&self) -> Vec<Vec<PathElement>> {
        let mut paths = Vec::new();
        self.collect(&mut Vec::new(), &mut paths);
        paths
    }

    fn collect(&self, prefix: &mut Vec<PathElement>, paths: &mut Vec<Vec<PathElement>>) {
        for member in &self.members {
            let mut path = prefix.clone();
            path.push(member.clone());
            paths.push(path);
        }
        for (element, below) in &self.children {
            prefix.push(element.clone());
            below.collect(prefix, paths);
            prefix.pop();
        }
    }
}

#[cfg(test)]
mod tests;
