//! The query parameters of requests, after the options of `meta/v1` and their validation in `k8s.io/apimachinery`.

use crate::{
    refusal::{About, FieldError, Refusal},
    request::Query,
    selector::{FieldSelector, LabelSelector},
};
use krator_schema::ProblemKind;
use serde_json::json;
use std::num::{IntErrorKind, ParseIntError};

/// The longest name of a field manager, in bytes.
const LONGEST_MANAGER: usize = 128;

/// Refuses invalid options of a kind such as `PatchOptions`.
fn unless_valid(options: &str, errors: &[FieldError]) -> Result<(), Refusal> {
    Refusal::unless_valid(About::new("meta.k8s.io", options, ""), errors)
}

/// The error of `dryRun` values other than `All`.
pub(crate) fn dry_run_error<'a>(values: impl IntoIterator<Item = &'a str>) -> Option<FieldError> {
    let values: Vec<&str> = values.into_iter().collect();
    let is_wrong = values.iter().any(|value| *value != "All");
    is_wrong.then(|| FieldError::not_supported("dryRun", json!(values), &["All"]))
}

/// The errors of the name of a field manager.
fn manager_errors(manager: &str) -> impl Iterator<Item = FieldError> {
    let too_long = (manager.len() > LONGEST_MANAGER).then(|| {
        let detail = format!("may not be more than {LONGEST_MANAGER} bytes");
        FieldError::new("fieldManager", ProblemKind::TooLong, None, detail)
    });
    let unprintable = manager.char_indices().filter(|(_, char)| char.is_control());
    let unprintable = unprintable.map(move |(at, char)| {
        let detail = format!("invalid character U+{:04X} (at position {at})", u32::from(char));
        FieldError::invalid("fieldManager", manager, detail)
    });
    too_long.into_iter().chain(unprintable)
}

/// The treatment of unknown and of duplicate fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// Drops the fields.
    Ignore,
    /// Drops the fields, and returns a warning.
    Warn,
    /// Refuses the request.
    Strict,
}

/// The parameters of a write.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WriteParameters {
    pub dry_run: bool,
    pub unknown: Unknown,
}

/// The kind of a write request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Write {
    Create,
    Update,
    Patch,
    Apply,
}

impl WriteParameters {
    /// Reads the parameters of a write.
    ///
    /// # Errors
    ///
    /// If a value is invalid, or parameters contradict each other.
    pub fn read(write: Write, query: &Query) -> Result<Self, Refusal> {
        let mut errors = Vec::new();
        if write == Write::Apply && query.text("fieldManager").is_empty() {
            errors.push(FieldError::required(
                "fieldManager",
                "is required for apply patch",
            ));
        }
        if write == Write::Patch && query.has("force") {
            let why = "may not be specified for non-apply patch";
            errors.push(FieldError::forbidden("force", why));
        }
        errors.extend(manager_errors(query.text("fieldManager")));
        errors.extend(dry_run_error(query.all("dryRun")));
        let unknown = match query.text("fieldValidation") {
            "Ignore" => Unknown::Ignore,
            "Strict" => Unknown::Strict,
            "" | "Warn" => Unknown::Warn,
            other => {
                let all = ["", "Ignore", "Strict", "Warn"];
                errors.push(FieldError::not_supported("fieldValidation", other, &all));
                Unknown::Warn
            }
        };
        let options = match write {
            Write::Create => "CreateOptions",
            Write::Update => "UpdateOptions",
            Write::Patch | Write::Apply => "PatchOptions",
        };
        unless_valid(options, &errors)?;
        Ok(Self {
            dry_run: query.has("dryRun"),
            unknown,
        })
    }
}

/// The parameters of a list or of a watch.
#[derive(Debug, Clone, Default)]
pub(crate) struct ListParameters {
    pub labels: LabelSelector,
    pub fields: FieldSelector,
    pub bookmarks: bool,
    /// The text of the request: a list refuses an invalid version with another message than a watch.
    pub version: String,
    pub is_exact: bool,
    /// The timeout in seconds.
    pub timeout: Option<i64>,
    pub limit: Option<usize>,
    pub continues: String,
    /// Whether a watch begins with the existing objects, if the request has the parameter.
    pub sends_initial: Option<bool>,
}

const NOT_OLDER: &str = "NotOlderThan";

impl ListParameters {
    /// Reads the parameters of a list, or of a watch.
    ///
    /// # Errors
    ///
    /// If a value is invalid, or parameters contradict each other.
    pub fn read(query: &Query) -> Result<Self, Refusal> {
        let timeout = query.number("timeoutSeconds")?;
        let limit = query.number("limit")?;
        let (labels, fields) = query.selectors()?;
        let read = Self {
            labels,
            fields,
            bookmarks: query.flag("allowWatchBookmarks"),
            version: query.text("resourceVersion").to_owned(),
            is_exact: is_exact(query, limit),
            timeout,
            limit: limit
                .filter(|limit| *limit > 0)
                .and_then(|limit| usize::try_from(limit).ok()),
            continues: query.text("continue").to_owned(),
            sends_initial: query
                .has("sendInitialEvents")
                .then(|| query.flag("sendInitialEvents")),
        };
        let matching = query.text("resourceVersionMatch");
        let errors = match query.flag("watch") {
            true => read.errors_of_watch(matching),
            false => read.errors_of_list(matching),
        };
        unless_valid("ListOptions", &errors)?;
        Ok(read)
    }

    fn continue_error(&self) -> Option<FieldError> {
        let why = "resourceVersionMatch is forbidden when continue is provided";
        (!self.continues.is_empty()).then(|| FieldError::forbidden("resourceVersionMatch", why))
    }

    fn errors_of_list(&self, matching: &str) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let mut forbid = |field: &str, why: &str| errors.push(FieldError::forbidden(field, why));
        if !matching.is_empty() && self.version.is_empty() {
            let why = "resourceVersionMatch is forbidden unless resourceVersion is provided";
            forbid("resourceVersionMatch", why);
        }
        if !matching.is_empty() {
            errors.extend(self.continue_error());
            if !["Exact", NOT_OLDER].contains(&matching) {
                // The API server does not sort this list.
                let detail = "supported values: \"Exact\", \"NotOlderThan\", \"\"";
                let kind = ProblemKind::NotSupported;
                errors.push(FieldError::new(
                    "resourceVersionMatch",
                    kind,
                    Some(matching.into()),
                    detail,
                ));
            }
            if self.is_exact && self.version == "0" {
                let why = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
                errors.push(FieldError::forbidden("resourceVersionMatch", why));
            }
        }
        if self.sends_initial.is_some() {
            let why = "sendInitialEvents is forbidden for list";
            errors.push(FieldError::forbidden("sendInitialEvents", why));
        }
        errors
    }

    /// The errors of a watch. A watch without a version is treated as if it requested initial events with
    /// `NotOlderThan`.
    fn errors_of_watch(&self, matching: &str) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let is_legacy =
            self.sends_initial.is_none() && matching.is_empty() && ["", "0"].contains(&self.version.as_str());
        let matching = if is_legacy { NOT_OLDER } else { matching };
        let says_initial = self.sends_initial.is_some() || is_legacy;
        if says_initial && matching != NOT_OLDER {
            let why = format!("sendInitialEvents requires setting resourceVersionMatch to {NOT_OLDER}");
            errors.push(FieldError::forbidden("resourceVersionMatch", why));
        }
        if matching.is_empty() {
            return errors;
        }
        if !says_initial {
            let why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
            errors.push(FieldError::forbidden("resourceVersionMatch", why));
        }
        if matching != NOT_OLDER {
            errors.push(FieldError::not_supported(
                "resourceVersionMatch",
                matching,
                &[NOT_OLDER],
            ));
        }
        errors.extend(self.continue_error());
        errors
    }
}

/// Whether a list has to be at exactly the version, and not at a newer one. This is also the default for paginated
/// lists.
fn is_exact(query: &Query, limit: Option<i64>) -> bool {
    match query.text("resourceVersionMatch") {
        "" => limit.is_some_and(|limit| limit > 0) && !["", "0"].contains(&query.text("resourceVersion")),
        matching => matching == "Exact",
    }
}

/// The number of a resource version.
///
/// # Errors
///
/// The error of an invalid text.
pub(crate) fn version_number(text: &str) -> Result<Option<u64>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|error: ParseIntError| {
        let why = match error.kind() {
            IntErrorKind::PosOverflow => "value out of range",
            _ => "invalid syntax",
        };
        let why = format!("strconv.ParseUint: parsing {text:?}: {why}");
        FieldError::invalid("resourceVersion", text, why).to_string()
    })
}
