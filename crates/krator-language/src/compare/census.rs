//! Counts the stored objects of a cluster that a comparison breaks. The caller reads the objects, so this module has no
//! input or output.

use std::collections::BTreeMap;

use k8s_openapi::jiff::Timestamp;
use krator_machine::versions::Versions;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use super::affected::Affected;
use super::forecast::with_machine;
use super::next::{Next, NextReport};
use super::objects::{name, named};
use super::{Breaks, Change, ChangeKind, Comparison};
use crate::model::{Description, KindId, Lineage};
use crate::names::VersionName;
use crate::versions;

/// The number of names that are shown of a group, unless all are requested.
const SOME: usize = 5;

/// The stored objects of a resource, or a page of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Listed {
    /// The objects, in the requested version.
    pub objects: Vec<Json>,
    /// The versions in which some of them may be stored, according to the definition; `None` if unknown.
    pub versions: Option<Vec<String>>,
    /// The time by the API server's clock; `None` if unknown.
    pub time: Option<Timestamp>,
}

impl Listed {
    /// Whether an object breaks if a version is removed.
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
    /// The kind, by the name in [`Change::kind`].
    pub kind: String,
    /// The name for kubectl: `plural.version.group`.
    pub name: String,
    /// The group and the version in which the objects are read.
    api_version: String,
    /// The conversions between the versions, unless objects are the same in all of them.
    versions: Option<Versions>,
    former: KindId,
    /// The kind in the new description, if it has a resource of this name.
    now: Option<KindId>,
}

/// The resources of the old description.
pub fn resources(old: &Description, new: &Description) -> Vec<StoredResource> {
    let lineage = Lineage::between(old, new);
    let became = |id: KindId| {
        let pair = lineage.kinds().iter().find(|pair| pair.former == id);
        pair.map(|pair| pair.now)
    };
    old.kinds
        .iter()
        .enumerate()
        .map(|(id, kind)| {
            let now = became(KindId(id));
            let called = now.map_or(kind, |now| new.kind(now));
            let is_there = |now: &KindId| new.kind(*now).resource.definition() == kind.resource.definition();
            let (plural, version, group) = (
                &kind.resource.plural.value,
                &kind.resource.version.value,
                &kind.resource.group.value,
            );
            StoredResource {
                kind: called.resource.kind.to_string(),
                name: format!("{plural}.{version}.{group}"),
                api_version: format!("{group}/{version}"),
                versions: versions::of(old, kind),
                former: KindId(id),
                now: now.filter(is_there),
            }
        })
        .collect()
}

impl StoredResource {
    /// Whether a change breaks an object: in one of its versions, if the change is about some. The version in which the
    /// object is stored is unknown. `converted` caches the object in the versions that it was converted to.
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
                // Values with custom conversions are checked unconverted, because their code is not available.
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
    /// The forecast for the objects; `None` if the new description does not have the resource, or if the time is
    /// unknown.
    pub next: Option<Next>,
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
    /// Their fate; absent if the new description does not have the resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<NextReport<'a>>,
}

/// The objects that a change breaks.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BrokenObjects<'a> {
    /// The kind of the change.
    pub change: ChangeKind,
    /// The change, in one sentence.
    pub message: &'a str,
    /// The names of the objects that break, with their namespaces.
    pub breaking: &'a [String],
    /// The names of the objects that may break.
    pub doubtful: &'a [String],
}

impl Census {
    /// An empty census of a resource.
    pub fn new(resource: &StoredResource) -> Census {
        Census {
            resource: resource.name.clone(),
            objects: 0,
            breaking: 0,
            doubtful: 0,
            by_change: BTreeMap::new(),
            next: None,
        }
    }

    /// Checks objects of a resource against a comparison, and adds the forecast for them.
    pub fn add(
        &mut self,
        comparison: &Comparison,
        [old, new]: [&Description; 2],
        resource: &StoredResource,
        stored: &Listed,
    ) {
        self.count(comparison, resource, stored);
        if let (Some(time), Some(now)) = (stored.time, resource.now) {
            let (former, now) = (old.kind(resource.former), new.kind(now));
            let next = self.next.get_or_insert_default();
            with_machine(old, former, |before| {
                with_machine(new, now, |after| {
                    next.add((before, after), now, &stored.objects, time)
                });
            });
        }
    }

    fn count(&mut self, comparison: &Comparison, resource: &StoredResource, stored: &Listed) {
        let objects = &stored.objects;
        self.objects += objects.len();
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
                    let (yes, maybe) = self.by_change.entry(at).or_default();
                    if breaks == Breaks::Yes { yes } else { maybe }.push(name(object));
                }
            }
            match worst {
                Breaks::Yes => self.breaking += 1,
                Breaks::Maybe => self.doubtful += 1,
                Breaks::No => {}
            }
        }
    }

    /// The report for programs.
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
            next: self.next.as_ref().map(Next::report),
        }
    }
}

/// The text for users, with all names or some.
pub fn census_to_text(comparison: &Comparison, counted: &[Census], lists_all: bool) -> String {
    let most = if lists_all { usize::MAX } else { SOME };
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
                    out.push_str(&format!("      {} {word}: {}\n", names.len(), named(names, most)));
                }
            }
        }
        if let Some(next) = &census.next {
            out.push_str(&next.to_text(most));
        }
    }
    out.push('\n');
    out
}
