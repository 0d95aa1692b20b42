//! Decodes request bodies from protobuf to JSON, after `pkg/runtime/serializer/protobuf` of `k8s.io/apimachinery`: the
//! typed clients of client-go send only protobuf. Responses are in JSON, which these clients accept, too.
//!
//! Definitions cannot be decoded, because no client sends them in protobuf. The envelope names the kind, and the
//! messages of `data/protobuf.txt` define its fields. As in the API server, unknown fields are skipped and the last
//! value of a field is used.

mod messages;
mod special;
mod wire;

use crate::refusal::Refusal;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use messages::{Field, Message, Type, message};
use serde_json::{Map, Value as Json, map::Entry};
use wire::{Malformed, Value};

/// The prefix of each body.
const PREFIX: [u8; 4] = *b"k8s\0";

/// The limit of nested messages, which is that of JSON.
const DEEPEST: usize = 128;

/// Decodes an object from a protobuf body.
///
/// # Errors
///
/// If the body is not a message of Kubernetes, or its kind is not served in protobuf.
pub(crate) fn read(body: &[u8]) -> Result<Json, Refusal> {
    let envelope = match body.strip_prefix(&PREFIX) {
        _ if body.is_empty() => return Err(Refusal::bad_request("empty data")),
        Some([]) => return Err(Refusal::bad_request("empty body")),
        Some(envelope) => envelope,
        None => {
            let why =
                "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]";
            return Err(Refusal::bad_request(why));
        }
    };
    let malformed = |Malformed(why)| Refusal::bad_request(why);
    let envelope = Envelope::read(envelope).map_err(malformed)?;
    let name = envelope.message_name();
    let Some(message) = message(&name) else {
        if envelope.kind.is_empty() {
            return Err(Refusal::not_built(
                "Protobuf messages that do not name their kind",
            ));
        }
        let Envelope {
            api_version, kind, ..
        } = &envelope;
        return Err(Refusal::bad_request(format!(
            "no kind {kind:?} is registered for version {api_version:?}"
        )));
    };
    let mut object = Map::new();
    object.insert("apiVersion".to_owned(), Json::from(&*envelope.api_version));
    object.insert("kind".to_owned(), Json::from(&*envelope.kind));
    read_message(message, envelope.raw, &mut object, DEEPEST).map_err(malformed)?;
    Ok(Json::Object(object))
}

/// `runtime.Unknown`: the bytes of an object, with its type.
#[derive(Default)]
struct Envelope<'a> {
    api_version: String,
    kind: String,
    raw: &'a [u8],
}

impl<'a> Envelope<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut envelope = Self::default();
        for field in wire::fields(bytes) {
            let (number, value) = field?;
            match number {
                1 => {
                    for field in wire::fields(value.bytes()?) {
                        match field? {
                            (1, value) => envelope.api_version = value.text()?,
                            (2, value) => envelope.kind = value.text()?,
                            _ => {}
                        }
                    }
                }
                2 => envelope.raw = value.bytes()?,
                _ => {}
            }
        }
        Ok(envelope)
    }

    /// The name of the kind's message. `DeleteOptions` is a kind of each group, but always the same message.
    fn message_name(&self) -> String {
        if self.kind == "DeleteOptions" {
            return "meta/v1.DeleteOptions".to_owned();
        }
        let (group, version) = self
            .api_version
            .split_once('/')
            .unwrap_or(("core", &self.api_version));
        let package = group.split('.').next().unwrap_or_default();
        format!("{package}/{version}.{}", self.kind)
    }
}

/// Decodes the fields of a message into an object.
fn read_message(
    message: &Message,
    bytes: &[u8],
    into: &mut Map<String, Json>,
    depth: usize,
) -> Result<(), Malformed> {
    let depth = depth
        .checked_sub(1)
        .ok_or_else(|| Malformed::new("the message is nested too deeply"))?;
    for field in wire::fields(bytes) {
        let (number, value) = field?;
        match message.get(&number) {
            Some(Field {
                name: Some(name),
                type_,
            }) => match into.entry(*name) {
                Entry::Occupied(mut known) => read_value(type_, value, known.get_mut(), depth)?,
                Entry::Vacant(place) => read_value(type_, value, place.insert(Json::Null), depth)?,
            },
            Some(Field { name: None, type_ }) => read_inline(type_, value, into, depth)?,
            None => {}
        }
    }
    Ok(())
}

/// Decodes an embedded struct. It is a message of its own, but in JSON its fields belong to the outer struct.
fn read_inline(
    type_: &Type,
    value: Value<'_>,
    into: &mut Map<String, Json>,
    depth: usize,
) -> Result<(), Malformed> {
    match type_ {
        Type::Message(name) => read_message(known_message(name)?, value.bytes()?, into, depth),
        _ => Err(Malformed::new("only messages are embedded")),
    }
}

fn known_message(name: &str) -> Result<&'static Message, Malformed> {
    message(name).ok_or_else(|| Malformed(format!("there is no message {name}")))
}

/// Decodes a value of a field. Lists, maps and messages are merged into the present value.
fn read_value(type_: &Type, value: Value<'_>, into: &mut Json, depth: usize) -> Result<(), Malformed> {
    *into = match type_ {
        Type::String => value.text()?.into(),
        Type::Bool => (value.number()? != 0).into(),
        Type::Int32 => value.int32()?.into(),
        Type::Int64 => value.int64()?.into(),
        Type::Double => value.double()?.into(),
        Type::Bytes => STANDARD.encode(value.bytes()?).into(),
        Type::Special(special) => special::read(*special, value.bytes()?)?,
        Type::Message(name) => {
            let fields = made(into, Map::new, Json::as_object_mut);
            return read_message(known_message(name)?, value.bytes()?, fields, depth);
        }
        Type::List(element) => {
            let mut item = Json::Null;
            read_value(element, value, &mut item, depth)?;
            made(into, Vec::new, Json::as_array_mut).push(item);
            return Ok(());
        }
        Type::Map(element) => {
            let (key, value) = read_entry(element, value.bytes()?, depth)?;
            made(into, Map::new, Json::as_object_mut).insert(key, value);
            return Ok(());
        }
        Type::Items(list) => {
            let mut items = Json::Array(Vec::new());
            for field in wire::fields(value.bytes()?) {
                if let (1, item) = field? {
                    read_value(list, item, &mut items, depth)?;
                }
            }
            items
        }
    };
    Ok(())
}

/// Decodes an entry of a map. It is a message with a key and a value, which both default to zero values.
fn read_entry(element: &Type, bytes: &[u8], depth: usize) -> Result<(String, Json), Malformed> {
    let mut key = String::new();
    let mut item = element.zero();
    for field in wire::fields(bytes) {
        match field? {
            (1, value) => key = value.text()?,
            (2, value) => read_value(element, value, &mut item, depth)?,
            _ => {}
        }
    }
    Ok((key, item))
}

/// The list or the object at a place. A value of another type is replaced by an empty one.
fn made<T>(place: &mut Json, new: fn() -> T, get: fn(&mut Json) -> Option<&mut T>) -> &mut T
where
    Json: From<T>,
{
    if get(place).is_none() {
        *place = new().into();
    }
    get(place).expect("it was made above")
}

#[cfg(test)]
mod tests;
