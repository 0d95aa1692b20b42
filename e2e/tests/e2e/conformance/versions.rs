//! Kinds with different versions: one that is generated from a description, and one whose versions differ only in their
//! schemas.

use super::webhook::Webhook;
use krator::{Checked, check, render, versions};
use krator_apiserver::Convert;
use serde_json::{Value as Json, json};
use std::sync::Arc;

/// The description with the versions.
const SHOP: &str = include_str!("shop.yaml");

/// A definition without a webhook.
const SLEIGHS: &str = include_str!("sleighs.yaml");

fn shop() -> Checked {
    check("shop.yaml", SHOP.as_bytes())
}

/// The definitions of both kinds. The first one uses this webhook.
pub(super) fn definitions(webhook: &Webhook) -> String {
    let shop = shop();
    let mut definition = render::crd::crd(shop.sound().expect("it is correct")).remove(0);
    definition["spec"]["conversion"]["webhook"]["clientConfig"] =
        json!({"url": format!("{}/convert", webhook.url), "caBundle": webhook.bundle});
    format!("{definition}\n---\n{SLEIGHS}")
}

/// The conversion of shops, behind the webhook on a real server. It fails for objects that ask for a failure.
pub(super) fn convert() -> Arc<Convert> {
    let shop = shop();
    let kinds = versions::all(shop.sound().expect("it is correct"));
    Arc::new(move |object: &Json, to: &str| {
        let label = |name: &str| object["metadata"]["labels"][name] == "yes";
        if label("unconvertible") {
            return Err("the shop is on fire".to_owned());
        }
        let mut converted = versions::convert(&kinds, object, to, &|_, _, value| Ok(value))?;
        if label("renamed") {
            converted["metadata"]["name"] = "another".into();
        }
        if label("finalized") {
            converted["metadata"]["finalizers"] = json!(["a.b/c"]);
        }
        Ok(converted)
    })
}
