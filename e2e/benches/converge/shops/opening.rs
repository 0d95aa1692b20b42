use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Service};
use krator_runtime::{Error, Readiness};
use serde_json::{from_value, json};

use super::{Open, Opening};
use crate::shop::prelude::*;

impl State for Opening {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        match apply(cx).await? {
            Readiness::Current(_) => Ok(Transition::to(Open)),
            Readiness::Failed(why) => Err(Error::permanent(why)),
            Readiness::InProgress(_) | Readiness::Terminating(_) => Ok(Transition::stay()),
        }
    }
}

/// Applies the children that the spec asks for, and returns the readiness of the Deployment.
pub(super) async fn apply(cx: &Context<'_>) -> Result<Readiness> {
    let (name, shop) = (cx.name(), cx.manifest());
    let config: ConfigMap = from_value(json!({
        "metadata": {"name": name},
        "data": {"GREETING": shop.spec.greeting},
    }))?;
    let service: Service = from_value(json!({
        "metadata": {"name": name},
        "spec": {
            "clusterIP": "None",
            "selector": {"shop": name},
            "ports": [{"name": "http", "port": 80, "protocol": "TCP", "targetPort": 8080}],
        },
    }))?;
    let deployment: Deployment = from_value(json!({
        "metadata": {"name": name},
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
    }))?;
    cx.apply(&config).await?;
    cx.apply(&service).await?;
    let deployment = cx.apply(&deployment).await?;
    Ok(cx.readiness(&*deployment))
}
