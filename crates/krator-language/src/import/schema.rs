//! Types of the language from schemas of a CRD.
//!
//! The language is stricter than the API server: for example, an `enum` has strings or numbers. Limits of values
//! without a key in the language go under `allOf`, unchanged.

mod limits;
mod rust_names;
mod rules;

use std::collections::BTreeSet;

use krator_schema::Path;
use serde_json::{Map, Value as Json, json};

use super::{Findings, Rest, clean, mapping};
use crate::crd::DURATION_PATTERN;
use crate::model::kubernetes::QUANTITY_PATTERN;
use crate::names::FieldName;
pub(super) use rust_names::{RustNames, called};

use limits::Sort;
use rules::rules;

/// The maximum nesting of lists and maps in a phrase.
const DEEPEST_PHRASE: usize = 16;

/// A type in the form of a description: a phrase if it can express everything, otherwise a mapping.
pub(super) fn type_of(schema: &Json, path: &Path, optional: bool, findings: &mut Findings) -> Json {
    let mut keys = keys_of(schema, path, findings);
    if optional {
        make_optional(&mut keys);
    }
    shortest(ordered(keys))
}

/// The keys in the order in which users read them: those about parts of the value come after those about the value
/// itself.
fn ordered(keys: Map<String, Json>) -> Map<String, Json> {
    let rank = |key: &str| match key {
        "type" => 0,
        "optional" => 1,
        "rustName" | "description" => 2,
        "default" => 3,
        "properties" | "items" | "additionalProperties" => 5,
        "validations" => 6,
        _ => 4,
    };
    let mut keys: Vec<(String, Json)> = keys.into_iter().collect();
    keys.sort_by_key(|(key, _)| rank(key));
    keys.into_iter().collect()
}

/// A type as a mapping.
pub(super) fn keys_of(schema: &Json, path: &Path, findings: &mut Findings) -> Map<String, Json> {
    let mut reader = Reader {
        schema,
        rest: Rest::of(schema),
        path,
        findings,
        out: mapping(),
        beside: Vec::new(),
    };
    reader.read();
    let Reader {
        rest,
        mut out,
        beside,
        findings,
        ..
    } = reader;
    findings.unread(path, rest);
    if !beside.is_empty() {
        let all = out.entry("allOf").or_insert_with(|| json!([]));
        all.as_array_mut()
            .into_iter()
            .for_each(|all| all.extend(beside.iter().cloned()));
    }
    out
}

fn make_optional(keys: &mut Map<String, Json>) {
    match keys.get("type").and_then(Json::as_str) {
        Some(phrase) if keys.len() == 1 => {
            let phrase = format!("optional {phrase}");
            keys.insert("type".to_owned(), phrase.into());
        }
        _ => {
            keys.insert("optional".to_owned(), true.into());
        }
    }
}

/// The phrase, if the mapping has no other keys.
fn shortest(keys: Map<String, Json>) -> Json {
    match keys.get("type") {
        Some(phrase) if keys.len() == 1 => phrase.clone(),
        _ => Json::Object(keys),
    }
}

struct Reader<'j, 'f> {
    schema: &'j Json,
    rest: Rest<'j>,
    path: &'f Path,
    findings: &'f mut Findings,
    out: Map<String, Json>,
    /// Limits that the language can only express in `allOf`.
    beside: Vec<Json>,
}

impl Reader<'_, '_> {
    fn read(&mut self) {
        let sort = self.shape();
        if let Some(text) = self.rest.text("description") {
            self.put("description", clean(text));
        }
        self.enumeration(sort);
        self.limits(sort);
        self.extensions();
        self.logic();
        if self.rest.is_true("nullable") {
            self.put("nullable", true);
        }
        // Null is also a default.
        if let Some(value) = self.rest.0.remove("default") {
            self.put("default", value.clone());
        }
        if let Some(value) = self.rest.0.remove("example") {
            match accepts(self.schema, value) {
                true => self.put("example", value.clone()),
                false => self.findings.add(
                    &self.path.field("example"),
                    "this example does not match its schema, so it is left out; the API server does not check examples",
                ),
            }
        }
        self.validations();
    }

    fn put(&mut self, key: &str, value: impl Into<Json>) {
        self.out.insert(key.to_owned(), value.into());
    }

    /// The type, with its parts.
    fn shape(&mut self) -> Sort {
        if self.rest.is_true("x-kubernetes-int-or-string") {
            self.rest.take("type");
            return self.int_or_string();
        }
        match self.rest.text("type") {
            Some("string") => self.string(),
            Some("boolean") => {
                self.put("type", "boolean");
                Sort::Boolean
            }
            Some("integer") => {
                self.number("integer", &[("int32", "int32"), ("int64", "integer")]);
                Sort::Number
            }
            Some("number") => {
                self.number("number", &[("double", "number")]);
                Sort::Number
            }
            Some("array") => {
                self.list();
                Sort::List
            }
            Some("object") => {
                self.object();
                Sort::Object
            }
            // In a structural schema, only values that keep unknown fields may have no type.
            _ => {
                self.rest.take("x-kubernetes-preserve-unknown-fields");
                self.put("type", "any");
                self.fields_of_anything();
                Sort::Any
            }
        }
    }

    fn int_or_string(&mut self) -> Sort {
        let is_types = |schema: &Json| {
            let types: BTreeSet<&str> = schema
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|one| one["type"].as_str())
                .collect();
            types.len() == 2 && types.contains("integer") && types.contains("string")
        };
        if self.rest.0.get("anyOf").is_some_and(|any| is_types(any)) {
            self.rest.take("anyOf");
        }
        if let Some(all) = self.rest.take("allOf").and_then(Json::as_array) {
            let others = all.iter().filter(|one| !is_types(&one["anyOf"]));
            self.beside.extend(others.cloned());
        }
        let is_quantity =
            self.rest.0.get("pattern").and_then(|pattern| pattern.as_str()) == Some(QUANTITY_PATTERN);
        if is_quantity {
            self.rest.take("pattern");
        }
        self.put("type", if is_quantity { "quantity" } else { "int-or-string" });
        Sort::TextOrNumber
    }

    fn string(&mut self) -> Sort {
        let has_enum = self.rest.0.contains_key("enum");
        let text = |rest: &Rest<'_>, key: &str| {
            rest.0
                .get(key)
                .and_then(|value| value.as_str())
                .map(str::to_owned)
        };
        let word = if text(&self.rest, "format").as_deref() == Some("date-time") {
            self.rest.take("format");
            "date-time"
        } else if text(&self.rest, "pattern").as_deref() == Some(DURATION_PATTERN) && !has_enum {
            self.rest.take("pattern");
            "duration"
        } else {
            "string"
        };
        self.put("type", word);
        Sort::Text
    }

    fn number(&mut self, word: &str, formats: &[(&str, &str)]) {
        let format = self.rest.0.get("format").and_then(|format| format.as_str());
        let named = formats.iter().find(|(name, _)| Some(*name) == format);
        if named.is_some() {
            self.rest.take("format");
        }
        self.put("type", named.map_or(word, |(_, word)| *word));
    }

    fn list(&mut self) {
        let is_open = self.rest.is_true("x-kubernetes-preserve-unknown-fields");
        let path = self.path.field("items");
        let items = match self.rest.take("items") {
            Some(items) => type_of(items, &path, false, self.findings),
            // A structural schema defines its items.
            None => json!("any"),
        };
        self.collection("list of", "items", items);
        self.keep_open(is_open);
    }

    /// A list or a map: as a phrase, if its values are a phrase as well.
    fn collection(&mut self, words: &str, key: &str, values: Json) {
        match values.as_str() {
            Some(inner) if inner.matches(" of ").count() < DEEPEST_PHRASE - 1 => {
                self.put("type", format!("{words} {inner}"));
            }
            _ => self.put(key, values),
        }
    }

    fn object(&mut self) {
        let is_open = self.rest.is_true("x-kubernetes-preserve-unknown-fields");
        let properties = self
            .rest
            .take("properties")
            .filter(|it| it.as_object().is_some_and(|it| !it.is_empty()));
        let values = self.rest.take("additionalProperties");
        match (properties, values) {
            (Some(properties), _) => {
                self.properties(properties);
                self.keep_open(is_open);
            }
            (None, Some(Json::Bool(false)) | None) if is_open => self.put("type", "object"),
            (None, Some(Json::Bool(false)) | None) => self.put("properties", json!({})),
            (None, Some(Json::Bool(true))) => {
                self.put("additionalProperties", true);
                self.keep_open(is_open);
            }
            (None, Some(values)) => {
                let path = self.path.field("additionalProperties");
                let values = type_of(values, &path, false, self.findings);
                self.collection("map of", "additionalProperties", values);
                self.keep_open(is_open);
            }
        }
        self.required_beside();
    }

    /// A value of any type may still define its fields, for the case that it is an object.
    fn fields_of_anything(&mut self) {
        for key in ["properties", "additionalProperties", "items"] {
            if self.rest.take(key).is_some() {
                self.findings.add(
                    &self.path.field(key),
                    "a value of any type cannot declare its content, so its content is not checked",
                );
            }
        }
        self.required_beside();
    }

    fn keep_open(&mut self, is_open: bool) {
        if is_open {
            self.put("x-kubernetes-preserve-unknown-fields", true);
        }
    }

    fn properties(&mut self, properties: &Json) {
        let required: BTreeSet<&str> = self
            .rest
            .0
            .get("required")
            .map_or_else(BTreeSet::new, |names| words(names));
        let mut fields = mapping();
        let mut is_partial = false;
        let mut rust_names = RustNames::of(properties);
        for (name, schema) in properties.as_object().into_iter().flatten() {
            let path = self.path.field("properties").key(name);
            let Ok(rust_name) = rust_names.of_field(name) else {
                self.findings.add(
                    &path,
                    format!(
                        "the name of a field has to be {}; this field is left out, so unknown fields beside it are \
                         kept without checks",
                        FieldName::PATTERN.expected
                    ),
                );
                is_partial = true;
                continue;
            };
            // The API server sets defaults before it checks required fields.
            let has_default = schema.get("default").is_some();
            let optional = !has_default && !required.contains(name.as_str());
            let field = type_of(schema, &path, optional, self.findings);
            fields.insert(name.clone(), called(field, rust_name));
        }
        let others: Vec<&str> = required
            .iter()
            .copied()
            .filter(|name| !fields.contains_key(*name))
            .collect();
        if !others.is_empty() {
            self.beside.push(json!({ "required": others }));
        }
        self.rest.take("required");
        self.put("properties", fields);
        self.keep_open(is_partial);
    }

    /// `required` of a type without fields in the language.
    fn required_beside(&mut self) {
        if let Some(names) = self
            .rest
            .take("required")
            .filter(|names| !words(names).is_empty())
        {
            self.beside.push(json!({ "required": names }));
        }
    }

    fn extensions(&mut self) {
        for key in [
            "x-kubernetes-embedded-resource",
            "x-kubernetes-list-type",
            "x-kubernetes-list-map-keys",
            "x-kubernetes-map-type",
        ] {
            if let Some(value) = self.rest.take(key)
                && *value != Json::Bool(false)
            {
                self.put(key, value.clone());
            }
        }
    }

    fn logic(&mut self) {
        for key in ["anyOf", "oneOf", "not"] {
            if let Some(value) = self.rest.take(key) {
                self.put(key, value.clone());
            }
        }
        if let Some(all) = self.rest.take("allOf").and_then(Json::as_array) {
            self.beside.splice(0..0, all.iter().cloned());
        }
    }

    fn validations(&mut self) {
        let path = self.path.field("x-kubernetes-validations");
        let rules = rules(self.rest.list("x-kubernetes-validations"), &path, self.findings);
        if !rules.is_empty() {
            self.put("validations", rules);
        }
    }
}

fn words(list: &Json) -> BTreeSet<&str> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
        .collect()
}

/// Whether a schema accepts a value without changing it.
fn accepts(schema: &Json, value: &Json) -> bool {
    let read: Result<krator_schema::Schema, _> = serde_json::from_value(schema.clone());
    read.is_ok_and(|schema| {
        let mut pruned = value.clone();
        krator_schema::prune(&schema, &mut pruned);
        let mut filled = pruned.clone();
        krator_schema::default(&schema, &mut filled);
        pruned == *value && krator_schema::validate(&schema, &filled).is_empty()
    })
}
