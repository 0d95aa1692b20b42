//! Which stored objects of a cluster a comparison breaks. The caller reads the objects, so this does no input or output.

use std::collections::BTreeMap;

use krator_machine::versions::Versions;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use super::affected::Affected;
use super::{Breaks, Change, ChangeKind, Comparison};
use crate::model::{Description, KindId, Lineage};
use crate::names::VersionName;
use crate::text::printable;
use crate::versions;

/// What is stored of a resource.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Listed {
    /// The objects, in the version that was asked for.
    pub objects: Vec<Json>,
    /// The versions in which some of them may be stored, as the definition says; `None` if that is unknown.
    pub versions: Option<Vec<String>>,
}

impl Listed {
    /// Whether an object breaks when a version is no longer there.
    fn without(&self, version: &VersionName) -> Breaks {
        match self.versions.as_deref() {
            Some(versions) if versions.iter().all(|stored| stored != version.as_str()) => Breaks::No,
            Some([_]) => Breaks::Yes,
            _ => Breaks::Maybe,
        }
    }
}

/// A resource under which objects are stored before the edit.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredResource {
    /// The kind, by the name that [`Change::kind`] has.
    pub kind: String,
    /// The name for kubectl: `plural.version.group`.
    pub name: String,
    /// The group and the version in which the objects are read.
    api_version: String,
    /// The conversions between the versions, unless objects are the same in all of them.
    versions: Option<Versions>,
}

/// The resources of the old description.
pub fn resources(old: &Description, new: &Description) -> Vec<StoredResource> {
    let lineage = Lineage::between(old, new);
    let called = |id: KindId| {
        let pair = lineage.kinds().iter().find(|pair| pair.former == id);
        let kind = pair.map_or(old.kind(id), |pair| new.kind(pair.now));
        kind.resource.kind.to_string()
    };
    old.kinds
        .iter()
        .enumerate()
        .map(|(id, kind)| {
            let (plural, version, group) = (
                &kind.resource.plural.value,
                &kind.resource.version.value,
                &kind.resource.group.value,
            );
            StoredResource {
                kind: called(KindId(id)),
                name: format!("{plural}.{version}.{group}"),
                api_version: format!("{group}/{version}"),
                versions: versions::of(old, kind),
            }
        })
        .collect()
}

impl StoredResource {
    /// Whether a change breaks an object: in one of its versions, if the change is about some. Nobody sees which version the
    /// object is stored in.
    /// `converted` has the object in versions that were asked about before.
    fn breaks(&self, change: &Change, object: &Json, converted: &mut BTreeMap<VersionName, Json>) -> Breaks {
        let is_of = |version: &str| self.api_version.rsplit('/').next() == Some(version);
        if change.versions.is_empty() || change.versions.iter().any(|version| is_of(version.as_str())) {
            return change.breaks(object);
        }
        let in_versions = change.versions.iter().map(|version| {
            let Some(versions) = &self.versions else {
                return change.breaks(object);
            };
            let object = converted.entry(version.clone()).or_insert_with(|| {
                let to = format!("{}/{version}", versions.group);
                // A value that code converts is judged as it is: the code is not here.
                let converted = versions.convert(object.clone(), &to, &|_, _, value| Ok(value));
                converted.unwrap_or_default()
            });
            change.breaks(object)
        });
        in_versions.max().unwrap_or(Breaks::No)
    }
}

/// The number of objects of a resource that break.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Census {
    /// The name of the resource for kubectl.
    pub resource: String,
    /// The number of objects.
    pub objects: usize,
    /// The number of those that break.
    pub breaking: usize,
    /// The number of the others that may break: only the API server can evaluate rules and patterns.
    pub doubtful: usize,
    /// For each change, by its index in the comparison: the names of objects that it breaks, and that it may break.
    pub by_change: BTreeMap<usize, (Vec<String>, Vec<String>)>,
}

/// The objects of a resource in a cluster, as `krator diff --against cluster --format json` prints them.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CensusReport<'a> {
    /// The resource, such as `moose.animals.com`.
    pub resource: &'a str,
    /// How many objects are stored.
    pub objects: usize,
    /// How many of them break.
    pub breaking: usize,
    /// How many of them may break.
    pub doubtful: usize,
    /// The objects by the change that breaks them.
    pub changes: Vec<BrokenObjects<'a>>,
}

/// The objects that a change breaks.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BrokenObjects<'a> {
    /// The kind of the change.
    pub change: ChangeKind,
    /// What has changed, in one sentence.
    pub message: &'a str,
    /// The names of the objects that break, with their namespaces.
    pub breaking: &'a [String],
    /// The names of the objects that may break.
    pub doubtful: &'a [String],
}

impl Census {
    /// Checks all objects of a resource against the comparison.
    pub fn of(comparison: &Comparison, resource: &StoredResource, stored: &Listed) -> Census {
        let objects = &stored.objects;
        let mut census = Census {
            resource: resource.name.clone(),
            objects: objects.len(),
            breaking: 0,
            doubtful: 0,
            by_change: BTreeMap::new(),
        };
        let is_of_kind = |change: &Change| change.kind.as_ref() == Some(&resource.kind);
        for object in objects {
            let (mut worst, mut converted) = (Breaks::No, BTreeMap::new());
            for (at, change) in comparison
                .changes
                .iter()
                .enumerate()
                .filter(|(_, change)| is_of_kind(change))
            {
                let breaks = match &change.affected {
                    Affected::StoredIn(version) => stored.without(version),
                    _ => resource.breaks(change, object, &mut converted),
                };
                worst = worst.max(breaks);
                if breaks != Breaks::No {
                    let (yes, maybe) = census.by_change.entry(at).or_default();
                    if breaks == Breaks::Yes { yes } else { maybe }.push(name(object));
                }
            }
            match worst {
                Breaks::Yes => census.breaking += 1,
                Breaks::Maybe => census.doubtful += 1,
                Breaks::No => {}
            }
        }
        census
    }

    /// The census for programs.
    pub fn report<'a>(&'a self, comparison: &'a Comparison) -> CensusReport<'a> {
        let by_change = self.by_change.iter().map(|(at, (breaking, doubtful))| {
            let change = &comparison.changes[*at];
            BrokenObjects {
                change: change.what,
                message: &change.message,
                breaking,
                doubtful,
            }
        });
        CensusReport {
            resource: &self.resource,
            objects: self.objects,
            breaking: self.breaking,
            doubtful: self.doubtful,
            changes: by_change.collect(),
        }
    }
}

fn name(object: &Json) -> String {
    let metadata = &object["metadata"];
    let name = metadata["name"].as_str().unwrap_or_default();
    match metadata["namespace"].as_str() {
        Some(namespace) => format!("{namespace}/{name}"),
        None => name.to_owned(),
    }
}

/// The census as text for people.
pub fn census_to_text(comparison: &Comparison, counted: &[Census]) -> String {
    /// The number of names that are shown for one change.
    const MOST: usize = 5;
    let named = |names: &[String]| {
        let mut shown: Vec<String> = names.iter().take(MOST).map(|name| printable(name)).collect();
        if names.len() > MOST {
            shown.push(format!("{} more", names.len() - MOST));
        }
        shown.join(", ")
    };
    let mut out = "in the cluster:\n\n".to_owned();
    for census in counted {
        let Census {
            resource,
            objects,
            breaking,
            doubtful,
            ..
        } = census;
        out.push_str(&format!(
            "  {resource}: {objects} stored, {breaking} break, {doubtful} may break\n"
        ));
        for (at, (yes, maybe)) in &census.by_change {
            out.push_str(&format!("    {}\n", comparison.changes[*at].message));
            for (word, names) in [("break", yes), ("may break", maybe)] {
                if !names.is_empty() {
                    out.push_str(&format!("      {} {word}: {}\n", names.len(), named(names)));
                }
            }
        }
    }
    out.push('\n');
    out
}
