//! One change from a version to the next newer one: its parsing, and its reversal in the schema of the newer version.

use krator_machine::versions::{Change, Direction, Path, Step, nested, nested_value, path_text};
use serde_json::{Value as Json, json};

use super::bounds::{self, Lost};
use super::shapes::{self, Taken, Unfit};
use crate::catalog::keys::ChangeKey;
use crate::catalog::{CONVERSION_INVALID, LOSSY_CONVERSION, WRONG_TYPE};
use crate::finding::{Finding, Span, Spanned};
use crate::model::DURATION_UNITS;
use crate::model::lower::keys::Keys;
use crate::model::lower::nodes::{Input, entries, list, text};
use crate::model::lower::schema::{Types, typed_json};
use crate::model::{FieldPath, PathRoot, Schema, Segment, Shape};

/// A change as it is written.
pub(super) enum Written<'a> {
    /// `renamed` or `moved`.
    Moved { from: Path, to: Path, is_renamed: bool },
    /// `values`.
    Values { at: Path, map: Vec<(Json, Vec<String>)> },
    /// `added`.
    Added { at: Path, default: Option<Input<'a>> },
    /// `removed`.
    Removed { at: Path, schema: Box<Schema> },
    /// `retyped`.
    Retyped {
        at: Path,
        from: Box<Schema>,
        unit: &'static str,
    },
    /// `custom`.
    Custom { at: Path, from: Box<Schema> },
}

impl<'a> Written<'a> {
    /// Reads a change.
    pub fn read(node: Input<'a>, types: &mut Types<'a>) -> Option<Self> {
        Keys::mapping(node, |keys| {
            const KINDS: [ChangeKey; 6] = [
                ChangeKey::Renamed,
                ChangeKey::Moved,
                ChangeKey::Values,
                ChangeKey::Added,
                ChangeKey::Removed,
                ChangeKey::Retyped,
            ];
            let mut kinds = KINDS
                .into_iter()
                .chain([ChangeKey::Custom])
                .filter(|key| keys.has(*key));
            let (Some(kind), None) = (kinds.next(), kinds.next()) else {
                let message = "a change needs exactly one of `renamed`, `moved`, `values`, `added`, `removed`, `retyped` and `custom`";
                return node.refuse(Finding::new(&WRONG_TYPE, node.span, message));
            };
            let at = keys.read(kind, path)?;
            Some(match kind {
                ChangeKey::Renamed | ChangeKey::Moved => Written::Moved {
                    from: at,
                    to: keys.need(ChangeKey::To).and_then(path)?,
                    is_renamed: matches!(kind, ChangeKey::Renamed),
                },
                ChangeKey::Values => Written::Values {
                    at,
                    map: keys.need(ChangeKey::Map).map(map)?,
                },
                ChangeKey::Added => Written::Added {
                    at,
                    default: keys.entry(ChangeKey::Default).map(|entry| entry.value),
                },
                ChangeKey::Removed => Written::Removed {
                    at,
                    schema: Box::new(keys.need(ChangeKey::Type).map(|node| types.schema(node))?),
                },
                ChangeKey::Retyped => Written::Retyped {
                    at,
                    from: Box::new(keys.need(ChangeKey::From).map(|node| types.schema(node))?),
                    unit: keys.word(ChangeKey::Unit, &DURATION_UNITS)?.value,
                },
                _ => Written::Custom {
                    at,
                    from: Box::new(keys.need(ChangeKey::From).map(|node| types.schema(node))?),
                },
            })
        })
    }

    /// Converts the schema of the newer version to that of the older one. Returns the changes that convert an object of
    /// the older version to the newer one, in this order: usually a single change.
    pub fn undo(
        self,
        root: &mut Schema,
        types: &Types<'_>,
        version: &str,
        span: Span,
        lost: &mut Lost,
    ) -> Result<Vec<Change>, Box<Finding>> {
        let before = root.clone();
        let unfit = |why: Unfit| {
            let message = format!("this change is impossible: {why}");
            let finding = Finding::new(&CONVERSION_INVALID, span, message);
            Box::new(
                finding.help("list the changes from this version to the next newer version, in their order"),
            )
        };
        let lossy = |why: Unfit| {
            let message = format!("this change can lose data: {why}");
            Box::new(Finding::new(&LOSSY_CONVERSION, span, message))
        };
        let made = self.made(root, types, version, span).map_err(unfit);
        let made = made.and_then(|changes| {
            let mut all = changes.iter();
            all.try_for_each(|change| bounds::may_ride(types, &before, change))
                .map_err(lossy)?;
            Ok(changes)
        });
        match &made {
            Ok(changes) => changes.iter().rev().for_each(|change| {
                bounds::leave_out(types, &before, root, change, lost);
                defaults(root, change);
            }),
            Err(_) => *root = before,
        }
        made
    }

    fn made(
        self,
        root: &mut Schema,
        types: &Types<'_>,
        version: &str,
        span: Span,
    ) -> Result<Vec<Change>, Unfit> {
        match self {
            Written::Moved { from, to, is_renamed } => {
                if is_renamed && from[..from.len() - 1] != to[..to.len() - 1] {
                    return Err("a field that gets another parent is `moved`, not `renamed`".to_owned());
                }
                moved(root, types, (from, to), span)
            }
            Written::Values { at, map } => values(root, types, at, map),
            Written::Added { at, default } => {
                let (last, above) = at.split_last().ok_or("the path names no field")?;
                let parent = shapes::at(types, root, above)?;
                let (Step::Field(name), Shape::Object(fields)) = (last, &mut parent.shape) else {
                    return Err("only a field can be `added`".to_owned());
                };
                let found = fields.iter().position(|field| field.name.as_str() == name);
                let field = fields.remove(found.ok_or_else(|| format!("there is no field `{name}`"))?);
                let written = match default {
                    Some(node) => typed_json("default", node, &field.schema, types),
                    None => types.inlined(&field.schema).default.map(|default| default.value),
                };
                if written.is_none() && !field.schema.optional {
                    return Err(
                        "the field is required, so it needs a `default` for objects of this version"
                            .to_owned(),
                    );
                }
                Ok(vec![Change::Added { at, default: written }])
            }
            Written::Removed { at, schema } => {
                let (_, above) = at.split_last().ok_or("the path names no field")?;
                let default = types.inlined(&schema).default.map(|default| default.value);
                if default.is_none() && !schema.optional {
                    return Err(
                        "a field that newer versions lack has to be `optional`, or needs a `default`"
                            .to_owned(),
                    );
                }
                let parent = shapes::at(types, root, above)?;
                shapes::put(types, parent, &at[above.len()..], *schema, span)?;
                Ok(vec![Change::Removed { at, default }])
            }
            Written::Retyped { at, from, unit } => {
                let schema = shapes::at(types, root, &at)?;
                let (is_duration, is_number) = (
                    matches!(schema.shape, Shape::Duration),
                    matches!(from.shape, Shape::Integer),
                );
                if !is_duration || !is_number {
                    return Err(
                        "`retyped` only converts an `integer` to a `duration`; use `custom` for other types"
                            .to_owned(),
                    );
                }
                let limits = &mut schema.constraints.limits;
                let older = &from.constraints;
                if !limits.is_empty() || !older.limits.is_empty() || !older.one_of.is_empty() {
                    return Err("a number or duration with bounds cannot be `retyped`, because bounds are not converted".to_owned());
                }
                let change = Change::Duration {
                    at,
                    unit: unit.to_owned(),
                };
                schema.shape = Shape::Integer;
                // A larger number would exceed the maximum of a duration.
                let most = i64::MAX / nanoseconds(unit);
                limits.insert("minimum", Spanned::new(json!(0), span));
                limits.insert("maximum", Spanned::new(json!(most), span));
                Ok(vec![change])
            }
            Written::Custom { at, from } => {
                let schema = shapes::at(types, root, &at)?;
                *schema = Schema {
                    optional: from.optional || schema.optional || schema.default.is_some(),
                    rust_name: from.rust_name.clone().or(schema.rust_name.take()),
                    ..*from
                };
                let function = format!("{version}{}", path_text(&at));
                Ok(vec![Change::Custom {
                    at,
                    function,
                    newer: None,
                    older: None,
                }])
            }
        }
    }
}

fn nanoseconds(unit: &str) -> i64 {
    match unit {
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        _ => 3_600_000_000_000,
    }
}

fn moved(
    root: &mut Schema,
    types: &Types<'_>,
    (from, to): (Path, Path),
    span: Span,
) -> Result<Vec<Change>, Unfit> {
    let above = |path: &[Step]| {
        path.iter()
            .rposition(|step| *step == Step::Each)
            .map_or(1, |at| at + 1)
    };
    let shared = above(&to);
    if from.get(..shared) != to.get(..shared) || above(&from) != shared {
        let why = "both paths have to be in the spec or both in the status, and equal up to the last `[*]`";
        return Err(why.to_owned());
    }
    // The objects and lists around both places exist for both fields or for neither.
    let both = from[..from.len() - 1].iter().zip(&to[..to.len() - 1]);
    let shared = both.take_while(|(from, to)| from == to).count().max(shared);
    let parent = shapes::at(types, root, &to[..shared])?;
    let Taken {
        schema,
        kept,
        required,
    } = shapes::take(types, parent, &to[shared..])?;
    // The API server ignores a default of null.
    let default = types.inlined(&schema).default;
    let is_optional = schema.optional || default.is_some_and(|default| default.value.is_null());
    let from_kept = shared + shapes::put(types, parent, &from[shared..], schema, span)?;
    renamed_keys(types, root, (&from, &to));
    let mut made = Vec::new();
    if is_optional {
        for (steps, is_list) in required {
            let at = to[..shared + steps].to_vec();
            let default = Some(if is_list { json!([]) } else { json!({}) });
            made.push(Change::Added { at, default });
        }
        // From the outermost to the innermost.
        made.reverse();
    }
    made.push(Change::Moved {
        from,
        from_kept,
        to_kept: shared + kept,
        to,
    });
    Ok(made)
}

/// Updates the keys that identify the items of a list, if the change renames one of them.
fn renamed_keys(types: &Types<'_>, root: &mut Schema, (from, to): (&[Step], &[Step])) {
    let ([list @ .., Step::Each, Step::Field(old)], [.., Step::Field(new)]) = (from, to) else {
        return;
    };
    let Ok(list) = shapes::at(types, root, list) else {
        return;
    };
    let keys = list
        .extensions
        .iter_mut()
        .find(|(key, _)| key.value == "x-kubernetes-list-map-keys");
    for key in keys
        .into_iter()
        .flat_map(|(_, keys)| keys.as_array_mut())
        .flatten()
    {
        if key == new {
            *key = old.as_str().into();
        }
    }
}

fn values(
    root: &mut Schema,
    types: &Types<'_>,
    at: Path,
    map: Vec<(Json, Vec<String>)>,
) -> Result<Vec<Change>, Unfit> {
    let schema = shapes::at(types, root, &at)?;
    let Shape::Enum(newer) = &schema.shape else {
        return Err("`values` requires a field with an `enum`".to_owned());
    };
    let pairs: Vec<(Json, Json)> = map
        .iter()
        .flat_map(|(older, newer)| {
            newer
                .iter()
                .map(|newer| (older.clone(), Json::from(newer.as_str())))
        })
        .collect();
    if let Some((_, unknown)) = pairs
        .iter()
        .find(|(_, new)| !newer.iter().any(|value| *new == value.value))
    {
        return Err(format!("the `enum` has no value {unknown}"));
    }
    let is_mapped = |value: &str| pairs.iter().any(|(_, new)| new == value);
    let unmapped: Vec<Spanned<String>> = newer
        .iter()
        .filter(|value| !is_mapped(&value.value))
        .cloned()
        .collect();
    if let Some(both) = unmapped
        .iter()
        .find(|value| map.iter().any(|(older, _)| *older == value.value))
    {
        return Err(format!(
            "`{}` is a value of both versions, but with different meanings",
            both.value
        ));
    }
    if map.iter().all(|(older, _)| older.is_boolean()) {
        if let Some(value) = unmapped.first() {
            return Err(format!("no older value is converted to `{}`", value.value));
        }
        schema.shape = Shape::Boolean;
    } else {
        let span = schema.span;
        let older = map.iter().map(|(older, _)| older.as_str().map(str::to_owned));
        let older: Option<Vec<String>> = older.collect();
        let older = older.ok_or("the older values have to be all booleans or all strings")?;
        let older = older.into_iter().map(|value| Spanned::new(value, span));
        schema.shape = Shape::Enum(older.chain(unmapped).collect());
    }
    Ok(vec![Change::Values { at, map: pairs }])
}

/// Reads `map`: for each older value the newer one, or several, the first of which is the result of a conversion.
fn map(node: Input<'_>) -> Vec<(Json, Vec<String>)> {
    let entries = entries(node, "values by the older value").into_iter();
    entries
        .map(|entry| {
            let older = match entry.key {
                "true" => Json::Bool(true),
                "false" => Json::Bool(false),
                text => text.into(),
            };
            let newer = match entry.value.scalar() {
                Some(_) => text(entry.value).into_iter().collect(),
                None => list(entry.value, "a value or a list of values")
                    .into_iter()
                    .filter_map(text)
                    .collect::<Vec<_>>(),
            };
            (older, newer.into_iter().map(|text| text.value).collect())
        })
        .collect()
}

/// Reads the path of a field of the spec or of the status. `[0]` is the first item of a list.
fn path(node: Input<'_>) -> Option<Path> {
    let written = text(node)?;
    let refuse = |why: &str| {
        let message = format!(
            "`{}` is not the path of a field",
            crate::text::shown(&written.value)
        );
        node.refuse(Finding::new(&WRONG_TYPE, written.span, message).help(why))
    };
    let parsed = match FieldPath::parse(&written.value.replace("[0]", "[*]")) {
        Ok(parsed) => parsed,
        Err(why) => return refuse(why),
    };
    let root = match parsed.root {
        PathRoot::Spec => "spec",
        PathRoot::Status => "status",
        _ => return refuse("name a field of `.spec` or `.status`"),
    };
    let mut items = written
        .value
        .match_indices('[')
        .map(|(at, _)| written.value[at..].starts_with("[0]"));
    let mut path = vec![Step::Field(root.to_owned())];
    for segment in parsed.segments {
        path.push(match segment {
            Segment::Field(name) => Step::Field(name),
            Segment::Each if items.next() == Some(true) => Step::Index(0),
            Segment::Each => Step::Each,
            Segment::Where { .. } => return refuse("name all items with `[*]`"),
        });
    }
    Some(path)
}

/// Converts the defaults and examples around a place to the older version.
fn defaults(root: &mut Schema, change: &Change) {
    let mut done: Vec<&[Step]> = Vec::new();
    // A field with a custom conversion has the type, the default and the example that are written for the older
    // version.
    let own = usize::from(!matches!(change, Change::Custom { .. }));
    for place in change.places() {
        for length in 1..place.len() + own {
            let steps = &place[..length];
            // Fields that were moved here are converted already.
            if done.contains(&steps) {
                continue;
            }
            done.push(steps);
            if let Some(schema) = shapes::find(root, steps) {
                for value in [&mut schema.default, &mut schema.example].into_iter().flatten() {
                    let mut object = nested(steps, value.value.take());
                    change.apply_without_functions(&mut object, Direction::Down);
                    let inner = nested_value(&mut object, steps);
                    value.value = inner.map(Json::take).unwrap_or_default();
                }
            }
        }
    }
}
