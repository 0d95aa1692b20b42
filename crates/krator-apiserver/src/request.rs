//! Requests: their paths, their parameters and the forms that they read and accept, after `RequestInfo` and the
//! negotiation of `k8s.io/apiserver`.

use crate::{
    refusal::{FieldError, Refusal},
    selector::{FieldSelector, LabelSelector},
};
use http::{HeaderMap, Method, header};
use std::collections::BTreeMap;

/// The part of an object that a request is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subresource {
    /// The object itself.
    None,
    /// `/status`.
    Status,
    /// `/scale`.
    Scale,
    /// One that this server only knows by name.
    Other,
}

/// A path below `/api` or `/apis` that names a resource.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Target {
    pub group: String,
    pub version: String,
    pub namespace: String,
    pub resource: String,
    pub name: String,
    pub subresource: String,
}

impl Target {
    /// The resource that a path names; `None` for other paths.
    pub fn of(path: &str) -> Option<Self> {
        let parts: Vec<String> = path
            .split('/')
            .filter(|part| !part.is_empty())
            .map(decoded)
            .collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let (group, version, mut rest) = match parts.as_slice() {
            ["api", version, rest @ ..] => ("", version, rest),
            ["apis", group, version, rest @ ..] => (*group, version, rest),
            _ => return None,
        };
        let mut namespace = "";
        if let ["namespaces", of, after @ ..] = rest
            && let [first, ..] = after
            && !["status", "finalize"].contains(first)
        {
            (namespace, rest) = (of, after);
        }
        let part = |at: usize| rest.get(at).map(|part| (*part).to_owned()).unwrap_or_default();
        if rest.is_empty() || rest.len() > 3 {
            return None;
        }
        Some(Self {
            group: group.to_owned(),
            version: (*version).to_owned(),
            namespace: namespace.to_owned(),
            resource: part(0),
            name: part(1),
            subresource: part(2),
        })
    }

    /// The verb as authorization and the audit log name it.
    pub fn verb(&self, method: &Method, query: &Query) -> &'static str {
        match *method {
            Method::POST => "create",
            Method::PUT => "update",
            Method::PATCH => "patch",
            Method::DELETE if self.name.is_empty() => "deletecollection",
            Method::DELETE => "delete",
            _ if !self.name.is_empty() => "get",
            _ if query.flag("watch") => "watch",
            _ => "list",
        }
    }
}

/// A part of a URL without escapes.
pub(crate) fn decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text)
        .decode_utf8_lossy()
        .into_owned()
}

/// The text of a header; empty if there is none.
pub(crate) fn header_text<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    let value = headers.get(name).and_then(|value| value.to_str().ok());
    value.unwrap_or_default()
}

/// The parameters of a request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Query(BTreeMap<String, String>);

impl Query {
    /// Reads the part of a URL after the question mark. Of parameters that are given more than once, the first counts.
    pub fn parse(text: &str) -> Self {
        let mut parameters = BTreeMap::new();
        for (key, value) in form_urlencoded::parse(text.as_bytes()) {
            parameters
                .entry(key.into_owned())
                .or_insert_with(|| value.into_owned());
        }
        Self(parameters)
    }

    /// A parameter; empty if it is not given.
    pub fn text(&self, key: &str) -> &str {
        self.0.get(key).map(String::as_str).unwrap_or_default()
    }

    /// Whether a parameter is given at all.
    pub fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// A parameter that is true or false. As in the API server, only `false` and `0` are false.
    pub fn flag(&self, key: &str) -> bool {
        self.0
            .get(key)
            .is_some_and(|value| !matches!(value.to_lowercase().as_str(), "false" | "0"))
    }

    /// A number.
    ///
    /// # Errors
    ///
    /// If it is none.
    pub fn number(&self, key: &str) -> Result<Option<u64>, Refusal> {
        match self.text(key) {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| {
                Refusal::bad_request(format!("strconv.ParseInt: parsing {text:?}: invalid syntax"))
            }),
        }
    }

    /// Whether everything is to be tried, and nothing stored.
    ///
    /// # Errors
    ///
    /// If the value is not `All`.
    pub fn dry_run(&self) -> Result<bool, Refusal> {
        match self.text("dryRun") {
            "All" => Ok(true),
            "" if !self.has("dryRun") => Ok(false),
            other => {
                let error = FieldError::not_supported("dryRun", vec![other], &["All"]);
                Err(Refusal::option("CreateOptions", error))
            }
        }
    }

    /// The labels and fields that objects have to have.
    ///
    /// # Errors
    ///
    /// If a selector cannot be read.
    pub fn selectors(&self) -> Result<(LabelSelector, FieldSelector), Refusal> {
        let labels = LabelSelector::parse(self.text("labelSelector")).map_err(Refusal::bad_request)?;
        let fields = FieldSelector::parse(self.text("fieldSelector")).map_err(Refusal::bad_request)?;
        Ok((labels, fields))
    }
}

/// The form of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Form {
    /// Whole objects.
    Objects,
    /// Rows and columns, of this version of `meta.k8s.io`.
    Table(String),
    /// Only metadata, of this version of `meta.k8s.io`; of an object or of a list.
    Metadata { version: String, of_list: bool },
}

/// The form that a client likes best among those that there are.
///
/// # Errors
///
/// If there is none.
pub(crate) fn accepted(headers: &HeaderMap) -> Result<Form, Refusal> {
    let accept = header_text(headers, header::ACCEPT.as_str());
    for clause in accept.split(',') {
        let mut parts = clause.split(';').map(str::trim);
        if !matches!(
            parts.next(),
            Some("application/json" | "application/*" | "*/*" | "")
        ) {
            continue;
        }
        let parameters: BTreeMap<&str, &str> = parts.filter_map(|part| part.split_once('=')).collect();
        let is_meta = parameters.get("g").is_none_or(|group| *group == "meta.k8s.io");
        let version = (*parameters.get("v").unwrap_or(&"v1")).to_owned();
        match parameters.get("as").copied() {
            None => return Ok(Form::Objects),
            Some("Table") if is_meta && ["v1", "v1beta1"].contains(&version.as_str()) => {
                return Ok(Form::Table(version));
            }
            Some(form @ ("PartialObjectMetadata" | "PartialObjectMetadataList"))
                if is_meta && ["v1", "v1beta1"].contains(&version.as_str()) =>
            {
                let of_list = form.ends_with("List");
                return Ok(Form::Metadata { version, of_list });
            }
            Some(_) => {}
        }
    }
    Err(Refusal::not_acceptable("application/json"))
}

/// The type of the body without its parameters; `application/json` if there is none.
pub(crate) fn content_type(headers: &HeaderMap) -> &str {
    let value = header_text(headers, header::CONTENT_TYPE.as_str());
    match value.split(';').next().unwrap_or_default().trim() {
        "" => "application/json",
        form => form,
    }
}

/// The field manager: the parameter `fieldManager`, or else the first part of the user agent.
pub(crate) fn manager(query: &Query, headers: &HeaderMap) -> String {
    let manager = query.text("fieldManager");
    if !manager.is_empty() {
        return manager.to_owned();
    }
    let agent = header_text(headers, header::USER_AGENT.as_str());
    let name = agent.split('/').next().unwrap_or_default();
    let name: String = name.chars().filter(|c| !c.is_control()).take(128).collect();
    match name.as_str() {
        "" => "unknown".to_owned(),
        _ => name,
    }
}
