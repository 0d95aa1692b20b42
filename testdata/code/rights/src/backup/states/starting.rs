use super::{Running, Starting};
use crate::backup::prelude::*;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::*;
use kube::api::Api as Client;
use kube::{Api, Client as Connection};

impl State for Starting {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        cx.apply(&Job::default()).await?;
        Ok(Transition::to(Running))
    }
}

pub async fn clients(client: Connection) -> Vec<String> {
    let nodes: Api<Node> = Api::all(client.clone());
    let pods = Api::<Pod>::namespaced(client.clone(), "backups");
    let maps = Client::<ConfigMap>::default_namespaced(client);
    let _ = (nodes, pods, maps);
    Vec::new()
}
