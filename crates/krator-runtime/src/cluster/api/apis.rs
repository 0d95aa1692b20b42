//! API handles by kind and namespace. Each is made once, and look-ups take no lock: entries are never
//! changed, and new ones are appended to a list.
use crate::{
    error::{Error, Result},
    resource::Place,
};
use kube::{Api, Client, Resource};
use std::{
    any::Any,
    collections::BTreeMap,
    hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher},
    sync::{Arc, OnceLock},
};

/// The behavior of [`ApiHandles`] for a namespace that was not given at construction. The names are those of Kuberator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApiCaching {
    /// An error is returned. For operators that work in known namespaces only.
    Strict,
    /// A handle is made, and not kept. For namespaces that come and go.
    Adhoc,
    /// A handle is made and kept for as long as the handles live.
    Extendable,
}

/// The handles for one kind, by namespace. A look-up takes no lock, and a handle that is found is shared, not copied.
///
/// Handlers have [`Context::api`](crate::Context::api), which is one of these for each kind. Keep another one in the shared
/// state for namespaces other than the object's own.
///
/// ```no_run
/// use k8s_openapi::api::core::v1::Secret;
/// use krator_runtime::{ApiCaching, ApiHandles, Result};
///
/// async fn secrets(client: kube::Client) -> Result<usize> {
///     let handles = ApiHandles::<Secret>::new(client, ["vault"], ApiCaching::Strict);
///     Ok(handles.get("vault")?.list(&Default::default()).await?.items.len())
/// }
/// ```
pub struct ApiHandles<K> {
    client: Client,
    caching: ApiCaching,
    given: BTreeMap<String, Arc<Api<K>>>,
    /// Handles that were added later, in lists by the hash of the namespace, which keeps the lists short.
    added: [AppendList<(String, Arc<Api<K>>)>; LISTS],
}

/// With ten thousand namespaces each list has about 40.
const LISTS: usize = 256;

/// An append-only list.
struct AppendList<T>(OnceLock<Box<(T, AppendList<T>)>>);

impl<T> Default for AppendList<T> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<T> AppendList<T> {
    /// Returns the first result of `seek`. If there is none, it appends the item of `make`, unless another
    /// thread has appended a matching one.
    fn find<R>(&self, seek: impl Fn(&T) -> Option<R>, make: impl Fn() -> T) -> R {
        let mut at = self;
        loop {
            let (item, next) = &**at.0.get_or_init(|| Box::new((make(), Self::default())));
            match seek(item) {
                Some(found) => return found,
                None => at = next,
            }
        }
    }
}

impl<K: Resource<DynamicType = (), Scope: Place>> ApiHandles<K> {
    /// Handles for these namespaces; the empty one stands for all namespaces.
    pub fn new(
        client: Client,
        namespaces: impl IntoIterator<Item: Into<String>>,
        caching: ApiCaching,
    ) -> Self {
        let mut handles = Self {
            client,
            caching,
            given: BTreeMap::new(),
            added: [const { AppendList(OnceLock::new()) }; LISTS],
        };
        for namespace in namespaces {
            let namespace = namespace.into();
            let api = Arc::new(handles.api(&namespace));
            handles.given.insert(namespace, api);
        }
        handles
    }

    fn api(&self, namespace: &str) -> Api<K> {
        <K::Scope as Place>::api(self.client.clone(), namespace)
    }

    /// The handle for a namespace. Kinds without a namespace have one handle, whatever the namespace is.
    ///
    /// # Errors
    /// A permanent error for an unknown namespace with [`ApiCaching::Strict`].
    /// A permanent one for a namespace that was not given, with [`ApiCaching::Strict`].
    pub fn get(&self, namespace: &str) -> Result<Arc<Api<K>>> {
        let namespace = Self::key(namespace);
        if let Some(api) = self.given.get(namespace) {
            return Ok(Arc::clone(api));
        }
        match self.caching {
            ApiCaching::Strict => Err(Error::permanent(format!(
                "this operator does not work in the namespace `{namespace}`"
            ))),
            ApiCaching::Adhoc => Ok(Arc::new(self.api(namespace))),
            ApiCaching::Extendable => Ok(self.kept(namespace)),
        }
    }

    /// The key of a handle. Kinds without a namespace have one handle.
    fn key(namespace: &str) -> &str {
        if K::Scope::NAMESPACED { namespace } else { "" }
    }

    fn kept(&self, namespace: &str) -> Arc<Api<K>> {
        let namespace = Self::key(namespace);
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(namespace);
        // The remainder is less than `LISTS`.
        let list = &self.added[usize::try_from(hash % LISTS as u64).unwrap_or(0)];
        list.find(
            |(known, api)| (known == namespace).then(|| Arc::clone(api)),
            || (namespace.to_owned(), Arc::new(self.api(namespace))),
        )
    }
}

/// The handles that the handlers of one machine use, by kind.
#[derive(Default)]
pub(crate) struct Apis(AppendList<Box<dyn Any + Send + Sync>>);

impl Apis {
    /// The handle for a kind and a namespace.
    pub fn get<K>(&self, client: &Client, namespace: &str) -> Arc<Api<K>>
    where
        K: Resource<DynamicType = (), Scope: Place> + 'static,
    {
        let none = [""; 0];
        self.0.find(
            |handles| Some(handles.downcast_ref::<ApiHandles<K>>()?.kept(namespace)),
            || Box::new(ApiHandles::<K>::new(client.clone(), none, ApiCaching::Extendable)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Class;
    use k8s_openapi::api::core::v1::{ConfigMap, Node, Secret};
    use std::thread;

    fn client() -> Client {
        let config = kube::Config::new("http://127.0.0.1:9".parse().expect("an address"));
        Client::try_from(config).expect("a client")
    }

    fn handles(caching: ApiCaching) -> ApiHandles<Secret> {
        ApiHandles::new(client(), ["given"], caching)
    }

    #[tokio::test]
    async fn each_way_of_caching_treats_other_namespaces_in_its_own_way() {
        for (caching, is_kept) in [(ApiCaching::Adhoc, false), (ApiCaching::Extendable, true)] {
            let handles = handles(caching);
            let get = |namespace: &str| handles.get(namespace).expect("a handle");
            assert!(Arc::ptr_eq(&get("given"), &get("given")), "{caching:?}");
            assert_eq!(Arc::ptr_eq(&get("other"), &get("other")), is_kept, "{caching:?}");
            assert_eq!(get("other").resource_url(), "/api/v1/namespaces/other/secrets");
        }
        let error = handles(ApiCaching::Strict).get("other").err();
        assert_eq!(error.map(|error| error.class()), Some(Class::Permanent));
    }

    #[tokio::test]
    async fn each_kind_and_namespace_has_one_handle() {
        let (apis, client) = (Apis::default(), client());
        let secrets = |namespace: &str| apis.get::<Secret>(&client, namespace);
        let maps = apis.get::<ConfigMap>(&client, "a");
        assert_eq!(maps.resource_url(), "/api/v1/namespaces/a/configmaps");
        assert!(Arc::ptr_eq(&secrets("a"), &secrets("a")));
        assert_eq!(secrets("b").resource_url(), "/api/v1/namespaces/b/secrets");
        assert_eq!(secrets("").resource_url(), "/api/v1/secrets");
        let nodes = |namespace: &str| apis.get::<Node>(&client, namespace);
        assert!(Arc::ptr_eq(&nodes("a"), &nodes("b")), "nodes have no namespace");
    }

    #[tokio::test]
    async fn threads_that_ask_at_once_get_the_same_handles() {
        let handles = handles(ApiCaching::Extendable);
        let all = || -> Vec<_> {
            let names = (0..2_000).map(|n| format!("n{n}"));
            names.map(|name| handles.get(&name).expect("a handle")).collect()
        };
        let [one, two] = thread::scope(|scope| {
            let threads = [scope.spawn(all), scope.spawn(all)];
            threads.map(|thread| thread.join().expect("no panic"))
        });
        assert!(one.iter().zip(&two).all(|(one, two)| Arc::ptr_eq(one, two)));
        assert!(
            one.iter()
                .enumerate()
                .all(|(n, api)| { api.resource_url() == format!("/api/v1/namespaces/n{n}/secrets") })
        );
    }
}
