//! The JSON Schema of descriptions, made from the table of keys that the parser reads.
//!
//! Editors use it to complete and check a description without krator. It covers keys, types, limits and the form of
//! names; checks that need more than one value (a state that does not exist, a key that has no effect) are left to the
//! rules. It never refuses a description that `krator check` accepts.

use serde_json::{Map, Value, json};

use crate::catalog::Severity;
use crate::catalog::keys::{self, Absent, Key, NameOf, Section, SectionPlace, Type};
use crate::model::{DEEPEST_PHRASE, type_words};
use crate::names::{ConditionName, FieldName, NamePattern, StateName, TypeName, VersionName};

/// A duration of Go; a single `0` needs no unit.
const DURATION: &str = r"^(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$";
const QUANTITY: &str = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]+)?$";
/// A kind as `group/version.Kind`.
const KIND: &str = r"^[a-z0-9.-]+/v[1-9][0-9]{0,5}((alpha|beta)[1-9][0-9]{0,5})?\.[A-Z][A-Za-z0-9]{0,58}$";
/// The path of a field, as [`FieldPath`](crate::model::FieldPath) parses it, or of a column, which
/// [`JsonPath`](crate::model::JsonPath) parses.
const PATH: &str = concat!(
    r"^\.(spec|status|metadata|kind$|apiVersion$|\.[A-Za-z0-9_/-]+$)",
    r"(\.([A-Za-z0-9_/-]|\\[A-Za-z0-9_./-])+",
    r"|\.\.[A-Za-z0-9_/-]*|\.\*",
    r"|\[[^\]?]+\]|\[\?\([^\]]+\)\])*$"
);

/// The schema of one document of a description, in draft 7, which editors support best.
pub fn of_language() -> Value {
    let mut builder = Builder {
        places: keys::places(),
        definitions: Map::new(),
    };
    // The first place is the top level.
    let top = builder.places[0].section;
    let mut schema = Map::new();
    schema.insert(
        "$schema".to_owned(),
        "http://json-schema.org/draft-07/schema#".into(),
    );
    schema.insert("title".to_owned(), "A description of krator".into());
    schema.extend(builder.section(top));
    schema.insert("definitions".to_owned(), builder.definitions.into());
    schema.into()
}

struct Builder {
    places: Vec<SectionPlace>,
    /// The schemas of sections, each by the path that leads to it first.
    definitions: Map<String, Value>,
}

impl Builder {
    /// The keywords of a mapping with a fixed set of keys.
    fn section(&mut self, section: &'static Section) -> Map<String, Value> {
        let required: Vec<&str> = section
            .keys
            .iter()
            .filter(|key| key.absent == Absent::Required)
            .map(|key| key.name)
            .collect();
        let mut schema = Map::new();
        schema.insert("type".to_owned(), "object".into());
        schema.insert("properties".to_owned(), self.properties(section).into());
        if !required.is_empty() {
            schema.insert("required".to_owned(), required.into());
        }
        schema.insert("additionalProperties".to_owned(), false.into());
        schema
    }

    fn properties(&mut self, section: &'static Section) -> Map<String, Value> {
        let keys = section.keys.iter();
        keys.map(|key| (key.name.to_owned(), self.key(key))).collect()
    }

    fn key(&mut self, key: &'static Key) -> Value {
        let mut description = key.doc.to_owned();
        let mut default = None;
        if let Absent::Default(text) = key.absent {
            default = literal(text);
            if default.is_none() {
                description += &format!(" Default: {text}.");
            }
        }
        let mut schema = json!({"description": description});
        if let Some(default) = default {
            schema["default"] = default;
        }
        match self.value(&key.value) {
            // Beside a reference other keywords are ignored.
            Value::Object(value) if value.contains_key("$ref") => schema["allOf"] = json!([value]),
            Value::Object(value) => {
                for (keyword, value) in value {
                    schema[keyword] = value;
                }
            }
            // Any value.
            _ => {}
        }
        schema
    }

    fn reference(&mut self, section: &'static Section) -> Value {
        let place = self
            .places
            .iter()
            .find(|place| std::ptr::eq(place.section, section));
        let name = place.map(|place| place.paths[0].clone()).unwrap_or_default();
        if !self.definitions.contains_key(&name) {
            // Types are inside types, so the name has to exist before its schema is made.
            self.definitions.insert(name.clone(), Value::Null);
            let schema = self.section(section);
            self.definitions.insert(name.clone(), schema.into());
        }
        json!({"$ref": format!("#/definitions/{name}")})
    }

    fn value(&mut self, of: &Type) -> Value {
        match of {
            Type::String => json!({"type": ["string", "number", "boolean"]}),
            Type::Boolean => json!({"type": "boolean"}),
            Type::True => json!({"const": true}),
            Type::Integer { min, max } if min == max => json!({"const": min}),
            Type::Integer { min, max: i64::MAX } => json!({"type": "integer", "minimum": min}),
            Type::Integer { min, max } => json!({"type": "integer", "minimum": min, "maximum": max}),
            Type::Number(None) => json!({"type": "number"}),
            Type::Number(Some((min, max))) => json!({"type": "number", "minimum": min, "maximum": max}),
            Type::Duration => {
                json!({"type": ["string", "integer"], "pattern": DURATION, "minimum": 0, "maximum": 0})
            }
            Type::Quantity => json!({"type": ["string", "number"], "pattern": QUANTITY}),
            Type::Any => Value::Bool(true),
            Type::Word(words) => words_of(words),
            Type::Name(pattern) => name(pattern),
            Type::Phrase(_) => json!({"type": "string", "pattern": phrase("|array")}),
            Type::State => name(&StateName::PATTERN),
            Type::Kind => json!({"type": "string", "pattern": KIND}),
            Type::Path => json!({"type": "string", "pattern": PATH}),
            Type::Schema => {
                let mapping = self.reference(keys::type_section());
                json!({"anyOf": [{"type": "string", "pattern": phrase("")}, mapping]})
            }
            Type::List { of, min, max } => {
                let mut list = json!({"type": "array", "items": self.value(of)});
                if *min > 0 {
                    list["minItems"] = (*min).into();
                }
                if let Some(max) = max {
                    list["maxItems"] = (*max).into();
                }
                list
            }
            Type::Map { by, of } => {
                let mut map = json!({"type": "object", "additionalProperties": self.value(of)});
                if let Some(names) = names(*by) {
                    map["propertyNames"] = names;
                }
                map
            }
            Type::Mapping(section) => self.reference(section),
            Type::Either(types) => self.either(types),
        }
    }

    /// One of several types. Chosen names and fixed keys that may be in the same mapping are one type here.
    fn either(&mut self, types: &[Type]) -> Value {
        let section = types.iter().find_map(|of| match of {
            Type::Mapping(section) => Some(*section),
            _ => None,
        });
        let map = types.iter().find(|of| matches!(of, Type::Map { .. }));
        let (Some(section), Some(map)) = (section, map) else {
            let types: Vec<Value> = types.iter().map(|of| self.value(of)).collect();
            return json!({ "anyOf": types });
        };
        let mut both = self.value(map);
        both["properties"] = self.properties(section).into();
        let others = types
            .iter()
            .filter(|of| !matches!(of, Type::Map { .. } | Type::Mapping(_)));
        let mut types: Vec<Value> = others.map(|of| self.value(of)).collect();
        types.push(both);
        json!({ "anyOf": types })
    }
}

/// The value of a default, if its text is a literal: `` `true` `` or `5`, but not "the kind in lower case".
fn literal(text: &str) -> Option<Value> {
    let quoted = text
        .strip_prefix('`')
        .and_then(|text| text.strip_suffix('`'))
        .filter(|text| !text.contains('`'));
    match quoted {
        Some(text) => serde_yaml::from_str(text).ok(),
        None => text.parse::<i64>().ok().map(Value::from),
    }
}

/// `True` and `False` are booleans unless they are quoted.
fn words_of(words: &[&str]) -> Value {
    let mut values: Vec<Value> = words.iter().map(|word| Value::from(*word)).collect();
    if words.contains(&"True") {
        values.extend([true.into(), false.into()]);
    }
    json!({ "enum": values })
}

/// A string of a pattern. A name such as `7` is a number in YAML unless it is quoted.
fn name(form: &NamePattern) -> Value {
    let mut types = vec!["string"];
    if (form.is)("1.5") {
        types.push("number");
    } else if (form.is)("7") {
        types.push("integer");
    }
    if (form.is)("true") || (form.is)("True") {
        types.push("boolean");
    }
    let types = if types.len() == 1 {
        Value::from("string")
    } else {
        types.into()
    };
    json!({"type": types, "pattern": form.pattern})
}

fn names(by: NameOf) -> Option<Value> {
    let form = match by {
        NameOf::State => StateName::PATTERN,
        NameOf::Field => FieldName::PATTERN,
        NameOf::Type => TypeName::PATTERN,
        NameOf::Condition => ConditionName::PATTERN,
        NameOf::Version => VersionName::PATTERN,
        NameOf::Kind => return Some(json!({"pattern": KIND})),
        NameOf::Rule => {
            // `allow` does not silence errors.
            let rules = crate::rules::all().filter(|rule| rule.severity != Severity::Error);
            let rules: Vec<&str> = rules.map(|rule| rule.name).collect();
            return Some(json!({"enum": rules}));
        }
        NameOf::Resource | NameOf::Label | NameOf::Value => return None,
    };
    Some(json!({"pattern": form.pattern}))
}

/// A type as a phrase; `also` is an alternative for the last word.
fn phrase(also: &str) -> String {
    let words: Vec<&str> = type_words().collect();
    let words = words.join("|");
    format!(
        r"^\s*(optional\s+)?((list|map)\s+of\s+){{0,{DEEPEST_PHRASE}}}({words}{also}|[A-Z][A-Za-z0-9]{{0,62}}|[a-z0-9.-]+/v[a-z0-9]+\.[A-Z][A-Za-z0-9]*)\s*$"
    )
}
