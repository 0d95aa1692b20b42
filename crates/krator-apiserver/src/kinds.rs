//! The served kinds: the builtin kinds, and those of CRDs.

mod defined;

pub(crate) use defined::rank;

use crate::{
    builtin::{self, Builtin, NameRule, ServedKind},
    conversion::Convert,
    custom::{Custom, Versions},
    definitions,
    field_set::FieldSet,
    object::at,
    refusal::{About, FieldError, Refusal},
    request::Subresource,
    store::ResourceId,
    types::{Type, Types},
};
use krator_schema::Definition;
use serde_json::Value as Json;
use std::{
    borrow::Cow,
    collections::BTreeMap,
    ops::Deref,
    sync::{Arc, LazyLock},
};

/// A served version of a resource.
#[derive(Debug)]
pub(crate) struct Kind {
    /// The key under which its objects are stored. Events of both groups are the same stored objects.
    pub id: ResourceId,
    /// The kind as discovery shows it.
    pub served: ServedKind,
    pub origin: Origin,
    pub types: Type,
    /// The warning for each request, if the version is deprecated.
    pub deprecation: Option<String>,
}

impl Deref for Kind {
    type Target = ServedKind;

    fn deref(&self) -> &ServedKind {
        &self.served
    }
}

/// The origin of a kind.
#[derive(Debug)]
pub(crate) enum Origin {
    Builtin(&'static Builtin),
    Custom(Arc<Custom>, Arc<Versions>),
}

/// The types of the builtin kinds.
static TYPES: LazyLock<Types> = LazyLock::new(|| Types::from_openapi(&[builtin::schemas()]));

/// The `apiVersion` for a group and a version.
pub(crate) fn api_version(group: &str, version: &str) -> String {
    match group {
        "" => version.to_owned(),
        group => format!("{group}/{version}"),
    }
}

/// The type of the body of `/scale`.
pub(crate) fn scale_type() -> Type {
    type_of("autoscaling", "v1", "Scale")
}

/// The type of a builtin kind, or of a kind that only subresources have.
pub(crate) fn type_of(group: &str, version: &str, kind: &str) -> Type {
    match TYPES.find(group, version, kind) {
        Some(known) => known.clone().with_empty(builtin::empty(group, version, kind)),
        None => Type::of_custom_resource(None),
    }
}

impl Kind {
    /// The `apiVersion`, such as `apps/v1`.
    pub fn api_version(&self) -> String {
        api_version(&self.group, &self.version)
    }

    /// Identifies an object of this kind in refusals that name the resource.
    pub fn about(&self, name: &str) -> About {
        About::new(&self.id.group, &self.id.resource, name)
    }

    /// Identifies an object of this kind in refusals that name the kind.
    pub fn about_kind(&self, name: &str) -> About {
        match &self.origin {
            Origin::Builtin(kind) => kind.about_invalid(name),
            Origin::Custom(..) => About::new(&self.group, &self.kind, name),
        }
    }

    fn stored_as(&self) -> Option<&'static builtin::StoredAs> {
        self.rules()?.stored_as.as_ref()
    }

    /// A stored object as it is read for a request: a custom resource is converted to this version, and another object
    /// unchanged.
    ///
    /// # Errors
    ///
    /// If the conversion fails.
    pub fn read<'a>(&self, stored: &'a Json) -> Result<Cow<'a, Json>, Refusal> {
        let version = self.api_version();
        match self.versions() {
            Some(versions) if at(stored, &["apiVersion"]) != version.as_str() => {
                versions.convert(stored, &version).map(Cow::Owned)
            }
            _ => Ok(Cow::Borrowed(stored)),
        }
    }

    /// Like [`read`](Self::read), for a shared object.
    ///
    /// # Errors
    ///
    /// If the conversion fails.
    pub fn read_shared(&self, stored: &Arc<Json>) -> Result<Arc<Json>, Refusal> {
        Ok(match self.read(stored)? {
            Cow::Borrowed(_) => Arc::clone(stored),
            Cow::Owned(object) => Arc::new(object),
        })
    }

    /// Converts an object that was read to its served form.
    pub fn to_served<'a>(&self, read: &'a Json) -> Cow<'a, Json> {
        match self.stored_as() {
            Some(form) => Cow::Owned((form.to_served)(read)),
            None => Cow::Borrowed(read),
        }
    }

    /// Converts a served object to its stored form.
    ///
    /// # Errors
    ///
    /// If the conversion fails.
    pub fn to_stored(&self, served: Json) -> Result<Json, Refusal> {
        match (&self.origin, self.stored_as()) {
            (Origin::Custom(_, versions), _) => versions.to_stored(served),
            (_, Some(form)) => Ok((form.to_stored)(&served)),
            _ => Ok(served),
        }
    }

    /// The versions of a custom resource.
    pub fn versions(&self) -> Option<&Arc<Versions>> {
        match &self.origin {
            Origin::Custom(_, versions) => Some(versions),
            Origin::Builtin(_) => None,
        }
    }

    pub fn is_custom(&self) -> bool {
        matches!(self.origin, Origin::Custom(..))
    }

    /// The rules of a builtin kind. Definitions and custom resources are handled by their own modules.
    pub fn rules(&self) -> Option<&'static builtin::Rules> {
        match &self.origin {
            Origin::Builtin(kind) if !self.is_definition() => Some(kind.rules),
            _ => None,
        }
    }

    /// Whether objects are created only to be answered, and never stored.
    pub fn is_review(&self) -> bool {
        self.verbs == ["create"]
    }

    /// Whether a deletion without a propagation policy orphans the dependents.
    pub fn orphans_by_default(&self) -> bool {
        matches!(&self.origin, Origin::Builtin(kind) if kind.rules.orphans)
    }

    /// Whether the kind is CustomResourceDefinition.
    pub fn is_definition(&self) -> bool {
        self.id.group == definitions::GROUP && self.id.resource == definitions::RESOURCE
    }

    /// Decodes an object of a client, and lists its unknown fields.
    pub fn decode(&self, object: Json) -> Result<(Json, Vec<String>), Refusal> {
        match &self.origin {
            Origin::Builtin(kind) => kind.decode(&object),
            Origin::Custom(kind, _) => Ok(kind.decode(object)),
        }
    }

    pub fn default(&self, object: &mut Json) {
        match &self.origin {
            Origin::Builtin(_) if self.is_definition() => definitions::default(object),
            Origin::Builtin(kind) => kind.default(object),
            Origin::Custom(kind, _) => kind.default(object),
        }
    }

    pub fn prepare_create(&self, object: &mut Json, now: &str) {
        match &self.origin {
            Origin::Builtin(_) if self.is_definition() => definitions::prepare(object, None),
            Origin::Builtin(kind) => kind.prepare_create(object, now),
            Origin::Custom(kind, _) => kind.prepare_create(object),
        }
    }

    pub fn prepare_update(&self, new: &mut Json, old: &Json, subresource: Subresource) {
        match &self.origin {
            Origin::Builtin(_) if self.is_definition() && subresource == Subresource::None => {
                definitions::prepare(new, Some(old));
            }
            Origin::Builtin(kind) => kind.prepare_update(new, old, subresource),
            Origin::Custom(kind, _) => kind.prepare_update(new, old, subresource),
        }
    }

    /// The errors of a new object. `of_metadata` are the errors of its metadata.
    pub fn validate_create(
        &self,
        object: &Json,
        of_metadata: &[FieldError],
    ) -> Result<Vec<FieldError>, Refusal> {
        match &self.origin {
            Origin::Builtin(kind) => Ok(kind.validate_create(object)),
            Origin::Custom(kind, _) => kind.validate(object, None, of_metadata),
        }
    }

    /// The errors of a changed object. `of_metadata` are the errors of its metadata.
    pub fn validate_update(
        &self,
        new: &Json,
        old: &Json,
        subresource: Subresource,
        of_metadata: &[FieldError],
    ) -> Result<Vec<FieldError>, Refusal> {
        match &self.origin {
            Origin::Builtin(kind) => Ok(kind.validate_update(new, old, subresource)),
            Origin::Custom(kind, _) => kind.validate(new, Some(old), of_metadata),
        }
    }

    /// The errors of a name or of a `generateName`.
    pub fn validate_name(&self, name: &str, is_prefix: bool) -> Vec<String> {
        let rule = match &self.origin {
            Origin::Builtin(kind) => kind.rules.names,
            Origin::Custom(..) => NameRule::Subdomain,
        };
        rule.check(name, is_prefix)
    }

    /// The fields that a request for a subresource does not change, so that it does not own them.
    pub fn ignored(&self, subresource: Subresource) -> FieldSet {
        let paths = match (subresource, &self.origin) {
            (Subresource::Status, _) if self.is_custom() || self.is_definition() => vec!["spec", "metadata"],
            (Subresource::None, Origin::Custom(kind, _)) if kind.has_status() => vec!["status"],
            (_, Origin::Builtin(kind)) => kind.reset_fields(subresource),
            _ => Vec::new(),
        };
        let paths: Vec<Vec<&str>> = paths.iter().map(|path| path.split('.').collect()).collect();
        FieldSet::of(&paths.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    /// The text of a selectable field.
    ///
    /// # Errors
    ///
    /// The message of the API server if the field is not selectable.
    pub fn selectable(&self, object: &Json, field: &str) -> Result<String, String> {
        let custom = match &self.origin {
            Origin::Builtin(kind) => return kind.selectable_field(object, field),
            Origin::Custom(custom, _) => custom,
        };
        let mut own = custom.version.selectable_fields.iter();
        let may = match field {
            "metadata.name" => true,
            "metadata.namespace" => self.namespaced,
            _ => own.any(|own| own.json_path.strip_prefix('.') == Some(field)),
        };
        if !may {
            return Err(format!("field label not supported: {field}"));
        }
        Ok(match at(object, &field.split('.').collect::<Vec<_>>()) {
            Json::Null => String::new(),
            Json::String(text) => text.clone(),
            other => other.to_string(),
        })
    }
}

/// All kinds, by group, version and resource.
#[derive(Default)]
pub(crate) struct Kinds {
    all: BTreeMap<(String, String, String), Arc<Kind>>,
    /// Replaces the Services of conversion webhooks.
    pub convert: Option<Arc<Convert>>,
}

impl Kinds {
    /// The builtin kinds.
    pub fn builtin() -> Self {
        let kinds = builtin::all().iter().map(|kind| Arc::new(of_builtin(kind)));
        Self {
            all: kinds.map(|kind| (place(&kind), kind)).collect(),
            convert: None,
        }
    }

    pub fn find(&self, group: &str, version: &str, resource: &str) -> Option<&Arc<Kind>> {
        self.all
            .get(&(group.to_owned(), version.to_owned(), resource.to_owned()))
    }

    /// The kind of an object by its `apiVersion` and `kind`.
    pub fn of_object(&self, api_version: &str, kind: &str) -> Option<&Arc<Kind>> {
        let mut kinds = self.all.values();
        kinds.find(|known| known.kind == kind && known.api_version() == api_version)
    }

    /// Any served version of a resource.
    pub fn any(&self, id: &ResourceId) -> Option<&Arc<Kind>> {
        self.all.values().find(|kind| kind.id == *id)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<Kind>> {
        self.all.values()
    }

    /// Serves the versions of a CRD instead of its former ones. `spec` is the spec as it was written.
    pub fn define(&mut self, definition: &Definition, spec: &Json) {
        self.remove(&definition.group, &definition.names.plural);
        for kind in defined::kinds(definition, spec, self.convert.as_ref()) {
            self.all.insert(place(&kind), Arc::new(kind));
        }
    }

    /// Stops serving a custom resource.
    pub fn remove(&mut self, group: &str, resource: &str) {
        self.all
            .retain(|_, kind| kind.id.group != group || kind.id.resource != resource || !kind.is_custom());
    }
}

fn place(kind: &Kind) -> (String, String, String) {
    (kind.group.clone(), kind.version.clone(), kind.id.resource.clone())
}

fn of_builtin(builtin: &'static Builtin) -> Kind {
    let served = builtin.kind().clone();
    let stored_as = builtin.rules.stored_as.as_ref();
    let group = stored_as.map_or(served.group.as_str(), |form| form.group);
    Kind {
        id: ResourceId {
            group: group.to_owned(),
            resource: served.resource.clone(),
        },
        types: type_of(&served.group, &served.version, &served.kind),
        served,
        origin: Origin::Builtin(builtin),
        deprecation: None,
    }
}
