//! An object as it is received: its metadata, and the rest as text. It is decoded lazily, because most events of a
//! watch echo the operator's own writes and are dropped by their version.
use crate::resource::Place;
use k8s_openapi::{api::core::v1::ObjectReference, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::{
    Api, Client, Resource,
    core::{ApiResource, DynamicResourceScope},
};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, Error as _},
};
use serde_json::value::RawValue;
use std::{borrow::Cow, collections::BTreeMap, fmt};

/// An undecoded object, so that malformed fields do not delay other objects. All kinds share this type, so
/// that the code of watches and requests is compiled once.
#[derive(Clone)]
pub(in crate::cluster) struct Raw {
    /// Only the name, the namespace, the uid and the resource version; and the managers of a status that several have applied.
    metadata: ObjectMeta,
    text: Box<str>,
}

/// An API resource: a kind with its group, its version and its path.
#[derive(Clone)]
pub(in crate::cluster) struct Endpoint {
    resource: ApiResource,
    namespaced: bool,
}

impl Endpoint {
    pub fn of<K: Resource<DynamicType = (), Scope: Place>>() -> Self {
        Self {
            resource: ApiResource::erase::<K>(&()),
            namespaced: K::Scope::NAMESPACED,
        }
    }
    /// The same kind in another version.
    pub fn in_version(&self, version: &str) -> Self {
        let mut endpoint = self.clone();
        endpoint.resource.version = version.to_owned();
        endpoint.resource.api_version = format!("{}/{version}", self.resource.group);
        endpoint
    }
    pub fn is_namespaced(&self) -> bool {
        self.namespaced
    }
    pub fn group(&self) -> &str {
        &self.resource.group
    }
    pub fn kind(&self) -> &str {
        &self.resource.kind
    }
    pub fn api_version(&self) -> String {
        self.resource.api_version.clone()
    }
    /// The name of the kind as its CustomResourceDefinition has it, for example `websites.example.com`.
    pub fn name(&self) -> String {
        match (&self.resource.plural, &self.resource.group) {
            (plural, group) if group.is_empty() => plural.clone(),
            (plural, group) => format!("{plural}.{group}"),
        }
    }
    /// A reference to an object of the kind, for events.
    pub fn reference(&self, meta: &ObjectMeta) -> ObjectReference {
        ObjectReference {
            api_version: Some(self.api_version()),
            kind: Some(self.kind().to_owned()),
            name: meta.name.clone(),
            namespace: meta.namespace.clone(),
            uid: meta.uid.clone(),
            ..ObjectReference::default()
        }
    }
    /// The path of the list of all objects; it is unique for each kind.
    pub fn path(&self) -> String {
        Raw::url_path(&self.resource, None)
    }
    /// The path of the list of objects in a namespace.
    #[cfg(feature = "dev")]
    pub fn path_in(&self, namespace: &str) -> String {
        let namespace = (self.namespaced && !namespace.is_empty()).then_some(namespace);
        Raw::url_path(&self.resource, namespace)
    }
    /// Access to the objects in a namespace, or to their metadata. If it is empty, or the kind has none, access to all objects.
    pub fn api<K>(&self, client: Client, namespace: &str) -> Api<K>
    where
        K: Resource<DynamicType = ApiResource, Scope = DynamicResourceScope>,
    {
        if self.namespaced && !namespace.is_empty() {
            Api::namespaced_with(client, namespace, &self.resource)
        } else {
            Api::all_with(client, &self.resource)
        }
    }
}

/// The fields that are decoded immediately.
#[derive(Deserialize)]
struct PartialMeta<'a> {
    #[serde(borrow)]
    metadata: Metadata<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata<'a> {
    name: Option<String>,
    namespace: Option<String>,
    uid: Option<String>,
    resource_version: Option<String>,
    #[serde(borrow)]
    managed_fields: Option<&'a RawValue>,
}

/// Only the labels, for label selectors that are evaluated for each event.
#[derive(Deserialize, Default)]
pub(crate) struct Labels {
    pub labels: Option<BTreeMap<String, String>>,
}

impl Raw {
    pub fn uid(&self) -> &str {
        self.metadata.uid.as_deref().unwrap_or_default()
    }
    pub fn decode<K: DeserializeOwned>(&self) -> serde_json::Result<K> {
        serde_json::from_str(&self.text)
    }
    /// The object as JSON, without its managed fields.
    pub fn text(&self) -> &str {
        &self.text
    }
    /// The full metadata of the object, or only its [`Labels`]. Malformed metadata counts as empty.
    pub fn read_metadata<T: DeserializeOwned + Default>(&self) -> T {
        #[derive(Deserialize)]
        struct Described<T> {
            metadata: T,
        }
        let read = serde_json::from_str(&self.text);
        read.map(|Described { metadata }| metadata).unwrap_or_default()
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <&RawValue>::deserialize(deserializer)?.get();
        let PartialMeta { metadata } = serde_json::from_str(text).map_err(D::Error::custom)?;
        // Managed fields often are half of the text, and are only needed if several managers have applied the state.
        let managed_fields = metadata.managed_fields.map(RawValue::get);
        let managed_fields = managed_fields.filter(|all| all.matches(r#""f:entry":"#).nth(1).is_some());
        let managed_fields = managed_fields.and_then(|all| serde_json::from_str(all).ok());
        let text = match metadata.managed_fields {
            Some(managed) => {
                let start = managed.get().as_ptr().addr() - text.as_ptr().addr();
                let (before, rest) = text.split_at(start);
                [before, "null", &rest[managed.get().len()..]].concat()
            }
            None => text.to_owned(),
        };
        Ok(Self {
            metadata: ObjectMeta {
                name: metadata.name,
                namespace: metadata.namespace,
                uid: metadata.uid,
                resource_version: metadata.resource_version,
                managed_fields,
                ..ObjectMeta::default()
            },
            text: text.into(),
        })
    }
}

impl fmt::Debug for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Resource for Raw {
    type DynamicType = ApiResource;
    type Scope = DynamicResourceScope;

    fn kind(of: &ApiResource) -> Cow<'_, str> {
        of.kind.as_str().into()
    }
    fn group(of: &ApiResource) -> Cow<'_, str> {
        of.group.as_str().into()
    }
    fn version(of: &ApiResource) -> Cow<'_, str> {
        of.version.as_str().into()
    }
    fn plural(of: &ApiResource) -> Cow<'_, str> {
        of.plural.as_str().into()
    }
    fn api_version(of: &ApiResource) -> Cow<'_, str> {
        of.api_version.as_str().into()
    }
    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }
    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::core::WatchEvent;

    fn raw(object: &str) -> Raw {
        let event = format!(r#"{{"type":"ADDED","object":{object}}}"#);
        let Ok(WatchEvent::Added(raw)) = serde_json::from_str::<WatchEvent<Raw>>(&event) else {
            panic!("not an event: {event}")
        };
        assert_eq!(raw.uid(), "1-2");
        raw
    }

    #[test]
    fn managed_fields_are_left_out_and_nothing_else() {
        let config = raw(
            r#"{"metadata": {"uid": "1-2", "managedFields": [{"manager": "a"}], "labels": {"a": "b"}},
                "data": {"managedFields": "[{\"manager\": \"a\"}]"}}"#,
        )
        .decode::<ConfigMap>()
        .expect("a config map");
        assert_eq!(config.metadata.managed_fields, None);
        assert_eq!(
            config.metadata.labels.as_ref().map_or(0, |labels| labels.len()),
            1
        );
        assert_eq!(
            config
                .data
                .as_ref()
                .and_then(|data| data.get("managedFields"))
                .map(String::as_str),
            Some(r#"[{"manager": "a"}]"#)
        );
    }

    #[test]
    fn an_object_that_cannot_be_decoded_has_a_name() {
        let odd = raw(r#"{"data": 7, "metadata": {"name": "odd", "uid": "1-2"}}"#);
        let error = odd.decode::<ConfigMap>().expect_err("data is a map").to_string();
        assert_eq!(odd.meta().name.as_deref(), Some("odd"));
        assert_eq!(odd.read_metadata::<ObjectMeta>().labels, None);
        assert_eq!(odd.read_metadata::<Labels>().labels, None);
        assert!(error.contains("invalid type"), "{error}");
    }
}
