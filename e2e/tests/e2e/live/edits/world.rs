//! The observable parts of the operator that `krator dev` runs: its object, its definition and its page.

use super::super::Session;
use super::desk::Editions;
use crate::cluster::{client, until};
use crate::probes::get_as;
use kube::Client;
use serde_json::Value;
use std::net::TcpStream;
use std::path::Path;
use tokio::runtime::Runtime;

/// The API server and the page of a session.
pub struct World {
    runtime: Runtime,
    client: Client,
    page: String,
}

impl World {
    /// The server and the page of a session that has just begun.
    pub fn of(dev: &mut Session) -> World {
        let page = dev
            .wait_for("page:")
            .rsplit('/')
            .next()
            .expect("it is an address")
            .to_owned();
        let line = dev.wait_for("KUBECONFIG=");
        let kubeconfig = line.split('=').nth(1).expect("it is after the sign");
        let runtime = Runtime::new().expect("threads");
        let client = runtime.block_on(client(Path::new(kubeconfig)));
        World {
            runtime,
            client,
            page,
        }
    }

    fn get(&self, path: &str) -> Option<Value> {
        let (path, name) = path.rsplit_once('/')?;
        let request = kube::core::Request::new(path)
            .get(name, &kube::api::GetParams::default())
            .ok()?;
        self.runtime.block_on(self.client.request(request)).ok()
    }

    /// The stored definition of the kind.
    pub fn definition(&self) -> Value {
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/moose.animals.com";
        self.get(path).expect("it was applied")
    }

    /// The data of the page. None while no operator listens.
    pub fn page(&self) -> Option<Value> {
        TcpStream::connect(&self.page).ok()?;
        let (_, body) = get_as(&self.page, "/state", &[("Host", &self.page)]);
        serde_json::from_str(&body).ok()
    }

    /// Waits until the sample has the contents that an operator of these editions writes.
    pub fn shows(&self, editions: &Editions, place: &str) {
        let mut last = Value::Null;
        let path = "/apis/animals.com/v1/namespaces/default/moose/moose-sample";
        let tag = format!("tag{}", editions.description);
        let message = format!("sleeps {}", editions.description);
        until(&format!("{place}: the sample shows {editions:?}"), || {
            let sample = self.get(path)?;
            let (spec, status) = (&sample["spec"], &sample["status"]);
            let shows = spec["weight"] == editions.weight()
                && spec[&tag] == editions.description
                && status["edition"] == editions.handler
                && status["built"] == editions.version()
                && status["message"] == message.as_str();
            if !shows && last != sample {
                last = sample.clone();
            }
            shows.then_some(())
        });
    }
}
