//! The kinds that are served: those of Kubernetes itself, and those that CRDs define.

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

/// A version of a resource that is served.
#[derive(Debug)]
pub(crate) struct Kind {
    /// The key under which its objects are stored. Events of both groups are the same objects.
    pub id: ResourceId,
    /// The kind as discovery shows it.
    pub served: ServedKind,
    pub origin: Origin,
    pub types: Type,
    /// The warning about each request, if the version is deprecated.
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

/// The types of Kubernetes' own kinds.
static TYPES: LazyLock<Types> = LazyLock::new(|| Types::from_openapi(&[builtin::schemas()]));

/// A group and a version as `apiVersion` has them.
pub(crate) fn api_version(group: &str, version: &str) -> String {
    match group {
        "" => version.to_owned(),
        group => format!("{group}/{version}"),
    }
}

/// The type of what `/scale` reads and writes.
pub(crate) fn scale_type() -> Type {
    type_of("autoscaling", "v1", "Scale")
}

/// The type of a kind of Kubernetes itself, which may also be one that only subresources have.
pub(crate) fn type_of(group: &str, version: &str, kind: &str) -> Type {
    match TYPES.find(group, version, kind) {
        Some(known) => known.clone().with_empty(builtin::empty(group, version, kind)),
        None => Type::of_custom_resource(None),
    }
}

impl Kind {
    /// `apps/v1`, as `apiVersion` has it.
    pub fn api_version(&self) -> String {
        api_version(&self.group, &self.version)
    }

    /// An object of this kind, in refusals that name resources.
    pub fn about(&self, name: &str) -> About {
        About::new(&self.id.group, &self.id.resource, name)
    }

    /// An object of this kind, in refusals that name kinds.
    pub fn about_kind(&self, name: &str) -> About {
        match &self.origin {
            Origin::Builtin(kind) => kind.about_invalid(name),
            Origin::Custom(..) => About::new(&self.group, &self.kind, name),
        }
    }

    fn stored_as(&self) -> Option<&'static builtin::StoredAs> {
        self.rules()?.stored_as.as_ref()
    }

    /// A stored object as it is read for a request: a custom resource in the version that is served here, and another object as
    /// it is.
    ///
    /// # Errors
    ///
    /// If it cannot be converted.
    pub fn read<'a>(&self, stored: &'a Json) -> Result<Cow<'a, Json>, Refusal> {
        let version = self.api_version();
        match self.versions() {
            Some(versions) if at(stored, &["apiVersion"]) != version.as_str() => {
                versions.convert(stored, &version).map(Cow::Owned)
            }
            _ => Ok(Cow::Borrowed(stored)),
        }
    }

    /// As [`read`](Self::read), of an object that others may have, too.
    ///
    /// # Errors
    ///
    /// If it cannot be converted.
    pub fn read_shared(&self, stored: &Arc<Json>) -> Result<Arc<Json>, Refusal> {
        Ok(match self.read(stored)? {
            Cow::Borrowed(_) => Arc::clone(stored),
            Cow::Owned(object) => Arc::new(object),
        })
    }

    /// An object that was read, in the version that is served here.
    pub fn to_served<'a>(&self, read: &'a Json) -> Cow<'a, Json> {
        match self.stored_as() {
            Some(form) => Cow::Owned((form.to_served)(read)),
            None => Cow::Borrowed(read),
        }
    }

    /// A served object as it is stored.
    ///
    /// # Errors
    ///
    /// If it cannot be converted.
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

    /// The rules of a kind of Kubernetes itself. Definitions and custom resources have their own.
    pub fn rules(&self) -> Option<&'static builtin::Rules> {
        match &self.origin {
            Origin::Builtin(kind) if !self.is_definition() => Some(kind.rules),
            _ => None,
        }
    }

    /// Whether objects are only created, and never stored.
    pub fn is_review(&self) -> bool {
        self.verbs == ["create"]
    }

    /// Whether what its objects own stays when they are deleted and the request does not say what becomes of it.
    pub fn orphans_by_default(&self) -> bool {
        matches!(&self.origin, Origin::Builtin(kind) if kind.rules.orphans)
    }

    /// Whether its objects define kinds.
    pub fn is_definition(&self) -> bool {
        self.id.group == definitions::GROUP && self.id.resource == definitions::RESOURCE
    }

    /// Reads an object as a client has sent it, and lists what it does not know in it.
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

    /// The errors of a new object, whose metadata has these errors.
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

    /// The errors of a changed object, whose metadata has these errors.
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

    /// The errors of the name of an object, or of its prefix.
    pub fn validate_name(&self, name: &str, is_prefix: bool) -> Vec<String> {
        let rule = match &self.origin {
            Origin::Builtin(kind) => kind.rules.names,
            Origin::Custom(..) => NameRule::Subdomain,
        };
        rule.check(name, is_prefix)
    }

    /// The fields that a request about a part of the object does not change, and nobody owns for that.
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

    /// A field that selectors may use, as text.
    ///
    /// # Errors
    ///
    /// The message of the API server if selectors may not use it.
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
    /// The stand-in for the conversion webhooks of definitions.
    pub convert: Option<Arc<Convert>>,
}

impl Kinds {
    /// The kinds of Kubernetes itself.
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

    /// Serves the versions of a CRD, of which `spec` is what was written, instead of those that were served of it before.
    pub fn define(&mut self, definition: &Definition, spec: &Json) {
        self.remove(&definition.group, &definition.names.plural);
        for kind in defined::kinds(definition, spec, self.convert.as_ref()) {
            self.all.insert(place(&kind), Arc::new(kind));
        }
    }

    /// Serves a custom resource no more.
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
