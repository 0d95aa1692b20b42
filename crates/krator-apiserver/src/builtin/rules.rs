//! How the API server treats the objects of each builtin kind beyond their schemas. A builtin kind consists of its
//! schema and one value of [`Rules`] in the module `known`.

use super::admission::Find;
use super::names::NameRule;
use super::report::Report;
use serde_json::Value as Json;

/// A selectable field: its name in selectors, its path, and its text if it is absent.
pub(super) type Selectable = [&'static str; 3];

/// The cells of an object except the name and the age; the number is the time in seconds since 1970.
pub(super) type Cells = fn(&Json, i64) -> Vec<Json>;

/// The stored form of objects that are served in several forms.
#[derive(Debug)]
pub(crate) struct StoredAs {
    pub group: &'static str,
    pub to_stored: fn(&Json) -> Json,
    pub to_served: fn(&Json) -> Json,
}

/// The treatment of the objects of one kind.
#[derive(Debug)]
pub(crate) struct Rules {
    /// The stored form of objects, if it differs from the served one.
    pub stored_as: Option<StoredAs>,
    /// The rule for the names of objects.
    pub names: NameRule,
    /// The paths whose changes increment `metadata.generation`; none if the kind has no generation.
    pub generation: &'static [&'static str],
    /// The paths of metadata that an update of the status does not change.
    pub kept_by_status: &'static [&'static str],
    /// The selectable fields besides the name and the namespace.
    pub selectable: &'static [Selectable],
    /// Whether the status of a new object is taken from the request.
    pub comes_with_status: bool,
    /// Whether a PUT creates an object that does not exist.
    pub creates_on_update: bool,
    /// Whether a PUT must have a `resourceVersion`.
    pub needs_version: bool,
    /// Whether a deletion returns the object instead of a status.
    pub shows_deleted: bool,
    /// Whether a deletion orphans the dependents by default.
    pub orphans: bool,
    /// Whether a node stops objects before they are removed.
    pub graceful: bool,
    /// Whether addresses and ports are allocated for objects.
    pub allocates: bool,
    /// Moves fields that have another path in the internal form of the original.
    pub read: fn(&mut Json),
    /// The admission plugins for new objects, which change or refuse them.
    pub admit: fn(&mut Json, Find<'_>) -> Result<(), String>,
    /// The admission plugins for updated objects, which change them.
    pub admit_update: fn(&mut Json, &Json),
    /// Sets the fields that clients cannot set in a new object; the text is the time.
    pub prepare: fn(&mut Json, &str),
    /// Restores the fields that clients cannot change.
    pub prepare_update: fn(&mut Json, &Json),
    /// Restores the fields that an update of the status cannot change.
    pub prepare_status: fn(&mut Json, &Json),
    /// Adds the fields that a controller adds, so that the rules of the types can be applied.
    pub completed: fn(&Json) -> Json,
    /// Validates new and changed objects.
    pub(super) check: fn(&mut Report, &Json),
    /// Validates new objects.
    pub(super) check_create: fn(&mut Report, &Json),
    /// Validates changed objects.
    pub(super) check_update: fn(&mut Report, &Json, &Json),
    /// Validates changes of the status.
    pub(super) check_status: fn(&mut Report, &Json, &Json),
    /// The paths of the immutable fields.
    pub immutable: &'static [&'static str],
    /// The cells of its tables, if they contain more than the name and the age.
    pub cells: Option<Cells>,
}

/// The rules of a kind without special treatment.
pub(super) const NONE: Rules = Rules {
    stored_as: None,
    names: NameRule::Subdomain,
    generation: &[],
    kept_by_status: &[],
    selectable: &[],
    comes_with_status: false,
    creates_on_update: false,
    needs_version: false,
    shows_deleted: false,
    orphans: false,
    graceful: false,
    allocates: false,
    read: |_| {},
    admit: |_, _| Ok(()),
    admit_update: |_, _| {},
    prepare: |_, _| {},
    prepare_update: |_, _| {},
    prepare_status: |_, _| {},
    completed: Json::clone,
    check: |_, _| {},
    check_create: |_, _| {},
    check_update: |_, _, _| {},
    check_status: |_, _, _| {},
    immutable: &[],
    cells: None,
};
