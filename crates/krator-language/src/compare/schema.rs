//! Changes of the schema of a kind, value by value.
//!
//! Both schemas are walked together in the form that they have in the CRDs. If a schema has no type, a value may be of
//! any type. The verdicts about the API server were observed on version 1.37; integration tests check them.

mod bounds;
mod formats;
mod list;
mod object;
pub(super) mod query;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::affected::{Affected, ValueType, breaks_rule};
use super::pair::Pair;
use super::place::Part;
use super::schema_change::SchemaChanges;
use super::{Change, ChangeKind, SchemaPath, ServerOutcome};
use crate::crd;
use crate::text::shown;
use query::{is_comparable, is_true, items_of, type_name, value_types};

/// The changes of `.spec` and `.status`.
pub(super) fn of_kind(pair: &Pair<'_>) -> Vec<Change> {
    let old = compared(crd::object_schema(pair.old_description, pair.old));
    let new = compared(crd::object_schema(pair.new_description, pair.new));
    let messages = |description, kind| {
        let rules = crd::field_rules(description, kind).into_iter();
        rules
            .map(|rule| (rule.expression().to_owned(), rule.message().to_owned()))
            .collect::<Vec<_>>()
    };
    let mut said = messages(pair.old_description, pair.old);
    said.extend(messages(pair.new_description, pair.new));
    let mut walk = SchemaWalk {
        changes: SchemaChanges::new(),
        said: said.into_iter().collect(),
    };
    for root in ["spec", "status"] {
        walk.value(
            &old["properties"][root],
            &new["properties"][root],
            &SchemaPath::root(root),
        );
    }
    walk.changes.into_changes(pair)
}

/// The schema without the operator's internal fields: no client reads them, and the operator writes them anew.
fn compared(mut schema: Json) -> Json {
    if let Some(Json::Object(fields)) = schema.pointer_mut("/properties/status/properties") {
        for field in ["ask", "firedTimeouts", "objectives", "specDigests"] {
            fields.remove(field);
        }
    }
    schema
}

/// The walk through both schemas, with the changes found so far.
struct SchemaWalk {
    changes: SchemaChanges,
    /// Descriptions of the rules that are derived from keys of fields, by their expressions.
    said: BTreeMap<String, String>,
}

impl SchemaWalk {
    fn value(&mut self, old: &Json, new: &Json, path: &SchemaPath) {
        // This also ends the recursion: a value of any type has items and fields of any type at every depth.
        if old == new {
            return;
        }
        let around = std::mem::replace(&mut self.changes.is_spared, is_comparable(new));
        self.parts(old, new, path);
        self.changes.is_spared = around;
    }

    fn parts(&mut self, old: &Json, new: &Json, path: &SchemaPath) {
        let (before, now) = (value_types(old), value_types(new));
        let gone: BTreeSet<ValueType> = before.difference(&now).copied().collect();
        if !gone.is_empty() {
            self.other_type(old, new, path, &gone);
        } else if now.len() > before.len() {
            let message = format!("changed from {} to {}", type_name(old), type_name(new));
            self.changes
                .safe(ChangeKind::TypeWidened, path, Part::Type, message)
                .readers("responses may contain a value of an unknown type");
        }
        if before.is_disjoint(&now) {
            return;
        }
        bounds::compare(&mut self.changes, old, new, path, &now);
        self.rules(old, new, path);
        if before.contains(&ValueType::Object) && now.contains(&ValueType::Object) {
            self.object(old, new, path);
        }
        if before.contains(&ValueType::List) && now.contains(&ValueType::List) {
            self.list(old, new, path);
        }
    }

    fn other_type(&mut self, old: &Json, new: &Json, path: &SchemaPath, gone: &BTreeSet<ValueType>) {
        let message = format!("changed from {} to {}", type_name(old), type_name(new));
        let is_only = |sorts: &[ValueType]| gone.iter().all(|sort| sorts.contains(sort));
        let updated = if is_true(new, "x-kubernetes-int-or-string") {
            // A server-side apply accepts any value here, but drops the fields of objects, also in lists, as unknown.
            let items =
                gone.contains(&ValueType::List) && value_types(&items_of(old)).contains(&ValueType::Object);
            match gone.contains(&ValueType::Object) || items {
                true => ServerOutcome::Lost,
                false => ServerOutcome::Kept,
            }
        } else if new["format"] == "date-time" && is_only(&[ValueType::Integer, ValueType::Fraction, ValueType::Boolean])
            // A server-side apply does not distinguish integers from other numbers.
            || is_only(&[ValueType::Fraction])
        {
            ServerOutcome::Kept
        } else {
            ServerOutcome::ApplyFails
        };
        let affected = Affected::OfType(value_types(new));
        self.changes
            .refused(ChangeKind::TypeChanged, path, Part::Type, message, affected)
            .outcomes(ServerOutcome::Refused, updated)
            .unreadable()
            .clients("requests with a value of the former type are refused, and responses contain a value of another type")
            .readers("responses contain a value of another type")
            .help("add a field with another name and keep this field until it is unused, or give the kind a new `version`, with `changes` that convert it");
    }

    /// Compares CEL rules by their expressions, although different expressions may be equivalent.
    fn rules(&mut self, old: &Json, new: &Json, path: &SchemaPath) {
        fn texts(schema: &Json) -> BTreeSet<&str> {
            let rules = schema["x-kubernetes-validations"]
                .as_array()
                .into_iter()
                .flatten();
            rules.filter_map(|rule| rule["rule"].as_str()).collect()
        }
        let (before, now) = (texts(old), texts(new));
        for rule in now.difference(&before) {
            let part = Part::Rule((*rule).to_owned());
            if let Some(said) = self.said.get(*rule) {
                // Every write that leaves the field unchanged satisfies the rule.
                let message = format!("has a new transition rule: {}", shown(said));
                self.changes
                    .safe(ChangeKind::TransitionRuleAdded, path, part, message)
                    .clients("changes that the rule forbids are refused");
            } else if rule.contains("oldSelf") {
                let message = format!("has a new transition rule: `{}`", shown(rule));
                self.changes
                    .refused(
                        ChangeKind::TransitionRuleAdded,
                        path,
                        part,
                        message,
                        Affected::Unknown,
                    )
                    .outcomes(ServerOutcome::Kept, ServerOutcome::Refused)
                    .clients("changes that the rule forbids are refused");
            } else {
                let message = format!("has a new rule: `{}`", shown(rule));
                self.changes
                    .refused(ChangeKind::RuleAdded, path, part, message, breaks_rule(new, rule))
                    .clients("requests that break the rule are refused");
            }
        }
        for rule in before.difference(&now) {
            let message = match self.said.get(*rule) {
                Some(said) => format!("no longer has the rule: {}", shown(said)),
                None => format!("no longer has the rule: `{}`", shown(rule)),
            };
            let part = Part::Rule((*rule).to_owned());
            self.changes
                .safe(ChangeKind::RuleRemoved, path, part, message)
                .gone();
        }
    }

    /// Reports that clients now apply an object or a list as a whole.
    fn atomic(&mut self, path: &SchemaPath, key: &'static str) {
        self.changes
            .safe(
                ChangeKind::AppliedAsWhole,
                path,
                Part::Key(key),
                "is now applied as a whole",
            )
            .clients("an apply of a part of it removes the parts of other field managers");
    }
}
