//! The writes of clients in three versions, and the contents that they expect to read afterwards.

use super::HELD;
use crate::dice::Dice;
use kube::api::{Api, ApiResource, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use kube::{Client, ResourceExt as _};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The kind of edit.
#[derive(Clone, Copy, Debug)]
pub enum Edit {
    /// A merge patch.
    Patched,
    /// An apply by one of two managers, each of which has its own fields.
    Applied,
    /// A replacement of the whole object.
    Replaced,
    /// A replacement without the annotation: the data in it is reset.
    ReplacedWithoutAnnotation,
    /// An annotation that was not written by a conversion, which is refused.
    Forged,
}

/// A client for shops.
pub struct Shops {
    client: Client,
}

impl Shops {
    pub fn new(client: Client) -> Shops {
        Shops { client }
    }

    fn api(&self, version: &str) -> Api<DynamicObject> {
        let kind = GroupVersionKind::gvk("shops.example.com", version, "Shop");
        Api::namespaced_with(
            self.client.clone(),
            "it-shops",
            &ApiResource::from_gvk_with_plural(&kind, "shops"),
        )
    }

    /// The objects in a version, by name, if they can be read.
    pub async fn list(&self, version: &str) -> Option<BTreeMap<String, Value>> {
        self.try_list(version).await.ok()
    }

    pub async fn try_list(&self, version: &str) -> kube::Result<BTreeMap<String, Value>> {
        let list = self.api(version).list(&ListParams::default()).await?;
        let named = list.items.into_iter().map(|mut object| {
            object.metadata.managed_fields = None;
            let name = object.metadata.name.clone().expect("a name");
            (name, serde_json::to_value(object).expect("an object is JSON"))
        });
        Ok(named.collect())
    }

    /// Whether objects of these versions can be written; at least one should not be the storage version. An empty list
    /// would not show it, because it needs no conversion.
    pub async fn converts(&self, versions: &[&str]) -> Option<()> {
        let dry_run = PostParams {
            dry_run: true,
            ..PostParams::default()
        };
        for version in versions {
            let probe = object(version, "probe", &spec(version, &mut Dice::new(1)));
            self.api(version).create(&dry_run, &typed(&probe)).await.ok()?;
        }
        Some(())
    }

    pub async fn create(&self, version: &str, written: &Value) {
        let written = typed(written);
        let created = self.api(version).create(&PostParams::default(), &written).await;
        created.unwrap_or_else(|error| panic!("{written:?}: {error}"));
    }

    pub async fn try_get(&self, version: &str, name: &str) -> kube::Result<DynamicObject> {
        self.api(version).get(name).await
    }

    pub async fn try_patch(&self, version: &str, name: &str, patch: &Value) -> kube::Result<()> {
        let patched = self
            .api(version)
            .patch(name, &PatchParams::default(), &Patch::Merge(patch))
            .await;
        patched.map(drop)
    }

    /// Applies an object for a manager.
    pub async fn apply(&self, version: &str, manager: &str, object: &Value) {
        let name = object["metadata"]["name"].as_str().expect("a name");
        let apply = PatchParams::apply(manager).force();
        let applied = self.api(version).patch(name, &apply, &Patch::Apply(object)).await;
        applied.unwrap_or_else(|error| panic!("{object}: {error}"));
    }

    /// Applies the status of an object.
    pub async fn apply_status(&self, version: &str, name: &str, status: &Value) {
        let mut object = object(version, name, &json!({}));
        object["status"] = status.clone();
        let apply = PatchParams::apply("status").force();
        let applied = self
            .api(version)
            .patch_status(name, &apply, &Patch::Apply(&object))
            .await;
        applied.unwrap_or_else(|error| panic!("{object}: {error}"));
    }

    /// Edits an object that was read in a version. Returns the kind of edit, and the spec that must be read in that
    /// version from then on.
    pub async fn edit(&self, version: &str, read: &Value, dice: &mut Dice) -> (Edit, Value) {
        let api = self.api(version);
        let name = read["metadata"]["name"].as_str().expect("a name");
        let edits = [
            Edit::Patched,
            Edit::Applied,
            Edit::Replaced,
            Edit::ReplacedWithoutAnnotation,
            Edit::Forged,
        ];
        let how = *dice.among(&edits);
        let change = match how {
            Edit::Applied => applied(version, dice),
            _ => spec(version, dice),
        };
        let mut wanted = read.clone();
        for (field, value) in change["spec"]
            .as_object()
            .or(change.as_object())
            .expect("an object")
        {
            wanted["spec"][field] = value.clone();
        }
        let rules = wanted["spec"].get_mut("rules").and_then(Value::as_array_mut);
        for rule in rules.into_iter().flatten().filter(|_| version == "v1") {
            let rule = rule.as_object_mut().expect("an object");
            rule.entry("weight").or_insert(json!(1));
        }
        let mut put = wanted.clone();
        let put_it = async |put: &Value| {
            let mut put = typed(put);
            loop {
                let answer = api.replace(name, &PostParams::default(), &put).await;
                // The operator may write the status at the same time.
                match answer {
                    Err(kube::Error::Api(status)) if status.code == 409 => {
                        let now = api.get(name).await.expect("it is there");
                        put.metadata.resource_version = now.metadata.resource_version;
                    }
                    answer => return answer,
                }
            }
        };
        let answer = match how {
            Edit::Patched => {
                let patch = json!({"spec": change});
                api.patch(name, &PatchParams::default(), &Patch::Merge(patch))
                    .await
            }
            Edit::Applied => {
                let manager = change["manager"].as_str().expect("a manager");
                let apply = object(version, name, &change["spec"]);
                api.patch(name, &PatchParams::apply(manager).force(), &Patch::Apply(apply))
                    .await
            }
            Edit::Replaced => put_it(&put).await,
            Edit::ReplacedWithoutAnnotation => {
                if let Some(annotations) = put["metadata"].get_mut("annotations") {
                    annotations.as_object_mut().expect("an object").remove(HELD);
                }
                put_it(&put).await
            }
            Edit::Forged => {
                let forged = json!("{\"v1\":{\"fields\":{\"replicas\":{\"value\":{\"is\":99}}}}}");
                let manager = Some("sizes".to_owned());
                let answer = match dice.below(3) {
                    0 => {
                        let mut apply = object(version, name, &json!({}));
                        apply["metadata"]["annotations"] = json!({HELD: forged});
                        let params = PatchParams::apply("sizes").force();
                        api.patch(name, &params, &Patch::Apply(apply)).await
                    }
                    other => {
                        put["metadata"]["annotations"][HELD] = forged;
                        let now = api.get(name).await.expect("it is there");
                        put["metadata"]["resourceVersion"] = json!(now.metadata.resource_version);
                        let field_manager = manager.filter(|_| other == 1);
                        let params = PostParams {
                            field_manager,
                            ..PostParams::default()
                        };
                        api.replace(name, &params, &typed(&put)).await
                    }
                };
                // An apply through another version may lose the annotation, like any edit that does not hold.
                if let Ok(applied) = &answer
                    && applied
                        .annotations()
                        .get(HELD)
                        .is_none_or(|held| !held.contains("99"))
                {
                    return (how, applied.data["spec"].clone());
                }
                let refusal = answer.expect_err("the annotation is forged").to_string();
                assert!(
                    refusal.contains("only the conversion between versions writes the annotation"),
                    "{refusal}"
                );
                return (how, read["spec"].clone());
            }
        };
        answer.unwrap_or_else(|error| panic!("{how:?} of {name} in {version}: {error}"));
        (how, wanted["spec"].clone())
    }
}

/// Whether the operator has judged the present spec of an object.
pub fn is_judged(shop: &Value) -> bool {
    let status = &shop["status"];
    status["state"] == "Open" && status["observedGeneration"] == shop["metadata"]["generation"]
}

fn typed(object: &Value) -> DynamicObject {
    serde_json::from_value(object.clone()).expect("an object")
}

/// An object without a status.
pub fn object(version: &str, name: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": format!("shops.example.com/{version}"), "kind": "Shop",
        "metadata": {"name": name, "namespace": "it-shops"}, "spec": spec,
    })
}

/// The names of two fields in a version: the number of replicas, and the name of a rule.
fn names(version: &str) -> (&'static str, &'static str) {
    match version {
        "v1" => ("replicas", "name"),
        "v1beta1" => ("size", "name"),
        _ => ("count", "id"),
    }
}

/// The applied fields of one of two managers, which are always the same.
fn applied(version: &str, dice: &mut Dice) -> Value {
    let (size, _) = names(version);
    let (modes, timeouts) = match version {
        "v1" => (["Turbo", "Idle"], [json!("90s"), json!("1m30.5s")]),
        _ => (["fast", "slow"], [json!(0), json!(45)]),
    };
    match dice.one_in(2) {
        true => json!({"manager": "sizes", "spec": {size: dice.among(&[1, 5, 50])}}),
        false => {
            let spec = json!({"mode": dice.among(&modes), "timeout": dice.among(&timeouts)});
            json!({"manager": "modes", "spec": spec})
        }
    }
}

/// The spec that a client writes in a version.
pub fn spec(version: &str, dice: &mut Dice) -> Value {
    let mut spec = json!({});
    let mut set = |name: &str, values: &[Value]| {
        if !dice.one_in(3) {
            spec[name] = dice.among(values).clone();
        }
    };
    let (size, name) = names(version);
    set(size, &[json!(0), json!(7)]);
    if version == "v1" {
        set("hosts", &[json!([]), json!(["a"]), json!(["a", "b", "c"])]);
        set("mode", &[json!("Turbo"), json!("Eco"), json!("Idle")]);
        let owners = ["one", "refused"].map(|person| json!({"team": "a", "person": person}));
        set("owner", &owners);
        set("tls", &[json!(true), json!(false)]);
        set(
            "timeout",
            &[json!("0s"), json!("90s"), json!("1m30.5s"), json!("9999999999h")],
        );
        set(
            "rules",
            &[json!([]), json!([{"name": "x", "weight": 3}, {"name": "y"}])],
        );
        return spec;
    }
    set("host", &[json!("a"), json!("z")]);
    set("mode", &[json!("fast"), json!("slow")]);
    set("owner", &[json!("a/b"), json!("nobody"), json!("panic/b")]);
    set("legacy", &[json!("old"), json!("")]);
    set("timeout", &[json!(0), json!(90)]);
    set(
        "rules",
        &[json!([{name: "y"}, {name: "x"}]), json!([{name: "z"}])],
    );
    spec
}
