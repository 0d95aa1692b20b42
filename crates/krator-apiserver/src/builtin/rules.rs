//! How the API server treats the objects of each kind beyond their schemas. A kind of Kubernetes is its schema
//! and one value of [`Rules`], which `known` has.

use super::admission::Find;
use super::names::NameRule;
use super::report::Report;
use serde_json::Value as Json;

/// A field by which lists can be selected: its name in selectors, its path, and its text if it is absent.
pub(super) type Selectable = [&'static str; 3];

/// The cells of an object besides its name and its age; the number is the time in seconds since 1970.
pub(super) type Cells = fn(&Json, i64) -> Vec<Json>;

/// The form in which objects are stored that have several.
#[derive(Debug)]
pub(crate) struct StoredAs {
    pub group: &'static str,
    pub to_stored: fn(&Json) -> Json,
    pub to_served: fn(&Json) -> Json,
}

/// The treatment of the objects of one kind.
#[derive(Debug)]
pub(crate) struct Rules {
    /// How objects are stored, if not as they are served.
    pub stored_as: Option<StoredAs>,
    /// Which names objects may have.
    pub names: NameRule,
    /// The paths whose changes count `metadata.generation` up; none if the kind has no generation.
    pub generation: &'static [&'static str],
    /// The paths of metadata that an update of the status keeps.
    pub kept_by_status: &'static [&'static str],
    /// The fields of selectors, besides the name and the namespace.
    pub selectable: &'static [Selectable],
    /// Whether the status of a new object is that of the request.
    pub comes_with_status: bool,
    /// Whether a replacement of an object that is not there creates it.
    pub creates_on_update: bool,
    /// Whether a replacement has to tell which version it replaces.
    pub needs_version: bool,
    /// Whether a deletion is answered with the object instead of a status.
    pub shows_deleted: bool,
    /// Whether a deletion leaves the dependents unless the request says otherwise.
    pub orphans: bool,
    /// Whether objects are stopped by a node before they are removed.
    pub graceful: bool,
    /// Whether objects are given addresses and ports.
    pub allocates: bool,
    /// Moves what has another place in the internal form of the original.
    pub read: fn(&mut Json),
    /// Admission plugins change or forbid a new object.
    pub admit: fn(&mut Json, Find<'_>) -> Result<(), String>,
    /// Admission plugins change an updated object.
    pub admit_update: fn(&mut Json, &Json),
    /// Sets what clients cannot set in a new object; the text is the time.
    pub prepare: fn(&mut Json, &str),
    /// Restores what clients cannot change.
    pub prepare_update: fn(&mut Json, &Json),
    /// Restores what an update of the status cannot change.
    pub prepare_status: fn(&mut Json, &Json),
    /// Adds to an object what its controller adds, for the rules of its types.
    pub completed: fn(&Json) -> Json,
    /// Checks new and changed objects.
    pub(super) check: fn(&mut Report, &Json),
    /// Checks new objects.
    pub(super) check_create: fn(&mut Report, &Json),
    /// Checks changed objects.
    pub(super) check_update: fn(&mut Report, &Json, &Json),
    /// Checks changes of the status.
    pub(super) check_status: fn(&mut Report, &Json, &Json),
    /// The paths of the fields that cannot change.
    pub immutable: &'static [&'static str],
    /// The cells of its tables, if they show more than the name and the age.
    pub cells: Option<Cells>,
}

/// A kind that is completed, checked by its schema and stored.
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
