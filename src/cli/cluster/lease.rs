//! Reads the Lease of an operator, and reads it again if the first read does not show whether it is being renewed.

use serde_json::Value as Json;

use super::{Cluster, Connection, Request, resource_path};
use crate::observed::lease::Leader;
use crate::observed::{Lookup, lease, text};

/// The Lease of an operator, and the Lease a moment later if the first read does not show whether it is being renewed.
pub fn look_at_lease(cluster: &Cluster, namespace: &str, operator: &str) -> (Lookup, Option<Json>) {
    let path = resource_path("coordination.k8s.io", "v1", "leases", Some(namespace));
    let request = || Request::get(format!("{path}/{operator}"));
    let (first, time) = match cluster.ask(request()) {
        Ok(answer) => {
            let time = answer.time;
            (answer.into_lookup(), time)
        }
        Err(error) => (Lookup::Unknown(format!("{error:#}")), None),
    };
    let is_doubtful = first.object().zip(time).is_some_and(|(seen, time)| {
        !text(seen, "/spec/holderIdentity").is_empty() && lease::is_doubtful(seen, time)
    });
    if !is_doubtful {
        return (first, None);
    }
    std::thread::sleep(lease::SECOND_LOOK);
    let later = cluster.ask(request()).ok().map(|answer| answer.into_lookup());
    (first, later.and_then(|later| later.object().cloned()))
}

/// The active process of an operator in a cluster, by its Lease. `None` also if that cannot be determined.
///
/// # Errors
///
/// If there is no kubeconfig, or if the cluster does not respond.
pub fn acts(connection: &Connection, namespace: &str, operator: &str) -> anyhow::Result<Option<String>> {
    let cluster = Cluster::connect(connection)?;
    let (first, later) = look_at_lease(&cluster, namespace, operator);
    let now = cluster.ask(Request::get("/version".to_owned()))?.time;
    let leader = first
        .object()
        .zip(now)
        .map(|(seen, now)| lease::leader(seen, later.as_ref(), now));
    Ok(match leader {
        Some(Leader::Is(holder)) => Some(holder),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::live::cluster::Embedded;
    use serde_json::json;

    #[tokio::test]
    async fn an_operator_that_renews_its_lease_acts() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let embedded = Embedded::start(folder.path()).await.expect("it listens");
        let connection = Connection {
            kubeconfig: Some(embedded.kubeconfig().to_owned()),
            context: None,
        };
        let look = async || {
            let connection = connection.clone();
            let look = tokio::task::spawn_blocking(move || acts(&connection, "default", "shop"));
            look.await
                .expect("it does not panic")
                .expect("there is a cluster")
        };
        assert_eq!(look().await, None);
        let lease = |holder: &str| {
            json!({
                "apiVersion": "coordination.k8s.io/v1",
                "kind": "Lease",
                "metadata": {"name": "shop", "namespace": "default"},
                "spec": {"holderIdentity": holder, "renewTime": format!("{:.6}", jiff::Timestamp::now()), "leaseDurationSeconds": 15},
            })
        };
        embedded.apply(&lease("shop-1_0123")).await.expect("it fits");
        assert_eq!(look().await.as_deref(), Some("shop-1_0123"));
        embedded.apply(&lease("")).await.expect("it fits");
        assert_eq!(look().await, None);
    }
}
