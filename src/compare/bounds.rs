//! Compares the bounds, formats and enums of a value.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::formats::{self, CheckedFormat};
use super::place::Part;
use super::schema::SchemaWalk;
use super::schema_change::SchemaChange;
use super::value_test::{ValueType, violates};
use super::{ChangeKind, SchemaPath};
use crate::text::shown;

/// Compares the bounds of a value if at least one type was allowed before and still is.
pub(super) fn compare(
    walk: &mut SchemaWalk<'_>,
    old: &Json,
    new: &Json,
    path: &SchemaPath,
    now: &BTreeSet<ValueType>,
) {
    if now.contains(&ValueType::Integer) {
        range(walk, old, new, path);
        multiple(walk, old, new, path);
    }
    if now.contains(&ValueType::String) {
        lengths(walk, old, new, path, "minLength", "maxLength", "character");
        pattern(walk, old, new, path);
    }
    if now.contains(&ValueType::List) {
        lengths(walk, old, new, path, "minItems", "maxItems", "item");
    }
    if now.contains(&ValueType::Object) {
        lengths(walk, old, new, path, "minProperties", "maxProperties", "field");
    }
    format(walk, old, new, path);
    one_of(walk, old, new, path);
    for key in ["allOf", "anyOf", "oneOf", "not"] {
        let of = |schema: &Json| match schema["x-kubernetes-int-or-string"] == true && key == "anyOf" {
            true => Json::Null,
            false => schema[key].clone(),
        };
        if !of(new).is_null() && of(old) != of(new) {
            let message = format!("has another `{key}`");
            walk.add(SchemaChange::refused(
                ChangeKind::SchemaChanged,
                path,
                Part::Type,
                message,
                violates(new, &[key]),
            ));
        }
    }
}

/// A bound of numbers, and whether it is exclusive.
type Bound = Option<(f64, bool)>;

fn range(walk: &mut SchemaWalk<'_>, old: &Json, new: &Json, path: &SchemaPath) {
    let bound = |schema: &Json, key: &str, exclusive: &str| -> Bound {
        Some((schema[key].as_f64()?, schema[exclusive] == true))
    };
    let said = |word: &str, bound: Bound| match bound {
        None => "without a bound".to_owned(),
        Some((number, true)) => format!("{word} than {number}"),
        Some((number, false)) if word == "more" => format!("at least {number}"),
        Some((number, false)) => format!("at most {number}"),
    };
    let least = |schema: &Json| bound(schema, "minimum", "exclusiveMinimum");
    let most = |schema: &Json| bound(schema, "maximum", "exclusiveMaximum");
    // Negated, an upper bound is a lower bound.
    let turned = |bound: Bound| bound.map(|(number, exclusive)| (-number, exclusive));
    let lower = tighter(least(old), least(new));
    let upper = tighter(turned(most(old)), turned(most(new)));
    let both = [
        (
            "minimum",
            "exclusiveMinimum",
            "more",
            lower,
            least(old),
            least(new),
        ),
        ("maximum", "exclusiveMaximum", "less", upper, most(old), most(new)),
    ];
    for (key, exclusive, word, change, before, now) in both {
        let Some(is_tighter) = change else {
            continue;
        };
        let message = format!("is {} instead of {}", said(word, now), said(word, before));
        match is_tighter {
            true => walk.add(SchemaChange::refused(
                ChangeKind::BoundTightened,
                path,
                Part::Key(key),
                message,
                violates(new, &[key, exclusive]),
            )),
            false => walk.add(SchemaChange::safe(
                ChangeKind::BoundLoosened,
                path,
                Part::Key(key),
                message,
            )),
        }
    }
}

/// Whether a lower bound is tighter than before, or `None` if it is the same.
fn tighter(old: Bound, new: Bound) -> Option<bool> {
    match (old, new) {
        (None, None) => None,
        (None, Some(_)) => Some(true),
        (Some(_), None) => Some(false),
        (Some(old), Some(new)) if old == new => None,
        (Some((old, old_exclusive)), Some((new, new_exclusive))) => {
            Some(new > old || new == old && new_exclusive && !old_exclusive)
        }
    }
}

fn multiple(walk: &mut SchemaWalk<'_>, old: &Json, new: &Json, path: &SchemaPath) {
    let key = "multipleOf";
    let (before, now) = (old[key].as_f64(), new[key].as_f64());
    match (before, now) {
        (Some(before), Some(now)) if (before / now).fract() == 0.0 => {}
        (_, Some(now)) => walk.add(SchemaChange::refused(
            ChangeKind::BoundTightened,
            path,
            Part::Key(key),
            format!("is a multiple of {now} now"),
            violates(new, &[key]),
        )),
        (Some(before), None) => {
            let message = format!("is not only a multiple of {before} any more");
            walk.add(SchemaChange::safe(
                ChangeKind::BoundLoosened,
                path,
                Part::Key(key),
                message,
            ));
        }
        (None, None) => {}
    }
}

fn lengths(
    walk: &mut SchemaWalk<'_>,
    old: &Json,
    new: &Json,
    path: &SchemaPath,
    least_key: &'static str,
    most_key: &'static str,
    unit: &str,
) {
    let plural = |count: u64| format!("{count} {unit}{}", if count == 1 { "" } else { "s" });
    let least = |schema: &Json| schema[least_key].as_u64().unwrap_or(0);
    let (before, now) = (least(old), least(new));
    if before != now {
        let message = format!("has at least {} instead of {before}", plural(now));
        walk.add(if now > before {
            SchemaChange::refused(
                ChangeKind::BoundTightened,
                path,
                Part::Key(least_key),
                message,
                violates(new, &[least_key]),
            )
        } else {
            SchemaChange::safe(ChangeKind::BoundLoosened, path, Part::Key(least_key), message)
        });
    }
    let most = |schema: &Json| schema[most_key].as_u64();
    let said = |bound: Option<u64>| match bound {
        Some(bound) => format!("at most {}", plural(bound)),
        None => format!("any number of {unit}s"),
    };
    let (before, now) = (most(old), most(new));
    if before != now {
        let message = format!("has {} instead of {}", said(now), said(before));
        walk.add(
            match now.filter(|now| before.is_none_or(|before| *now < before)) {
                Some(_) => SchemaChange::refused(
                    ChangeKind::BoundTightened,
                    path,
                    Part::Key(most_key),
                    message,
                    violates(new, &[most_key]),
                ),
                None => SchemaChange::safe(ChangeKind::BoundLoosened, path, Part::Key(most_key), message),
            },
        );
    }
}

fn pattern(walk: &mut SchemaWalk<'_>, old: &Json, new: &Json, path: &SchemaPath) {
    let part = Part::Key("pattern");
    match (old["pattern"].as_str(), new["pattern"].as_str()) {
        (before, Some(now)) if before != Some(now) => {
            let message = match before {
                Some(before) => format!("matches `{}` instead of `{}`", shown(now), shown(before)),
                None => format!("matches `{}` now", shown(now)),
            };
            walk.add(SchemaChange::refused(
                ChangeKind::PatternChanged,
                path,
                part,
                message,
                violates(new, &["pattern"]),
            ));
        }
        (Some(before), None) => {
            let message = format!("need not match `{}` any more", shown(before));
            walk.add(SchemaChange::safe(
                ChangeKind::PatternRemoved,
                path,
                part,
                message,
            ));
        }
        _ => {}
    }
}

fn format(walk: &mut SchemaWalk<'_>, old: &Json, new: &Json, path: &SchemaPath) {
    let named = |schema: &Json| schema["format"].as_str().map(shown);
    let (before, now) = (formats::checked(old), formats::checked(new));
    let Some(now) = now else {
        let message = match (named(old), named(new)) {
            _ if before == Some(CheckedFormat::Int32) && new["type"] == "integer" => {
                walk.add(SchemaChange::safe(
                    ChangeKind::NumberWidened,
                    path,
                    Part::Type,
                    "may have 64 bits now",
                ));
                return;
            }
            // The API server has not checked the format before either, but programs that read the schema may have.
            (Some(before), None) => format!("is not of the format `{before}` any more"),
            (Some(old), Some(_)) if before.is_some() => format!("need not be of the format `{old}` any more"),
            _ => return,
        };
        walk.add(SchemaChange::safe(
            ChangeKind::FormatRemoved,
            path,
            Part::Type,
            message,
        ));
        return;
    };
    let Some(format) = named(new) else { return };
    if formats::contains(now, before) {
        if before != Some(now) && old["type"] == new["type"] {
            let message = format!("is of the wider format `{format}` now");
            walk.add(SchemaChange::safe(
                ChangeKind::FormatRemoved,
                path,
                Part::Type,
                message,
            ));
        }
        return;
    }
    // Of an integer each value fits into a float.
    if now == CheckedFormat::Float && old["type"] == "integer" {
        return;
    }
    let test = violates(new, &["type", "format"]);
    let message = format!("is of the format `{format}` now");
    let found = SchemaChange::refused(ChangeKind::FormatChanged, path, Part::Type, message, test);
    walk.add(match now {
        // The operator has a Rust type of its own for these.
        CheckedFormat::Int32 | CheckedFormat::Text("datetime") => found.unreadable(),
        CheckedFormat::Float | CheckedFormat::Text(_) => found,
    });
}

fn one_of(walk: &mut SchemaWalk<'_>, old: &Json, new: &Json, path: &SchemaPath) {
    let said = |values: &[&Json]| {
        const MOST: usize = 5;
        let text = |value: &Json| match value {
            Json::String(text) => format!("`{}`", shown(text)),
            other => format!("`{}`", shown(&other.to_string())),
        };
        let mut all: Vec<String> = values.iter().take(MOST).map(|value| text(value)).collect();
        if values.len() > MOST {
            all.push(format!("{} more", values.len() - MOST));
        }
        all.join(", ")
    };
    let is_text = new["type"] == "string";
    match (old["enum"].as_array(), new["enum"].as_array()) {
        (None, Some(now)) => {
            let message = format!("is one of {} now", said(&now.iter().collect::<Vec<_>>()));
            let found = SchemaChange::refused(
                ChangeKind::EnumNarrowed,
                path,
                Part::Enum,
                message,
                violates(new, &["enum"]),
            );
            walk.add(if is_text { found.unreadable() } else { found });
        }
        (Some(_), None) => {
            walk.add(SchemaChange::safe(
                ChangeKind::EnumWidened,
                path,
                Part::Type,
                "may have any value now",
            ));
        }
        (Some(before), Some(now)) => {
            let gone: Vec<&Json> = before.iter().filter(|value| !now.contains(value)).collect();
            let added: Vec<&Json> = now.iter().filter(|value| !before.contains(value)).collect();
            if !gone.is_empty() {
                let message = format!("cannot be {} any more", said(&gone));
                let found = SchemaChange::refused(
                    ChangeKind::EnumNarrowed,
                    path,
                    Part::Enum,
                    message,
                    violates(new, &["enum"]),
                )
                .help("keep the value until no object has it");
                walk.add(if is_text { found.unreadable() } else { found });
            }
            if !added.is_empty() {
                let message = format!("may be {} too", said(&added));
                walk.add(SchemaChange::safe(
                    ChangeKind::EnumWidened,
                    path,
                    Part::Enum,
                    message,
                ));
            }
        }
        (None, None) => {}
    }
}
