//! Fields that only one of two versions has, and the matches between them.

use krator_machine::versions::{Path, Step};
use serde_json::Value as Json;

use crate::compare::schema::query::{members, required};
use crate::finding::closest;
use crate::names::plural;

/// A field that only one version has.
#[derive(Clone)]
pub(super) struct Lone<'j> {
    pub at: Path,
    pub schema: &'j Json,
    /// Whether every object of the version has the field.
    is_everywhere: bool,
    /// Whether the object around the field, if it exists, has the field.
    pub is_required: bool,
}

/// The fields that only one version has, below the same list or the root.
#[derive(Default)]
pub(super) struct Scope<'j> {
    /// The fields that only the former version has.
    pub gone: Vec<Lone<'j>>,
    /// The fields that only the new version has.
    pub added: Vec<Lone<'j>>,
}

impl<'j> Lone<'j> {
    pub fn new(at: Path, schema: &'j Json, is_required: bool) -> Self {
        Lone {
            at,
            schema,
            is_everywhere: is_required,
            is_required,
        }
    }

    fn name(&self) -> &str {
        match self.at.last() {
            Some(Step::Field(name)) => name,
            _ => "",
        }
    }

    fn parent(&self) -> &[Step] {
        self.at.split_last().map_or(&[], |(_, parent)| parent)
    }

    /// The fields in it that are not objects with fields.
    fn leaves(&self) -> Vec<Lone<'j>> {
        let fields = members(self.schema, "properties");
        if fields.is_empty() {
            return vec![self.clone()];
        }
        let below = fields.into_iter().flat_map(|(name, schema)| {
            let mut at = self.at.clone();
            at.push(Step::Field(name.to_owned()));
            let mut field = Lone::new(at, schema, required(self.schema).contains(name));
            field.is_everywhere &= self.is_everywhere;
            field.leaves()
        });
        below.collect()
    }

    /// Whether values of this field are valid in a field of the other version, and vice versa.
    fn fits(&self, other: &Lone<'_>, type_: &Json) -> bool {
        let plain = |schema: &Json| {
            let mut schema = schema.clone();
            for key in ["description", "example"] {
                schema.as_object_mut().map(|keys| keys.remove(key));
            }
            schema
        };
        plain(self.schema) == plain(type_) && (self.is_everywhere || !other.is_everywhere)
    }
}

impl Scope<'_> {
    /// Removes the fields that were renamed, and returns them.
    pub fn renamed(&mut self) -> Vec<(Path, Path)> {
        let pairs = pairs(&self.gone, &self.added, &may_be);
        self.gone
            .retain(|field| !pairs.iter().any(|(from, _)| *from == field.at));
        self.added
            .retain(|field| !pairs.iter().any(|(_, to)| *to == field.at));
        pairs
    }

    /// The removed fields that may be one of several new fields.
    pub fn unclear(&self) -> impl Iterator<Item = &Path> {
        let gone = self.gone.iter();
        gone.filter(|then| self.added.iter().any(|now| may_be(then, now)))
            .map(|field| &field.at)
    }

    /// Removes the fields that were moved to another object or to the first item of a list, and returns them.
    pub fn moved(&mut self) -> Vec<(Path, Path)> {
        let gone: Vec<Lone<'_>> = self.gone.iter().flat_map(Lone::leaves).collect();
        let added: Vec<Lone<'_>> = self.added.iter().flat_map(Lone::leaves).collect();
        // The spec and the status are never written together.
        let is_apart = |then: &Lone<'_>, now: &Lone<'_>| {
            then.at.first() == now.at.first()
                && !then.at.starts_with(&now.at)
                && !now.at.starts_with(&then.at)
        };
        let is_first = |then: &Lone<'_>, now: &Lone<'_>| {
            plural(then.name()) == now.name().to_ascii_lowercase()
                && now.schema.get("items").is_some_and(|item| then.fits(now, item))
        };
        let is_same = |then: &Lone<'_>, now: &Lone<'_>| {
            is_apart(then, now)
                && (then.name() == now.name() && then.fits(now, now.schema) || is_first(then, now))
        };
        let mut pairs = pairs(&gone, &added, &is_same);
        let (from, to): (Vec<Path>, Vec<Path>) = pairs.iter().cloned().unzip();
        for (fields, taken) in [(&mut self.gone, &from), (&mut self.added, &to)] {
            let is_taken = |path: &Path| taken.contains(path);
            let rest = fields.iter().flat_map(|field| {
                let leaves = field.leaves();
                match leaves.iter().any(|leaf| is_taken(&leaf.at)) {
                    true => leaves.into_iter().filter(|leaf| !is_taken(&leaf.at)).collect(),
                    false => vec![field.clone()],
                }
            });
            *fields = rest.collect();
        }
        for (from, to) in &mut pairs {
            if from.last() != to.last() {
                to.push(Step::Index(0));
            }
        }
        pairs
    }
}

/// Whether a removed field may be a new one under another name.
fn may_be(then: &Lone<'_>, now: &Lone<'_>) -> bool {
    then.at != now.at && then.parent() == now.parent() && then.fits(now, now.schema)
}

/// Pairs each removed field with the new field that replaces it: the only possible one, or otherwise the one with the
/// most similar name.
fn pairs(
    gone: &[Lone<'_>],
    added: &[Lone<'_>],
    is_same: &dyn Fn(&Lone<'_>, &Lone<'_>) -> bool,
) -> Vec<(Path, Path)> {
    let mut pairs: Vec<(Path, Path)> = Vec::new();
    for then in gone {
        let fits: Vec<&Lone<'_>> = added.iter().filter(|now| is_same(then, now)).collect();
        let rivals = |now: &Lone<'_>| gone.iter().filter(|then| is_same(then, now)).count();
        let found = match fits[..] {
            [now] if rivals(now) == 1 => Some(now),
            _ => {
                let similar = closest(then.name(), fits.iter().map(|now| now.name()));
                let similar = similar.filter(|similar| similar.is_only);
                similar.and_then(|similar| fits.iter().copied().find(|now| now.name() == similar.name))
            }
        };
        let is_free = |now: &&Lone<'_>| !pairs.iter().any(|(_, to)| *to == now.at);
        if let Some(now) = found.filter(is_free) {
            pairs.push((then.at.clone(), now.at.clone()));
        }
    }
    pairs
}
