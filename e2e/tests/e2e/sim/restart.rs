//! A new process of the operator, such as a new version, starts with a fleet at rest.

use super::run::Deployment;
use super::world::{World, postgresql, simulate};
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;

/// Many more than the number of concurrent requests of the operator.
const OBJECTS: usize = 150;
/// These names are last in the listing.
const EDITED: &str = "z-edited";
const CREATED: &str = "z-created";

/// The objects that the operator has written after this number of requests, in the order of their first writes.
fn written(world: &World, since: usize) -> Vec<String> {
    let mut known = BTreeSet::new();
    let log = world.network.log();
    let writes = log.iter().skip(since).filter(|line| line.contains(" PATCH "));
    let names = writes.filter_map(|line| line.split_once("/postgresqls/")?.1.split(['/', '?', ' ']).next());
    names
        .filter(|name| known.insert(name.to_owned()))
        .map(str::to_owned)
        .collect()
}

async fn restart() {
    let mut world = World::begin(0, Deployment::Alone, &[]).await;
    let (kind, minutes) = (postgresql(), Duration::from_secs(300));
    let names = (0..OBJECTS).map(|number| format!("it-{number}"));
    let names: Vec<String> = names.chain([EDITED.to_owned()]).collect();
    for name in &names {
        world
            .create(kind, name, Some("Validating>Creating,Creating>Running,"))
            .await;
    }
    let count = names.len();
    let run = move |world: &World| {
        let mut written = world
            .oracles()
            .iter()
            .flat_map(|oracle| oracle.journal().values());
        let is_running =
            |writes: &&Vec<String>| writes.last().is_some_and(|write| write.contains(" Running "));
        written.by_ref().filter(is_running).count() == count
    };
    assert!(world.wait_for(minutes, run).await);
    world.kill(0, Duration::from_secs(30));
    // Each failure of a handler causes a write.
    let fails = json!({"metadata": {"annotations": {"script": "Running>fail,"}}});
    for name in names.iter().filter(|name| *name != EDITED) {
        world.patch(kind, name, fails.to_string()).await;
    }
    let edit = json!({"spec": {"numberOfInstances": 5}});
    world.patch(kind, EDITED, edit.to_string()).await;
    world.create(kind, CREATED, Some("Validating>stay,")).await;
    let before = world.network.log().len();
    let all = move |world: &World| written(world, before).len() >= OBJECTS + 2;
    assert!(world.wait_for(minutes, all).await);
    let written = written(&world, before);
    for name in [EDITED, CREATED] {
        let earlier = written.iter().take_while(|written| *written != name).count();
        assert!(
            earlier < OBJECTS * 2 / 3,
            "{earlier} objects at rest were written before {name}"
        );
    }
    assert_eq!(world.end().await.findings, Vec::<String>::new());
}

#[test]
fn objects_that_are_new_or_edited_come_before_those_at_rest() {
    simulate(restart());
}
