//! The fields of an object that times, limits and gates are read from.

use krator_machine::FieldValue;
use krator_machine::nearest;
use serde_json::Value as Json;

use super::states;
use crate::model::{
    FieldPath, Kind, MomentUnit, PathRoot, Period, Recurrence, Segment, TextSource, Times, When,
};

/// A field that times, limits or gates are read from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field<'k> {
    pub path: &'k FieldPath,
    holds: Holds,
}

/// The value that is read from a field.
#[derive(Debug, Clone, Copy)]
enum Holds {
    /// A time in this unit.
    Moment(MomentUnit),
    Number,
    Text,
}

/// The fields that times, limits and gates are read from, in the order of their numbers, and whether each holds a text.
pub fn fields(kind: &Kind) -> Vec<(&FieldPath, bool)> {
    let fields = fields_of(kind).into_iter();
    fields
        .map(|field| (field.path, matches!(field.holds, Holds::Text)))
        .collect()
}

pub(super) fn fields_of<'a>(kind: &'a Kind) -> Vec<Field<'a>> {
    let mut fields: Vec<Field<'a>> = Vec::new();
    let limits = kind.limits.iter().filter_map(|limit| limit.per.as_ref());
    let mut add = |field: Field<'a>| {
        if fields.iter().all(|known| known.path != field.path) {
            fields.push(field);
        }
    };
    for state in states(kind) {
        let poll = state.wait.as_ref().and_then(|wait| wait.poll.as_ref());
        let (after, slots) = match state.timeout.as_ref().map(|timeout| &timeout.when) {
            Some(When::After(after)) => (Some(after), None),
            Some(When::At(starts, deadline)) => (deadline.as_ref(), Some(starts)),
            None => (None, None),
        };
        let window = state.gate.as_ref().and_then(|gate| gate.during.as_ref());
        let periods = poll
            .into_iter()
            .chain(after)
            .chain(window.map(|window| &window.duration))
            .filter_map(|period| match &period.value {
                Period::Field(field) => Some(Field {
                    path: &field.path,
                    holds: Holds::Moment(field.unit),
                }),
                Period::Fixed(_) => None,
            });
        let times = state.limit.as_ref().and_then(|limit| match &limit.times.value {
            Times::Field(path) => Some(Field {
                path,
                holds: Holds::Number,
            }),
            Times::Number(_) => None,
        });
        let texts = slots
            .into_iter()
            .chain(window.map(|window| &window.starts))
            .flat_map(Recurrence::texts)
            .filter_map(|text| match &text.value {
                TextSource::Field(path) => Some(Field {
                    path,
                    holds: Holds::Text,
                }),
                TextSource::Fixed(_) => None,
            });
        periods.chain(times).chain(texts).for_each(&mut add);
    }
    limits.for_each(|path| {
        add(Field {
            path: &path.value,
            holds: Holds::Text,
        });
    });
    fields
}

/// The values at a path of an object. There may be several if the path leads through lists.
pub fn values_at<'a>(object: &'a Json, path: &FieldPath) -> Vec<&'a Json> {
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

/// The values of these fields in an object, as an operator reads them from its type.
pub fn field_values(kind: &Kind, object: &Json) -> Vec<Option<FieldValue>> {
    fields_of(kind)
        .into_iter()
        .map(|field| field.value(object))
        .collect()
}

impl Field<'_> {
    fn value(&self, object: &Json) -> Option<FieldValue> {
        let value = values_at(object, self.path).into_iter().next()?;
        match self.holds {
            Holds::Text => match value.as_str()? {
                "" => None,
                text => Some(FieldValue::Text(text.into())),
            },
            Holds::Moment(MomentUnit::Instant) => nearest::time(value.as_str()?).map(FieldValue::At),
            Holds::Moment(MomentUnit::Duration) => {
                let duration = nearest::duration(value.as_str()?)?;
                (!duration.is_zero()).then_some(FieldValue::For(duration))
            }
            Holds::Moment(MomentUnit::Seconds) | Holds::Number => {
                u32::try_from(value.as_i64()?).ok().map(FieldValue::Number)
            }
        }
    }
}
