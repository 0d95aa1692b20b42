//! Compares the bounds, formats and enums of a value.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::formats::{self, CheckedFormat};
use crate::compare::affected::{ValueType, violates};
use crate::compare::place::Part;
use crate::compare::schema_change::{SchemaChange, SchemaChanges};
use crate::compare::{ChangeKind, SchemaPath};
use crate::text::shown;

/// Compares the bounds of a value if at least one type was allowed before and still is.
pub(super) fn compare(
    changes: &mut SchemaChanges,
    old: &Json,
    new: &Json,
    path: &SchemaPath,
    now: &BTreeSet<ValueType>,
) {
    let mut values = Values {
        changes,
        old,
        new,
        path,
    };
    if now.contains(&ValueType::Integer) {
        values.range("minimum", "exclusiveMinimum", 1.0);
        values.range("maximum", "exclusiveMaximum", -1.0);
        values.multiple();
    }
    if now.contains(&ValueType::String) {
        values.lengths("minLength", "maxLength", "character");
        values.pattern();
    }
    if now.contains(&ValueType::List) {
        values.lengths("minItems", "maxItems", "item");
    }
    if now.contains(&ValueType::Object) {
        values.lengths("minProperties", "maxProperties", "field");
    }
    values.format();
    values.one_of();
    for key in ["allOf", "anyOf", "oneOf", "not"] {
        let of = |schema: &Json| match schema["x-kubernetes-int-or-string"] == true && key == "anyOf" {
            true => Json::Null,
            false => schema[key].clone(),
        };
        if !of(new).is_null() && of(old) != of(new) {
            let message = format!("has a different `{key}`");
            values.refused(ChangeKind::SchemaChanged, Part::Type, message, &[key]);
        }
    }
}

/// The schemas of a value before and after the edit.
struct Values<'a> {
    changes: &'a mut SchemaChanges,
    old: &'a Json,
    new: &'a Json,
    path: &'a SchemaPath,
}

impl Values<'_> {
    fn safe(&mut self, what: ChangeKind, part: Part, message: impl AsRef<str>) {
        self.changes.safe(what, self.path, part, message);
    }

    /// Adds a change because of which these keywords of the schema refuse values.
    fn refused(&mut self, what: ChangeKind, part: Part, message: String, keywords: &[&str]) {
        let affected = violates(self.new, keywords);
        self.changes.refused(what, self.path, part, message, affected);
    }

    /// Adds the change of a bound, by its keyword and the keywords that qualify it.
    fn bound(&mut self, keywords: &[&'static str], message: String, is_tighter: bool) {
        let part = Part::Key(keywords[0]);
        if is_tighter {
            self.refused(ChangeKind::BoundTightened, part, message, keywords);
        } else {
            self.safe(ChangeKind::BoundLoosened, part, message);
        }
    }

    /// A lower bound of numbers, or with the sign -1 an upper one.
    fn range(&mut self, key: &'static str, exclusive: &'static str, sign: f64) {
        let bound = |schema: &Json| Some((schema[key].as_f64()?, schema[exclusive] == true));
        let (before, now) = (bound(self.old), bound(self.new));
        let is_tighter = match (before, now) {
            _ if before == now => return,
            (None, _) => true,
            (Some(_), None) => false,
            (Some((old, was_exclusive)), Some((new, is_exclusive))) => {
                sign * new > sign * old || new == old && is_exclusive && !was_exclusive
            }
        };
        let said = |bound| match bound {
            None => "unbounded".to_owned(),
            Some((number, true)) if sign > 0.0 => format!("more than {number}"),
            Some((number, true)) => format!("less than {number}"),
            Some((number, false)) if sign > 0.0 => format!("at least {number}"),
            Some((number, false)) => format!("at most {number}"),
        };
        let message = format!("is {} instead of {}", said(now), said(before));
        self.bound(&[key, exclusive], message, is_tighter);
    }

    fn multiple(&mut self) {
        let key = "multipleOf";
        match (self.old[key].as_f64(), self.new[key].as_f64()) {
            (Some(before), Some(now)) if (before / now).fract() == 0.0 => {}
            (_, Some(now)) => self.bound(&[key], format!("is now a multiple of {now}"), true),
            (Some(before), None) => {
                let message = format!("is no longer limited to multiples of {before}");
                self.bound(&[key], message, false);
            }
            (None, None) => {}
        }
    }

    fn lengths(&mut self, least_key: &'static str, most_key: &'static str, unit: &str) {
        let plural = |count: u64| format!("{count} {unit}{}", if count == 1 { "" } else { "s" });
        let least = |schema: &Json| schema[least_key].as_u64().unwrap_or(0);
        let (before, now) = (least(self.old), least(self.new));
        if before != now {
            let message = format!("has at least {} instead of {before}", plural(now));
            self.bound(&[least_key], message, now > before);
        }
        let most = |schema: &Json| schema[most_key].as_u64();
        let said = |bound: Option<u64>| match bound {
            Some(bound) => format!("at most {}", plural(bound)),
            None => format!("any number of {unit}s"),
        };
        let (before, now) = (most(self.old), most(self.new));
        if before != now {
            let message = format!("has {} instead of {}", said(now), said(before));
            let is_tighter = now.is_some_and(|now| before.is_none_or(|before| now < before));
            self.bound(&[most_key], message, is_tighter);
        }
    }

    fn pattern(&mut self) {
        let part = Part::Key("pattern");
        match (self.old["pattern"].as_str(), self.new["pattern"].as_str()) {
            (before, Some(now)) if before != Some(now) => {
                let message = match before {
                    Some(before) => {
                        format!("now has to match `{}` instead of `{}`", shown(now), shown(before))
                    }
                    None => format!("now has to match `{}`", shown(now)),
                };
                self.refused(ChangeKind::PatternChanged, part, message, &["pattern"]);
            }
            (Some(before), None) => {
                let message = format!("no longer has to match `{}`", shown(before));
                self.safe(ChangeKind::PatternRemoved, part, message);
            }
            _ => {}
        }
    }

    fn format(&mut self) {
        let named = |schema: &Json| schema["format"].as_str().map(shown);
        let (before, now) = (formats::checked(self.old), formats::checked(self.new));
        let Some(now) = now else {
            let message = match (named(self.old), named(self.new)) {
                _ if before == Some(CheckedFormat::Int32) && self.new["type"] == "integer" => {
                    return self.safe(ChangeKind::NumberWidened, Part::Type, "may now have 64 bits");
                }
                // The API server did not check the format before either, but programs that read the schema may rely on
                // it.
                (Some(before), None) => format!("no longer has the format `{before}`"),
                (Some(old), Some(_)) if before.is_some() => {
                    format!("no longer has to be of the format `{old}`")
                }
                _ => return,
            };
            return self.safe(ChangeKind::FormatRemoved, Part::Type, message);
        };
        let Some(format) = named(self.new) else { return };
        if formats::contains(now, before) {
            if before != Some(now) && self.old["type"] == self.new["type"] {
                let message = format!("now has the wider format `{format}`");
                self.safe(ChangeKind::FormatRemoved, Part::Type, message);
            }
            return;
        }
        // Every value of an integer fits into a float.
        if now == CheckedFormat::Float && self.old["type"] == "integer" {
            return;
        }
        let affected = violates(self.new, &["type", "format"]);
        let message = format!("now has the format `{format}`");
        let change = self.changes.refused(
            ChangeKind::FormatChanged,
            self.path,
            Part::Type,
            message,
            affected,
        );
        // The operator has its own Rust types for these formats.
        if matches!(now, CheckedFormat::Int32 | CheckedFormat::Text("datetime")) {
            change.unreadable();
        }
    }

    fn one_of(&mut self) {
        let values = |schema: &Json| schema["enum"].as_array().cloned();
        let (old, new) = (values(self.old), values(self.new));
        let (added, gone): (Vec<&Json>, Vec<&Json>) = match (&old, &new) {
            (_, None) => {
                if old.is_some() {
                    self.safe(ChangeKind::EnumWidened, Part::Type, "may now have any value");
                }
                return;
            }
            (None, Some(now)) => {
                let message = format!("is now one of {}", listed(&now.iter().collect::<Vec<_>>()));
                self.narrowed(message);
                return;
            }
            (Some(before), Some(now)) => (
                now.iter().filter(|value| !before.contains(value)).collect(),
                before.iter().filter(|value| !now.contains(value)).collect(),
            ),
        };
        if !gone.is_empty() {
            let change = self.narrowed(format!("can no longer be {}", listed(&gone)));
            change.help("keep the value until no object uses it");
        }
        if !added.is_empty() {
            let message = format!("can now also be {}", listed(&added));
            self.safe(ChangeKind::EnumWidened, Part::Enum, message);
        }
    }

    fn narrowed(&mut self, message: String) -> &mut SchemaChange {
        let affected = violates(self.new, &["enum"]);
        let change = self
            .changes
            .refused(ChangeKind::EnumNarrowed, self.path, Part::Enum, message, affected);
        // The operator has its own Rust type for an enum of strings.
        if self.new["type"] == "string" {
            change.unreadable();
        }
        change
    }
}

/// The first values of an enum, for messages.
fn listed(values: &[&Json]) -> String {
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
}
