use super::{Running, Starting};
use crate::backup::prelude::*;
use k8s_openapi::api::batch::v1 as batch;
use k8s_openapi::api::batch::v1::{CronJob, Job as J};
use k8s_openapi::api::core::v1::*;
use kube::api::Api as Client;
use kube::{Api, Client as Connection};
use std::sync::Arc;

impl State for Starting {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        // krator.yaml grants the rights for these.
        let job = J::default();
        cx.apply(&job).await?;
        cx.apply(&batch::Job { ..Default::default() }).await?;
        let _: Vec<Arc<J>> = cx.owned().await?;
        let secret = cx.watched::<Secret>();
        cx.api::<Pod>();
        cx.api::<batch::Job>();
        cx.owned::<Disk>().await?;
        cx.delete(&disk(cx)).await?;
        // It does not grant the rights for these.
        let cron = CronJob::default();
        cx.apply(&cron).await?;
        cx.delete(&Pod::default()).await?;
        cx.owned::<Pod>().await?;
        let found: Vec<Arc<ConfigMap>> = cx.owned().await?;
        let _ = found;
        cx.watched::<Node>();
        cx.watched::<J>();
        let _: Option<Arc<Service>> = cx.watched();
        cx.api::<k8s_openapi::api::core::v1::Node>();
        let _ = secret;
        // The type of this cannot be seen here.
        keep(cx, &job).await?;
        Ok(Transition::to(Running))
    }
}

fn disk(_cx: &Context<'_>) -> Disk {
    Disk::default()
}

async fn keep<K>(cx: &Context<'_>, child: &K) -> Result<()>
where
    K: krator_runtime::Child,
    BackupMachine: krator_runtime::Owns<K>,
{
    cx.apply(child).await.map(|_| ())
}

pub async fn clients(client: Connection) -> Vec<String> {
    let nodes: Api<Node> = Api::all(client.clone());
    let pods = Api::<Pod>::namespaced(client.clone(), "backups");
    let maps = Client::<ConfigMap>::default_namespaced(client);
    let _ = (nodes, pods, maps);
    Vec::new()
}
