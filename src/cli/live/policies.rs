//! The policies of a description, in the cluster of an operator that runs on this machine.

use std::path::Path;

use super::cluster::{Cluster, objects};
use crate::policies::MANIFEST;

/// The resources of policies.
const RESOURCES: [&str; 2] = ["validatingadmissionpolicybindings", "validatingadmissionpolicies"];

/// Applies the policies of a crate to a cluster. Policies that were removed from the description are deleted from an
/// embedded API server, which contains no others; a configured cluster keeps them until a user deletes them.
///
/// # Errors
///
/// If the manifest cannot be read, or if the API server refuses it.
pub async fn apply(cluster: &Cluster, folder: &Path) -> anyhow::Result<()> {
    let manifest = folder.join(MANIFEST);
    let is_there = manifest.is_file();
    if let Cluster::Embedded(embedded) = cluster {
        let kept = if is_there { objects(&manifest)? } else { Vec::new() };
        for resource in RESOURCES {
            embedded.delete_others(resource, &kept).await?;
        }
    }
    match is_there {
        true => cluster.apply(&manifest).await,
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::cluster::Embedded;
    use super::*;
    use serde_json::json;
    use std::fs;

    const DESCRIPTION: &str = include_str!("../../../testdata/promise/protected.yaml");

    /// Generates the files of a crate that are applied.
    fn generate(text: &str, folder: &Path) {
        let checked = crate::check("krator.yaml", text.as_bytes());
        let description = checked.sound().expect("a good description");
        let runtime = crate::render::Runtime::Path("..".to_owned());
        let plan = crate::render::plan(description, &checked.source, &runtime);
        for path in ["deploy/crd.yaml", MANIFEST] {
            let to = folder.join(path);
            match plan.get(path) {
                Some(file) => fs::write(to, &file.contents).expect("a folder of our own"),
                None => fs::remove_file(to).expect("it was there"),
            }
        }
    }

    #[tokio::test]
    async fn policies_hold_until_the_description_has_them_no_more() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let folder = home.path();
        fs::create_dir(folder.join("deploy")).expect("a folder of our own");
        generate(DESCRIPTION, folder);
        let embedded = Embedded::start(folder).await.expect("a free port");
        let cluster = Cluster::Embedded(Box::new(embedded));
        cluster
            .apply(&folder.join("deploy/crd.yaml"))
            .await
            .expect("it fits");
        apply(&cluster, folder).await.expect("they fit");
        let Cluster::Embedded(embedded) = &cluster else {
            unreachable!("it was made above")
        };
        let object = |status: serde_json::Value| {
            json!({
                "apiVersion": "a.example.com/v1",
                "kind": "Foo",
                "metadata": {"name": "one", "namespace": "default"},
                "spec": {},
                "status": status,
            })
        };
        embedded.apply(&object(json!({}))).await.expect("it fits");
        let path = "/apis/a.example.com/v1/namespaces/default/foos/one/status";
        let status = http::Request::patch(path)
            .header("content-type", "application/merge-patch+json")
            .body(json!({"status": {"state": "Up"}}).to_string());
        let answer = embedded.server().answer(status.expect("a request")).await;
        assert!(answer.status().is_success(), "{answer:?}");

        let refused = embedded.server().delete(&object(json!({}))).await;
        let refused = refused.expect_err("it is protected");
        assert!(
            refused.message.contains("is protected in the state Up"),
            "{refused:?}"
        );
        let unprotected = DESCRIPTION.replace("admission: {protect: {states: [Up]}}\n", "");
        generate(&unprotected, folder);
        apply(&cluster, folder).await.expect("there are none");
        embedded
            .server()
            .delete(&object(json!({})))
            .await
            .expect("nothing protects it");
    }
}
