//! Reads `versions`, and derives each older version from the newest one.

mod bounds;
mod change;
mod shapes;

use krator_machine::versions::{Change, Step};

use super::keys::Keys;
use super::nodes::{Input, entries, limited_list, text};
use super::paths::Fields;
use super::resource;
use super::schema::Types;
use crate::catalog::keys::VersionKey;
use crate::catalog::{CONVERSION_INVALID, NAME_COLLISION};
use crate::finding::{Finding, Spanned};
use crate::model::{
    Column, ColumnPath, Field, FieldPath, PathRoot, Resource, Scale, Schema, Segment, Shape, Version,
};
use crate::names::VersionName;
use change::Written;

/// The schema of a version, and its settings that refer to fields.
#[derive(Clone)]
struct VersionView {
    /// An object with `spec` and `status`, so that all paths begin at the same place.
    root: Schema,
    columns: Vec<Column>,
    scale: Option<Scale>,
    selectable_fields: Vec<Spanned<FieldPath>>,
}

/// The newest version.
pub(super) struct Newest<'m> {
    pub resource: &'m Resource,
    pub spec: &'m Schema,
    /// The fields of the description.
    pub status: &'m [Field],
    /// The fields of the description and those that the machine keeps.
    pub all_status: &'m Schema,
    pub columns: &'m [Column],
}

/// Reads `versions`, from the newest of the older ones to the oldest.
pub(super) fn versions<'a>(node: Input<'a>, newest: &Newest<'_>, types: &mut Types<'a>) -> Vec<Version> {
    let mut view = VersionView {
        root: root_of(newest),
        columns: newest.columns.to_vec(),
        scale: newest.resource.scale.clone(),
        selectable_fields: newest.resource.selectable_fields.clone(),
    };
    let mut names = vec![newest.resource.version.clone()];
    let mut versions: Vec<Version> = Vec::new();
    for entry in entries(node, "older versions by name") {
        let Some(name) = entry.name("version", VersionName::parse) else {
            continue;
        };
        if let Some(other) = names.iter().find(|other| other.value == name.value) {
            let message = format!("the version `{}` already exists", name.value);
            node.report(Finding::new(&NAME_COLLISION, name.span, message).related(other.span, "here"));
            continue;
        }
        names.push(name.clone());
        let version = version(entry.value, name, &mut view, newest, types);
        let first = versions.iter().find_map(|version| version.stored);
        if let (Some(second), Some(first)) = (version.as_ref().and_then(|version| version.stored), first) {
            node.report(
                Finding::new(
                    &CONVERSION_INVALID,
                    second,
                    "another version is already the storage version",
                )
                .related(first, "here")
                .help("leave `storage` out of one of them"),
            );
        }
        versions.extend(version);
    }
    versions
}

fn version<'a>(
    node: Input<'a>,
    name: Spanned<VersionName>,
    view: &mut VersionView,
    newest: &Newest<'_>,
    types: &mut Types<'a>,
) -> Option<Version> {
    let mut keys = Keys::of(node)?;
    let deprecated = keys.read(VersionKey::Deprecated, text);
    let served = keys.read(VersionKey::Served, super::nodes::boolean);
    let stored = keys.key_span(VersionKey::Storage);
    let stored = keys
        .read(VersionKey::Storage, super::constraints::only_true)
        .and(stored);
    let written = keys.read_all(VersionKey::Changes, |node| {
        let items = limited_list(node, VersionKey::Changes, "a list of changes").into_iter();
        items
            .filter_map(|node| Some((node, Written::read(node, types)?)))
            .collect()
    });
    let (mut changes, mut lost) = (Vec::new(), Vec::new());
    for (node, written) in written.into_iter().rev() {
        match written.undo(&mut view.root, types, name.value.as_str(), node.span, &mut lost) {
            Ok(made) => {
                for change in made.into_iter().rev() {
                    view.follow(&change);
                    changes.push(Spanned::new(change, node.span));
                }
            }
            Err(finding) => node.report(*finding),
        }
    }
    changes.reverse();
    let (spec, status) = view.parts();
    let all_status = Schema {
        shape: Shape::Object(status.iter().chain(machine_fields(newest)).cloned().collect()),
        ..newest.all_status.clone()
    };
    let fields = Fields {
        types,
        spec: &spec,
        status: &all_status,
    };
    if let Some(node) = keys.get(VersionKey::Columns) {
        view.columns = resource::columns(node, &fields);
    }
    keys.finish();
    Some(Version {
        name,
        deprecated,
        served: served.is_none_or(|served| served.value),
        stored,
        changes,
        lost,
        spec,
        status,
        columns: view.columns.clone(),
        scale: view.scale.clone(),
        selectable_fields: view.selectable_fields.clone(),
    })
}

fn root_of(newest: &Newest<'_>) -> Schema {
    let field = |name: &str, schema: Schema| Field {
        // Both are valid names of fields.
        name: Spanned::new(crate::names::FieldName::parse(name).expect("a name"), schema.span),
        schema,
    };
    let status = Schema::plain(Shape::Object(newest.status.to_vec()), newest.spec.span);
    let fields = vec![field("spec", newest.spec.clone()), field("status", status)];
    Schema::plain(Shape::Object(fields), newest.spec.span)
}

/// The fields of the status that the machine keeps.
fn machine_fields<'m>(newest: &'m Newest<'_>) -> impl Iterator<Item = &'m Field> {
    let fields = match &newest.all_status.shape {
        Shape::Object(fields) => fields.as_slice(),
        _ => &[],
    };
    let is_own = |field: &&Field| newest.status.iter().any(|own| own.name.value == field.name.value);
    fields.iter().filter(move |field| !is_own(field))
}

impl VersionView {
    /// `.spec`, and the fields of `.status`.
    fn parts(&self) -> (Schema, Vec<Field>) {
        let Shape::Object(fields) = &self.root.shape else {
            return (self.root.clone(), Vec::new());
        };
        let status = match &fields[1].schema.shape {
            Shape::Object(fields) => fields.clone(),
            _ => Vec::new(),
        };
        (fields[0].schema.clone(), status)
    }

    /// Converts the paths of columns and other settings to the older version. Removes those whose field the older
    /// version lacks.
    fn follow(&mut self, change: &Change) {
        self.columns.retain_mut(|column| match &mut column.path.value {
            ColumnPath::Field(path) => follow(path, change),
            // Such a path cannot be rewritten, so it is removed if the change affects it.
            ColumnPath::Other(path) => path.fields().is_none_or(|fields| {
                let mut followed = fields.clone();
                follow(&mut followed, change) && followed == *fields
            }),
        });
        self.selectable_fields
            .retain_mut(|path| follow(&mut path.value, change));
        self.scale = self.scale.take().and_then(|mut scale| {
            let stays = follow(&mut scale.spec.value, change) && follow(&mut scale.status.value, change);
            scale.selector = scale.selector.take_if(|path| follow(&mut path.value, change));
            stays.then_some(scale)
        });
    }
}

/// Converts a path of the newer version to the older one; false if the older version lacks the field.
fn follow(path: &mut FieldPath, change: &Change) -> bool {
    let root = match path.root {
        PathRoot::Spec => "spec",
        PathRoot::Status => "status",
        PathRoot::Metadata | PathRoot::Label(_) => return true,
    };
    // The steps of a change start at the root.
    let leads = |steps: &[Step]| {
        let (first, rest) = steps.split_first()?;
        let is_same = |(step, segment): (&Step, &Segment)| match (step, segment) {
            (Step::Field(name), Segment::Field(other)) => name == other,
            (Step::Each | Step::Index(_), Segment::Each | Segment::Where { .. }) => true,
            _ => false,
        };
        let is_above = *first == Step::Field(root.to_owned())
            && rest.len() <= path.segments.len()
            && rest.iter().zip(&path.segments).all(is_same);
        is_above.then_some(rest.len())
    };
    match change {
        Change::Moved { from, to, .. } => {
            if let Some(length) = leads(to) {
                let segment = |step: &Step| match step {
                    Step::Field(name) => Segment::Field(name.clone()),
                    Step::Each | Step::Index(_) => Segment::Each,
                };
                let below = path.segments.split_off(length);
                path.segments = from.iter().skip(1).map(segment).chain(below).collect();
            }
            true
        }
        Change::Added { at, .. } => leads(at).is_none(),
        Change::Custom { at, .. } => leads(at).is_none_or(|length| length == path.segments.len()),
        Change::Removed { .. } | Change::Values { .. } | Change::Duration { .. } => true,
    }
}
