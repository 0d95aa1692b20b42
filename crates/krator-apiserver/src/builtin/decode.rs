//! Decodes objects as Go does, and encodes them as Go would: wrong types are refused, unknown fields dropped and
//! listed, empty fields written or omitted by their tags, and quantities, times and bytes put in their canonical form.
//! After `sigs.k8s.io/json`, `encoding/json` and the codecs of `k8s.io/apimachinery`.
//!
//! Empty lists and maps become absent, because the API server stores objects in protobuf, which does not distinguish
//! the two.

use super::times::{canonical_micro_time, canonical_time};
use super::types::{Named, Struct, Type, named};
use crate::body::json_form;
use base64::Engine as _;
use base64::alphabet;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};
use krator_machine::Amount;
use serde_json::{Map, Number, Value as Json};

/// As in Go, unused bits of the last character may be set.
pub(super) const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// The most unknown fields that the server reports.
const MOST_UNKNOWN: usize = 100;

/// Decodes a value of a named type. Also returns a message for each unknown field.
///
/// # Errors
///
/// If a value does not have its type.
pub(super) fn decode(type_name: &'static str, value: &Json) -> Result<(Json, Vec<String>), String> {
    let mut decoder = Decoder::default();
    let read = decoder.read(&Type::Named(type_name), Some(value))?;
    Ok((read, decoder.unknown))
}

/// A message for each unknown field of a value of a named type, which is in the field `field` of another value.
///
/// # Errors
///
/// As of [`decode`].
pub(super) fn unknown_below(
    type_name: &'static str,
    field: &str,
    value: &Json,
) -> Result<Vec<String>, String> {
    let mut decoder = Decoder {
        path: field.to_owned(),
        ..Decoder::default()
    };
    decoder.read(&Type::Named(type_name), Some(value))?;
    Ok(decoder.unknown)
}

/// The zero value of a named type as Go encodes it.
pub(super) fn zero(type_name: &'static str) -> Json {
    zero_of(&Type::Named(type_name))
}

/// The zero value of a type as Go encodes it. Nil and unset times are null.
fn zero_of(type_: &Type) -> Json {
    match type_ {
        Type::Named(name) => match named(name) {
            Named::Struct(fields) => {
                let shown = fields.fields.iter().filter(|field| {
                    let is_empty = field.omit_empty && has_empty(&field.type_);
                    !is_empty && !field.omit_zero
                });
                let fields = shown.map(|field| (field.name.to_owned(), zero_of(&field.type_)));
                Json::Object(fields.collect())
            }
            Named::Alias(type_) => zero_of(type_),
            Named::Custom if *name == "api/resource.Quantity" => Json::from("0"),
            Named::Custom if *name == "util/intstr.IntOrString" => Json::from(0),
            Named::Custom => Json::Null,
        },
        Type::String => Json::from(""),
        Type::Bool => Json::from(false),
        Type::Integer(_) | Type::Float => Json::from(0),
        Type::Bytes | Type::Pointer(_) | Type::List(_) | Type::Map(_) => Json::Null,
    }
}

/// Whether `omitempty` drops the zero value of a type; structs are never empty.
fn has_empty(type_: &Type) -> bool {
    match type_ {
        Type::Named(name) => matches!(named(name), Named::Alias(type_) if has_empty(type_)),
        _ => true,
    }
}

#[derive(Default)]
struct Decoder {
    /// The path of the value that is read.
    path: String,
    unknown: Vec<String>,
    /// Above zero inside values that the original reads with a separate decoder, which ignores unknown fields.
    lenient: usize,
}

impl Decoder {
    /// Decodes a value; `None` is an absent one.
    fn read(&mut self, type_: &Type, value: Option<&Json>) -> Result<Json, String> {
        let Some(value) = value.filter(|value| !value.is_null()) else {
            return Ok(zero_of(type_));
        };
        match (type_, value) {
            (Type::Named(name), _) => match (named(name), value) {
                (Named::Struct(fields), Json::Object(entries)) => self.structure(fields, entries),
                (Named::Struct(_), other) => Err(self.wrong_type(other, "object")),
                (Named::Custom, _) => self.custom(name, value),
                (Named::Alias(type_), _) => self.read(type_, Some(value)),
            },
            (Type::Pointer(element), _) => self.read(element, Some(value)),
            (Type::List(element), Json::Array(items)) => self.list(element, items),
            (Type::Map(element), Json::Object(entries)) => self.map(element, entries),
            (Type::Bytes, Json::String(text)) => self.bytes(text),
            (Type::String, Json::String(_))
            | (Type::Bool, Json::Bool(_))
            | (Type::Float, Json::Number(_)) => Ok(value.clone()),
            (Type::Integer(bits), Json::Number(number)) => match integer(number, *bits) {
                Some(number) => Ok(Json::from(number)),
                None => Err(self.wrong_type(value, type_.name())),
            },
            (_, other) => Err(self.wrong_type(other, type_.name())),
        }
    }

    /// Decodes a list; an empty list becomes nil.
    fn list(&mut self, element: &Type, items: &[Json]) -> Result<Json, String> {
        let mut read = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            let outside = self.step_path(&format!("[{at}]"));
            read.push(self.read(element, Some(item))?);
            self.path.truncate(outside);
        }
        Ok(if read.is_empty() {
            Json::Null
        } else {
            Json::Array(read)
        })
    }

    fn map(&mut self, element: &Type, entries: &Map<String, Json>) -> Result<Json, String> {
        let mut read = Map::new();
        for (key, value) in entries {
            let outside = self.step_path_field(key);
            let mut value = self.read(element, Some(value))?;
            if *element == Type::Bytes && value.is_null() {
                value = Json::from("");
            }
            read.insert(key.clone(), value);
            self.path.truncate(outside);
        }
        // Go encodes maps in the order of their keys.
        read.sort_keys();
        Ok(if read.is_empty() {
            Json::Null
        } else {
            Json::Object(read)
        })
    }

    fn bytes(&self, text: &str) -> Result<Json, String> {
        // Go skips line breaks in base64.
        let text: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
        let bytes = BASE64.decode(&text);
        let bytes = bytes.map_err(|error| format!("{}: must be base64: {error}", self.path))?;
        Ok(Json::String(BASE64.encode(&bytes)))
    }

    fn structure(&mut self, fields: &'static Struct, entries: &Map<String, Json>) -> Result<Json, String> {
        let mut read: Vec<Option<Json>> = fields.fields.iter().map(|_| None).collect();
        for (key, value) in entries {
            match fields.field(key) {
                Some((at, field)) => {
                    let outside = self.step_path_field(field.name);
                    read[at] = Some(self.read(&field.type_, Some(value))?);
                    self.path.truncate(outside);
                }
                None => self.unknown_field(key),
            }
        }
        let mut json = Map::new();
        for (field, read) in fields.fields.iter().zip(read) {
            let read = read.unwrap_or_else(|| zero_of(&field.type_));
            let may_go = field.omit_empty && has_empty(&field.type_) || field.omit_zero;
            let is_nothing = || read == zero_of(&field.type_) || read == "" && field.type_ == Type::Bytes;
            if !may_go || !is_nothing() {
                json.insert(field.name.to_owned(), read);
            }
        }
        Ok(Json::Object(json))
    }

    /// Decodes a type that has its own unmarshaler in Go.
    fn custom(&mut self, name: &str, value: &Json) -> Result<Json, String> {
        let text = value.as_str().unwrap_or_default();
        let time = |time: Option<String>| time.map(Json::from).ok_or_else(|| self.wrong_type(value, "time"));
        match name {
            "api/resource.Quantity" => {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let amount = Amount::parse(text.trim()).map_err(|why| format!("{}: {why}", self.path))?;
                Ok(Json::from(amount.to_string()))
            }
            "meta/v1.Time" => time(canonical_time(text)),
            "meta/v1.MicroTime" => time(canonical_micro_time(text)),
            "util/intstr.IntOrString" => match value {
                Json::String(_) => Ok(value.clone()),
                Json::Number(number) if integer(number, 32).is_some() => Ok(value.clone()),
                other => Err(self.wrong_type(other, "int32 or string")),
            },
            "apiextensions/v1.JSONSchemaPropsOrBool" | "apiextensions/v1.JSONSchemaPropsOrArray" => {
                self.schemas(value)
            }
            "apiextensions/v1.JSONSchemaPropsOrStringArray" if value.is_object() => self.schemas(value),
            _ => Ok(value.clone()),
        }
    }

    /// Decodes schemas at a place where a definition allows another type, too.
    fn schemas(&mut self, value: &Json) -> Result<Json, String> {
        const SCHEMA: Type = Type::Named("apiextensions/v1.JSONSchemaProps");
        self.lenient += 1;
        let read = match value {
            Json::Object(_) => self.read(&SCHEMA, Some(value))?,
            Json::Array(items) => {
                let read = items.iter().map(|item| self.read(&SCHEMA, Some(item)));
                Json::Array(read.collect::<Result<_, String>>()?)
            }
            other => other.clone(),
        };
        self.lenient -= 1;
        Ok(read)
    }

    fn unknown_field(&mut self, name: &str) {
        let path = if self.path.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.path)
        };
        let message = format!("unknown field {path:?}");
        if self.lenient == 0 && self.unknown.len() < MOST_UNKNOWN && !self.unknown.contains(&message) {
            self.unknown.push(message);
        }
    }

    /// Appends a field to the path, and returns the length to which the path has to be truncated afterwards.
    fn step_path_field(&mut self, name: &str) -> usize {
        if self.path.is_empty() {
            self.step_path(name)
        } else {
            self.step_path(&format!(".{name}"))
        }
    }

    fn step_path(&mut self, step: &str) -> usize {
        let before = self.path.len();
        self.path.push_str(step);
        before
    }

    fn wrong_type(&self, value: &Json, expected: &str) -> String {
        let form = match value {
            Json::Number(_) => format!("number {value}"),
            other => json_form(other).to_owned(),
        };
        format!("{}: must be of type {expected}, and is a {form}", self.path)
    }
}

fn integer(number: &Number, bits: u32) -> Option<i64> {
    number
        .as_i64()
        .filter(|number| bits == 64 || i32::try_from(*number).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The original decodes schemas in many places with separate decoders. The record is from a real server.
    #[test]
    fn definitions_are_read_as_a_real_server_does() {
        let record: Json =
            serde_json::from_str(include_str!("../../testdata/builtin-crd.json")).expect("a record");
        let (read, unknown) = decode("apiextensions/v1.CustomResourceDefinition", &record["create"])
            .expect("the real server accepts it");
        let versions = |object: &Json| object["versions"].to_string();
        assert_eq!(versions(&read["spec"]), versions(&record["spec"]));
        // Fields below `items` are unknown, too, but the original does not report them.
        assert_eq!(
            unknown,
            [r#"unknown field "spec.versions[0].schema.openAPIV3Schema.properties.spec.foo""#]
        );
    }

    #[test]
    fn values_of_wrong_types_are_refused_with_their_paths() {
        let read = |value: Json| decode("core/v1.Pod", &value).expect_err("it does not fit");
        for (spec, expected) in [
            (
                r#"{"hostPID": 1}"#,
                "spec.hostPID: must be of type bool, and is a number 1",
            ),
            (
                r#"{"overhead": {"cpu": "x"}}"#,
                "spec.overhead.cpu: quantities must match",
            ),
            (
                r#"{"containers": ["a"]}"#,
                "spec.containers[0]: must be of type object, and is a string",
            ),
        ] {
            let spec: Json = serde_json::from_str(spec).expect("JSON");
            let error = read(serde_json::json!({"spec": spec}));
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
