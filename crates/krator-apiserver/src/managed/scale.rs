//! The managed fields of `/scale`, which shows one field of the object at another path, after `scalehandler.go` of
//! `k8s.io/apimachinery/pkg/util/managedfields`.

use super::entries::{Managed, VersionedSet};
use super::{entries_of, failed, set_managed, without_managed};
use crate::field_set::{FieldSet, PathElement};
use crate::refusal::Refusal;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

const SCALE: &str = "autoscaling/v1";

/// Converts managed fields between an object and its `/scale`.
#[derive(Debug, Clone)]
pub struct ScaleFields {
    /// The version of the object that is written through `/scale`.
    pub api_version: String,
    /// The path of the replicas in each version of the object, such as `["spec", "replicas"]`; empty if a version has
    /// none.
    pub replicas: BTreeMap<String, Vec<String>>,
}

impl ScaleFields {
    fn path(&self, api_version: &str) -> Option<Vec<PathElement>> {
        let path = self.replicas.get(api_version)?;
        Some(path.iter().map(|name| PathElement::field(name)).collect())
    }

    /// Adds the managers that own the replicas of the object to a Scale.
    ///
    /// # Errors
    /// 500 if the managed fields of the object are malformed.
    pub fn to_scale(&self, object: &Json, scale: &Json) -> Result<Json, Refusal> {
        let managed = decode(object)?;
        let mut of_scale = Managed::default();
        for (key, of) in &managed.fields {
            if self
                .path(&of.api_version)
                .is_some_and(|path| !path.is_empty() && of.set.has(&path))
            {
                let set = VersionedSet {
                    set: in_scale(),
                    api_version: SCALE.to_owned(),
                    applied: of.applied,
                };
                of_scale.fields.insert(key.clone(), set);
            }
        }
        of_scale.times = managed.times;
        Ok(with(scale, &of_scale))
    }

    /// Updates the managers of the object after its Scale was written.
    ///
    /// # Errors
    /// 500 if managed fields are malformed.
    pub fn to_object(&self, scale: &Json, object: &Json) -> Result<Json, Refusal> {
        let managed = decode(object)?;
        let mut of_scale = decode(scale)?.fields;
        let mut out = Managed {
            times: managed.times,
            ..Managed::default()
        };
        for (key, mut of) in managed.fields {
            let Some(path) = self.path(&of.api_version) else {
                continue;
            };
            // A manager that owns the replicas of the object but not of the Scale has lost them in this write.
            if !path.is_empty() && of.set.has(&path) && of_scale.remove(&key).is_none() {
                let mut taken = FieldSet::default();
                taken.insert(&path);
                of.set = of.set.difference(&taken);
            }
            if !of.set.is_empty() {
                out.fields.insert(key, of);
            }
        }
        let path = self.path(&self.api_version).unwrap_or_default();
        for (key, of) in of_scale {
            if of.set.intersection(&in_scale()).is_empty() {
                continue;
            }
            let mut set = FieldSet::default();
            set.insert(&path);
            let set = VersionedSet {
                set,
                api_version: self.api_version.clone(),
                applied: of.applied,
            };
            out.fields.insert(key, set);
        }
        Ok(with(object, &out))
    }
}

fn in_scale() -> FieldSet {
    FieldSet::of(&[&["spec", "replicas"]])
}

fn decode(object: &Json) -> Result<Managed, Refusal> {
    Managed::decode(&entries_of(object).unwrap_or_default()).map_err(failed)
}

fn with(object: &Json, managed: &Managed) -> Json {
    let mut object = without_managed(object);
    if object["metadata"].is_null() {
        object["metadata"] = json!({});
    }
    set_managed(&mut object, managed);
    object
}
