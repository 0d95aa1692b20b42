//! `krator dev` with a kind whose conversion uses functions of the author: the API server calls the operator for them.

use super::Session;
use crate::cluster;
use crate::operator::Crate;
use kube::api::{Api, ApiResource, DynamicObject, PostParams};
use kube::core::GroupVersionKind;
use serde_json::json;
use std::fs;
use tokio::runtime::Runtime;

const DESCRIPTION: &str = "
krator: 1
operator: shop-live
resource: {group: shops.example.com, version: v1, kind: Shop}
spec: {size: integer}
machine: {initial: Open}
states: {Open: {kind: ready}}
versions: {v1beta1: {changes: [{custom: .spec.size, from: string}]}}
";

const FUNCTIONS: &str = "
use super::{Shop, generated::kinds::Conversions};

impl Conversions for Shop {
    fn size_from_v1beta1(old: String) -> Result<i64, String> {
        old.parse().map_err(|_| \"it is no number\".to_owned())
    }
    fn size_to_v1beta1(new: i64) -> Result<String, String> {
        Ok(new.to_string())
    }
}
";

#[test]
fn dev_has_the_operator_convert_what_functions_convert() {
    let krate = Crate::untouched(DESCRIPTION);
    let dir = krate.dir();
    let functions = dir.join("src/shop/conversions.rs");
    fs::write(&functions, FUNCTIONS).expect("our own");
    let mut dev = Session::start(&dir, &["dev"]);
    dev.wait_for("ready after");
    let line = dev.wait_for("KUBECONFIG=");
    let kubeconfig = line.split('=').nth(1).expect("it was said").to_owned();
    let runtime = Runtime::new().expect("a runtime");
    let client = runtime.block_on(cluster::client(kubeconfig.as_ref()));
    let api = |version: &str| -> Api<DynamicObject> {
        let kind = GroupVersionKind::gvk("shops.example.com", version, "Shop");
        let resource = ApiResource::from_gvk_with_plural(&kind, "shops");
        Api::namespaced_with(client.clone(), "default", &resource)
    };
    let read = |version: &str| {
        let read = runtime.block_on(api(version).get("older"));
        read.map(|shop| shop.data["spec"]["size"].clone())
            .map_err(|error| error.to_string())
    };
    let older = json!({
        "apiVersion": "shops.example.com/v1beta1", "kind": "Shop", "metadata": {"name": "older"}, "spec": {"size": "7"},
    });
    let older = serde_json::from_value(older).expect("an object");
    let created = runtime.block_on(api("v1beta1").create(&PostParams::default(), &older));
    created.expect("it is converted to be stored");
    assert_eq!(read("v1"), Ok(json!(7)));

    // The next operator has another function, and another address.
    let edited = FUNCTIONS.replace("new.to_string()", "format!(\"{new} or so\")");
    fs::write(&functions, edited).expect("our own");
    dev.wait_for("ready after");
    assert_eq!(read("v1beta1"), Ok(json!("7 or so")));
    assert!(dev.end().success());
}
