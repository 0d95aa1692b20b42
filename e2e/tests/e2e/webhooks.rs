//! Webhooks of a generated operator: their messages in kubectl, for an administrator and for another user, on the real
//! API server and on the embedded one; which requests succeed while no webhook answers; and how failures are repaired.

mod certificates;
mod faults;

use crate::cluster::{self, Cluster, until};
use crate::operator::{Crate, OperatorProcess, ShownOnPanic, install};
use crate::probes::logged_address;
use serde_json::{Value, json};
use std::fs;
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
  validate: {timeout: 3s}
  mutate: {timeout: 3s}
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
            "far" => std::future::pending().await,
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

/// A server, an operator with webhooks, and the namespace of the script.
struct Zoo<'a> {
    cluster: &'a Cluster,
    binary: PathBuf,
    log: PathBuf,
}

impl<'a> Zoo<'a> {
    fn new(cluster: &'a Cluster, krate: &Crate, binary: &Path) -> Self {
        install(krate, cluster);
        cluster.kubectl(&["create", "namespace", "it-zoo"]);
        // A user with all rights on moose who is not an administrator.
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

    /// Starts the operator, and directs the API server's webhook requests to it.
    fn open(&self, args: &[&str]) -> OperatorProcess {
        let _ = fs::remove_file(&self.log);
        let all = [
            "--webhook-bind-address=127.0.0.1:0",
            "--leader-elect",
            "--leader-elect-resource-namespace=doorkeeper-system",
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

    /// Directs the API server's webhook requests to an address instead of the Service.
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

    /// Waits until the API server calls the operator, and trusts its certificate.
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

    /// The output of kubectl as `user`. The input of `edit` is the editor.
    fn say(&self, user: &str, args: &[&str], input: &str) -> String {
        let here = ["--namespace=it-zoo"];
        let as_user = (user != "admin").then(|| format!("--as={user}"));
        let as_user: Vec<&str> = as_user.as_deref().into_iter().collect();
        let args = [args, &here[..], &as_user[..]].concat();
        let output = match args.split_first() {
            Some((&"edit", args)) => self.cluster.kubectl_edit("admin", args, input),
            _ => self.cluster.kubectl_output("admin", &args, input),
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        text(&output.stdout) + &text(&output.stderr)
    }

    /// The messages to a user when requests are refused.
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
        say(
            &["edit", "moose", &name],
            "sed --in-place 's/weight: [0-9]*/weight: 950/'",
        );
        say(&["scale", "moose", &name, "--replicas=9"], "");
        say(&["scale", "moose", &name, "--replicas=2"], "");
        say(&["label", "moose", &name, "seen=yes"], "");
        say(&stored, "");
        say(&["delete", "moose", &name, "--timeout=60s"], "");
        // The name of the temporary file differs each time.
        let seen: String = seen
            .split_inclusive('\n')
            .filter(|line| !line.starts_with("A copy of your changes"))
            .collect();
        // Both users make the same requests.
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
    let (Some(real), Some(embedded)) = &(cluster::own(&[]), cluster::embedded()) else {
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
