//! The media types of requests and responses, after the negotiation of `k8s.io/apiserver` and, for builtin kinds, after
//! the routes of go-restful, which check the same headers first.

use crate::{
    refusal::{FieldError, Refusal},
    request::{Query, header_text},
};
use http::{HeaderMap, header};
use std::collections::BTreeMap;

/// The media types of objects, in the order of the API server.
const FORMS: [&str; 3] = [
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
];
/// The media types of watch events.
const STREAMS: &str = "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";

const STRATEGIC: &str = "application/strategic-merge-patch+json";
/// The media types of patches, in the order of the API server.
const PATCHES: [&str; 4] = [
    "application/json-patch+json",
    "application/merge-patch+json",
    STRATEGIC,
    "application/apply-patch+yaml",
];

/// The form of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MediaType {
    /// Whole objects.
    Objects,
    /// A table, of this version of `meta.k8s.io`.
    Table(String),
    /// Metadata only, of this version of `meta.k8s.io`, for an object or for a list.
    Metadata { version: String, of_list: bool },
}

/// Refuses a request for a builtin kind that go-restful would refuse.
///
/// # Errors
///
/// If no route reads the content type, or writes an accepted one.
pub(crate) fn check_route(verb: &str, headers: &HeaderMap) -> Result<(), Refusal> {
    let names = |text: &str| -> Vec<String> {
        let clauses = text.split(',').map(|clause| clause.split(';').next());
        clauses
            .map(|name| name.unwrap_or_default().trim_matches(' ').to_owned())
            .collect()
    };
    let sent = header_text(headers, header::CONTENT_TYPE.as_str());
    if verb == "patch" && !names(sent).iter().any(|name| PATCHES.contains(&name.as_str())) {
        let message = "415: Unsupported Media Type";
        return Err(Refusal::generic(415, "UnsupportedMediaType", message));
    }
    let accept = header_text(headers, header::ACCEPT.as_str());
    let is_produced = |name: &String| name == "*/*" || FORMS.contains(&name.as_str());
    if accept.is_empty() || names(accept).iter().any(is_produced) {
        return Ok(());
    }
    let mut forms = FORMS.join(", ");
    if ["list", "watch"].contains(&verb) {
        forms = format!("{forms}, {STREAMS}");
    }
    let message = format!("406: Not Acceptable\n\nAvailable representations: {forms}");
    Err(Refusal::generic(406, "NotAcceptable", message))
}

/// A clause of the `Accept` header.
struct Clause<'a> {
    form: (&'a str, &'a str),
    weight: f64,
    parameters: BTreeMap<&'a str, &'a str>,
}

impl<'a> Clause<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let mut parts = text.split(';').map(str::trim);
        let form = match parts.next()? {
            "*" => ("*", "*"),
            name => name
                .split_once('/')
                .filter(|(_, below)| !below.is_empty() && !below.contains('/'))?,
        };
        let parameters: BTreeMap<&str, &str> = parts
            .filter_map(|part| part.split_once('='))
            .filter(|(_, value)| !value.is_empty() && !value.contains('='))
            .collect();
        let weight = parameters
            .get("q")
            .map_or(1.0, |weight| weight.parse().unwrap_or(0.0));
        Some(Self {
            form,
            weight,
            parameters,
        })
    }

    /// The form of a JSON response for this clause, if there is one.
    fn form(&self) -> Option<MediaType> {
        let (type_, below) = self.form;
        let is_known = match type_ {
            "application" => ["json", "yaml", "*"].contains(&below),
            _ => self.form == ("*", "*"),
        };
        if !is_known {
            return None;
        }
        let get = |key: &str| self.parameters.get(key).copied();
        if get("stream").is_some_and(|stream| stream != "watch") || get("sv").is_some_and(|it| it != "v1") {
            return None;
        }
        let [kind, group, version] = ["as", "g", "v"].map(get);
        if kind.is_none() && group.is_none() && version.is_none() {
            return Some(MediaType::Objects);
        }
        let version = version
            .filter(|version| ["v1", "v1beta1"].contains(version))?
            .to_owned();
        match kind.filter(|_| group == Some("meta.k8s.io"))? {
            "Table" => Some(MediaType::Table(version)),
            form @ ("PartialObjectMetadata" | "PartialObjectMetadataList") => Some(MediaType::Metadata {
                version,
                of_list: form.ends_with("List"),
            }),
            _ => None,
        }
    }
}

/// The available form that the client prefers.
///
/// # Errors
///
/// If no accepted form is available.
pub(crate) fn accepted(headers: &HeaderMap) -> Result<MediaType, Refusal> {
    if header_text(headers, header::ACCEPT.as_str()).is_empty() {
        return Ok(MediaType::Objects);
    }
    let found = liked(headers).map(|(_, form)| form);
    found.ok_or_else(|| Refusal::not_acceptable(&FORMS.join(", ")))
}

/// Whether the client prefers YAML.
pub(crate) fn wants_yaml(headers: &HeaderMap) -> bool {
    liked(headers).is_some_and(|(below, _)| below == "yaml")
}

/// Refuses a watch with YAML events.
///
/// # Errors
///
/// If the client prefers YAML.
pub(crate) fn check_stream(headers: &HeaderMap) -> Result<(), Refusal> {
    match wants_yaml(headers) {
        true => Err(Refusal::not_acceptable(STREAMS)),
        false => Ok(()),
    }
}

/// The available form that the client prefers, with the subtype of its media type.
fn liked(headers: &HeaderMap) -> Option<(&str, MediaType)> {
    let accept = header_text(headers, header::ACCEPT.as_str());
    let mut clauses: Vec<Clause<'_>> = accept.split(',').filter_map(Clause::read).collect();
    // Clauses are sorted by weight, and those of equal weight by their wildcards, fewest first.
    let rank = |clause: &Clause<'_>| (clause.form.0 == "*", clause.form.1 == "*");
    clauses.sort_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| rank(a).cmp(&rank(b))));
    clauses
        .iter()
        .find_map(|clause| Some((clause.form.1, clause.form()?)))
}

/// Checks that the form fits the response: metadata of a list is only for lists.
///
/// # Errors
///
/// If it does not fit.
pub(crate) fn check_form(form: &MediaType, is_list: bool, custom: bool, kind: &str) -> Result<(), Refusal> {
    let MediaType::Metadata { of_list, .. } = form else {
        return Ok(());
    };
    let refused = |message: String| Err(Refusal::not_acceptable_as(message));
    match (*of_list, is_list) {
        (false, true) => {
            let found = match custom {
                true => "*unstructured.UnstructuredList".to_owned(),
                false => format!("*{kind}List"),
            };
            refused(format!(
                "you requested PartialObjectMetadata, but the requested object is a list ({found})"
            ))
        }
        (true, false) if custom => Err(Refusal::failed("content is not a list")),
        (true, false) => refused(format!(
            "you requested PartialObjectMetadataList, but the requested object is not a list (*{kind})"
        )),
        _ => Ok(()),
    }
}

/// Refuses invalid parameters of a table.
///
/// # Errors
///
/// If `includeObject` has an unknown value.
pub(crate) fn check_table(form: &MediaType, query: &Query) -> Result<(), Refusal> {
    let include = query.text("includeObject");
    if !matches!(form, MediaType::Table(_)) || ["", "None", "Metadata", "Object"].contains(&include) {
        return Ok(());
    }
    let why = "must be 'Metadata', 'Object', 'None', or empty";
    let error = FieldError::invalid("includeObject", include, why);
    Err(Refusal::bad_request(format!(
        "Unable to convert to Table as requested: {error}"
    )))
}

/// The media type of the request body; `application/json` by default.
///
/// # Errors
///
/// If it is not a media type of objects.
pub(crate) fn sent(headers: &HeaderMap) -> Result<&'static str, Refusal> {
    let text = header_text(headers, header::CONTENT_TYPE.as_str());
    let mut parts = text.split(';').map(str::trim);
    let name = match parts.next().unwrap_or_default() {
        "" => FORMS[0].to_owned(),
        name => name.to_lowercase(),
    };
    // Like `mime.ParseMediaType`, refuses malformed parameters.
    let is_read = parts.all(|part| part.is_empty() || part.contains('='));
    let form = FORMS.iter().find(|form| **form == name && is_read).copied();
    form.ok_or_else(|| Refusal::unsupported_media_type(&FORMS.join(", ")))
}

/// The media type of a patch.
///
/// # Errors
///
/// If it is not a media type of patches for the kind.
pub(crate) fn patch(headers: &HeaderMap, is_custom: bool) -> Result<&'static str, Refusal> {
    let text = header_text(headers, header::CONTENT_TYPE.as_str());
    let name = text.split(';').next().unwrap_or_default();
    let known: Vec<&str> = PATCHES
        .into_iter()
        .filter(|form| !is_custom || *form != STRATEGIC)
        .collect();
    let form = known.iter().find(|form| **form == name).copied();
    form.ok_or_else(|| Refusal::unsupported_media_type(&known.join(", ")))
}
