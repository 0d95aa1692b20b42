//! Objects and patches as clients send them.

use crate::{
    body::{self, Unreadable},
    builtin,
    kinds::Kind,
    object::meta,
    parameters::Unknown,
    questions::Session,
    refusal::{About, FieldError, Refusal},
};
use serde_json::Value as Json;
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
        false => expect_builtin(kind, version, name)?,
    }
    let body = if body.is_null() {
        Json::Object(Default::default())
    } else {
        body
    };
    Ok((body, twice))
}

/// What is shown of a body that cannot be read.
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

/// A body for a kind of Kubernetes itself is of this kind, or does not say of which.
pub(super) fn expect_builtin(kind: &Kind, version: &str, name: &str) -> Result<(), Refusal> {
    let own = kind.api_version();
    let version = if version.is_empty() { own.as_str() } else { version };
    if name.is_empty() && version == own || name == kind.kind && version == own {
        return Ok(());
    }
    let name = if name.is_empty() { &kind.kind } else { name };
    let (group, of) = version.rsplit_once('/').unwrap_or(("", version));
    let single = name.strip_suffix("List").unwrap_or(name);
    let is_known = builtin::kinds()
        .iter()
        .any(|known| known.group == group && known.version == of && known.kind == single);
    let why = match is_known {
        true => {
            let place = kind.id.group.split('.').next().filter(|group| !group.is_empty());
            let place = place.unwrap_or("core");
            format!(
                "converting ({of}.{name}) to ({place}.{}): unknown conversion",
                kind.kind
            )
        }
        false => body::no_kind(name, version),
    };
    Err(Refusal::bad_request(format!(
        "{name} in version {of:?} cannot be handled as a {}: {why}",
        kind.kind
    )))
}

/// Reads a patch of a form, and lists the fields that are in it twice.
///
/// # Errors
///
/// If it cannot be read.
pub(crate) fn read_patch(form: &str, sent: &[u8]) -> Result<(Json, Vec<String>), Refusal> {
    body::read(form, sent).map_err(|why| match why {
        Unreadable::Json(why) => Refusal::bad_request(format!("error decoding patch: {why}")),
        Unreadable::Yaml(why) => Refusal::bad_request(format!(
            "error decoding YAML: error converting YAML to JSON: yaml: {why}"
        )),
        Unreadable::Refused(refusal) => refusal,
    })
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
    let named = body.get("kind").and_then(Json::as_str);
    let named = named.unwrap_or(&kind.kind).to_owned();
    let cannot = |version: &str, why: &dyn fmt::Display| {
        let expected = &kind.kind;
        Refusal::bad_request(format!(
            "{named} in version {version:?} cannot be handled as a {expected}: {why}"
        ))
    };
    let written = body.get("apiVersion").and_then(Json::as_str).unwrap_or_default();
    let version = written.rsplit('/').next().unwrap_or_default().to_owned();
    let version = if version.is_empty() {
        kind.version.clone()
    } else {
        version
    };
    let (mut object, found) = kind.decode(body)?;
    for (key, value) in [("apiVersion", kind.api_version()), ("kind", kind.kind.clone())] {
        crate::object::fields_mut(&mut object)
            .entry(key)
            .or_insert(value.into());
    }
    let mut wrong: Vec<String> = twice.into_iter().chain(found).collect();
    if let Some(metadata) = object.get_mut("metadata").filter(|it| !it.is_null()) {
        if kind.is_custom() {
            wrong.extend(builtin::unknown_metadata(metadata).map_err(|why| cannot(&version, &why))?);
        }
        krator_schema::admit_metadata(metadata).map_err(|problem| cannot(&version, &problem))?;
    } else {
        crate::object::meta_mut(&mut object);
    }
    match unknown {
        Unknown::Strict if !wrong.is_empty() => {
            let all = wrong.join(", ");
            Err(cannot(&version, &format_args!("strict decoding error: {all}")))
        }
        Unknown::Warn => {
            wrong.into_iter().for_each(|warning| session.warn(warning));
            Ok(object)
        }
        _ => Ok(object),
    }
}

/// A custom resource is of the kind that the path names. Other kinds are refused when they are read.
pub(super) fn refuse_other_kind(kind: &Kind, object: &Json) -> Result<(), Refusal> {
    if !kind.is_custom() {
        return Ok(());
    }
    let text = |key: &str| object.get(key).and_then(Json::as_str).unwrap_or_default();
    let (version, of) = (text("apiVersion"), text("kind"));
    let expected = [
        ("apiVersion", version, kind.api_version()),
        ("kind", of, kind.kind.clone()),
    ];
    let errors: Vec<FieldError> = expected
        .into_iter()
        .filter(|(_, found, expected)| found != expected)
        .map(|(key, found, expected)| FieldError::invalid(key, found, format!("must be {expected}")))
        .collect();
    let group = version.rsplit_once('/').map_or("", |(group, _)| group);
    Refusal::unless_valid(About::new(group, of, meta(object, "name")), &errors)
}
