//! Decodes the objects and patches of requests.

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

/// The number of bytes of a malformed body that are shown.
const SHOWN: usize = 30;

/// Reads an object for a creation or replacement, and lists its duplicate fields.
///
/// # Errors
///
/// If the body is malformed, or its kind is not that of the path.
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

/// The part of a malformed body that is shown.
fn summary(sent: &[u8]) -> String {
    let start = &sent[..sent.len().min(SHOWN)];
    let mut text = match start.first() {
        None => return "<empty>".to_owned(),
        Some(b'{') => String::from_utf8_lossy(start).into_owned(),
        Some(_) => start.iter().fold(String::new(), |mut text, byte| {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        }),
    };
    if sent.len() > SHOWN {
        text.push_str(" ...");
    }
    text
}

/// The refusal of an object that cannot be decoded as a kind. The object may lack a kind.
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

/// Checks that an object has the builtin kind of the path, or none.
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

/// Reads a patch, and lists its duplicate fields.
///
/// # Errors
///
/// If it is malformed.
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

/// A message for each unknown field of the operations of a JSON patch.
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

/// Decodes an object of a request, or the result of a patch. The client gets warnings about dropped fields.
///
/// # Errors
///
/// If a field has a value of a wrong type, or fields would be dropped and the request forbids that.
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
    // An object of another kind is refused later, so its unknown fields are not reported.
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
    // Empty lists become absent, but this one has a meaning.
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

/// Checks that a custom resource has the version of the path. Objects of builtin kinds are checked when they are
/// decoded.
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

/// The errors of a custom resource whose kind is not that of the path.
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

/// The object that a refusal names. A custom resource is named with its own kind.
pub(super) fn about(kind: &Kind, object: &Json) -> About {
    let text = |key: &str| object.get(key).and_then(Json::as_str).unwrap_or_default();
    let group = text("apiVersion").rsplit_once('/').map_or("", |(group, _)| group);
    match kind.is_custom() {
        true => About::new(group, text("kind"), meta(object, "name")),
        false => kind.about_kind(meta(object, "name")),
    }
}
