//! Plays a run.

use super::run::{Act, OBJECTS, People, Run, Scenario, Step};
use super::world::{Judged, World, description, postgresql, simulate};
use crate::contract::Oracle;
use crate::dice::Dice;
use crate::scripted_operator::change;
use krator::model::{Kind, State};
use serde_json::{Value, json};
use std::time::Duration;

/// The maximum time until objects come to rest after the last disturbance.
const REST: Duration = Duration::from_secs(300);
/// The minimum time of watching, in which delayed requests arrive.
const WATCHED: Duration = Duration::from_secs(30);
/// A script that leads edited objects to a state in which they rest.
pub const TO_REST: &str = "Validating>Creating,Creating>Running,Updating>Running,Running>stay,";

/// The kinds of the objects in a run.
fn kinds(people: People) -> Vec<&'static Kind> {
    match people {
        People::Edit => vec![postgresql()],
        People::CreateAndDelete | People::Spin => description().kinds.iter().collect(),
    }
}

/// The run of a scenario and a seed.
pub fn run(scenario: Scenario, seed: u64) -> Run {
    Run::of(scenario, seed, description().kinds.len())
}

/// Plays a run. The same run has the same requests.
pub fn play(run: &Run) -> Judged {
    simulate(played(run))
}

async fn played(run: &Run) -> Judged {
    let mut world = World::begin(run.seed, run.deployment, &run.clocks).await;
    let kinds = kinds(run.people);
    if run.people == People::Edit {
        world.ready_objects_stay();
    }
    let script = |kind: &Kind, object: usize| match run.people {
        People::CreateAndDelete => None,
        People::Edit => Some(TO_REST.to_owned()),
        People::Spin => Some(restless(kind, run.seed ^ object as u64)),
    };
    // Fewer objects, because those that never rest cause more requests.
    let objects = if run.people == People::Spin { 1 } else { OBJECTS };
    for kind in &kinds {
        for number in 0..objects {
            let script = script(kind, number);
            world
                .create(kind, &format!("it-{number}"), script.as_deref())
                .await;
        }
    }
    world.network.set(run.faults);
    for Step { at, act } in &run.steps {
        world.wait_until(*at).await;
        let of = |kind: usize, object: usize| (kinds[kind % kinds.len()], format!("it-{}", object % objects));
        match *act {
            Act::Kill { replica, length } => world.kill(replica, length),
            Act::Stop { replica, length } => world.stop(replica, length),
            Act::Freeze { replica, length } => world.freeze(replica, length),
            Act::CutOff { replica, length } => world.cut_off(replica, length),
            Act::RestartServer { length } => world.network.restart_server(length),
            Act::Create { kind, object } => {
                let (kind, name) = of(kind, object);
                world
                    .create(kind, &name, script(kind, object % objects).as_deref())
                    .await;
            }
            Act::Delete { kind, object } => {
                let (kind, name) = of(kind, object);
                world.delete(kind, &name).await;
            }
            Act::Change { kind, object, number } => {
                let (kind, name) = of(kind, object);
                let patch = match run.people {
                    People::Edit => Some(edit(number).to_string()),
                    People::CreateAndDelete | People::Spin => change(kind, number),
                };
                if let Some(patch) = patch {
                    world.patch(kind, &name, patch).await;
                }
            }
        }
    }
    world.network.set(super::network::Faults::default());
    let end = run.steps.last().map_or(Duration::ZERO, |step| step.at) + WATCHED;
    world.wait_until(end).await;
    let is_edited = run.people == People::Edit;
    let rest = move |world: &World| {
        world.restless().is_empty() && (!is_edited || world.oracles().iter().all(Oracle::has_caught_up))
    };
    if run.people != People::Spin && !world.wait_for(REST, rest).await {
        let restless = world.restless();
        world.find(format!("these have not come to rest: {restless:?}"));
    }
    world.end().await
}

/// A script without stays. It leads most objects round a loop.
fn restless(kind: &Kind, seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let states = kind.states.iter().filter(|state| !state.next.is_empty());
    let step = |state: &State| {
        let to = kind.state(dice.among(&state.next).to.value);
        format!("{}>{},", state.name.as_str(), to.name.as_str())
    };
    states.map(step).collect()
}

/// A merge patch of the spec of a Postgresql: fields with special rules in its states, other fields, and several at
/// once.
fn edit(number: usize) -> Value {
    let mut dice = Dice::new(number as u64);
    let fields = [
        json!({"volume": {"size": format!("{}Gi", 1 + dice.below(3))}}),
        json!({"volume": {"storageClass": format!("class-{}", dice.below(2))}}),
        json!({"volume": {"storageClass": null}}),
        json!({"teamId": format!("team-{}", dice.below(3))}),
        json!({"numberOfInstances": dice.below(3)}),
        json!({"enableLogicalBackup": false}),
    ];
    let mut spec = json!({});
    for _ in 0..1 + dice.below(2) {
        let field = dice.among(&fields).as_object().expect("a mapping").clone();
        spec.as_object_mut().expect("a mapping").extend(field);
    }
    json!({"spec": spec})
}
