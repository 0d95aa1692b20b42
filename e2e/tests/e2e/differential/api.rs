//! What the API server says of an object that it does not store.

use crate::cluster::Cluster;
use futures::stream::{self, StreamExt as _};
use kube::api::{ApiResource, DynamicObject, PostParams};
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use kube::{Api, Client};
use serde_json::Value;

/// How many requests are in flight at once.
const AT_ONCE: usize = 16;

/// One reason of a refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// The path of the field.
    pub field: String,
    /// What is wrong with it.
    pub message: String,
}

/// The object as it would be stored, or why it is refused.
pub type Verdict = Result<Value, Vec<Cause>>;

/// An API server, asked with dry runs.
pub struct Judge {
    client: Client,
}

impl Judge {
    /// The API server of a cluster, as `admin`.
    pub async fn of(cluster: &Cluster) -> Judge {
        let kubeconfig =
            Kubeconfig::read_from(cluster.kubeconfig("admin")).expect("the cluster has written it");
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
            .await
            .expect("the kubeconfig of the cluster is valid");
        Judge {
            client: Client::try_from(config).expect("the configuration of the cluster is valid"),
        }
    }

    /// What creating each of these objects would give, in their order.
    pub async fn verdicts(&self, resource: &ApiResource, objects: &[Value]) -> Vec<Verdict> {
        stream::iter(objects)
            .map(|object| self.verdict(resource, object))
            .buffered(AT_ONCE)
            .collect()
            .await
    }

    async fn verdict(&self, resource: &ApiResource, object: &Value) -> Verdict {
        let client = self.client.clone();
        let api: Api<DynamicObject> = match object["metadata"]["namespace"].as_str() {
            Some(namespace) => Api::namespaced_with(client, namespace, resource),
            None => Api::all_with(client, resource),
        };
        let object = serde_json::from_value(object.clone()).expect("an object of Kubernetes");
        let dry_run = PostParams {
            dry_run: true,
            field_manager: None,
        };
        match api.create(&dry_run, &object).await {
            Ok(stored) => Ok(serde_json::to_value(stored).expect("an object of Kubernetes is JSON")),
            Err(kube::Error::Api(status)) => {
                let causes = status.details.iter().flat_map(|details| &details.causes);
                let causes: Vec<Cause> = causes
                    .map(|cause| Cause {
                        field: cause.field.clone(),
                        message: cause.message.clone(),
                    })
                    .collect();
                if causes.is_empty() {
                    return Err(vec![Cause {
                        field: String::new(),
                        message: status.message.clone(),
                    }]);
                }
                Err(causes)
            }
            Err(error) => panic!("the API server does not answer: {error}"),
        }
    }
}
