//! Webhooks of a generated operator: what they say through kubectl, to an administrator and to another user, on the real API
//! server and on the embedded one; what goes on while nobody answers; and what heals.

use crate::cluster::{self, Cluster, until};
use crate::dice::Dice;
use crate::operator::{Crate, OperatorProcess, ShownOnPanic};
use crate::probes::logged_address;
use crate::yaml::documents;
use serde_json::{Value, json};
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

const DESCRIPTION: &str = "
krator: 1
operator: doorkeeper
resource:
  group: zoo.example.com
  version: v1
  kind: Moose
  plural: moose
  scale: {spec: .spec.calves, status: .status.calves}
  name: {pattern: '^m', message: \"Mooses may only have names starting with 'M'.\"}
spec:
  zone: {type: string, maxLength: 40}
  weight: {type: integer, default: 300}
  calves: {type: integer, default: 0}
  nickname: optional string
status:
  calves: integer
webhooks:
  validate: {timeout: 5s}
  mutate: {timeout: 5s}
machine: {initial: Roam, deletion: Released}
states:
  Roam: {kind: ready}
  Released: {kind: final}
";

const HANDLERS: &str = r#"use krator_runtime::{Mutate, Review, Validate, Verdict};

use super::prelude::*;

impl Validate for Moose {
    async fn validate(review: &Review<'_, Self>) -> Verdict {
        let spec = &review.object.spec;
        let zone = match spec.zone.as_str() {
            "crowded" => Verdict::deny_field(".spec.zone", "the zone is full"),
            "south" => Verdict::allow().warn("it is hot in the south"),
            "closed" => Verdict::deny("the park is closed"),
            "broken" => panic!("the gate is broken"),
            _ => Verdict::allow(),
        };
        let weight = (spec.weight > 900).then(|| Verdict::deny_field(".spec.weight", "no moose weighs so much"));
        let calves = (spec.calves > 3).then(|| Verdict::deny_field(".spec.calves", "too many calves"));
        [Some(zone), weight, calves].into_iter().flatten().collect()
    }
}

impl Mutate for Moose {
    async fn mutate(review: &Review<'_, Self>, object: &mut Self) -> Verdict {
        if object.spec.nickname.is_none() {
            let who = review.user.username.as_deref().unwrap_or_default();
            object.spec.nickname = Some(format!("of {who}"));
        }
        Verdict::allow()
    }
}
"#;

/// A server, an operator that answers its webhooks, and the script's namespace.
struct Zoo {
    cluster: &'static Cluster,
    binary: PathBuf,
    log: PathBuf,
}

impl Zoo {
    fn new(cluster: &'static Cluster, krate: &Crate, binary: &Path) -> Self {
        krate.install(cluster);
        cluster.kubectl(&["create", "namespace", "it-zoo"]);
        // Somebody who may do everything with moose, but is no administrator.
        let role = [
            "create",
            "clusterrole",
            "ranger",
            "--verb=*",
            "--resource=moose.zoo.example.com,moose.zoo.example.com/scale",
        ];
        cluster.kubectl(&role);
        cluster.kubectl(&[
            "create",
            "clusterrolebinding",
            "ranger",
            "--clusterrole=ranger",
            "--user=rita",
        ]);
        Self {
            cluster,
            binary: binary.to_owned(),
            log: cluster.dir().join("doorkeeper.log"),
        }
    }

    /// Starts the operator, and has the API server ask it.
    fn open(&self, args: &[&str]) -> OperatorProcess {
        let _ = fs::remove_file(&self.log);
        let all = [
            "--webhook-bind-address=127.0.0.1:0",
            "--leader-elect",
            "--leader-elect-resource-namespace=doorkeeper",
        ];
        let operator =
            OperatorProcess::start(self.cluster, &self.binary, &[&all[..], args].concat(), &self.log);
        let address = logged_address(
            || fs::read_to_string(&self.log).unwrap_or_default(),
            "serving webhooks",
        );
        for configuration in self.configurations() {
            self.register(&configuration, &address);
        }
        self.trusted();
        operator
    }

    fn configurations(&self) -> Vec<Value> {
        let all = [
            "get",
            "mutatingwebhookconfigurations,validatingwebhookconfigurations",
            "-o=json",
        ];
        let list: Value = serde_json::from_str(&self.cluster.kubectl(&all)).expect("kubectl writes JSON");
        list["items"].as_array().cloned().unwrap_or_default()
    }

    /// Has the API server ask at an address instead of the Service.
    fn register(&self, configuration: &Value, address: &str) {
        let webhooks = configuration["webhooks"].as_array().into_iter().flatten();
        let patch: Vec<Value> = webhooks
            .enumerate()
            .flat_map(|(at, webhook)| {
                let config = &webhook["clientConfig"];
                let path = match config["url"].as_str() {
                    Some(url) => url.splitn(4, '/').nth(3).unwrap_or_default().to_owned(),
                    None => config["service"]["path"]
                        .as_str()
                        .unwrap_or_default()
                        .trim_start_matches('/')
                        .to_owned(),
                };
                let at = format!("/webhooks/{at}/clientConfig");
                let mut new = json!({"url": format!("https://{address}/{path}")});
                if let Some(bundle) = config.get("caBundle") {
                    new["caBundle"] = bundle.clone();
                }
                [json!({"op": "replace", "path": at, "value": new})]
            })
            .collect();
        let name = format!(
            "{}/doorkeeper",
            configuration["kind"].as_str().unwrap_or_default()
        );
        let patch = Value::from(patch).to_string();
        self.cluster
            .kubectl(&["patch", &name, "--type=json", "-p", &patch]);
    }

    /// Waits until the API server asks the operator, and trusts it.
    fn trusted(&self) {
        until("webhooks are in force", || {
            let refused = self.say(
                "admin",
                &["create", "--dry-run=server", "-f", "-"],
                &moose("m-probe", "crowded", ""),
            );
            refused.contains("the zone is full").then_some(())
        });
    }

    /// All that kubectl prints, as `user`.
    fn say(&self, user: &str, args: &[&str], input: &str) -> String {
        let here = ["--namespace=it-zoo"];
        let as_user = (user != "admin").then(|| format!("--as={user}"));
        let as_user: Vec<&str> = as_user.as_deref().into_iter().collect();
        let output = self
            .cluster
            .kubectl_output("admin", &[args, &here[..], &as_user[..]].concat(), input);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        text(&output.stdout) + &text(&output.stderr)
    }

    /// What a user sees at the door.
    fn script(&self, user: &str) -> String {
        let name = format!("m-{user}");
        let mut seen = String::new();
        let mut say = |args: &[&str], input: &str| {
            seen += &format!("$ kubectl {}\n{}", args.join(" "), self.say(user, args, input));
        };
        let stored = ["get", "moose", &name, "-o=jsonpath={.spec}{'\\n'}"];
        say(&["apply", "-f", "-"], &moose("george", "north", ""));
        say(&["apply", "-f", "-"], &moose(&name, "crowded", "weight: 1000"));
        say(&["apply", "-f", "-"], &moose(&name, "closed", ""));
        say(
            &["apply", "-f", "-", "--dry-run=server"],
            &moose(&name, "south", ""),
        );
        say(&["apply", "-f", "-"], &moose(&name, "south", ""));
        say(&stored, "");
        say(&["apply", "-f", "-"], &moose(&name, "crowded", ""));
        say(&["apply", "-f", "-"], &moose(&name, "north", "nickname: Bruce"));
        say(&["replace", "-f", "-"], &moose(&name, "crowded", ""));
        say(
            &["apply", "--server-side", "--force-conflicts", "-f", "-"],
            &moose(&name, "closed", ""),
        );
        say(
            &[
                "patch",
                "moose",
                &name,
                "--type=merge",
                "-p",
                "{\"spec\":{\"weight\":901}}",
            ],
            "",
        );
        say(&["scale", "moose", &name, "--replicas=9"], "");
        say(&["scale", "moose", &name, "--replicas=2"], "");
        say(&["label", "moose", &name, "seen=yes"], "");
        say(&stored, "");
        say(&["delete", "moose", &name, "--timeout=60s"], "");
        // The two users do the same.
        seen.replace(&name, "NAME").replace(user, "USER")
    }
}

fn moose(name: &str, zone: &str, more: &str) -> String {
    format!(
        "apiVersion: zoo.example.com/v1\nkind: Moose\nmetadata: {{name: {name}}}\nspec:\n  zone: {zone}\n  {more}\n"
    )
}

fn built() -> (Crate, PathBuf) {
    let krate = Crate::generate(DESCRIPTION, |dir: &Path| {
        fs::write(dir.join("src/moose/admission.rs"), HANDLERS).expect("a generated folder");
    });
    let folder = tempfile::tempdir().expect("a temporary folder").keep();
    let binary = folder.join("doorkeeper");
    krate.build(&binary);
    (krate, binary)
}

const SEEN: &str = include_str!("webhooks/seen.txt");

#[test]
fn both_servers_show_the_same_at_the_door_to_everybody() {
    let (Some(real), Some(embedded)) = (cluster::own(&[]), cluster::embedded()) else {
        return;
    };
    let (krate, binary) = built();
    for cluster in [real, embedded] {
        let zoo = Zoo::new(cluster, &krate, &binary);
        let _log = ShownOnPanic(&zoo.log);
        let operator = zoo.open(&[]);
        for user in ["admin", "rita"] {
            let seen = zoo.script(user);
            if std::env::var_os("KRATOR_UPDATE").is_some() {
                fs::write("tests/e2e/webhooks/seen.txt", &seen).expect("a file of the repository");
            } else {
                assert_eq!(seen, SEEN, "{user}");
            }
        }
        assert!(operator.terminate().success());
    }
}

#[test]
fn what_must_go_on_goes_on_while_nobody_answers() {
    let Some(cluster) = cluster::own(&[]) else { return };
    let (krate, binary) = built();
    let zoo = Zoo::new(cluster, &krate, &binary);
    let _log = ShownOnPanic(&zoo.log);
    let operator = zoo.open(&[]);
    for name in ["m-one", "m-two"] {
        zoo.say("admin", &["apply", "-f", "-"], &moose(name, "north", ""));
    }
    let failing = |zone: &str| zoo.say("admin", &["apply", "-f", "-"], &moose("m-new", zone, ""));
    // The handler panics: the request fails, and the next one is answered.
    assert!(
        failing("broken").contains("failed calling webhook"),
        "{}",
        failing("broken")
    );
    assert!(failing("crowded").contains("the zone is full"));

    let ready = |name: &str| {
        let condition = "-o=jsonpath={.status.state}";
        zoo.say("admin", &["get", "moose", name, condition], "") == "Roam"
    };
    until("moose roam", || (ready("m-one") && ready("m-two")).then_some(()));
    operator.kill();
    let refused = failing("north");
    assert!(
        refused.contains("failed calling webhook") && refused.contains("refused"),
        "{refused}"
    );

    // An operator that is asked by nobody: it writes the status and finalizers, and objects and the namespace go.
    let late = OperatorProcess::start(
        cluster,
        &binary,
        &["--leader-elect", "--leader-elect-resource-namespace=doorkeeper"],
        &zoo.log,
    );
    let status = r#"{"status":{"calves":1}}"#;
    let patched = zoo.say(
        "admin",
        &[
            "patch",
            "moose",
            "m-one",
            "--subresource=status",
            "--type=merge",
            "-p",
            status,
        ],
        "",
    );
    assert!(patched.contains("patched"), "{patched}");
    let finalizer = r#"{"metadata":{"finalizers":["zoo.example.com/moose","a.b/c"]}}"#;
    for (patch, then) in [
        (finalizer, "patched"),
        (
            r#"{"metadata":{"finalizers":["zoo.example.com/moose"]}}"#,
            "patched",
        ),
    ] {
        let patched = zoo.say(
            "admin",
            &["patch", "moose", "m-two", "--type=merge", "-p", patch],
            "",
        );
        assert!(patched.contains(then), "{patched}");
    }
    let deleted = zoo.say(
        "admin",
        &["delete", "moose", "m-one", "m-two", "--timeout=60s"],
        "",
    );
    assert_eq!(deleted.matches("deleted").count(), 2, "{deleted}");
    assert!(late.terminate().success());
}

#[test]
fn what_is_damaged_heals() {
    let Some(cluster) = cluster::own(&[]) else { return };
    let (krate, binary) = built();
    let zoo = Zoo::new(cluster, &krate, &binary);
    let _log = ShownOnPanic(&zoo.log);
    let operator = zoo.open(&["--webhook-cert-lifetime=60s"]);
    let secret = ["--namespace=doorkeeper", "secret", "doorkeeper-webhook"];
    let kubectl = |args: &[&str]| cluster.kubectl(args);
    let version = || kubectl(&[&["get", "-o=jsonpath={.metadata.resourceVersion}"], &secret[..]].concat());
    let logged = |what: &str| {
        fs::read_to_string(&zoo.log)
            .unwrap_or_default()
            .matches(what)
            .count()
    };

    // A second replica agrees with the first one.
    let other_log = cluster.dir().join("other.log");
    let all = [
        "--webhook-bind-address=127.0.0.1:0",
        "--leader-elect",
        "--leader-elect-resource-namespace=doorkeeper",
        "--webhook-cert-lifetime=60s",
    ];
    let other = OperatorProcess::start(cluster, &binary, &all, &other_log);
    logged_address(
        || fs::read_to_string(&other_log).unwrap_or_default(),
        "serving webhooks",
    );

    let before = kubectl(&[&["get", "-o=json"], &secret[..]].concat());
    let before: Value = serde_json::from_str(&before).expect("kubectl writes JSON");
    kubectl(&[&["delete"], &secret[..]].concat());
    until("the Secret is there again", || {
        cluster
            .try_kubectl("admin", &[&["get"], &secret[..]].concat(), "")
            .ok()
    });
    zoo.trusted();
    for key in ["tls.crt", "ca.crt", "ca.key", "ca.expires"] {
        let was = version();
        let made = "the certificates of the webhooks were made";
        let count = logged(made)
            + fs::read_to_string(&other_log)
                .unwrap_or_default()
                .matches(made)
                .count();
        let garbage = json!({"data": {key: "Z2FyYmFnZQ=="}}).to_string();
        kubectl(&[&["patch", "--type=merge", "-p", &garbage], &secret[..]].concat());
        until("the garbage is replaced", || {
            let now = logged(made)
                + fs::read_to_string(&other_log)
                    .unwrap_or_default()
                    .matches(made)
                    .count();
            (version() != was && now > count).then_some(())
        });
        zoo.trusted();
    }
    let after = kubectl(&[&["get", "-o=json"], &secret[..]].concat());
    let after: Value = serde_json::from_str(&after).expect("kubectl writes JSON");
    assert_ne!(before["data"]["ca.crt"], after["data"]["ca.crt"]);

    for mut configuration in zoo.configurations() {
        for webhook in configuration["webhooks"].as_array_mut().into_iter().flatten() {
            webhook["clientConfig"]
                .as_object_mut()
                .expect("an object")
                .remove("caBundle");
        }
        configuration["metadata"]
            .as_object_mut()
            .expect("an object")
            .remove("resourceVersion");
        let replaced = cluster.try_kubectl("admin", &["replace", "-f", "-"], &configuration.to_string());
        replaced.expect("an administrator may");
    }
    until("the bundles are there again", || {
        let all = zoo.configurations();
        let mut webhooks = all
            .iter()
            .flat_map(|configuration| configuration["webhooks"].as_array().into_iter().flatten());
        webhooks
            .all(|webhook| webhook["clientConfig"]["caBundle"].is_string())
            .then_some(())
    });
    zoo.trusted();
    assert!(other.terminate().success());
    assert!(operator.terminate().success());
}

#[test]
fn nothing_is_left_that_blocks_in_whatever_order_it_is_uninstalled() {
    let Some(mut cluster) =
        Cluster::with_controllers(&["garbage-collector-controller", "namespace-controller"])
    else {
        return;
    };
    let _ = &mut cluster;
    let cluster: &'static Cluster = Box::leak(Box::new(cluster));
    let (krate, binary) = built();
    let zoo = Zoo::new(cluster, &krate, &binary);
    let _log = ShownOnPanic(&zoo.log);
    let operator = zoo.open(&[]);
    zoo.say("admin", &["apply", "-f", "-"], &moose("m-kept", "north", ""));
    let owned = zoo.configurations();
    assert_eq!(owned.len(), 2);
    assert!(
        owned
            .iter()
            .all(|configuration| configuration["metadata"]["ownerReferences"][0]["name"] == "doorkeeper")
    );
    operator.kill();
    // The operator goes first, with its namespace: nobody is asked any more.
    cluster.kubectl(&["delete", "namespace", "doorkeeper", "--timeout=120s"]);
    until("the configurations are gone", || {
        zoo.configurations().is_empty().then_some(())
    });
    let created = zoo.say("admin", &["apply", "-f", "-"], &moose("m-late", "crowded", ""));
    assert!(created.contains("created"), "{created}");
    let deploy = documents(&fs::read(krate.dir().join("deploy/crd.yaml")).expect("generated"));
    assert_eq!(deploy.len(), 1);
    // The finalizer is the operator's, which is gone; without it everything goes.
    let finalizers = r#"{"metadata":{"finalizers":null}}"#;
    zoo.say(
        "admin",
        &["patch", "moose", "m-kept", "--type=merge", "-p", finalizers],
        "",
    );
    cluster.kubectl(&["delete", "crd", "moose.zoo.example.com", "--timeout=120s"]);

    // All at once, as `kubectl delete -k` does, while nobody answers.
    let zoo = {
        cluster.kubectl(
            &[
                "delete",
                "namespace",
                "it-zoo",
                "clusterrole/ranger",
                "clusterrolebinding/ranger",
                "--timeout=120s",
            ]
            .map(|arg| {
                if arg == "namespace" {
                    "namespace/it-zoo"
                } else {
                    arg
                }
            })
            .into_iter()
            .filter(|arg| *arg != "it-zoo")
            .collect::<Vec<_>>(),
        );
        Zoo::new(cluster, &krate, &binary)
    };
    let operator = zoo.open(&[]);
    zoo.say("admin", &["apply", "-f", "-"], &moose("m-again", "north", ""));
    operator.kill();
    zoo.say(
        "admin",
        &["patch", "moose", "m-again", "--type=merge", "-p", finalizers],
        "",
    );
    let deploy = krate.dir().join("deploy");
    let deploy = deploy.to_str().expect("temporary folders have plain names");
    cluster.kubectl(&["delete", "--kustomize", deploy, "--timeout=120s"]);
    assert!(zoo.configurations().is_empty());
}

/// How many malformed requests the operator is sent.
const MALFORMED: usize = 10_000;

#[test]
fn malformed_reviews_get_an_answer_and_take_no_memory() {
    let Some(cluster) = cluster::embedded() else {
        return;
    };
    let (krate, binary) = built();
    let zoo = Zoo::new(cluster, &krate, &binary);
    let _log = ShownOnPanic(&zoo.log);
    let mut operator = zoo.open(&[]);
    let logged = || fs::read_to_string(&zoo.log).unwrap_or_default();
    let address = logged_address(logged, "serving webhooks");
    let review = json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "1", "kind": {"group": "zoo.example.com", "version": "v1", "kind": "Moose"},
            "resource": {"group": "zoo.example.com", "version": "v1", "resource": "moose"},
            "name": "m", "namespace": "it-zoo", "operation": "UPDATE", "userInfo": {"username": "u"},
            "object": {"apiVersion": "zoo.example.com/v1", "kind": "Moose", "metadata": {"name": "m"}, "spec": {"zone": "a"}},
            "oldObject": {"apiVersion": "zoo.example.com/v1", "kind": "Moose", "metadata": {"name": "m"}, "spec": {"zone": "b"}},
            "dryRun": false,
        },
    })
    .to_string();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let url: http::Uri = format!("https://{address}").parse().expect("an address");
        let mut config = kube::Config::new(url);
        config.accept_invalid_certs = true;
        let client = kube::Client::try_from(config).expect("a client");
        let ask = async |path: &str, body: Vec<u8>| {
            let request = http::Request::post(path)
                .body(kube::client::Body::from(body))
                .expect("a request");
            client.send(request).await.map(|answer| answer.status().as_u16())
        };
        let path = "/validate-zoo-example-com-v1-moose";
        assert_eq!(
            ask(path, review.clone().into_bytes()).await.expect("an answer"),
            200
        );
        assert_eq!(
            ask("/", review.clone().into_bytes()).await.expect("an answer"),
            404
        );
        let memory = || {
            let status = fs::read_to_string(format!("/proc/{}/status", operator.id())).expect("it runs");
            let line = status
                .lines()
                .find_map(|line| line.strip_prefix("VmRSS:"))
                .expect("on Linux")
                .to_owned();
            line.trim()
                .trim_end_matches(" kB")
                .parse::<usize>()
                .expect("a number")
        };
        let mut dice = Dice::new(7);
        let mut malformed = async |count: usize| {
            for _ in 0..count {
                let mut body = review.clone().into_bytes();
                for _ in 0..=dice.below(4) {
                    let at = dice.below(body.len());
                    match dice.below(4) {
                        0 => body.truncate(at.max(1)),
                        1 => body[at] = u8::try_from(dice.below(256)).expect("a byte"),
                        2 => body.insert(at, b"{}[]\",:0"[dice.below(8)]),
                        _ => {
                            let end = (at + dice.below(40)).min(body.len());
                            let part = body[at..end].to_vec();
                            body.splice(at..at, part);
                        }
                    }
                }
                let status = ask(path, body).await.expect("an answer");
                assert!([200, 400, 500].contains(&status), "{status}");
            }
        };
        malformed(MALFORMED / 10).await;
        let before = memory();
        malformed(MALFORMED).await;
        // More than any review may have: the connection may be closed before all of it was sent.
        let huge = ask(path, vec![b' '; 9 << 20]).await;
        assert!(huge.is_err() || huge.is_ok_and(|status| status == 413));
        assert_eq!(
            ask(path, review.clone().into_bytes()).await.expect("an answer"),
            200
        );
        let after = memory();
        assert!(after < before + 16 * 1024, "{before} kB before, {after} kB after");
    });
    assert!(operator.is_running());
    assert!(
        !logged().contains("panicked"),
        "no handler was asked about garbage"
    );
    // Without TLS nothing is said.
    let mut plain = std::net::TcpStream::connect(&address).expect("somebody listens");
    plain
        .write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        .expect("a request");
    let mut said = Vec::new();
    let _ = plain.read_to_end(&mut said);
    assert!(!said.starts_with(b"HTTP"), "{}", String::from_utf8_lossy(&said));
    assert!(operator.terminate().success());
}
