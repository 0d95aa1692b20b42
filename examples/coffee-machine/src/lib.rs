//! A coffee machine: a state machine without Kubernetes. The policies of a state in the graph (polls, timeouts,
//! limits, retries) apply as in a cluster, and a transition that the graph lacks does not compile.
//!
//! ```compile_fail,E0277
//! use coffee_machine::{Brewing, Heating};
//! use krator_runtime::Transition;
//!
//! let transition: Transition<Brewing> = Transition::to(Heating);
//! ```

use std::time::Duration;

use krator_derive::{Machine, TransitionTo};
use krator_runtime::{Context, Error, LocalObject, Node, ObjectState, Result, Retry, State, Transition};

/// An order of a customer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Order {
    /// The number of cups.
    pub cups: u32,
}

/// The readings of the machine's sensors.
#[derive(Clone, Copy, Debug)]
pub struct Sensors {
    /// The temperature of the water.
    pub celsius: u32,
    /// The water that is left, in cups.
    pub water: u32,
    /// The cups that were made for this order.
    pub made: u32,
}

impl ObjectState for Sensors {
    type Manifest = LocalObject<Order>;
    type SharedState = ();
}

/// The states of an order.
#[derive(Machine, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[machine(object_state = Sensors, initial = Heating)]
pub enum CoffeeMachine {
    /// See [`Heating`](struct@Heating).
    Heating,
    /// See [`Brewing`](struct@Brewing).
    Brewing,
    /// See [`Served`](struct@Served).
    Served,
    /// See [`NeedsAttention`](struct@NeedsAttention).
    NeedsAttention,
}

/// Heats the water.
#[derive(TransitionTo)]
#[transition_to(Brewing)]
#[state(
    poll(Duration::from_secs(1)),
    timeout(Duration::from_secs(60), NeedsAttention::ID)
)]
pub struct Heating;

impl State for Heating {
    async fn next(self, cx: &mut Context<'_, CoffeeMachine>) -> Result<Transition<Self>> {
        if cx.object.celsius >= 92 {
            return Ok(Transition::to(Brewing));
        }
        cx.object.celsius += 4;
        Ok(Transition::stay())
    }
}

/// Makes one cup after another.
#[derive(TransitionTo)]
#[transition_to(Served)]
#[state(poll(Duration::from_secs(30)), retry(Retry::DEFAULT.limit(2, NeedsAttention::ID)))]
pub struct Brewing;

impl State for Brewing {
    async fn next(self, cx: &mut Context<'_, CoffeeMachine>) -> Result<Transition<Self>> {
        let cups = cx.manifest().spec.cups;
        if cx.object.made >= cups {
            return Ok(Transition::to(Served));
        }
        let left = cx.object.water.checked_sub(1);
        cx.object.water = left.ok_or_else(|| Error::from("the tank is empty"))?;
        cx.object.made += 1;
        cx.message(format!("{} of {cups} cups", cx.object.made));
        Ok(Transition::stay())
    }
}

/// The coffee is on the table. Another order, which is a change of the spec, begins with heating water.
#[derive(TransitionTo)]
#[transition_to(Heating)]
#[state(ready)]
pub struct Served;

impl State for Served {
    async fn next(self, cx: &mut Context<'_, CoffeeMachine>) -> Result<Transition<Self>> {
        Ok(if cx.object.made < cx.manifest().spec.cups {
            Transition::to(Heating)
        } else {
            Transition::stay()
        })
    }
}

/// The machine needs a person to look at it.
#[derive(TransitionTo)]
#[state(failed)]
pub struct NeedsAttention;

impl State for NeedsAttention {
    async fn next(self, _: &mut Context<'_, CoffeeMachine>) -> Result<Transition<Self>> {
        Ok(Transition::stay())
    }
}
