//! Servers in the process of their users.

use krator_apiserver::Server;
use serde_json::{Value as Json, json};

const BEES: &str = "bees.example.com";

fn definition() -> Json {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": BEES},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"kind": "Bee", "plural": "bees"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object",
                "properties": {"spec": {"type": "object", "properties": {"honey": {"type": "integer"}}}},
            }}}],
        },
    })
}

fn bee(name: &str, honey: i64) -> Json {
    json!({
        "apiVersion": "example.com/v1",
        "kind": "Bee",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"honey": honey},
    })
}

fn version(object: &Json) -> u64 {
    let version = object["metadata"]["resourceVersion"]
        .as_str()
        .expect("it is stored");
    version.parse().expect("versions are numbers")
}

#[tokio::test]
async fn objects_outlive_a_server_by_its_snapshot() {
    let former = Server::start();
    former
        .apply(&definition(), "test")
        .await
        .expect("a sound definition");
    let before = former
        .apply(&bee("maya", 3), "test")
        .await
        .expect("a sound object");
    let written = serde_json::to_string(&former.snapshot()).expect("it has a form in JSON");
    drop(former);

    let read = serde_json::from_str(&written).expect("what was written can be read");
    let server = Server::builder().restore(read).start();
    let [maya] = &server.objects("example.com", "bees")[..] else {
        panic!("there is one bee");
    };
    assert_eq!(maya["spec"], json!({"honey": 3}));
    assert_eq!(maya["metadata"]["uid"], before["metadata"]["uid"]);
    // Versions must not be reused, because clients may have seen the former server.
    assert!(version(maya) > version(&before));
    let other = server.apply(&bee("willy", 1), "test").await;
    assert!(version(&other.expect("its kind is served")) > version(maya));
}

#[tokio::test]
async fn refusals_say_why() {
    let server = Server::start();
    let unknown = server
        .apply(&bee("maya", 3), "test")
        .await
        .expect_err("no such kind");
    assert_eq!(unknown.code, 404);
    server
        .apply(&definition(), "test")
        .await
        .expect("a sound definition");
    let mut wrong = bee("maya", 3);
    wrong["spec"]["honey"] = "much".into();
    let refused = server.apply(&wrong, "test").await.expect_err("honey is a number");
    assert!(refused.message.contains("spec.honey"), "{refused}");
    let mut escaping = bee("maya", 3);
    escaping["metadata"]["name"] = "../../../../v1/namespaces/default/configmaps/a".into();
    server.apply(&escaping, "test").await.expect_err("no name");
    assert!(server.objects("", "configmaps").len() <= 1);
}
