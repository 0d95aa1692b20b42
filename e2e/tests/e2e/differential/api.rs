//! The API server's verdicts on objects in dry runs.

use crate::cluster::Cluster;
use futures::stream::{self, StreamExt as _};
use http::Request;
use http::header::CONTENT_TYPE;
use kube::api::{ApiResource, DynamicObject};
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use kube::{Client, Resource as _};
use serde_json::Value;

/// How many requests are in flight at once.
const AT_ONCE: usize = 16;

/// One reason of a refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// The path of the field.
    pub field: String,
    /// The error message.
    pub message: String,
}

/// The object as it would be stored, or why it is refused.
pub type Verdict = Result<Value, Vec<Cause>>;

/// An API server that is queried with dry runs.
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

    /// The results of creating these objects, in their order.
    pub async fn verdicts(&self, resource: &ApiResource, objects: &[Value]) -> Vec<Verdict> {
        stream::iter(objects)
            .map(|object| self.verdict(resource, object))
            .buffered(AT_ONCE)
            .collect()
            .await
    }

    async fn verdict(&self, resource: &ApiResource, object: &Value) -> Verdict {
        let path = DynamicObject::url_path(resource, object["metadata"]["namespace"].as_str());
        // The server warns about each unknown field in a header of its own, and clients cannot read hundreds of
        // headers.
        let request = Request::post(format!("{path}?dryRun=All&fieldValidation=Ignore"));
        let request = request.header(CONTENT_TYPE, "application/json");
        let request = request.body(object.to_string().into_bytes());
        match self.client.request(request.expect("a path of the API")).await {
            Ok(stored) => Ok(stored),
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
            Err(error) => panic!("the API server does not answer: {error:?}"),
        }
    }
}
