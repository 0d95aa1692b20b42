//! Objects and patches as clients send them.

use crate::{
    body::{self, Unreadable},
    builtin,
    kinds::Kind,
    object::meta,
    parameters::Unknown,
    refusal::{About, FieldError, Refusal},
    webhook_calls::Session,
};
use serde_json::{Map, Value as Json};
use std::fmt::{self, Write as _};

/// How many bytes of a body that cannot be read are shown.
const SHOWN: usize = 30;

/// Reads an object that is created or that replaces another, and lists the fields that are in it twice.
///
/// # Errors
///
/// If it cannot be read, or says that it is of a kind that is not the one of the path.
pub(crate) fn read(kind: &Kind, form: &str, sent: &[u8]) -> Result<(Json, Vec<String>), Refusal> {
    let unrecognized = |why: &str| {
        let (kind, summary) = (&kind.kind, summary(sent));
        Refusal::bad_request(format!(
            "the object provided is unrecognized (must be of type {kind}): {why} ({summary})"
        ))
    };
    let (body, twice) = body::read(form, sent).map_err(|why| match why {
        Unreadable::Refused(refusal) => refusal,
        other => unrecognized(&other.to_string()),
    })?;
    let (version, name) = body::version_and_kind(&body).map_err(|why| unrecognized(&why))?;
    if version.matches('/').count() > 1 {
        return Err(unrecognized(&format!(
            "unexpected GroupVersion string: {version}"
        )));
    }
    match kind.is_custom() {
        true if name.is_empty() => {
            let text = String::from_utf8_lossy(sent);
            return Err(unrecognized(&format!("Object 'Kind' is missing in '{text}'")));
        }
        true => {}
        false => {
            let why = expect_builtin(kind, version, name);
            why.map_err(|why| cannot(kind, version, name, &why))?;
        }
    }
    let body = if body.is_null() {
        Json::Object(Default::default())
    } else {
        body
    };
    Ok((body, twice))
}

/// The part of an invalid body that is shown.
fn summary(sent: &[u8]) -> String {
    let start = &sent[..sent.len().min(SHOWN)];
    let mut text = match start.first() {
        None => return "<empty>".to_owned(),
        Some(b'{') => String::from_utf8_lossy(start).into_owned(),
        Some(_) => start.iter().fold(String::new(), |mut text, byte| {
            // Writing to a string does not fail.
            let _ = write!(text, "{byte:02x}");
            text
        }),
    };
    if sent.len() > SHOWN {
        text.push_str(" ...");
    }
    text
}

/// The refusal of an object that cannot be read as one of a kind. It may not say which kind it is of.
fn cannot(kind: &Kind, version: &str, name: &str, why: &dyn fmt::Display) -> Refusal {
    let expected = &kind.kind;
    let name = if name.is_empty() { expected } else { name };
    let version = match version {
        "" => &kind.version,
        version => version.rsplit('/').next().unwrap_or_default(),
    };
    Refusal::bad_request(format!(
        "{name} in version {version:?} cannot be handled as a {expected}: {why}"
    ))
}

/// An object for a kind of Kubernetes itself is of this kind, or does not say of which.
pub(super) fn expect_builtin(kind: &Kind, version: &str, name: &str) -> Result<(), String> {
    let own = kind.api_version();
    let version = if version.is_empty() { own.as_str() } else { version };
    let name = if name.is_empty() { &kind.kind } else { name };
    if name == kind.kind && version == own {
        return Ok(());
    }
    let (group, of) = version.rsplit_once('/').unwrap_or(("", version));
    let single = name.strip_suffix("List").unwrap_or(name);
    let is_known = builtin::kinds()
        .iter()
        .any(|known| known.group == group && known.version == of && known.kind == single);
    if !is_known {
        return Err(body::no_kind(name, version));
    }
    let place = kind.id.group.split('.').next().filter(|group| !group.is_empty());
    let place = place.unwrap_or("core");
    let expected = &kind.kind;
    Err(format!(
        "converting ({of}.{name}) to ({place}.{expected}): unknown conversion"
    ))
}

/// Reads a patch of a form, and lists the fields that are in it twice.
///
/// # Errors
///
/// If it cannot be read.
pub(crate) fn read_patch(form: &str, sent: &[u8]) -> Result<(Json, Vec<String>), Refusal> {
    let read = body::read(form, sent).map(|(patch, twice)| match form {
        "application/json-patch+json" => {
            let named = twice.into_iter().chain(unknown_in_operations(&patch));
            let named = named.map(|field| format!("json patch {field}")).collect();
            (patch, named)
        }
        _ => (patch, twice),
    });
    read.map_err(|why| match why {
        Unreadable::Json(why) if form.contains("strategic") => Refusal::bad_request(why),
        Unreadable::Json(why) => Refusal::bad_request(format!("error decoding patch: {why}")),
        Unreadable::Yaml(why) => Refusal::bad_request(format!(
            "error decoding YAML: error converting YAML to JSON: yaml: {why}"
        )),
        Unreadable::Refused(refusal) => refusal,
    })
}

/// The fields of the operations of a JSON patch that there are not, each as a message.
fn unknown_in_operations(patch: &Json) -> Vec<String> {
    let operations = patch.as_array().into_iter().flatten().enumerate();
    let fields = operations.flat_map(|(at, operation)| {
        let fields = operation.as_object().into_iter().flat_map(Map::keys);
        fields.map(move |field| (at, field))
    });
    fields
        .filter(|(_, field)| !["op", "path", "from", "value"].contains(&field.as_str()))
        .map(|(at, field)| format!("unknown field {:?}", format!("[{at}].{field}")))
        .collect()
}

/// Reads an object of a kind as a client has sent it, or as a patch has made it. The client is warned of what is left out.
///
/// # Errors
///
/// If a field has a value of a wrong type, or something would be left out and the request does not allow that.
pub(crate) fn decode(
    session: &mut Session,
    kind: &Kind,
    body: Json,
    twice: Vec<String>,
    unknown: Unknown,
) -> Result<Json, Refusal> {
    let text = |key: &str| {
        body.get(key)
            .and_then(Json::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let (name, version) = (text("kind"), text("apiVersion"));
    let is_other = kind.is_custom() && (name != kind.kind || version != kind.api_version());
    let ends_tracking = body.pointer("/metadata/managedFields").and_then(Json::as_array);
    let ends_tracking = !kind.is_custom() && ends_tracking.is_some_and(Vec::is_empty);
    let (mut object, found) = kind.decode(body)?;
    if !kind.is_custom() {
        crate::object::set(&mut object, "apiVersion", kind.api_version().into());
        crate::object::set(&mut object, "kind", kind.kind.as_str().into());
    }
    let cannot = |why: &dyn fmt::Display| cannot(kind, &version, &name, why);
    // Of an object of another kind, which is refused later, nobody knows the fields.
    let found = found.into_iter().filter(|_| !is_other);
    let mut wrong: Vec<String> = twice.into_iter().chain(found).collect();
    if let Some(metadata) = object.get_mut("metadata").filter(|it| !it.is_null()) {
        if kind.is_custom() {
            wrong.extend(builtin::unknown_metadata(metadata).map_err(|why| cannot(&why))?);
        }
        krator_schema::admit_metadata(metadata).map_err(|problem| cannot(&problem))?;
    } else {
        crate::object::meta_mut(&mut object);
    }
    // An empty list is as good as none, but for this one.
    if ends_tracking {
        crate::object::set_meta(&mut object, "managedFields", Json::Array(Vec::new()));
    }

    match unknown {
        Unknown::Strict if !wrong.is_empty() => {
            let all = wrong.join(", ");
            Err(cannot(&format_args!("strict decoding error: {all}")))
        }
        Unknown::Warn => {
            wrong.into_iter().for_each(|warning| session.warn(warning));
            Ok(object)
        }
        _ => Ok(object),
    }
}

/// A custom resource that is sent as a whole is of the version that the path names. Other kinds of Kubernetes itself are
/// refused when they are read.
pub(super) fn expect_version(kind: &Kind, object: &Json) -> Result<(), Refusal> {
    let found = object
        .get("apiVersion")
        .and_then(Json::as_str)
        .unwrap_or_default();
    let expected = kind.api_version();
    if !kind.is_custom() || found == expected {
        return Ok(());
    }
    Err(Refusal::bad_request(format!(
        "the API version in the data ({found}) does not match the expected API version ({expected})"
    )))
}

/// The errors of a custom resource that is not of the kind that the path names.
pub(super) fn kind_errors(kind: &Kind, object: &Json) -> Vec<FieldError> {
    let expected = [("apiVersion", kind.api_version()), ("kind", kind.kind.clone())];
    let wrong = expected
        .into_iter()
        .filter(|_| kind.is_custom())
        .filter_map(|(key, expected)| {
            let found = object.get(key).and_then(Json::as_str).unwrap_or_default();
            (found != expected).then(|| FieldError::invalid(key, found, format!("must be {expected}")))
        });
    wrong.collect()
}

/// What the refusal of an object is about: what it says of itself.
pub(super) fn about(kind: &Kind, object: &Json) -> About {
    let text = |key: &str| object.get(key).and_then(Json::as_str).unwrap_or_default();
    let group = text("apiVersion").rsplit_once('/').map_or("", |(group, _)| group);
    match kind.is_custom() {
        true => About::new(group, text("kind"), meta(object, "name")),
        false => kind.about_kind(meta(object, "name")),
    }
}
