//! An object as it is received: its metadata, and the rest as text. It is decoded lazily, because most events of a
//! watch echo the operator's own writes and are dropped by their version.
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, Error as _},
};
use serde_json::value::RawValue;
use std::{borrow::Cow, fmt, marker::PhantomData, sync::Arc};

/// An object of kind `K` that is not decoded yet, so one whose fields are malformed does not hold up the others.
#[derive(Clone)]
pub(super) struct Raw<K> {
    /// Only the name, the namespace, the uid and the resource version.
    metadata: ObjectMeta,
    text: Box<str>,
    of: PhantomData<fn() -> K>,
}

/// What is read before the object is decoded.
#[derive(Deserialize)]
struct Outline<'a> {
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

impl<K: DeserializeOwned> Raw<K> {
    pub fn uid(&self) -> &str {
        self.metadata.uid.as_deref().unwrap_or_default()
    }
    pub fn decode(&self) -> serde_json::Result<Arc<K>> {
        serde_json::from_str(&self.text).map(Arc::new)
    }
}

impl<'de, K> Deserialize<'de> for Raw<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <&RawValue>::deserialize(deserializer)?.get();
        let Outline { metadata } = serde_json::from_str(text).map_err(D::Error::custom)?;
        // The managed fields often take half of the text, and nothing reads them.
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
                ..ObjectMeta::default()
            },
            text: text.into(),
            of: PhantomData,
        })
    }
}

impl<K> fmt::Debug for Raw<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl<K: Resource> Resource for Raw<K> {
    type DynamicType = K::DynamicType;
    type Scope = K::Scope;

    fn kind(of: &Self::DynamicType) -> Cow<'_, str> {
        K::kind(of)
    }
    fn group(of: &Self::DynamicType) -> Cow<'_, str> {
        K::group(of)
    }
    fn version(of: &Self::DynamicType) -> Cow<'_, str> {
        K::version(of)
    }
    fn plural(of: &Self::DynamicType) -> Cow<'_, str> {
        K::plural(of)
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

    fn raw(object: &str) -> Raw<ConfigMap> {
        let event = format!(r#"{{"type":"ADDED","object":{object}}}"#);
        let Ok(WatchEvent::Added(raw)) = serde_json::from_str::<WatchEvent<Raw<ConfigMap>>>(&event) else {
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
        .decode()
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
        let error = odd.decode().expect_err("data is a map").to_string();
        assert_eq!(odd.meta().name.as_deref(), Some("odd"));
        assert!(error.contains("invalid type"), "{error}");
    }
}
