//! The view of a handler of its children after its own writes, while the watch is behind.
use super::*;
use crate::{
    cluster::{
        api::raw::Raw,
        related::watches::{Cache as _, Need, Seen},
    },
    local::InMemoryApi,
    resource::version,
};
use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::OwnerReference};
use kube::{
    api::{Patch, PatchParams},
    runtime::watcher::Event,
};
use std::collections::{BTreeMap, VecDeque};

const LABEL: &str = "example.com/owners";
const NAMES: [&str; 3] = ["one", "three", "two"];

/// The events of a watch that nobody has read yet.
#[derive(Default)]
struct Behind {
    last: BTreeMap<String, ConfigMap>,
    events: VecDeque<Event<Arc<Raw>>>,
}

impl Behind {
    /// The API server has stored something, or nothing.
    fn notice(&mut self, api: &InMemoryApi) {
        let now: BTreeMap<_, _> = api
            .all::<ConfigMap>()
            .into_iter()
            .map(|map| (map.name_any(), ConfigMap::clone(&map)))
            .collect();
        let raw = |map: &ConfigMap| {
            let raw = serde_json::from_str::<Raw>(&json!(map).to_string());
            Arc::new(raw.expect("an object"))
        };
        for (name, map) in &self.last {
            if now.get(name).is_none_or(|now| now.uid() != map.uid()) {
                self.events.push_back(Event::Delete(raw(map)));
            }
        }
        for (name, map) in &now {
            if self.last.get(name) != Some(map) {
                self.events.push_back(Event::Apply(raw(map)));
            }
        }
        self.last = now;
    }
}

fn draw(seed: &mut u64, sides: u64) -> u64 {
    *seed = seed
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) % sides
}

async fn play(mut seed: u64) {
    let start = seed;
    let api = Arc::new(InMemoryApi::default());
    let cache = Arc::new(KindCache::<ConfigMap>::new(tokio::sync::watch::channel(true).0));
    let need = Need::Owner {
        label: LABEL,
        operator: "manager",
    };
    cache.serve(need, tokio::sync::mpsc::unbounded_channel().0);
    cache.begin(1);
    for event in [Event::Init, Event::InitDone] {
        cache.see(0, &Seen::Whole(event));
    }
    let maps: Api<ConfigMap> = Api::namespaced(api.client(), "default");
    let applied = Arc::new(Applied::default());
    let children = || Children::<ConfigMap> {
        client: api.client(),
        cache: Arc::clone(&cache),
        kind: "core/v1.ConfigMap",
        applied: Arc::clone(&applied),
        operator: "manager",
        namespace: "default".to_owned(),
        owner: Owner {
            reference: OwnerReference {
                api_version: "example.com/v1".to_owned(),
                kind: "Owner".to_owned(),
                name: "me".to_owned(),
                uid: "1".to_owned(),
                controller: Some(true),
                block_owner_deletion: None,
            },
            label: LABEL,
        },
        deletion: ChildDeletion::Owner,
        report: None,
        _busy: None,
    };
    let mut watch = Behind::default();
    // The version of each child that the handlers have applied, and the uids of those that they have deleted.
    let (mut written, mut deleted) = (BTreeMap::new(), Vec::new());
    for step in 0..60 {
        let name = NAMES[draw(&mut seed, 3) as usize];
        match draw(&mut seed, 7) {
            0 | 1 => {
                let body = json!({"metadata": {"name": name}, "data": {"step": step.to_string()}});
                // A child that waits for its finalizers is not applied.
                if let Ok(child) = children().apply(body).await {
                    written.insert(name, version(&*child));
                }
            }
            2 => {
                let owned = children().owned().await.expect("children");
                if let Some(child) = owned.iter().find(|child| child.name_any() == name) {
                    children()
                        .delete(child, PropagationPolicy::Background)
                        .await
                        .expect("an answer");
                    written.remove(name);
                    deleted.push(child.uid().expect("a uid"));
                }
            }
            // Others hold a child, let it go, or write something.
            3 => {
                let finalizers = [json!(null), json!(["example.com/holds"])];
                let held = &finalizers[draw(&mut seed, 2) as usize];
                let patch =
                    json!({"metadata": {"finalizers": held, "annotations": {"step": step.to_string()}}});
                let _ = maps
                    .patch(name, &PatchParams::default(), &Patch::Merge(patch))
                    .await;
            }
            _ => {
                if let Some(event) = watch.events.pop_front() {
                    cache.see(0, &Seen::Whole(event));
                }
            }
        }
        watch.notice(&api);
        let owned = children().owned().await.expect("children");
        for child in &owned {
            let (name, uid) = (child.name_any(), child.uid().expect("a uid"));
            let known = written.get(&*name).copied().unwrap_or_default();
            assert!(
                version(&**child) >= known,
                "seed {start}, step {step}: `{name}` is older than it was applied"
            );
            assert!(
                is_going(&**child) || !deleted.contains(&uid),
                "seed {start}, step {step}: `{name}` was deleted and seems to be alive"
            );
        }
        let is_there = |name: &&str| owned.iter().any(|child| child.name_any() == **name);
        let stored = api.all::<ConfigMap>();
        let missing = written
            .keys()
            .find(|name| !is_there(name) && stored.iter().any(|map| map.name_any() == ***name));
        assert_eq!(missing, None, "seed {start}, step {step}");
    }
    // When the watch has seen everything, nothing is remembered of it.
    for event in watch.events {
        cache.see(0, &Seen::Whole(event));
        children().owned().await.expect("children");
    }
    let remembered = applied.deleted_of_kind("core/v1.ConfigMap");
    assert!(remembered.is_empty(), "seed {start}: {remembered:?}");
}

#[tokio::test]
async fn a_handler_sees_its_children_no_older_than_its_own_writes() {
    for seed in 0..100 {
        play(seed).await;
    }
}
