//! Compares the forecast of `krator diff --against cluster` for objects with an operator's later actions. The objects
//! have statuses of all sorts, as operators of other descriptions may leave them.

use super::run::Deployment;
use super::seeds;
use super::world::{BEGIN, World, description, simulate};
use crate::dice::Dice;
use crate::scripted_operator::change;
use k8s_openapi::jiff::SignedDuration;
use krator::compare::{First, first_step};
use krator::model::Kind;
use serde_json::{Value, json};
use simulated_operator::script::STARTS;
use std::collections::BTreeMap;
use std::time::Duration;

/// The number of objects of each kind.
const OBJECTS: usize = 40;
/// The time within which an operator starts a handler for each of them.
const BEGINS: Duration = Duration::from_secs(20);

/// A status that another operator may have left.
fn status(dice: &mut Dice, kind: &Kind) -> Value {
    let names: Vec<&str> = kind.states.iter().map(|state| state.name.as_str()).collect();
    let known = |dice: &mut Dice| *dice.among(&names);
    let state = match dice.below(12) {
        0 => "NoSuchState",
        _ => known(dice),
    };
    let past = BEGIN - SignedDuration::from_secs(30 + 60 * i64::try_from(dice.below(180)).expect("small"));
    let mut status = json!({
        "state": state,
        "entry": format!("{:016x}", 1 + dice.below(1_000_000)),
        "stateEnteredTime": past.to_string(),
        "observedGeneration": 1,
        "conditions": [{
            "type": "Reconciling", "status": "False", "reason": "Test", "message": "",
            "lastTransitionTime": past.to_string(), "observedGeneration": 1,
        }],
    });
    if dice.one_in(4) {
        status["attempts"] = json!(1 + dice.below(3));
    }
    if dice.one_in(3) {
        status["entries"] = json!([{"state": known(dice), "count": 1 + dice.below(8)}]);
    }
    if dice.one_in(4) {
        status["ask"] = json!({"to": known(dice), "since": past.to_string(), "leader": "00000000000000ff"});
    }
    status
}

/// The observed behavior for an object: the state whose handler was started first, and the stored states.
#[derive(Debug, Default)]
struct Became {
    started: Option<String>,
    stored: Vec<String>,
}

/// The error in a forecast; `None` if it is right.
fn differs(first: &First, kind: &Kind, was: &str, became: &Became) -> Option<String> {
    let started = became.started.as_deref();
    let current = |name: &str| kind.state_named(name).map(|id| kind.state(id).name.to_string());
    let is_right = match first {
        First::Stays | First::Waits(_) => started.is_none() || started == current(was).as_deref(),
        First::TimesOut(to) => {
            let left = became.stored.iter().find(|state| current(state) != current(was));
            started == current(was).as_deref() && left == Some(to)
        }
        First::Enters(entries) => {
            let (to, _) = entries.last()?;
            started.is_none_or(|started| started == to) && (started.is_some() || became.stored.contains(to))
        }
        First::Paused | First::Parked | First::Unreadable | First::Released => started.is_none(),
    };
    (!is_right).then(|| format!("{first:?} of {was}, and it became {became:?}"))
}

/// Objects of all kinds in a cluster without an operator.
async fn populate(world: &World, dice: &mut Dice) {
    for kind in &description().kinds {
        // The handlers stay in their states if they may.
        let stays = kind
            .states
            .iter()
            .map(|state| format!("{}>stay,", state.name.as_str()));
        let script: String = stays.collect();
        let group = &kind.resource.group.value;
        for number in 0..OBJECTS {
            let name = format!("it-{number}");
            world.create(kind, &name, Some(&script)).await;
            let mut metadata = json!({"finalizers": [format!("{group}/{}", kind.resource.plural.value)]});
            if dice.one_in(10) {
                metadata["annotations"] = json!({format!("{group}/paused"): "true"});
            }
            let patch = json!({"metadata": metadata});
            world.patch(kind, &name, patch.to_string()).await;
            if !dice.one_in(8) {
                world.patch_status(kind, &name, &status(dice, kind)).await;
            }
            if dice.one_in(4)
                && let Some(patch) = change(kind, dice.below(1000))
            {
                world.patch(kind, &name, patch).await;
            }
            if dice.one_in(10) {
                world.delete(kind, &name).await;
            }
        }
    }
}

/// The number of writes of each object that the oracles have seen.
fn writes(world: &World) -> BTreeMap<String, usize> {
    let journals = world.oracles().iter().flat_map(|oracle| oracle.journal());
    journals
        .map(|(object, writes)| (object.clone(), writes.len()))
        .collect()
}

async fn begin(seed: u64) -> BTreeMap<String, usize> {
    let mut dice = Dice::new(seed);
    let mut world = World::begin(seed, Deployment::Alone, &[]).await;
    world.lift_policies().await;
    populate(&world, &mut dice).await;
    // Lets the watches of the oracles start before the operator.
    tokio::time::sleep(Duration::from_millis(1)).await;
    world.wait_for(Duration::ZERO, |_| true).await;
    let before = writes(&world);
    let mut said = Vec::new();
    for kind in &description().kinds {
        for object in world.stored(kind) {
            let [now, later] = [0, 15].map(|seconds| {
                first_step(description(), kind, &object, BEGIN + Duration::from_secs(seconds))
            });
            // Forecasts that depend on the second of the operator's start are skipped.
            said.extend((now == later).then_some((kind, object, now)));
        }
    }
    world.wait_until(BEGINS).await;
    world.wait_for(Duration::ZERO, |_| true).await;
    let starts = STARTS.with_borrow(|starts| starts.clone().unwrap_or_default());
    let mut kinds = BTreeMap::new();
    for (kind, object, first) in &said {
        let text = |pointer: &str| {
            object
                .pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let (uid, was) = (text("/metadata/uid"), text("/status/state"));
        let name = format!("{} {}", kind.resource.kind.as_str(), text("/metadata/name"));
        let started = starts.lines().find(|line| line.ends_with(uid));
        let mut journals = world.oracles().iter().map(|oracle| oracle.journal());
        let written = journals.find_map(|journal| journal.get(&name));
        let since = written
            .into_iter()
            .flatten()
            .skip(before.get(&name).copied().unwrap_or_default());
        let state = |write: &String| {
            let mut words = write.split(' ').skip(1).filter(|word| *word != "deleted");
            words.next().unwrap_or_default().to_owned()
        };
        let became = Became {
            started: started.and_then(|line| line.split(' ').nth(1)).map(str::to_owned),
            stored: since.map(state).collect(),
        };
        let what = match first {
            First::Enters(entries) => entries.first().map(|(_, cause)| format!("{cause:?}")),
            other => format!("{other:?}").split('(').next().map(str::to_owned),
        };
        let what = what.unwrap_or_default();
        *kinds.entry(what).or_default() += 1;
        if let Some(wrong) = differs(first, kind, was, &became) {
            panic!("seed {seed}, {name}: {wrong}\n{object:#}");
        }
    }
    kinds
}

#[test]
fn an_operator_does_with_objects_what_was_said_of_them() {
    for seed in seeds("KRATOR_SEEDS", 1) {
        let kinds = simulate(begin(seed));
        crate::cluster::say(&format!("what was said of objects: {kinds:?}"));
    }
}
