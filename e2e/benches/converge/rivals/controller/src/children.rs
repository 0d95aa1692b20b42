//! The operator for shops: each reconciliation applies the children that the spec asks for, and writes the status if it
//! has changed. As in kube-rs's examples, all children are applied each time. The tuned operator keeps them in memory,
//! and applies those that differ.

use crate::{Error, Variant, conditions::conditions, lean};
use futures::Stream;
use k8s_openapi::{
    NamespaceResourceScope,
    api::{
        apps::v1::Deployment,
        core::v1::{ConfigMap, Service},
    },
    apimachinery::pkg::apis::meta::v1::Condition,
};
use kube::{
    Api, Client, CustomResource, Resource, ResourceExt as _,
    api::{Patch, PatchParams},
    runtime::{
        Controller, WatchStreamExt as _,
        controller::Action,
        predicates,
        reflector::{self, ObjectRef, Store},
        watcher,
    },
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::{fmt::Debug, sync::Arc};

/// The field manager of all applied objects.
const MANAGER: &str = "shops-controller";

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize)]
#[kube(
    group = "bench.krator.dev",
    version = "v1",
    kind = "Shop",
    namespaced,
    schema = "disabled",
    status = "ShopStatus"
)]
#[serde(rename_all = "camelCase")]
pub struct ShopSpec {
    image: String,
    replicas: i32,
    greeting: String,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShopStatus {
    state: Option<ShopState>,
    message: Option<String>,
    observed_generation: Option<i64>,
    #[serde(default)]
    conditions: Vec<Condition>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
enum ShopState {
    Opening,
    Open,
}

/// The children in memory.
struct Stores {
    configs: Store<ConfigMap>,
    services: Store<Service>,
    deployments: Store<Deployment>,
}

struct Data {
    client: Client,
    stores: Option<Stores>,
}

pub async fn run(client: Client, variant: Variant) {
    let shops: Api<Shop> = Api::all(client.clone());
    let (controller, stores) = if variant.lean {
        let (reader, writer) = reflector::store();
        // Changes of the status, which the operator itself writes, need no reconciliation.
        let stream = lean(shops)
            .reflect(writer)
            .applied_objects()
            .predicate_filter(predicates::generation, Default::default());
        let (configs, configs_stream) = cached(&client);
        let (services, services_stream) = cached(&client);
        let (deployments, deployments_stream) = cached(&client);
        let controller = Controller::for_stream(stream, reader)
            .owns_stream(configs_stream)
            .owns_stream(services_stream)
            .owns_stream(deployments_stream);
        let stores = Stores {
            configs,
            services,
            deployments,
        };
        (controller, Some(stores))
    } else {
        let all = watcher::Config::default;
        let controller = Controller::new(shops, all())
            .owns(Api::<ConfigMap>::all(client.clone()), all())
            .owns(Api::<Service>::all(client.clone()), all())
            .owns(Api::<Deployment>::all(client.clone()), all());
        (controller, None)
    };
    let controller = controller.with_config(variant.config()).shutdown_on_signal();
    let data = Arc::new(Data { client, stores });
    crate::log(controller.run(reconcile, crate::error_policy, data)).await;
}

/// A store of all objects of a kind, and the stream that fills it.
fn cached<K>(
    client: &Client,
) -> (
    Store<K>,
    impl Stream<Item = Result<K, watcher::Error>> + Send + use<K>,
)
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static,
{
    let (reader, writer) = reflector::store();
    let stream = lean(Api::all(client.clone())).reflect(writer).touched_objects();
    (reader, stream)
}

async fn reconcile(shop: Arc<Shop>, data: Arc<Data>) -> Result<Action, Error> {
    let stores = data.stores.as_ref();
    data.ensure(&shop, stores.map(|all| &all.configs), config(&shop))
        .await?;
    data.ensure(&shop, stores.map(|all| &all.services), service(&shop))
        .await?;
    let deployment = data
        .ensure(&shop, stores.map(|all| &all.deployments), deployment(&shop))
        .await?;
    let (state, message) = if is_rolled_out(&deployment) {
        (ShopState::Open, "Customers may come in.")
    } else {
        (ShopState::Opening, "Waits for its Deployment.")
    };
    let generation = shop.meta().generation;
    let is_stored =
        |status: &ShopStatus| status.state == Some(state) && status.observed_generation == generation;
    if !shop.status.as_ref().is_some_and(is_stored) {
        data.write(&shop, state, message).await?;
    }
    Ok(Action::await_change())
}

impl Data {
    /// Applies a child if it differs, and returns the stored one.
    async fn ensure<K>(
        &self,
        shop: &Shop,
        store: Option<&Store<K>>,
        mut wanted: Value,
    ) -> Result<Arc<K>, Error>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
        K: Clone + Debug + DeserializeOwned + Serialize,
    {
        let (name, namespace) = (shop.name_any(), shop.namespace().unwrap_or_default());
        wanted["apiVersion"] = json!(K::api_version(&()));
        wanted["kind"] = json!(K::kind(&()));
        wanted["metadata"] = json!({
            "name": name,
            "labels": {"app.kubernetes.io/managed-by": "shops"},
            "ownerReferences": Vec::from_iter(shop.controller_owner_ref(&())),
        });
        if let Some(stored) = store.and_then(|store| store.get(&ObjectRef::new(&name).within(&namespace)))
            && covers(&serde_json::to_value(&*stored).map_err(Error::Json)?, &wanted)
        {
            return Ok(stored);
        }
        let api: Api<K> = Api::namespaced(self.client.clone(), &namespace);
        let params = PatchParams::apply(MANAGER).force();
        let stored = api.patch(&name, &params, &Patch::Apply(wanted)).await;
        stored.map(Arc::new).map_err(Error::Child)
    }

    async fn write(&self, shop: &Shop, state: ShopState, message: &str) -> Result<(), Error> {
        let api: Api<Shop> = Api::namespaced(self.client.clone(), &shop.namespace().unwrap_or_default());
        let former = shop.status.as_ref().map_or(&[][..], |status| &status.conditions);
        let (generation, ready) = (shop.meta().generation, state == ShopState::Open);
        let status = ShopStatus {
            state: Some(state),
            message: Some(message.to_owned()),
            observed_generation: generation,
            conditions: conditions(former, generation, &format!("{state:?}"), message, ready),
        };
        let patch = Patch::Apply(json!({
            "apiVersion": Shop::api_version(&()),
            "kind": Shop::kind(&()),
            "status": status,
        }));
        let params = PatchParams::apply(MANAGER).force();
        let written = api.patch_status(&shop.name_any(), &params, &patch).await;
        written.map(|_| ()).map_err(Error::Status)
    }
}

/// Whether a stored object contains all wanted fields; it may have more, such as defaults.
fn covers(stored: &Value, wanted: &Value) -> bool {
    match (stored, wanted) {
        (Value::Object(stored), Value::Object(wanted)) => wanted
            .iter()
            .all(|(key, value)| stored.get(key).is_some_and(|stored| covers(stored, value))),
        (Value::Array(stored), Value::Array(wanted)) => {
            stored.len() == wanted.len()
                && stored
                    .iter()
                    .zip(wanted)
                    .all(|(stored, value)| covers(stored, value))
        }
        _ => stored == wanted,
    }
}

fn is_rolled_out(deployment: &Deployment) -> bool {
    let wanted = deployment.spec.replicas;
    deployment.status.as_ref().is_some_and(|status| {
        status.observed_generation == deployment.meta().generation
            && status.updated_replicas == wanted
            && status.available_replicas == wanted
    })
}

fn config(shop: &Shop) -> Value {
    json!({"data": {"GREETING": shop.spec.greeting}})
}

fn service(shop: &Shop) -> Value {
    json!({
        "spec": {
            "clusterIP": "None",
            "selector": {"shop": shop.name_any()},
            "ports": [{"name": "http", "port": 80, "protocol": "TCP", "targetPort": 8080}],
        },
    })
}

fn deployment(shop: &Shop) -> Value {
    let name = shop.name_any();
    json!({
        "spec": {
            "replicas": shop.spec.replicas,
            "selector": {"matchLabels": {"shop": name}},
            "template": {
                "metadata": {"labels": {"shop": name}},
                "spec": {
                    "containers": [{
                        "name": "shop",
                        "image": shop.spec.image,
                        "envFrom": [{"configMapRef": {"name": name}}],
                        "ports": [{"containerPort": 8080, "protocol": "TCP"}],
                    }],
                },
            },
        },
    })
}
