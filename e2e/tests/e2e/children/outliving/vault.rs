//! Vaults: objects with children of three kinds, one for each form of `deletion`. In three builds of their operator,
//! the kinds have different forms.

use super::text;
use crate::cluster::{Cluster, until};
use crate::joint::Joint;
use crate::operator::{Crate, OperatorProcess, install};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The label that replaces an owner reference.
pub const LABEL: &str = "last.example.com/vaults";

const DESCRIPTION: &str = "\
krator: 1
operator: vaults
resource: {group: last.example.com, version: v1, kind: Vault}
spec:
  items: list of string
  hold: optional string
machine: {initial: Filling, deletion: Saving}
states:
  Filling: {next: [Filled], wait: {watch: owned}, retry: {initial: 200ms, max: 1s}}
  Filled: {kind: ready, next: [Filling], wait: {watch: owned}, onSpecChange: Filling, retry: {initial: 200ms, max: 1s}}
  Saving: {next: [Gone], wait: {poll: 300ms}, retry: {initial: 200ms, max: 1s}, timeout: {after: 1h, to: Gone}}
  Gone: {kind: final}
owns:
";

/// The kinds of children, as descriptions name them, and their plurals.
pub const KINDS: [(&str, &str); 3] = [
    ("core/v1.ConfigMap", "configmaps"),
    ("core/v1.Secret", "secrets"),
    ("core/v1.ServiceAccount", "serviceaccounts"),
];

/// How the children of a kind end: the values of `deletion`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Owner,
    Last,
    Keep,
}

pub const FORMS: [Form; 3] = [Form::Owner, Form::Last, Form::Keep];

/// How an owner is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cascade {
    Foreground,
    Background,
    Orphan,
}

impl Cascade {
    pub const ALL: [Cascade; 3] = [Cascade::Foreground, Cascade::Background, Cascade::Orphan];

    pub fn name(self) -> &'static str {
        match self {
            Cascade::Foreground => "foreground",
            Cascade::Background => "background",
            Cascade::Orphan => "orphan",
        }
    }
}

/// The module with which the handlers apply the children.
const FILL: &str = r#"use crate::vault::prelude::*;
use k8s_openapi::api::core::v1::{ConfigMap, Secret, ServiceAccount};

/// Applies the children of a vault, and deletes all others.
pub async fn fill(cx: &Context<'_>) -> Result<()> {
    for name in &cx.manifest().spec.items {
        cx.apply(&cx.child::<ConfigMap>(name)).await?;
        cx.apply(&cx.child::<Secret>(name)).await?;
        cx.apply(&cx.child::<ServiceAccount>(name)).await?;
    }
    cx.prune::<ConfigMap>().await?;
    cx.prune::<Secret>().await?;
    cx.prune::<ServiceAccount>().await?;
    Ok(())
}

/// Has a child applied when its owner is gone.
pub fn fill_too_late(cx: &Context<'_>) {
    let late = cx.apply(&cx.child::<Secret>("too-late"));
    tokio::spawn(async move {
        tokio::time::sleep(std::time::Duration::from_secs(2)).await;
        late.await.expect("nobody else has it");
        println!("the late child is applied");
    });
}
"#;

const SAVING: &str = r#"use super::{Gone, Saving};
use crate::vault::prelude::*;

impl State for Saving {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        let vault = cx.manifest();
        if vault.spec.hold.is_some() {
            return Ok(Transition::stay());
        }
        if vault.metadata.annotations.iter().flatten().any(|(key, _)| key == "stray") {
            crate::fill::fill_too_late(cx);
        }
        Ok(Transition::to(Gone))
    }
}
"#;

fn edit(dir: &Path) {
    let write = |path: &str, text: &str| fs::write(dir.join(path), text).expect("a generated folder");
    write("src/fill.rs", FILL);
    let manifest = fs::read_to_string(dir.join("Cargo.toml")).expect("generated");
    // The handlers use tokio, which is only a dev-dependency of a generated crate.
    write("Cargo.toml", &manifest.replace("[dev-dependencies]\n", ""));
    let lib = fs::read_to_string(dir.join("src/lib.rs")).expect("generated");
    write(
        "src/lib.rs",
        &lib.replace("pub mod vault;", "mod fill;\npub mod vault;"),
    );
    for (state, imports, answer) in [
        ("Filling", "Filled, Filling", "Transition::to(Filled)"),
        ("Filled", "Filled", "Transition::stay()"),
    ] {
        let handler = format!(
            "use super::{{{imports}}};\nuse crate::vault::prelude::*;\n\nimpl State for {state} {{\n    \
             async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {{\n        \
             crate::fill::fill(cx).await?;\n        Ok({answer})\n    }}\n}}\n"
        );
        write(&format!("src/vault/states/{}.rs", state.to_lowercase()), &handler);
    }
    write("src/vault/states/saving.rs", SAVING);
    let gone = "use super::Gone;\nuse crate::vault::prelude::*;\n\nimpl State for Gone {\n    \
                async fn next(self, _: &mut Context<'_>) -> Result<Transition<Self>> {\n        \
                Ok(Transition::done())\n    }\n}\n";
    write("src/vault/states/gone.rs", gone);
}

/// A cluster with a garbage collector, and the operators.
pub struct Installed {
    pub cluster: Cluster,
    binaries: Vec<PathBuf>,
}

/// The kind of the children of a form, by its number in [`KINDS`].
fn kind_of(form: Form, rotation: usize) -> usize {
    (form as usize + rotation) % KINDS.len()
}

fn description(rotation: usize) -> String {
    let owns = FORMS.map(|form| {
        let word = format!("{form:?}").to_lowercase();
        format!(
            "  - {{kind: {}, deletion: {word}}}\n",
            KINDS[kind_of(form, rotation)].0
        )
    });
    format!("{DESCRIPTION}{}", owns.concat())
}

pub fn installed() -> Option<Arc<Installed>> {
    static INSTALLED: Joint<Installed> = Joint::new();
    let install = || {
        let mut cluster = Cluster::for_controllers()?;
        let mut binaries = Vec::new();
        for rotation in 0..KINDS.len() {
            let krate = Crate::generate(&description(rotation), edit);
            if rotation == 0 {
                install(&krate, &cluster);
            }
            let binary = cluster.dir().join(format!("vaults-{rotation}"));
            krate.build_with_faults(&binary);
            binaries.push(binary);
        }
        cluster.start_controllers(&["garbage-collector-controller"]);
        Some(Installed { cluster, binaries })
    };
    INSTALLED.get(install)
}

/// The vaults of a namespace.
pub struct Vaults {
    installed: Arc<Installed>,
    pub namespace: String,
    /// The number of the running build of the operator.
    pub rotation: usize,
    log: PathBuf,
}

impl Vaults {
    pub fn new(installed: &Arc<Installed>, test: &str, rotation: usize) -> Vaults {
        Vaults {
            installed: Arc::clone(installed),
            namespace: installed.cluster.namespace(test),
            rotation,
            log: installed.cluster.dir().join(format!("vaults-{test}.log")),
        }
    }

    pub fn log(&self) -> &Path {
        &self.log
    }

    pub fn start(&self) -> OperatorProcess {
        self.start_with(&[])
    }

    pub fn start_with(&self, variables: &[(&str, &str)]) -> OperatorProcess {
        let here = ["--namespace", &self.namespace];
        let binary = &self.installed.binaries[self.rotation];
        OperatorProcess::start_with(&self.installed.cluster, binary, &here, &self.log, variables)
    }

    pub fn kubectl(&self, args: &[&str]) -> String {
        let here = ["--namespace", self.namespace.as_str()];
        self.installed.cluster.kubectl(&[args, &here].concat())
    }

    /// An object; `None` if there is none.
    pub fn get(&self, what: &str) -> Option<Value> {
        let text = self.kubectl(&["get", what, "--ignore-not-found", "-o", "json"]);
        serde_json::from_str(&text).ok()
    }

    pub fn list(&self, plural: &str) -> Vec<Value> {
        let text = self.kubectl(&["get", plural, "-o", "json"]);
        let list: Value = serde_json::from_str(&text).expect("kubectl writes JSON");
        list["items"].as_array().cloned().unwrap_or_default()
    }

    pub fn create(&self, name: &str, items: &[&str], hold: bool) {
        let mut vault = json!({
            "apiVersion": "last.example.com/v1", "kind": "Vault", "metadata": {"name": name},
            "spec": {"items": items},
        });
        if hold {
            vault["spec"]["hold"] = json!("until it is released");
        }
        let here = ["--namespace", self.namespace.as_str()];
        self.installed.cluster.apply(&vault.to_string(), &here);
    }

    pub fn patch(&self, what: &str, patch: &Value) {
        self.kubectl(&["patch", what, "--type=merge", "-p", &patch.to_string()]);
    }

    pub fn release(&self, name: &str) {
        self.patch(&format!("vault/{name}"), &json!({"spec": {"hold": null}}));
    }

    pub fn delete(&self, name: &str, cascade: Cascade) {
        let cascade = format!("--cascade={}", cascade.name());
        self.kubectl(&["delete", "vault", name, "--wait=false", &cascade]);
    }

    pub fn is_ready(&self, name: &str) -> bool {
        self.get(&format!("vault/{name}"))
            .is_some_and(|vault| super::super::herd::is_ready(&vault))
    }

    pub fn ready(&self, name: &str) {
        until(&format!("{name} is ready"), || self.is_ready(name).then_some(()));
    }

    pub fn saving(&self, name: &str) {
        until(&format!("{name} is on its deletion path"), || {
            let vault = self.get(&format!("vault/{name}"))?;
            (text(&vault, "/status/state") == "Saving").then_some(())
        });
    }

    pub fn gone(&self, name: &str) {
        until(&format!("{name} is gone"), || {
            self.get(&format!("vault/{name}")).is_none().then_some(())
        });
    }

    pub fn uid(&self, name: &str) -> String {
        let vault = self.get(&format!("vault/{name}")).expect("it is there");
        text(&vault, "/metadata/uid").to_owned()
    }

    pub fn plural(&self, form: Form) -> &'static str {
        KINDS[kind_of(form, self.rotation)].1
    }

    /// The form of the children of a kind, by its number in [`KINDS`].
    pub fn form(&self, kind: usize) -> Form {
        let is_its = |form: &Form| kind_of(*form, self.rotation) == kind;
        FORMS.into_iter().find(is_its).expect("each kind has one")
    }

    pub fn child(&self, form: Form, name: &str) -> Option<Value> {
        self.get(&format!("{}/{name}", self.plural(form)))
    }

    /// The fields of a child that the operator has applied, from the managed fields.
    pub fn applied(&self, form: Form, name: &str) -> Value {
        let child = format!("{}/{name}", self.plural(form));
        let text = self.kubectl(&["get", &child, "-o", "json", "--show-managed-fields"]);
        let child: Value = serde_json::from_str(&text).expect("kubectl writes JSON");
        let managed = child["metadata"]["managedFields"].as_array().expect("a list");
        let applied = managed.iter().find(|fields| fields["operation"] == "Apply");
        applied.expect("the operator applies it")["fieldsV1"].clone()
    }

    /// Asserts that the operator deleted a child before it released its owner. This needs the audit log, because a
    /// child that is left behind is deleted a moment later.
    pub fn ends_before_its_owner(&self, child: &str, owner: &str) {
        let last = |verb: &str, resource: &str, name: &str| {
            until(&format!("{verb} {resource}/{name} is in the audit log"), || {
                let writes = self.installed.cluster.writes(&self.namespace);
                let mut writes = writes.iter().rev();
                writes
                    .find(|write| (&*write.verb, &*write.resource, &*write.name) == (verb, resource, name))
                    .map(|write| write.received)
            })
        };
        let (ended, released) = (
            last("delete", self.plural(Form::Last), child),
            last("patch", "vaults", owner),
        );
        assert!(
            ended < released,
            "{child} ended at {ended}, {owner} was released at {released}"
        );
    }

    pub fn any_child(&self, name: &str) -> Value {
        let found = KINDS
            .iter()
            .find_map(|(_, plural)| self.get(&format!("{plural}/{name}")));
        found.expect("nothing takes it")
    }

    pub fn delete_child(&self, form: Form, name: &str) {
        self.kubectl(&["delete", self.plural(form), name, "--ignore-not-found"]);
    }

    /// Creates a child as another client could.
    pub fn create_child(&self, form: Form, name: &str, uid: &str, owner: &str) {
        let plural = self.plural(form);
        let kind = KINDS
            .iter()
            .find(|(_, known)| *known == plural)
            .expect("one of them")
            .0;
        let child = json!({
            "apiVersion": "v1", "kind": kind.trim_start_matches("core/v1."),
            "metadata": {"name": name, "labels": {LABEL: uid}, "annotations": {LABEL: owner}},
        });
        let here = ["--namespace", self.namespace.as_str()];
        self.installed.cluster.apply(&child.to_string(), &here);
    }

    /// Objects that are not children of a vault: one without an owner, and one that has the label but another owner.
    pub fn create_foreign(&self, uid: &str) {
        self.kubectl(&["create", "serviceaccount", "of-nobody"]);
        self.kubectl(&["create", "configmap", "somebody"]);
        let owner = self.get("configmap/somebody").expect("just made");
        let others = json!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": {
                "name": "of-others", "labels": {LABEL: uid}, "annotations": {LABEL: "one"},
                "ownerReferences": [{
                    "apiVersion": "v1", "kind": "ConfigMap", "name": "somebody", "controller": true,
                    "uid": owner["metadata"]["uid"],
                }],
            },
        });
        let here = ["--namespace", self.namespace.as_str()];
        self.installed.cluster.apply(&others.to_string(), &here);
    }

    /// Waits until a child of a vault is released: its annotation names the vault, and it has no owner.
    pub fn is_released(&self, form: Form, child: &str, vault: &str, uid: &str) {
        let from = "/metadata/annotations/last.example.com~1released-from";
        until(&format!("{child} is released"), || {
            let child = self.child(form, child).expect("nothing takes it");
            (text(&child, from) == format!("{vault} {uid}")).then_some(())
        });
        let child = self.child(form, child).expect("nothing takes it");
        assert_eq!(child["metadata"].get("ownerReferences"), None);
        assert_eq!(metadata(&child, "labels"), "");
        assert_eq!(metadata(&child, "annotations"), "");
        let kind = text(&child, "/metadata/labels/last.example.com~1released-from");
        assert_eq!(kind, "vaults", "people find it");
    }
}

/// The label or the annotation that replaces an owner reference; empty if there is none.
pub fn metadata(child: &Value, map: &str) -> String {
    let path = format!("/metadata/{map}/{}", LABEL.replace('/', "~1"));
    text(child, &path).to_owned()
}
