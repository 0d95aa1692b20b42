//! Values at paths of objects, and the times that are read from them.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value as Json;
use std::time::Duration;

use crate::model::{FieldPath, MomentUnit, PathRoot, Period, Segment, parse_duration};

/// The values at a path. A path leads to several where it leads through lists.
pub(crate) fn values_at<'a>(object: &'a Json, path: &FieldPath) -> Vec<&'a Json> {
    let root = match &path.root {
        PathRoot::Spec => &object["spec"],
        PathRoot::Status => &object["status"],
        PathRoot::Metadata => &object["metadata"],
        PathRoot::Label(key) => return object["metadata"]["labels"].get(key).into_iter().collect(),
    };
    let step = |values: Vec<&'a Json>, segment: &Segment| -> Vec<&'a Json> {
        let below = |value: &'a Json| -> Vec<&'a Json> {
            let items = || value.as_array().into_iter().flatten();
            match segment {
                Segment::Field(name) => value.get(name).into_iter().collect(),
                Segment::Each => items().collect(),
                Segment::Where { field, value } => items().filter(|item| item[field] == **value).collect(),
            }
        };
        values.into_iter().flat_map(below).collect()
    };
    path.segments.iter().fold(vec![root], step)
}

/// A period, read for one object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    After(Duration),
    At(Timestamp),
}

impl When {
    /// The point in time, counted from another one.
    pub(super) fn from(self, start: Timestamp) -> Option<Timestamp> {
        match self {
            When::After(after) => start.checked_add(SignedDuration::try_from(after).ok()?).ok(),
            When::At(time) => Some(time),
        }
    }
}

/// What a period is for an object; none if its field is absent or zero.
pub(super) fn when(object: &Json, period: &Period) -> Option<When> {
    let field = match period {
        Period::Fixed(after) => return Some(When::After(*after)),
        Period::Field(field) => field,
    };
    let value = values_at(object, &field.path).into_iter().next()?;
    let after = match field.unit {
        MomentUnit::Instant => return Some(When::At(value.as_str()?.parse().ok()?)),
        MomentUnit::Duration => parse_duration(value.as_str()?)?,
        MomentUnit::Seconds => Duration::from_secs(value.as_u64()?),
    };
    (!after.is_zero()).then_some(When::After(after))
}

/// Whether the timeout of a state has led from it at this point in time already. It does so once.
pub(super) fn has_fired(object: &Json, state: &str, time: Timestamp) -> bool {
    let mut fired = object["status"]["firedTimeouts"].as_array().into_iter().flatten();
    fired.any(|fired| {
        let at = fired["at"].as_str().and_then(|at| at.parse::<Timestamp>().ok());
        fired["state"] == state && at == Some(time)
    })
}
