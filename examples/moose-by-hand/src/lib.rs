//! The moose of Krator's announcement, on today's runtime: an operator whose state machine is written by hand, without
//! a description and without the generator.
//!
//! A transition that the graph does not have fails to compile. A moose that roams is too hungry to sleep:
//!
//! ```compile_fail,E0277
//! use krator_runtime::Transition;
//! use moose_by_hand::{Roam, Sleep};
//!
//! let transition: Transition<Roam> = Transition::to(Sleep);
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use krator_derive::{Machine, TransitionTo};
use krator_runtime::{
    Context, Linked, MachineStatus, ObjectState, ObjectStatus, Operator, Result, Review, Reviewed, State,
    Transition, Validate, Verdict, Webhooks,
};
use kube::{CustomResource, ResourceExt as _};
use serde::{Deserialize, Serialize};
use tracing::info;

/// What is known of a moose.
#[derive(CustomResource, Clone, Debug, Default, Serialize, Deserialize)]
#[kube(
    group = "animals.com",
    version = "v1",
    kind = "Moose",
    plural = "moose",
    status = "MooseStatus",
    schema = "disabled",
    derive = "Default",
    namespaced
)]
pub struct MooseSpec {
    /// In metres.
    pub height: f64,
    /// In kilograms.
    pub weight: f64,
    /// Whether it has antlers.
    pub antlers: bool,
}

/// The status of a moose. The runtime writes all of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MooseStatus {
    #[serde(flatten)]
    machine: MachineStatus,
}

impl ObjectStatus for MooseStatus {
    fn machine(&self) -> &MachineStatus {
        &self.machine
    }
    fn machine_mut(&mut self) -> &mut MachineStatus {
        &mut self.machine
    }
}

/// The data that the operator keeps in memory for each moose.
pub struct MooseMemory {
    name: String,
    /// The food in its stomach, in kilograms.
    food: f64,
}

impl ObjectState for MooseMemory {
    type Manifest = Moose;
    type SharedState = Friendships;

    async fn async_drop(self, shared: &Friendships) {
        shared.locked().remove(&self.name);
    }
}

/// The moose that each moose thinks of as friends.
#[derive(Default)]
pub struct Friendships(Mutex<BTreeMap<String, BTreeSet<String>>>);

impl Friendships {
    fn locked(&self) -> MutexGuard<'_, BTreeMap<String, BTreeSet<String>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a moose without friends, if it is unknown.
    pub fn meet(&self, name: &str) {
        self.locked().entry(name.to_owned()).or_default();
    }

    /// Makes this moose a friend of the first other moose that does not think of it as a friend, and returns the name
    /// of the other.
    pub fn make_friend(&self, name: &str) -> Option<String> {
        let mut friends = self.locked();
        let (other, friends) = friends
            .iter_mut()
            .find(|(other, friends)| *other != name && !friends.contains(name))?;
        friends.insert(name.to_owned());
        Some(other.clone())
    }

    /// The registered moose, in the order of their names.
    pub fn known(&self) -> Vec<String> {
        self.locked().keys().cloned().collect()
    }
}

/// The states of a moose.
#[derive(Machine, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[machine(
    object_state = MooseMemory,
    initial = Tagged,
    deletion = Released,
    finalizer = "animals.com/moose"
)]
pub enum MooseMachine {
    /// See [`Tagged`](struct@Tagged).
    Tagged,
    /// See [`Roam`](struct@Roam).
    Roam,
    /// See [`Eat`](struct@Eat).
    Eat,
    /// See [`Sleep`](struct@Sleep).
    Sleep,
    /// See [`Released`](struct@Released).
    Released,
}

impl Linked for MooseMachine {
    fn webhooks() -> Webhooks<Self> {
        Webhooks::none().validate::<Moose>()
    }
}

impl Reviewed for Moose {
    type Machine = MooseMachine;
}

impl Validate for Moose {
    async fn validate(review: &Review<'_, Self>) -> Verdict {
        if review.object.name_any().starts_with('m') {
            Verdict::allow()
        } else {
            Verdict::deny("Mooses may only have names starting with 'M'.")
        }
    }
}

/// The moose was tagged for tracking.
#[derive(TransitionTo)]
#[transition_to(Roam)]
#[state(phase("Roaming"))]
pub struct Tagged;

impl State for Tagged {
    async fn next(self, cx: &mut Context<'_, MooseMachine>) -> Result<Transition<Self>> {
        info!("Found a new moose named {}!", cx.object.name);
        cx.shared.meet(&cx.object.name);
        Ok(Transition::to(Roam))
    }
}

/// The moose is roaming the wilderness.
#[derive(TransitionTo)]
#[transition_to(Eat)]
#[state(phase("Roaming"), message("Gahrooo!"), poll(Duration::from_secs(2)))]
pub struct Roam;

impl State for Roam {
    async fn next(self, cx: &mut Context<'_, MooseMachine>) -> Result<Transition<Self>> {
        if cx.first_run() {
            return Ok(Transition::stay());
        }
        cx.object.food -= 5.0;
        if cx.object.food <= 10.0 {
            return Ok(Transition::to(Eat));
        }
        // After a restart the operator has forgotten all moose, so this one is registered again.
        cx.shared.meet(&cx.object.name);
        if let Some(other) = cx.shared.make_friend(&cx.object.name) {
            info!("{} made friends with {other}!", cx.object.name);
        }
        Ok(Transition::stay())
    }
}

/// The moose is eating.
#[derive(TransitionTo)]
#[transition_to(Sleep)]
#[state(phase("Hungry"), message("*munch*"), poll(Duration::from_secs(1)))]
pub struct Eat;

impl State for Eat {
    async fn next(self, cx: &mut Context<'_, MooseMachine>) -> Result<Transition<Self>> {
        // A tenth of its weight, at ten kilograms a second.
        let meal = cx.manifest().spec.weight / 10.0;
        if cx.in_state_for().as_secs_f64() < meal / 10.0 {
            return Ok(Transition::stay());
        }
        cx.object.food = meal;
        Ok(Transition::to(Sleep))
    }
}

/// The moose is sleeping.
#[derive(TransitionTo)]
#[transition_to(Roam)]
#[state(ready, phase("Asleep"), message("zzzzzz"), poll(Duration::from_secs(20)))]
pub struct Sleep;

impl State for Sleep {
    async fn next(self, cx: &mut Context<'_, MooseMachine>) -> Result<Transition<Self>> {
        Ok(if cx.first_run() {
            Transition::stay()
        } else {
            Transition::to(Roam)
        })
    }
}

/// The moose was released from our care.
#[derive(TransitionTo)]
#[state(final)]
pub struct Released;

impl State for Released {
    async fn next(self, cx: &mut Context<'_, MooseMachine>) -> Result<Transition<Self>> {
        cx.message(format!("Bye, {}!", cx.object.name));
        Ok(Transition::done())
    }
}

/// Tracks all moose.
#[derive(Default)]
pub struct MooseTracker {
    shared: Arc<Friendships>,
}

impl Operator for MooseTracker {
    type Machine = MooseMachine;

    async fn initialize_object_state(&self, moose: &Moose) -> Result<MooseMemory> {
        Ok(MooseMemory::of(moose))
    }

    async fn shared_state(&self) -> Arc<Friendships> {
        Arc::clone(&self.shared)
    }
}

impl MooseMemory {
    /// A moose that has just eaten.
    pub fn of(moose: &Moose) -> Self {
        Self {
            name: moose.metadata.name.clone().unwrap_or_default(),
            food: moose.spec.weight / 10.0,
        }
    }
}
