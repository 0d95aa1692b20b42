//! Bodies of requests as JSON, with the fields that are in them twice.

use crate::{protobuf, refusal::Refusal};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value as Json};
use std::{cell::RefCell, fmt};

/// Forms of bodies that are read, as refusals list them.
const FORMS: &str = "application/json, application/yaml, application/vnd.kubernetes.protobuf";

/// Reads a body, and lists the fields that are in it more than once, of which the last counts.
///
/// # Errors
///
/// If the form is not one that is read, or the body is not of that form.
pub(crate) fn read(form: &str, body: &[u8]) -> Result<(Json, Vec<String>), Refusal> {
    match form {
        "application/json"
        | "application/json-patch+json"
        | "application/merge-patch+json"
        | "application/strategic-merge-patch+json" => json(body),
        // Clients send JSON under this name, too, which is YAML.
        "application/apply-patch+yaml" => json(body).or_else(|_| yaml(body)),
        "application/yaml" => yaml(body),
        "application/vnd.kubernetes.protobuf" => Ok((protobuf::read(body)?, Vec::new())),
        _ => Err(Refusal::unsupported_media_type(FORMS)),
    }
}

fn json(body: &[u8]) -> Result<(Json, Vec<String>), Refusal> {
    let duplicates = RefCell::new(Vec::new());
    let reader = Reader {
        place: FieldPath::Root,
        duplicates: &duplicates,
    };
    let mut text = serde_json::Deserializer::from_slice(body);
    let value = reader
        .deserialize(&mut text)
        .and_then(|value| text.end().map(|()| value));
    match value {
        Ok(value) => Ok((value, duplicates.into_inner())),
        Err(error) => Err(Refusal::bad_request(format!("json parse error: {error}"))),
    }
}

fn yaml(body: &[u8]) -> Result<(Json, Vec<String>), Refusal> {
    serde_yaml::from_slice(body)
        .map(|value| (value, Vec::new()))
        .map_err(|error| Refusal::bad_request(format!("error parsing YAML: {error}")))
}

/// The path of a value. It is written out only for a field that is there twice.
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

/// Reads a value at a place.
struct Reader<'a> {
    place: FieldPath<'a>,
    duplicates: &'a RefCell<Vec<String>>,
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

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list: Vec<Json> = Vec::new();
        loop {
            let item = Reader {
                place: FieldPath::Item(&self.place, list.len()),
                duplicates: self.duplicates,
            };
            match items.next_element_seed(item)? {
                Some(item) => list.push(item),
                None => return Ok(list.into()),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Json, A::Error> {
        let mut map = Map::new();
        while let Some(key) = fields.next_key::<String>()? {
            let value = fields.next_value_seed(Reader {
                place: FieldPath::Field(&self.place, &key),
                duplicates: self.duplicates,
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
