//! An operator whose kind gets a second version, and loses it again: three replicas behind one address, with the
//! definition before the operator and after it, while clients of the original version continue.

use super::edits::{Shops, is_judged, object};
use super::{DEFINITION, DESCRIPTION, HELD};
use crate::cluster::{self, Cluster, until, until_ok};
use crate::dice::{Dice, number};
use crate::operator::{Crate, OperatorProcess, ShownOnPanic, install, run};
use crate::probes::logged_address;
use crate::yaml::documents;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

const REPLICAS: usize = 3;

/// The description with only one version.
const FORMER: &str = "
krator: 1
operator: shopkeeper
resource: {group: shops.example.com, version: v1beta1, kind: Shop}
spec:
  size: {type: integer, default: 1, minimum: 0, maximum: 100}
  host: optional string
  mode: {enum: [fast, slow], default: slow}
  legacy: optional string
  timeout: {type: integer, default: 30, minimum: 0, maximum: 9223372036}
  rules:
    optional: true
    type: list of Rule
    x-kubernetes-list-type: map
    x-kubernetes-list-map-keys: [name]
types:
  Rule: {properties: {name: string}}
machine: {initial: Open, deletion: Closed}
states:
  Open: {kind: ready}
  Closed: {kind: final}
";

/// Forwards connections to the replicas in turn, as a Service does.
struct Service {
    address: SocketAddr,
    replicas: Arc<Mutex<Vec<SocketAddr>>>,
}

impl Service {
    fn start(runtime: &Runtime) -> Service {
        let listener = runtime
            .block_on(TcpListener::bind("127.0.0.1:0"))
            .expect("a port");
        let address = listener.local_addr().expect("it listens");
        let replicas = Arc::new(Mutex::new(Vec::<SocketAddr>::new()));
        let all = Arc::clone(&replicas);
        runtime.spawn(async move {
            let mut turn = 0;
            while let Ok((mut client, _)) = listener.accept().await {
                turn += 1;
                let mut ready = all.lock().expect("nobody panics with it").clone();
                let first = turn % ready.len().max(1);
                ready.rotate_left(first);
                tokio::spawn(async move {
                    for replica in ready {
                        if let Ok(mut server) = TcpStream::connect(replica).await {
                            let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
                            return;
                        }
                    }
                });
            }
        });
        Service { address, replicas }
    }
}

/// A release: the definition and the program.
struct Release {
    krate: Crate,
    binary: PathBuf,
    has_webhook: bool,
}

impl Release {
    fn build(description: &str, folder: &Path, name: &str) -> Release {
        let krate = Crate::untouched(description);
        let binary = folder.join(name);
        krate.build(&binary);
        Release {
            krate,
            binary,
            has_webhook: description.contains("versions:"),
        }
    }

    /// Applies the definition, with the address of the Service.
    fn define(&self, cluster: &Cluster, service: &Service) {
        let text = fs::read(self.krate.dir().join("deploy/crd.yaml")).expect("generated");
        let mut definition = documents(&text).remove(0);
        if self.has_webhook {
            definition["spec"]["conversion"]["webhook"]["clientConfig"] =
                json!({"url": format!("https://{}/convert", service.address)});
        }
        let definition = definition.to_string();
        // The operator manages a field in the conversion, which an apply would not remove.
        match self.has_webhook {
            true => drop(cluster.apply(&definition, &["--server-side", "--force-conflicts"])),
            false => drop(
                cluster
                    .try_kubectl("admin", &["replace", "-f", "-"], &definition)
                    .expect("it is replaced"),
            ),
        }
    }

    /// Grants the rights.
    fn grant(&self, cluster: &Cluster) {
        let rbac = self.krate.dir().join("deploy/rbac.yaml");
        let rbac = rbac.to_str().expect("temporary folders have plain names");
        cluster.kubectl(&["apply", "--server-side", "--force-conflicts", "-f", rbac]);
    }

    fn replica(&self, cluster: &Cluster, log: &Path, service: &Service) -> OperatorProcess {
        let from = fs::read_to_string(log).unwrap_or_default().len();
        let mut args = vec![
            "--leader-elect",
            "--leader-elect-resource-namespace=shopkeeper-system",
        ];
        if self.has_webhook {
            args.push("--webhook-bind-address=127.0.0.1:0");
        }
        let operator = OperatorProcess::start(cluster, &self.binary, &args, log);
        if self.has_webhook {
            let logged = || fs::read_to_string(log).unwrap_or_default()[from..].to_owned();
            let address = logged_address(logged, "serving webhooks");
            let address: SocketAddr = address.parse().expect("an address");
            service
                .replicas
                .lock()
                .expect("nobody panics with it")
                .push(address);
        }
        operator
    }

    /// Replaces the replicas of another release one after another.
    fn roll(&self, cluster: &Cluster, log: &Path, service: &Service, replicas: &mut Vec<OperatorProcess>) {
        for _ in 0..REPLICAS {
            replicas.push(self.replica(cluster, log, service));
            if replicas.len() > REPLICAS {
                assert!(replicas.remove(0).terminate().success());
            }
        }
    }
}

/// A client of the original version before, during and after the rollouts. None of its requests may fail.
struct Clients {
    requests: Arc<AtomicUsize>,
    ends: Arc<AtomicBool>,
    working: tokio::task::JoinHandle<Vec<String>>,
}

impl Clients {
    fn start(runtime: &Runtime, shops: Arc<Shops>, sizes: Arc<Mutex<BTreeMap<String, i64>>>) -> Clients {
        let (requests, ends) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (counted, ended) = (Arc::clone(&requests), Arc::clone(&ends));
        let working = runtime.spawn(async move {
            let (mut dice, mut failures) = (Dice::new(7), Vec::new());
            let names: Vec<String> = sizes
                .lock()
                .expect("nobody panics with it")
                .keys()
                .cloned()
                .collect();
            while !ended.load(Ordering::Relaxed) {
                let name = dice.among(&names).clone();
                let size = i64::try_from(dice.below(100)).expect("a small number");
                let result = match dice.below(8) {
                    0 => shops.try_list("v1beta1").await.map(drop),
                    1 => shops.try_get("v1beta1", &name).await.map(drop),
                    _ => shops
                        .try_patch("v1beta1", &name, &json!({"spec": {"size": size}}))
                        .await
                        .map(|()| {
                            sizes
                                .lock()
                                .expect("nobody panics with it")
                                .insert(name.clone(), size);
                        }),
                };
                failures.extend(result.err().map(|error| format!("{name}: {error}")));
                counted.fetch_add(1, Ordering::Relaxed);
            }
            failures
        });
        Clients {
            requests,
            ends,
            working,
        }
    }

    /// Waits for this number of further responses.
    fn go_on(&self, more: usize) {
        let from = self.requests.load(Ordering::Relaxed);
        until("clients go on", || {
            (self.requests.load(Ordering::Relaxed) >= from + more).then_some(())
        });
    }

    fn end(self, runtime: &Runtime) {
        self.ends.store(true, Ordering::Relaxed);
        let failures = runtime.block_on(self.working).expect("it does not panic");
        assert!(
            failures.is_empty(),
            "{} requests failed: {:#?}",
            failures.len(),
            &failures[..failures.len().min(5)]
        );
    }
}

/// `KRATOR_OBJECTS` sets the number of objects.
#[test]
fn a_second_version_comes_and_goes() {
    let Some(cluster) = &cluster::own(&[]) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let log = folder.path().join("log");
    let former = Release::build(FORMER, folder.path(), "former");
    let both = DESCRIPTION.replace("    deprecated: use v1\n", "    storage: true\n");
    let both = &both[..both.find("  v1alpha1:").expect("the oldest version")];
    let both = Release::build(both, folder.path(), "both");
    let runtime = Runtime::new().expect("a runtime");
    let service = Service::start(&runtime);
    let shops = Arc::new(Shops::new(
        runtime.block_on(cluster::client(&cluster.kubeconfig("admin"))),
    ));
    let _log = ShownOnPanic(&log);

    install(&former.krate, cluster);
    cluster.kubectl(&["create", "namespace", "it-shops"]);
    let mut replicas = Vec::new();
    former.roll(cluster, &log, &service, &mut replicas);
    let sizes = Arc::new(Mutex::new(BTreeMap::new()));
    for at in 0..number("KRATOR_OBJECTS", 40) {
        let name = format!("shop-{at}");
        let mut shop = object(
            "v1beta1",
            &name,
            &json!({"size": 3, "host": format!("h{at}"), "legacy": "old"}),
        );
        if at % 3 == 0 {
            shop["metadata"]["finalizers"] = json!(["example.com/foreign"]);
        }
        runtime.block_on(shops.create("v1beta1", &shop));
        sizes.lock().expect("nobody panics with it").insert(name, 3);
    }
    let settled = |version: &'static str| {
        until_ok("the operator has judged each object", || {
            let list = runtime.block_on(shops.list(version)).ok_or("no list")?;
            match list.values().find(|shop| !is_judged(shop)) {
                Some(shop) => Err(format!("{shop:#}")),
                None => Ok(list),
            }
        })
    };
    settled("v1beta1");
    for definition_first in [true, false] {
        let clients = Clients::start(&runtime, Arc::clone(&shops), Arc::clone(&sizes));
        both.grant(cluster);
        if definition_first {
            both.define(cluster, &service);
            clients.go_on(50);
            both.roll(cluster, &log, &service, &mut replicas);
        } else {
            both.roll(cluster, &log, &service, &mut replicas);
            clients.go_on(50);
            both.define(cluster, &service);
        }
        until("objects are converted", || runtime.block_on(shops.list("v1")));
        clients.go_on(50);
        // The webhook is down for a while.
        service.replicas.lock().expect("nobody panics with it").clear();
        replicas.clear();
        clients.go_on(100);
        both.roll(cluster, &log, &service, &mut replicas);
        until("objects are converted again", || {
            runtime.block_on(shops.list("v1"))
        });
        let name = "shop-1";
        runtime
            .block_on(shops.try_patch("v1", name, &json!({"spec": {"hosts": ["h1", "h2"]}})))
            .expect("it is served");
        clients.go_on(50);
        clients.end(&runtime);
        let (older, newer) = (settled("v1beta1"), settled("v1"));
        for (name, size) in &*sizes.lock().expect("nobody panics with it") {
            assert_eq!(older[name]["spec"]["size"], *size, "{name}");
            assert_eq!(newer[name]["spec"]["replicas"], *size, "{name}");
            assert_eq!(
                newer[name]["spec"]["hosts"][0], older[name]["spec"]["host"],
                "{name}"
            );
            assert_eq!(older[name]["spec"]["legacy"], "old", "{name}");
        }
        assert!(
            older[name]["metadata"]["annotations"][HELD].is_string(),
            "{:#}",
            older[name]
        );

        // Back: the entries of managers are migrated to the storage version before the other version is removed from
        // the definition.
        let clients = Clients::start(&runtime, Arc::clone(&shops), Arc::clone(&sizes));
        let migrate = || {
            let kubeconfig = cluster.kubeconfig("admin");
            run(Command::new(&both.binary)
                .args(["migrate", "--rate", "10000", "--kubeconfig"])
                .arg(kubeconfig));
        };
        if definition_first {
            former.roll(cluster, &log, &service, &mut replicas);
            service.replicas.lock().expect("nobody panics with it").clear();
            clients.go_on(50);
            migrate();
            former.define(cluster, &service);
        } else {
            service.replicas.lock().expect("nobody panics with it").clear();
            replicas
                .drain(..)
                .for_each(|replica| assert!(replica.terminate().success()));
            migrate();
            former.define(cluster, &service);
            clients.go_on(50);
            former.roll(cluster, &log, &service, &mut replicas);
        }
        clients.go_on(50);
        clients.end(&runtime);
        let list = settled("v1beta1");
        for (name, size) in &*sizes.lock().expect("nobody panics with it") {
            assert_eq!(list[name]["spec"]["size"], *size, "{name}");
            runtime.block_on(shops.apply_status("v1beta1", name, &json!({"message": "written"})));
        }
    }
    for name in sizes.lock().expect("nobody panics with it").keys() {
        let patch = json!({"metadata": {"finalizers": null}});
        let shops = &shops;
        runtime.block_on(async {
            let _ = shops.try_patch("v1beta1", name, &patch).await;
        });
    }
    cluster.kubectl(&[
        "delete",
        "shops",
        "--all",
        "--namespace=it-shops",
        "--timeout=120s",
    ]);
    cluster.kubectl(&["delete", "crd", DEFINITION, "--timeout=60s"]);
}
