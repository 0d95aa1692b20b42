//! The paths and parameters of requests, after `RequestInfo` of `k8s.io/apiserver`.

use crate::{
    refusal::Refusal,
    selector::{FieldSelector, LabelSelector},
};
use http::{HeaderMap, Method, header};
use std::{collections::BTreeMap, num::IntErrorKind};

/// The subresource of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subresource {
    /// The object itself.
    None,
    /// `/status`.
    Status,
    /// `/scale`.
    Scale,
    /// A subresource that this server does not treat specially.
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
    /// Whether the path continues after the subresource.
    pub is_deeper: bool,
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
        if rest.is_empty() {
            return None;
        }
        Some(Self {
            group: group.to_owned(),
            version: (*version).to_owned(),
            namespace: namespace.to_owned(),
            resource: part(0),
            name: part(1),
            subresource: part(2),
            is_deeper: rest.len() > 3,
        })
    }

    /// The verb for authorization and the audit log; empty for unsupported methods.
    pub fn verb(&self, method: &Method, query: &Query) -> &'static str {
        match *method {
            Method::POST => "create",
            Method::PUT => "update",
            Method::PATCH => "patch",
            Method::DELETE if self.name.is_empty() => "deletecollection",
            Method::DELETE => "delete",
            Method::GET | Method::HEAD if !self.name.is_empty() => "get",
            Method::GET | Method::HEAD if query.flag("watch") => "watch",
            Method::GET | Method::HEAD => "list",
            _ => "",
        }
    }
}

/// Decodes the percent-encoding of a part of a URL.
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
pub(crate) struct Query(BTreeMap<String, Vec<String>>);

impl Query {
    /// Reads the part of a URL after the question mark.
    pub fn parse(text: &str) -> Self {
        let mut parameters: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (key, value) in form_urlencoded::parse(text.as_bytes()) {
            let values = parameters.entry(key.into_owned()).or_default();
            values.push(value.into_owned());
        }
        Self(parameters)
    }

    /// All values of a parameter.
    pub fn all(&self, key: &str) -> impl Iterator<Item = &str> {
        self.0.get(key).into_iter().flatten().map(String::as_str)
    }

    /// A parameter; empty if absent. Of several values, the first is used.
    pub fn text(&self, key: &str) -> &str {
        self.all(key).next().unwrap_or_default()
    }

    /// Whether a parameter is present.
    pub fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// A boolean parameter. As in the API server, only `false` and `0` are false.
    pub fn flag(&self, key: &str) -> bool {
        self.has(key) && !matches!(self.text(key).to_lowercase().as_str(), "false" | "0")
    }

    /// An integer parameter.
    ///
    /// # Errors
    ///
    /// If it is not an integer.
    pub fn number(&self, key: &str) -> Result<Option<i64>, Refusal> {
        if !self.has(key) {
            return Ok(None);
        }
        let text = self.text(key);
        text.parse().map(Some).map_err(|error: std::num::ParseIntError| {
            let why = match error.kind() {
                IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "value out of range",
                _ => "invalid syntax",
            };
            Refusal::bad_request(format!("strconv.ParseInt: parsing {text:?}: {why}"))
        })
    }

    /// The label selector and the field selector.
    ///
    /// # Errors
    ///
    /// If a selector is malformed.
    pub fn selectors(&self) -> Result<(LabelSelector, FieldSelector), Refusal> {
        let labels = LabelSelector::parse(self.text("labelSelector")).map_err(Refusal::bad_request)?;
        let fields = FieldSelector::parse(self.text("fieldSelector")).map_err(Refusal::bad_request)?;
        Ok((labels, fields))
    }
}

/// The field manager: the parameter `fieldManager`, or the first part of the user agent.
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
