//! A running webhook, and a client that sends it the requests of the API server.

use crate::build;
use crate::e2e::cluster::{self, Cluster};
use crate::usage::Usage;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use http::Request;
use kube::{Client, Config};
use serde_json::{Value as Json, json};
use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A webhook that is killed when this value is dropped.
pub struct Webhook<'a> {
    pub name: &'static str,
    child: Child,
    port: u16,
    certificate: &'a Certificate,
    client: Client,
    cluster: &'a Cluster,
}

/// The certificate of both webhooks.
pub struct Certificate {
    folder: PathBuf,
    made: rcgen::Certificate,
}

/// Makes a certificate for the loopback interface.
pub fn write_certificate(folder: &Path) -> Certificate {
    let key = rcgen::KeyPair::generate().expect("a key");
    let names = vec![Ipv4Addr::LOCALHOST.to_string()];
    let made = rcgen::CertificateParams::new(names)
        .expect("an address")
        .self_signed(&key);
    let made = made.expect("a certificate");
    let folder = folder.join("webhooks");
    fs::create_dir_all(&folder).expect("a folder of our own");
    fs::write(folder.join("tls.crt"), made.pem()).expect("a folder of our own");
    fs::write(folder.join("tls.key"), key.serialize_pem()).expect("a folder of our own");
    Certificate { folder, made }
}

impl<'a> Webhook<'a> {
    /// The generated operator. Its user has no rights, so it only converts and does not manage objects.
    pub async fn krator(cluster: &'a Cluster, certificate: &'a Certificate) -> Self {
        let port = free_port();
        let mut command = Command::new(build::krator());
        command
            .arg(format!("--webhook-bind-address=127.0.0.1:{port}"))
            .arg("--webhook-cert-path")
            .arg(&certificate.folder)
            .arg("--health-probe-bind-address=0")
            .env("KUBECONFIG", cluster.kubeconfig("operator"));
        Self::start("krator", command, port, cluster, certificate).await
    }

    /// The program in Go, with these further arguments.
    pub async fn controller_runtime(
        cluster: &'a Cluster,
        certificate: &'a Certificate,
        args: &[&str],
    ) -> Self {
        let port = free_port();
        let mut command = Command::new(build::controller_runtime());
        command
            .arg(format!("-port={port}"))
            .arg("-certificates")
            .arg(&certificate.folder)
            .args(args);
        let name = match args {
            [] => "controller-runtime",
            _ => "controller-runtime without HTTP2",
        };
        Self::start(name, command, port, cluster, certificate).await
    }

    async fn start(
        name: &'static str,
        mut command: Command,
        port: u16,
        cluster: &'a Cluster,
        certificate: &'a Certificate,
    ) -> Self {
        let log = File::create(cluster.dir().join(format!("{name}.log"))).expect("a log file");
        let child = command
            // The developer's environment must not affect the measurement.
            .env_remove("RUST_LOG")
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a log file"))
            .stderr(log)
            .spawn()
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        cluster.process_guard().hold(&child);
        cluster::until(&format!("{name} listens"), || {
            TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()
        });
        let address = format!("https://127.0.0.1:{port}").parse().expect("an address");
        let mut config = Config::new(address);
        config.root_cert = Some(vec![certificate.made.der().to_vec()]);
        Self {
            name,
            child,
            port,
            certificate,
            client: Client::try_from(config).expect("a client"),
            cluster,
        }
    }

    pub fn url(&self) -> String {
        format!("https://127.0.0.1:{}/convert", self.port)
    }

    /// The CA bundle that the API server has to trust.
    pub fn ca_bundle(&self) -> String {
        BASE64_STANDARD.encode(self.certificate.made.pem())
    }

    pub fn usage(&self) -> Usage {
        Usage::of(self.child.id())
    }

    /// Converts an object to the newest version.
    pub async fn convert(&self, object: &Json) -> Json {
        let review = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview",
            "request": {"uid": "1", "desiredAPIVersion": "bench.krator.dev/v1", "objects": [object]},
        });
        let request = Request::post("/convert").header("content-type", "application/json");
        let request = request.body(review.to_string().into_bytes()).expect("a request");
        let mut answer: Json = self.client.request(request).await.expect("the webhook answers");
        answer["response"]["convertedObjects"][0].take()
    }
}

impl Drop for Webhook<'_> {
    fn drop(&mut self) {
        // `kill` fails for a process that has ended already, which does not matter here.
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.cluster.process_guard().free(&self.child);
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listener.local_addr().expect("its own address").port()
}
