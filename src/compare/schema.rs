//! What changes in the schema of a kind, value by value.
//!
//! Both schemas are walked together as the CRDs have them. A value that a schema leaves open counts as one of any
//! sort. What is said of the API server was tried on 1.36.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use super::found::Found;
use super::judge::{Judge, Sort};
use super::place::Part;
use super::resource::Pair;
use super::{Change, Fate, SchemaPath, Step, bounds};
use crate::render::crd;
use crate::text::shown;

/// The changes of `.spec` and `.status`.
pub(super) fn of_kind(pair: &Pair<'_>) -> Vec<Change> {
    let old = crd::object_schema(pair.old_description, pair.old);
    let new = crd::object_schema(pair.new_description, pair.new);
    let mut walk = Walk {
        pair,
        changes: Vec::new(),
        is_spared: true,
    };
    for root in ["spec", "status"] {
        walk.value(
            &old["properties"][root],
            &new["properties"][root],
            &SchemaPath::root(root),
        );
    }
    // As the text has them: the schemas are sorted by name.
    walk.changes.sort_by_key(|change| change.new.start);
    walk.changes
}

/// The walk through both schemas, and what it has met.
pub(super) struct Walk<'a> {
    pair: &'a Pair<'a>,
    changes: Vec<Change>,
    /// Whether the API server can tell that the value at hand is unchanged, see [`is_comparable`].
    is_spared: bool,
}

/// A schema about which nothing is known: any value.
fn open() -> Json {
    json!({"x-kubernetes-preserve-unknown-fields": true})
}

fn is_true(schema: &Json, key: &str) -> bool {
    schema[key] == true
}

/// Whether fields that the schema does not name are kept.
fn is_open(schema: &Json) -> bool {
    is_true(schema, "x-kubernetes-preserve-unknown-fields")
}

fn sorts(schema: &Json) -> BTreeSet<Sort> {
    let sorts: &[Sort] = match schema["type"].as_str() {
        _ if is_true(schema, "x-kubernetes-int-or-string") => &[Sort::Whole, Sort::Text],
        Some("string") => &[Sort::Text],
        Some("integer") => &[Sort::Whole],
        Some("number") => &[Sort::Whole, Sort::Fraction],
        Some("boolean") => &[Sort::Truth],
        Some("array") => &[Sort::List],
        Some("object") => &[Sort::Object],
        _ => &Sort::ALL,
    };
    sorts.iter().copied().collect()
}

/// The schema of a list's items.
fn items_of(list: &Json) -> Json {
    list.get("items").cloned().unwrap_or_else(open)
}

/// Whether null can be an item of a list.
fn takes_null(schema: &Json) -> bool {
    let is_any = schema.get("type").is_none() && !is_true(schema, "x-kubernetes-int-or-string");
    schema["nullable"] == true || is_any
}

/// Whether the API server can tell that a value is unchanged, so that it spares it. It goes through both by their
/// fields, and takes one that the schema does not name for changed; lists are compared as a whole, but for keyed ones.
fn is_comparable(schema: &Json) -> bool {
    let members = schema["properties"].as_object().into_iter().flatten();
    let mut below = members
        .map(|(_, member)| member)
        .chain(schema.get("additionalProperties"))
        .chain(
            schema
                .get("items")
                .filter(|_| schema["x-kubernetes-list-type"] == "map"),
        );
    !is_open(schema) && below.all(is_comparable)
}

/// The type as people call it.
fn sort_name(schema: &Json) -> &'static str {
    match schema["type"].as_str() {
        _ if is_true(schema, "x-kubernetes-int-or-string") => "a number or text",
        Some("string") => "a text",
        Some("integer") => "a whole number",
        Some("number") => "a number",
        Some("boolean") => "true or false",
        Some("array") => "a list",
        Some("object") if schema.get("additionalProperties").is_some() => "a map",
        Some("object") => "an object",
        _ => "anything",
    }
}

/// The members of an object of a schema; none where there is no such object.
fn members<'j>(schema: &'j Json, key: &str) -> BTreeMap<&'j str, &'j Json> {
    let members = schema[key].as_object().into_iter().flatten();
    members.map(|(name, member)| (name.as_str(), member)).collect()
}

fn required(schema: &Json) -> BTreeSet<&str> {
    let names = schema["required"].as_array().into_iter().flatten();
    names.filter_map(Json::as_str).collect()
}

impl Walk<'_> {
    /// Takes a change up.
    pub fn add(&mut self, found: Found<'_>) {
        let found = if self.is_spared { found } else { found.not_spared() };
        let change = found.into_change(self.pair);
        self.changes.push(change);
    }

    fn value(&mut self, old: &Json, new: &Json, path: &SchemaPath) {
        // Also the end of what is open on both sides, which goes on for ever.
        if old == new {
            return;
        }
        let around = std::mem::replace(&mut self.is_spared, is_comparable(new));
        self.parts(old, new, path);
        self.is_spared = around;
    }

    fn parts(&mut self, old: &Json, new: &Json, path: &SchemaPath) {
        let (before, now) = (sorts(old), sorts(new));
        let gone: BTreeSet<Sort> = before.difference(&now).copied().collect();
        if !gone.is_empty() {
            self.other_type(old, new, path, &gone);
        } else if now.len() > before.len() {
            let message = format!("was {} and is {} now", sort_name(old), sort_name(new));
            self.add(
                Found::safe("type-widened", path, Part::Type, message)
                    .readers("what they read may be of a type that they do not know"),
            );
        }
        if before.is_disjoint(&now) {
            return;
        }
        bounds::compare(self, old, new, path, &now);
        self.rules(old, new, path);
        if before.contains(&Sort::Object) && now.contains(&Sort::Object) {
            self.object(old, new, path);
        }
        if before.contains(&Sort::List) && now.contains(&Sort::List) {
            self.list(old, new, path);
        }
    }

    fn other_type(&mut self, old: &Json, new: &Json, path: &SchemaPath, gone: &BTreeSet<Sort>) {
        let message = format!("was {} and is {} now", sort_name(old), sort_name(new));
        let is_only = |sorts: &[Sort]| gone.iter().all(|sort| sorts.contains(sort));
        let updated = if is_true(new, "x-kubernetes-int-or-string") {
            // A server-side apply takes it for anything, but fields of objects are unknown ones, those of a list's too.
            let items = gone.contains(&Sort::List) && sorts(&items_of(old)).contains(&Sort::Object);
            match gone.contains(&Sort::Object) || items {
                true => Fate::Lost,
                false => Fate::Kept,
            }
        } else if new["format"] == "date-time" && is_only(&[Sort::Whole, Sort::Fraction, Sort::Truth])
            // Whole numbers and fractions are one to it.
            || is_only(&[Sort::Fraction])
        {
            Fate::Kept
        } else {
            Fate::ApplyFails
        };
        self.add(
            Found::refused("type-changed", path, Part::Type, message, Judge::Sort(sorts(new)))
                .fates(Fate::Refused, updated)
                .unreadable()
                .clients("requests with such a value are refused, and what they read has another type")
                .readers("what they read has another type")
                .help("add a field of another name, and keep this one until nobody uses it"),
        );
    }

    fn object(&mut self, old: &Json, new: &Json, path: &SchemaPath) {
        let (before, now) = (members(old, "properties"), members(new, "properties"));
        let rest = |schema: &Json| match schema.get("additionalProperties") {
            Some(rest) if rest.is_object() => Some(rest.clone()),
            Some(rest) if *rest == true => Some(open()),
            _ => is_open(schema).then(open),
        };
        let (old_rest, new_rest) = (rest(old), rest(new));
        self.needed(old, new, path);
        for (name, then) in &before {
            let path = path.field(name);
            match (now.get(name), &new_rest) {
                (Some(now), _) => {
                    self.default(then, now, new, &path);
                    self.null(then, now, new, &path);
                    self.value(then, now, &path);
                }
                (None, Some(rest)) => self.value(then, rest, &path),
                (None, None) => self.removed(&path),
            }
        }
        for (name, now) in now.iter().filter(|(name, _)| !before.contains_key(*name)) {
            let path = path.field(name);
            match &old_rest {
                Some(rest) => self.value(rest, now, &path),
                None if required(new).contains(name) => {}
                None => self.add(Found::safe("field-added", &path, Part::Name, "is new")),
            }
        }
        match (&old_rest, &new_rest) {
            (Some(old_rest), Some(new_rest)) => {
                let path = path.then(Step::Values);
                if old_rest["nullable"] == true && new_rest["nullable"] != true {
                    self.add(Found::safe(
                        "nullable-removed",
                        &path,
                        Part::Type,
                        "null is dropped now",
                    ));
                }
                self.value(old_rest, new_rest, &path);
            }
            (Some(_), None) => {
                let known = now.keys().map(|name| (*name).to_owned()).collect();
                self.add(
                    Found::refused(
                        "unknown-fields-dropped",
                        path,
                        Part::Type,
                        "could have fields of any name, and has those that are described now",
                        Judge::Beside(known),
                    )
                    .fates(Fate::Lost, Fate::Lost)
                    .clients("other fields are dropped from requests, and strict ones are refused")
                    .readers("other fields that they read are gone"),
                );
            }
            (None, Some(_)) => {
                let message = "may have fields of other names now";
                self.add(Found::safe("unknown-fields-kept", path, Part::Type, message));
            }
            (None, None) => {}
        }
        let key = "x-kubernetes-map-type";
        if new[key] == "atomic" && old[key] != "atomic" {
            self.add(atomic(path, key, "is applied as a whole now"));
        }
        let key = "x-kubernetes-embedded-resource";
        if is_true(new, key) && !is_true(old, key) {
            let message = "is an object of the API now, with `apiVersion`, `kind` and `metadata`";
            self.add(
                Found::refused(
                    "resource-embedded",
                    path,
                    Part::Key(key),
                    message,
                    Judge::NoResource,
                )
                .fates(Fate::Refused, Fate::Refused),
            );
        }
    }

    fn removed(&mut self, path: &SchemaPath) {
        self.add(
            Found::refused("field-removed", path, Part::Name, "is gone", Judge::Present)
                .fates(Fate::Lost, Fate::Lost)
                .clients("it is dropped from requests, and strict ones are refused")
                .readers("what they read is gone")
                .help("keep the field, `optional`, until no object has it; a field has no former names")
                .gone(),
        );
    }

    /// Fields that have to be there, and did not have to.
    fn needed(&mut self, old: &Json, new: &Json, holder: &SchemaPath) {
        let (before, now) = (required(old), required(new));
        for name in now.difference(&before) {
            let path = holder.field(name);
            let then = &old["properties"][*name];
            if then.get("default").is_some() {
                // Where it was left out it was filled in, and stored.
                let found = Found::safe(
                    "required-added",
                    &path,
                    Part::Name,
                    "has no default any more and has to be there",
                );
                let found = found.clients("requests without it are refused");
                self.add(found.help("keep the default, or make it `optional`"));
                continue;
            }
            let message = match then {
                Json::Null => "is new and has to be there",
                _ => "has to be there now",
            };
            self.add(
                Found::refused(
                    "required-added",
                    &path,
                    Part::Name,
                    message,
                    Judge::Lacks((*name).to_owned()),
                )
                .unchanged(holder.clone())
                .unreadable()
                .clients("requests without it are refused")
                .help("give it a `default`, or make it `optional`"),
            );
        }
        for name in before.difference(&now) {
            let path = holder.field(name);
            let still = new["properties"].get(*name);
            if still.is_some_and(|still| still.get("default").is_none()) {
                self.add(Found::safe(
                    "required-removed",
                    &path,
                    Part::Name,
                    "may be left out now",
                ));
            }
        }
    }

    fn default(&mut self, then: &Json, now: &Json, holder: &Json, path: &SchemaPath) {
        let name = match path.0.last() {
            Some(Step::Field(name)) => name.as_str(),
            _ => return,
        };
        let value = |value: &Json| format!("`{}`", shown(&value.to_string()));
        let changes = "requests that leave it out mean something else";
        match (then.get("default"), now.get("default")) {
            (Some(then), Some(now)) if then != now => {
                let message = format!(
                    "is {} where it is left out, instead of {}",
                    value(now),
                    value(then)
                );
                let found = Found::safe("default-changed", path, Part::Default, message);
                self.add(found.clients(changes));
            }
            (None, Some(now)) => {
                let message = format!("is {} where it is left out now", value(now));
                self.add(Found::safe("default-added", path, Part::Default, message));
            }
            // What has to be there now is another change.
            (Some(then), None) if !required(holder).contains(name) => {
                let message = format!("is not {} any more where it is left out", value(then));
                let found = Found::safe("default-removed", path, Part::Name, message);
                self.add(found.clients(changes));
            }
            _ => {}
        }
    }

    /// Null that is not allowed any more: the API server takes it for nothing at all.
    fn null(&mut self, then: &Json, now: &Json, holder: &Json, path: &SchemaPath) {
        match (then["nullable"] == true, now["nullable"] == true) {
            (true, false) => {}
            (false, true) => {
                return self.add(Found::safe("nullable-added", path, Part::Name, "may be null now"));
            }
            _ => return,
        }
        let Some(Step::Field(name)) = path.0.last() else {
            return;
        };
        if required(holder).contains(name.as_str()) {
            self.add(
                Found::refused(
                    "nullable-removed",
                    path,
                    Part::Name,
                    "cannot be null any more",
                    Judge::Lacks(name.clone()),
                )
                .unchanged(path.parent())
                .unreadable(),
            );
        } else {
            let message = "cannot be null any more: null is taken for nothing";
            self.add(Found::safe("nullable-removed", path, Part::Name, message));
        }
    }

    fn list(&mut self, old: &Json, new: &Json, path: &SchemaPath) {
        let (old_items, new_items) = (items_of(old), items_of(new));
        let below = path.then(Step::Items);
        let list_type = new["x-kubernetes-list-type"].as_str();
        // What a list of keyed objects does not tell apart, no update gets past.
        let keyed = sorts(&old_items).iter().any(|sort| *sort != Sort::Object) || takes_null(&old_items);
        if list_type == Some("map") && keyed {
            let message = "has to be an object now: the list tells its items by their fields";
            self.add(
                Found::refused("list-type-changed", &below, Part::Type, message, Judge::NoObject)
                    .fates(Fate::Refused, Fate::Refused)
                    .unreadable(),
            );
        } else if takes_null(&old_items) && !takes_null(&new_items) {
            let updated = match list_type {
                Some("set") => Fate::ApplyFails,
                _ => Fate::Kept,
            };
            self.add(
                Found::refused(
                    "nullable-removed",
                    &below,
                    Part::Type,
                    "cannot be null any more",
                    Judge::Null,
                )
                .fates(Fate::Refused, updated)
                .unreadable(),
            );
        }
        self.value(&old_items, &new_items, &below);

        let key = "x-kubernetes-list-type";
        let kind_of = |schema: &Json| schema[key].as_str().unwrap_or("atomic").to_owned();
        let keys_of = |schema: &Json| -> BTreeSet<String> {
            let keys = schema["x-kubernetes-list-map-keys"]
                .as_array()
                .into_iter()
                .flatten();
            keys.filter_map(Json::as_str).map(str::to_owned).collect()
        };
        let (old_keys, new_keys) = (keys_of(old), keys_of(new));
        match (kind_of(old).as_str(), kind_of(new).as_str()) {
            ("map", "map") if !old_keys.is_subset(&new_keys) => {
                let keys: Vec<String> = new_keys.into_iter().collect();
                let message = format!("has its items told by {} alone now", listed(&keys));
                let part = Part::Key("x-kubernetes-list-map-keys");
                self.add(twice(path, part, message, keys));
            }
            (before, "map") if before != "map" => {
                let keys: Vec<String> = new_keys.into_iter().collect();
                let message = format!("has its items told by {} now", listed(&keys));
                self.add(twice(path, Part::Key(key), message, keys));
            }
            (before, "set") if before != "set" => {
                self.add(twice(
                    path,
                    Part::Key(key),
                    "has each item once now".to_owned(),
                    Vec::new(),
                ));
            }
            (before, "atomic") if before != "atomic" => {
                self.add(atomic(path, key, "is applied as a whole now"));
            }
            _ => {}
        }
    }

    /// CEL rules, told by their text: what they mean, nobody here knows.
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
            let part = Part::Rule(rule);
            if rule.contains("oldSelf") {
                let message = format!("has a new rule over its changes: `{}`", shown(rule));
                self.add(
                    Found::refused("transition-rule-added", path, part, message, Judge::Unknown)
                        .fates(Fate::Kept, Fate::Refused)
                        .clients("changes that the rule forbids are refused"),
                );
            } else {
                let message = format!("has a new rule: `{}`", shown(rule));
                self.add(
                    Found::refused("rule-added", path, part, message, Judge::Unknown)
                        .clients("requests that break the rule are refused"),
                );
            }
        }
        for rule in before.difference(&now) {
            let message = format!("has a rule less: `{}`", shown(rule));
            self.add(Found::safe("rule-removed", path, Part::Rule(rule), message).gone());
        }
    }
}

fn listed(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

fn twice<'p>(path: &SchemaPath, part: Part<'p>, message: String, keys: Vec<String>) -> Found<'p> {
    Found::refused("list-type-changed", path, part, message, Judge::Twice(keys))
        .clients("requests that have an item twice are refused")
}

fn atomic<'p>(path: &SchemaPath, key: &'p str, message: &'static str) -> Found<'p> {
    Found::safe("applied-as-whole", path, Part::Key(key), message)
        .clients("those that apply parts of it take the others' parts away")
}
