//! Generates a description from an existing CustomResourceDefinition: the text of the CRD -> its storage version -> the
//! text of a description, and the parts that the description cannot express.
//!
//! The keywords of the CRD are read one by one from its JSON, so that an unread keyword becomes a [`NotImported`]
//! instead of getting lost. The CRD comes from others: every text of it is escaped, and every name is checked.

mod document;
mod proposal;
mod resource;
mod schema;
mod status;
mod versions;

use std::fmt;

use krator_schema::Path;
use serde::Deserialize as _;
use serde_json::{Map, Value as Json};

use crate::text::{printable, shown};

/// A description made from a CRD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// The text of the description.
    pub description: String,
    /// The parts of the CRD that the description leaves out, sorted by path.
    pub not_imported: Vec<NotImported>,
}

/// A part of a CRD that the description leaves out or expresses differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotImported {
    /// Its place in the CRD.
    pub path: Path,
    /// The difference, as a lower-case phrase.
    pub message: String,
    /// Whether the CRD of the description would cause a loss of data in stored objects, or the end of a version for
    /// clients.
    pub is_loss: bool,
}

impl fmt::Display for NotImported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = printable(&self.path.to_string());
        write!(f, "{path}: {}", self.message)
    }
}

/// The reason why a file cannot be described.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The file is not YAML.
    #[error("this is not YAML: {0}")]
    NotYaml(String),
    /// No document of the file is a CRD.
    #[error("there is no CustomResourceDefinition in this file; `kubectl get crd NAME -o yaml` prints one")]
    NoDefinition,
    /// No document of the file defines the requested kind.
    #[error("no CustomResourceDefinition in this file is of the kind `{wanted}`; there are {}", .found.join(", "))]
    OtherKinds {
        /// The kind.
        wanted: String,
        /// The kinds in the file.
        found: Vec<String>,
    },
    /// There are several CRDs, and none was selected.
    #[error("this file defines several kinds; choose one with `--kind`: {}", .0.join(", "))]
    SeveralKinds(Vec<String>),
    /// An early form of CRDs.
    #[error(
        "this CRD has the version `{0}`, which API servers no longer serve; expected `apiextensions.k8s.io/v1`"
    )]
    OldVersion(String),
    /// The API server would not accept the CRD either.
    #[error("an API server would not accept this CRD: {0}")]
    Invalid(String),
    /// `.spec` is not an object.
    #[error("`.spec` has the type `{0}`, but a description needs an object")]
    Spec(String),
    /// Objects have their data outside of `.spec`.
    #[error(
        "its objects have no `.spec`, but {}: the API server would delete these from all objects as soon as it has the CRD of a \
         description, which has only `.spec` and `.status`",
        .0.join(", ")
    )]
    NoSpec(Vec<String>),
    /// A name that the language does not allow.
    #[error("`{path}` is `{name}`, but a description needs {expected}")]
    Name {
        /// The place of the name.
        path: &'static str,
        /// The name.
        name: String,
        /// The expected form.
        expected: &'static str,
    },
}

/// The parts that are left out, as found until now.
#[derive(Default)]
struct Findings(Vec<NotImported>);

impl Findings {
    fn add(&mut self, path: &Path, message: impl Into<String>) {
        self.0.push(NotImported {
            path: path.clone(),
            message: message.into(),
            is_loss: false,
        });
    }

    /// Adds a part whose absence causes a loss of data in stored objects, or the end of a version for clients.
    fn add_loss(&mut self, path: &Path, message: impl Into<String>) {
        self.0.push(NotImported {
            path: path.clone(),
            message: message.into(),
            is_loss: true,
        });
    }

    /// Adds the keys that were not read.
    fn unread(&mut self, path: &Path, rest: Rest<'_>) {
        for key in rest.0.keys() {
            self.add(&path.field(*key), "the language does not have this key");
        }
    }
}

/// The unread keys of a mapping.
struct Rest<'j>(std::collections::BTreeMap<&'j str, &'j Json>);

impl<'j> Rest<'j> {
    fn of(value: &'j Json) -> Self {
        Rest(
            value
                .as_object()
                .into_iter()
                .flatten()
                .map(|(key, value)| (key.as_str(), value))
                .collect(),
        )
    }

    /// The value of a key, which then counts as read; null counts as absent.
    fn take(&mut self, key: &str) -> Option<&'j Json> {
        self.0.remove(key).filter(|value| !value.is_null())
    }

    /// The text of a key, unless it is absent or empty.
    fn text(&mut self, key: &str) -> Option<&'j str> {
        self.take(key)?.as_str().filter(|text| !text.is_empty())
    }

    /// Adds a key that a description leaves out, unless it is absent or false.
    fn leave_out(&mut self, key: &str, path: &Path, why: &str, findings: &mut Findings) {
        if self.take(key).is_some_and(|value| *value != Json::Bool(false)) {
            findings.add(&path.field(key), why);
        }
    }

    fn is_true(&mut self, key: &str) -> bool {
        self.take(key) == Some(&Json::Bool(true))
    }

    /// The items of a list; empty if the key is absent.
    fn list(&mut self, key: &str) -> &'j [Json] {
        self.take(key).and_then(Json::as_array).map_or(&[], Vec::as_slice)
    }
}

/// Generates a description of the CRD in a file. If the file has several documents, `kind` selects one.
///
/// # Errors
///
/// [`Refusal`] is the reason why the CRD cannot be described. Parts that the description lacks are in
/// [`Imported::not_imported`].
pub fn import(text: &str, kind: Option<&str>) -> Result<Imported, Refusal> {
    let definition = chosen(text, kind)?;
    judge(&definition)?;
    document::describe(&definition)
}

/// A type in the form of a description, from its schema in the CRD of another description.
pub(crate) fn type_of(schema: &Json, optional: bool) -> Json {
    schema::type_of(schema, &Path::root(), optional, &mut Findings::default())
}

/// The CRD of the kind, among the documents of a file.
fn chosen(text: &str, kind: Option<&str>) -> Result<Json, Refusal> {
    let mut definitions = Vec::new();
    for document in serde_yaml::Deserializer::from_str(text) {
        let value =
            Json::deserialize(document).map_err(|error| Refusal::NotYaml(printable(&error.to_string())))?;
        let items = match value["kind"].as_str() {
            Some("List" | "CustomResourceDefinitionList") => {
                value["items"].as_array().cloned().unwrap_or_default()
            }
            _ => vec![value],
        };
        definitions.extend(
            items
                .into_iter()
                .filter(|item| item["kind"] == "CustomResourceDefinition"),
        );
    }
    let kind_of = |definition: &Json| {
        let name = definition["spec"]["names"]["kind"].as_str();
        name.unwrap_or_default().to_owned()
    };
    let found: Vec<String> = definitions.iter().map(|it| shown(&kind_of(it))).collect();
    match kind {
        None if definitions.len() > 1 => return Err(Refusal::SeveralKinds(found)),
        None => {}
        Some(kind) => definitions.retain(|definition| kind_of(definition) == kind),
    }
    match definitions.into_iter().next() {
        Some(definition) => Ok(definition),
        None if found.is_empty() => Err(Refusal::NoDefinition),
        None => Err(Refusal::OtherKinds {
            wanted: shown(kind.unwrap_or_default()),
            found,
        }),
    }
}

/// Refuses definitions that the API server would refuse, so that the following code may rely on a structural schema.
fn judge(definition: &Json) -> Result<(), Refusal> {
    let version = definition["apiVersion"].as_str().unwrap_or_default();
    if version != "apiextensions.k8s.io/v1" {
        return Err(Refusal::OldVersion(shown(version)));
    }
    let read = krator_schema::Definition::deserialize(&definition["spec"])
        .map_err(|error| Refusal::Invalid(printable(&error.to_string())))?;
    let approval = definition["metadata"]["annotations"][crate::crd::API_APPROVED].as_str();
    let problems = krator_schema::validate_definition(&completed(read), approval);
    match problems.first() {
        Some(problem) => Err(Refusal::Invalid(printable(&problem.to_string()))),
        None => Ok(()),
    }
}

/// The definition with the names that the API server sets by default.
fn completed(mut definition: krator_schema::Definition) -> krator_schema::Definition {
    let names = &mut definition.names;
    if names.singular.is_empty() {
        names.singular = names.kind.to_lowercase();
    }
    if names.list_kind.is_empty() {
        names.list_kind = format!("{}List", names.kind);
    }
    definition
}

/// A text of the CRD in a form that descriptions allow: with Unix line ends, and without forbidden characters.
fn clean(text: &str) -> String {
    crate::text::normalized(text)
        .chars()
        .map(|c| match c {
            '\n' | '\t' => c.to_string(),
            c if crate::text::is_unprintable(c) => c.escape_unicode().to_string(),
            c => c.to_string(),
        })
        .collect()
}

/// An empty mapping, to be filled key by key.
fn mapping() -> Map<String, Json> {
    Map::new()
}
