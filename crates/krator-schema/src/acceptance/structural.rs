//! Validates that a schema is structural, after `pkg/apiserver/schema`.

use super::problems::Problems;
use crate::schema::{Items, Properties};
use crate::{Path, Pattern, Problem, ProblemKind, Schema};

/// The reason why a schema cannot be structural, if it has a keyword that structural schemas lack.
pub(crate) fn unsupported(schema: &Schema) -> Option<String> {
    let text = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
    let keyword = if text(&schema.id) {
        "id"
    } else if text(&schema.schema) {
        "schema"
    } else if text(&schema.reference) {
        "$ref"
    } else if schema
        .pattern_properties
        .as_ref()
        .is_some_and(|map| !map.is_empty())
    {
        "patternProperties"
    } else if schema.dependencies.as_ref().is_some_and(|map| !map.is_empty()) {
        "dependencies"
    } else if schema.additional_items.is_some() {
        "additionalItems"
    } else if schema.definitions.as_ref().is_some_and(|map| !map.is_empty()) {
        "definitions"
    } else if schema.preserve_unknown_fields == Some(false) {
        return Some("'x-kubernetes-preserve-unknown-fields' must be true or undefined".to_string());
    } else if matches!(&schema.items, Some(Items::Each(items)) if !items.is_empty()) {
        return Some("OpenAPIV3Schema 'items' must be a schema, but is an array".to_string());
    } else {
        let lists = [&schema.all_of, &schema.any_of, &schema.one_of];
        return lists
            .into_iter()
            .flatten()
            .flatten()
            .chain(schema.not.as_deref())
            .chain(schema.item())
            .chain(
                schema
                    .properties
                    .iter()
                    .flat_map(|properties| properties.values()),
            )
            .chain(schema.additional())
            .find_map(unsupported);
    };
    Some(format!("OpenAPIV3Schema '{keyword}' is not supported"))
}

/// The place of a schema in the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

/// The reasons why a schema is not structural.
pub(crate) fn validate(schema: &Schema, path: &Path) -> Vec<Problem> {
    let mut found = Problems::default();
    found.invariants(schema, Level::Root, path);
    found.completeness(schema, Some(schema), path, path);
    found.0
}

impl Problems {
    fn invariants(&mut self, schema: &Schema, level: Level, path: &Path) {
        let type_ = schema.type_.as_deref().unwrap_or_default();
        let embedded = schema.is_embedded();
        let int_or_string = schema.int_or_string == Some(true);
        if type_ == "array" && schema.item().is_none() {
            self.add(&path.field("items"), ProblemKind::Required, "must be specified");
        }
        if let Some(item) = schema.item() {
            self.invariants(item, Level::Item, &path.field("items"));
        }
        for (name, property) in schema.properties.iter().flatten() {
            self.invariants(property, Level::Field, &path.field("properties").key(name));
        }
        if let Some(properties) = &schema.additional_properties {
            if level == Level::Root {
                self.forbidden(path, "additionalProperties", "must not be used at the root");
            }
            if let Properties::Schema(values) = properties {
                self.invariants(values, Level::Field, &path.field("additionalProperties"));
            }
        }
        if int_or_string {
            for (keyword, set) in [
                (
                    "x-kubernetes-preserve-unknown-fields",
                    schema.preserves_unknown_fields(),
                ),
                ("x-kubernetes-embedded-resource", embedded),
            ] {
                if set {
                    self.add(
                        &path.field(keyword),
                        ProblemKind::Invalid,
                        "must be false if x-kubernetes-int-or-string is true",
                    );
                }
            }
        }
        let first_of_all = schema.all_of.as_deref().and_then(|all_of| all_of.first());
        self.value_validation(
            schema,
            is_int_or_string(schema.any_of.as_deref()),
            first_of_all.is_some_and(|first| is_int_or_string(first.any_of.as_deref())),
            path,
        );
        self.types(schema, type_, level, path);
        self.object(schema, level, path);
    }

    fn types(&mut self, schema: &Schema, type_: &str, level: Level, path: &Path) {
        let at = path.field("type");
        if schema.is_embedded() && type_ != "object" {
            let kind = if type_.is_empty() {
                ProblemKind::Required
            } else {
                ProblemKind::Invalid
            };
            self.add(
                &at,
                kind,
                "must be object if x-kubernetes-embedded-resource is true",
            );
        } else if type_.is_empty() && schema.int_or_string != Some(true) && !schema.preserves_unknown_fields()
        {
            let where_ = match level {
                Level::Root => "at the root",
                Level::Item => "for specified array items",
                Level::Field => "for specified object fields",
            };
            self.add(&at, ProblemKind::Required, format!("must not be empty {where_}"));
        }
        if level == Level::Root && !type_.is_empty() && type_ != "object" {
            self.add(&at, ProblemKind::Invalid, "must be object at the root");
        }
    }

    /// Validates schemas of Kubernetes objects: the root, and embedded resources.
    fn object(&mut self, schema: &Schema, level: Level, path: &Path) {
        let embedded = schema.is_embedded();
        if embedded && schema.additional_properties.is_some() {
            self.forbidden(
                path,
                "additionalProperties",
                "must not be used if x-kubernetes-embedded-resource is set",
            );
        }
        let is_object = embedded || level == Level::Root;
        for (name, type_) in [
            ("kind", "string"),
            ("apiVersion", "string"),
            ("metadata", "object"),
        ] {
            if let Some(property) = schema.property(name).filter(|_| is_object)
                && property.type_.as_deref() != Some(type_)
            {
                self.add(
                    &path.field("properties").key(name).field("type"),
                    ProblemKind::Invalid,
                    format!("must be {type_}"),
                );
            }
        }
        if level == Level::Root
            && let Some(metadata) = schema.property("metadata")
            && !only_restricts_names(metadata)
        {
            self.add(
                &path.field("properties").key("metadata"),
                ProblemKind::Forbidden,
                "must not specify anything other than name and generateName, but metadata is implicitly specified",
            );
        }
        let empty = schema
            .properties
            .as_ref()
            .is_none_or(|properties| properties.is_empty());
        if embedded && !schema.preserves_unknown_fields() && empty {
            self.add(
                &path.field("properties"),
                ProblemKind::Required,
                "must not be empty if x-kubernetes-embedded-resource is true without \
                 x-kubernetes-preserve-unknown-fields",
            );
        }
    }

    /// Validates value validations. Inside junctors, schemas must not declare types or other structure.
    fn value_validation(&mut self, schema: &Schema, skip_any_of: bool, skip_first_any_of: bool, path: &Path) {
        if !skip_any_of {
            for (index, part) in schema.any_of.iter().flatten().enumerate() {
                self.nested(part, false, &path.field("anyOf").index(index));
            }
        }
        for (index, part) in schema.all_of.iter().flatten().enumerate() {
            let skip = skip_first_any_of && index == 0;
            self.nested(part, skip, &path.field("allOf").index(index));
        }
        for (index, part) in schema.one_of.iter().flatten().enumerate() {
            self.nested(part, false, &path.field("oneOf").index(index));
        }
        if let Some(not) = &schema.not {
            self.nested(not, false, &path.field("not"));
        }
        if let Some(pattern) = schema.pattern.as_deref().filter(|pattern| !pattern.is_empty())
            && let Err(error) = Pattern::new(pattern)
        {
            self.add(
                &path.field("pattern"),
                ProblemKind::Invalid,
                format!("must be a valid regular expression, but isn't: {error}"),
            );
        }
    }

    fn nested(&mut self, schema: &Schema, skip_any_of: bool, path: &Path) {
        self.value_validation(schema, skip_any_of, false, path);
        if let Some(item) = schema.item() {
            self.nested(item, false, &path.field("items"));
        }
        for (name, property) in schema.properties.iter().flatten() {
            self.nested(property, false, &path.field("properties").key(name));
        }
        let text = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
        let additional = !matches!(
            schema.additional_properties,
            None | Some(Properties::Allowed(false))
        );
        let keys = schema.list_map_keys.as_ref().is_some_and(|keys| !keys.is_empty());
        let rules = schema.validations.as_ref().is_some_and(|rules| !rules.is_empty());
        for (keyword, set, must) in [
            ("type", text(&schema.type_), "empty"),
            ("additionalProperties", additional, "undefined"),
            ("default", schema.default_value().is_some(), "undefined"),
            ("title", text(&schema.title), "empty"),
            ("description", text(&schema.description), "empty"),
            ("nullable", schema.nullable == Some(true), "false"),
            (
                "x-kubernetes-preserve-unknown-fields",
                schema.preserves_unknown_fields(),
                "false",
            ),
            ("x-kubernetes-embedded-resource", schema.is_embedded(), "false"),
            (
                "x-kubernetes-int-or-string",
                schema.int_or_string == Some(true),
                "false",
            ),
            ("x-kubernetes-list-map-keys", keys, "empty"),
            ("x-kubernetes-list-type", schema.list_type.is_some(), "undefined"),
            ("x-kubernetes-map-type", schema.map_type.is_some(), "undefined"),
            ("x-kubernetes-validations", rules, "empty"),
        ] {
            if set {
                self.forbidden(path, keyword, &format!("must be {must} to be structural"));
            }
        }
        if schema.property("metadata").is_some() {
            self.add(
                &path.field("properties").key("metadata"),
                ProblemKind::Forbidden,
                "must not be specified in a nested context",
            );
        }
    }

    /// Properties in `allOf`, `anyOf`, `oneOf` and `not` must also be declared outside of them.
    fn completeness(&mut self, schema: &Schema, declared: Option<&Schema>, at: &Path, path: &Path) {
        if let Some(not) = &schema.not {
            self.nested_completeness(not, declared, at, &path.field("not"));
        }
        for (keyword, parts) in [
            ("allOf", &schema.all_of),
            ("anyOf", &schema.any_of),
            ("oneOf", &schema.one_of),
        ] {
            for (index, part) in parts.iter().flatten().enumerate() {
                self.nested_completeness(part, declared, at, &path.field(keyword).index(index));
            }
        }
    }

    fn nested_completeness(&mut self, schema: &Schema, declared: Option<&Schema>, at: &Path, path: &Path) {
        let Some(declared) = declared else {
            self.add(
                at,
                ProblemKind::Required,
                format!("because it is defined in {path}"),
            );
            return;
        };
        self.completeness(schema, Some(declared), at, path);
        if let Some(item) = schema.item() {
            self.nested_completeness(item, declared.item(), &at.field("items"), &path.field("items"));
        }
        for (name, property) in schema.properties.iter().flatten() {
            let at = at.field("properties").key(name);
            let path = path.field("properties").key(name);
            self.nested_completeness(property, declared.property(name), &at, &path);
        }
    }
}

/// Whether an `anyOf` consists of exactly the types of an `x-kubernetes-int-or-string`.
fn is_int_or_string(any_of: Option<&[Schema]>) -> bool {
    let is = |schema: &Schema, type_: &str| {
        let mut rest = schema.clone();
        rest.type_.take().as_deref() == Some(type_) && is_empty(rest)
    };
    matches!(any_of, Some([integer, string]) if is(integer, "integer") && is(string, "string"))
}

fn only_restricts_names(metadata: &Schema) -> bool {
    let mut rest = metadata.clone();
    let names = rest.properties.take().unwrap_or_default();
    rest.type_ = None;
    rest.default = None;
    names
        .keys()
        .all(|name| matches!(name.as_str(), "name" | "generateName"))
        && is_empty(rest)
}

/// Whether a schema is empty: each keyword is absent or has its default.
fn is_empty(mut schema: Schema) -> bool {
    for flag in [
        &mut schema.nullable,
        &mut schema.exclusive_maximum,
        &mut schema.exclusive_minimum,
        &mut schema.unique_items,
        &mut schema.embedded_resource,
        &mut schema.int_or_string,
    ] {
        flag.take_if(|flag| !*flag);
    }
    for text in [
        &mut schema.id,
        &mut schema.schema,
        &mut schema.description,
        &mut schema.type_,
        &mut schema.format,
        &mut schema.title,
        &mut schema.pattern,
    ] {
        text.take_if(|text| text.is_empty());
    }
    for list in [&mut schema.all_of, &mut schema.any_of, &mut schema.one_of] {
        list.take_if(|list| list.is_empty());
    }
    for value in [&mut schema.default, &mut schema.example] {
        value.take_if(|value| value.is_null());
    }
    schema.enum_.take_if(|values| values.is_empty());
    schema == Schema::default()
}
