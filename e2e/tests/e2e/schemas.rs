//! Handlers that use the types of a foreign kind.

use crate::operator::{Crate, OWN_CHECKS};
use crate::website::project;
use std::fs;

/// A handler that uses the types.
const HANDLER: &str = r#"use super::{Issue, Ready};
use crate::website::prelude::*;

impl State for Issue {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        let website = cx.manifest();
        let mut certificate = Certificate::default();
        certificate.metadata.name = website.metadata.name.clone();
        certificate.spec = Some(CertificateSpec {
            secret_name: "tls".to_owned(),
            dns_names: Some(vec![website.spec.host.clone()]),
            issuer_ref: CertificateSpecIssuerRef {
                kind: Some(CertificateSpecIssuerRefKind::ClusterIssuer),
                ..Default::default()
            },
            ..Default::default()
        });
        let certificate = cx.apply(&certificate).await?;
        let status = certificate.status.clone().unwrap_or_default();
        let mut conditions = status.conditions.iter().flatten();
        Ok(match conditions.any(|condition| condition.r#type == "Ready") {
            true => Transition::to(Ready),
            false => Transition::stay(),
        })
    }
}
"#;

/// Its test, in which the certificate becomes ready.
const TEST: &str = r#"//! The certificate of a website.

use std::sync::Arc;

use krator_runtime::Local;
use website_operator::website::{WebsiteMachine, WebsiteMemory, prelude::Certificate};

#[tokio::test(start_paused = true)]
async fn a_website_is_ready_with_its_certificate() {
    let manifest = serde_json::json!({
        "apiVersion": "animals.com/v1", "kind": "Website",
        "metadata": {"name": "moose", "namespace": "default", "uid": "1"}, "spec": {"host": "moose.example.com"},
    });
    let manifest = serde_json::from_value(manifest).expect("a website");
    let mut website = Local::<WebsiteMachine>::new(manifest, WebsiteMemory::default(), Arc::default());
    let world = website.handle();

    website.run_until_idle().await;
    assert_eq!(website.state(), Some(WebsiteMachine::Issue));
    let [applied] = &world.applied::<Certificate>()[..] else {
        panic!("one certificate was applied");
    };
    let applied = serde_json::to_value(&applied.spec).expect("JSON");
    let expected = serde_json::json!({
        "secretName": "tls", "dnsNames": ["moose.example.com"], "port": 0,
        "issuerRef": {"name": "", "kind": "ClusterIssuer"},
    });
    assert_eq!(applied, expected);

    world.make_ready::<Certificate>();
    website.run_until(|state| state == WebsiteMachine::Ready).await;
}
"#;

#[test]
fn handlers_use_the_types_of_a_foreign_kind() {
    let krate = Crate::of("website-operator", |dir| {
        let (_home, made) = project();
        fs::create_dir_all(dir.parent().expect("a temporary folder")).expect("our own");
        let copied = std::process::Command::new("cp")
            .arg("-a")
            .arg(&made)
            .arg(dir)
            .status();
        assert!(copied.expect("cp runs").success());
        fs::write(dir.join("src/website/states/issue.rs"), HANDLER).expect("generated");
        fs::write(dir.join("tests/website.rs"), TEST).expect("generated");
    });
    krate.cargo(&OWN_CHECKS[1..]);
}
