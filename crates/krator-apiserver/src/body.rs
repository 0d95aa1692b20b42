//! Bodies of requests as JSON, with their duplicate fields.

use crate::{protobuf, refusal::Refusal};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value as Json};
use std::{
    cell::{Cell, RefCell},
    fmt,
};

/// The size limit of a body after its aliases are expanded: the size limit of a body without aliases.
const LARGEST: usize = 3 << 20;

/// Why a body cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unreadable {
    #[error("couldn't get version/kind; json parse error: {0}")]
    Json(String),
    #[error("yaml: {0}")]
    Yaml(String),
    #[error("{0}")]
    Refused(Refusal),
}

/// Reads a body, and lists its duplicate fields, of which the last value is used.
///
/// # Errors
///
/// If the body is malformed.
pub(crate) fn read(form: &str, body: &[u8]) -> Result<(Json, Vec<String>), Unreadable> {
    match form {
        // Clients also send JSON with this media type; JSON is valid YAML.
        "application/apply-patch+yaml" => json(body).or_else(|_| yaml(body)),
        "application/yaml" => yaml(body),
        "application/vnd.kubernetes.protobuf" => {
            let read = protobuf::read(body).map_err(Unreadable::Refused)?;
            Ok((read, Vec::new()))
        }
        _ => json(body),
    }
}

/// The `apiVersion` and the `kind` of a body; empty if absent.
///
/// # Errors
///
/// If the body is not an object, or one of the fields is not a text.
pub(crate) fn version_and_kind(body: &Json) -> Result<(&str, &str), String> {
    let wrong = |value: &Json, into: &str| {
        let form = json_form(value);
        format!("couldn't get version/kind; json parse error: json: cannot unmarshal {form} into Go {into}")
    };
    if !body.is_object() && !body.is_null() {
        let into = r#"value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#;
        return Err(wrong(body, into));
    }
    let text = |key: &str| match body.get(key).unwrap_or(&Json::Null) {
        Json::Null => Ok(""),
        Json::String(text) => Ok(text.as_str()),
        other => Err(wrong(other, &format!("struct field .{key} of type string"))),
    };
    Ok((text("apiVersion")?, text("kind")?))
}

/// The name of a JSON type in messages of `encoding/json`.
pub(crate) fn json_form(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "bool",
        Json::Number(_) => "number",
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    }
}

/// The message for a kind that the API server does not have.
pub(crate) fn no_kind(kind: &str, version: &str) -> String {
    format!("no kind {kind:?} is registered for version {version:?} in scheme \"pkg/runtime/scheme.go:111\"")
}

fn json(body: &[u8]) -> Result<(Json, Vec<String>), Unreadable> {
    let duplicates = RefCell::new(Vec::new());
    let room = Cell::new(usize::MAX);
    let mut text = serde_json::Deserializer::from_slice(body);
    let value = Reader::new(&duplicates, &room)
        .deserialize(&mut text)
        .and_then(|value| text.end().map(|()| value));
    match value {
        Ok(value) => Ok((value, duplicates.into_inner())),
        Err(error) => Err(Unreadable::Json(match error.to_string() {
            _ if error.is_eof() => "unexpected end of JSON input".to_owned(),
            why if why.starts_with("recursion limit") => "exceeded max depth".to_owned(),
            why => why,
        })),
    }
}

fn yaml(body: &[u8]) -> Result<(Json, Vec<String>), Unreadable> {
    let duplicates = RefCell::new(Vec::new());
    let room = Cell::new(LARGEST);
    let reader = Reader::new(&duplicates, &room);
    match reader.deserialize(serde_yaml::Deserializer::from_slice(body)) {
        Ok(value) => Ok((value, duplicates.into_inner())),
        Err(error) => Err(Unreadable::Yaml(match error.to_string() {
            why if why.contains(EXCESSIVE) || why.contains("repetition limit") => EXCESSIVE.to_owned(),
            why => why,
        })),
    }
}

/// The error for a body whose expanded aliases exceed the limit.
const EXCESSIVE: &str = "document contains excessive aliasing";

/// The path of a value. It is formatted only for duplicate fields.
enum FieldPath<'a> {
    Root,
    Field(&'a FieldPath<'a>, &'a str),
    Item(&'a FieldPath<'a>, usize),
}

impl fmt::Display for FieldPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FieldPath::Root => Ok(()),
            FieldPath::Field(FieldPath::Root, name) => f.write_str(name),
            FieldPath::Field(of, name) => write!(f, "{of}.{name}"),
            FieldPath::Item(of, index) => write!(f, "{of}[{index}]"),
        }
    }
}

/// Reads a value at a path.
struct Reader<'a> {
    place: FieldPath<'a>,
    duplicates: &'a RefCell<Vec<String>>,
    /// The remaining size.
    room: &'a Cell<usize>,
}

impl<'a> Reader<'a> {
    fn new(duplicates: &'a RefCell<Vec<String>>, room: &'a Cell<usize>) -> Self {
        Self {
            place: FieldPath::Root,
            duplicates,
            room,
        }
    }

    /// Subtracts the size of a value, whose text has `text` bytes.
    fn take<E: Error>(&self, text: usize) -> Result<(), E> {
        let left = self.room.get().checked_sub(text + 1);
        self.room.set(left.ok_or_else(|| E::custom(EXCESSIVE))?);
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Json, E> {
        self.take(0)?;
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Json, E> {
        self.take(0)?;
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Json, E> {
        self.take(0)?;
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Json, E> {
        self.take(0)?;
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Json, E> {
        self.take(value.len())?;
        Ok(value.into())
    }

    fn visit_unit<E: Error>(self) -> Result<Json, E> {
        self.take(0)?;
        Ok(Json::Null)
    }

    // A document of YAML may be empty.
    fn visit_none<E: Error>(self) -> Result<Json, E> {
        self.visit_unit()
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        self.take(0)?;
        let mut list: Vec<Json> = Vec::new();
        loop {
            let item = Reader {
                place: FieldPath::Item(&self.place, list.len()),
                duplicates: self.duplicates,
                room: self.room,
            };
            match items.next_element_seed(item)? {
                Some(item) => list.push(item),
                None => return Ok(list.into()),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Json, A::Error> {
        self.take(0)?;
        let mut map = Map::new();
        while let Some(key) = fields.next_key::<String>()? {
            self.take(key.len())?;
            let value = fields.next_value_seed(Reader {
                place: FieldPath::Field(&self.place, &key),
                duplicates: self.duplicates,
                room: self.room,
            })?;
            if map.contains_key(&key) {
                let place = FieldPath::Field(&self.place, &key).to_string();
                self.duplicates
                    .borrow_mut()
                    .push(format!("duplicate field {place:?}"));
            }
            map.insert(key, value);
        }
        Ok(Json::Object(map))
    }
}
