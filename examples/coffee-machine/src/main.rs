//! Makes two cups, in real time, and prints each event with its time.

use std::sync::Arc;

use coffee_machine::{CoffeeMachine, Order, Sensors};
use krator_runtime::{Local, LocalObject};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let sensors = Sensors {
        celsius: 80,
        water: 4,
        made: 0,
    };
    let order = LocalObject::new("table 7", Order { cups: 2 });
    let mut order = Local::<CoffeeMachine>::new(order, sensors, Arc::new(()));
    order
        .run_until(|state| matches!(state, CoffeeMachine::Served | CoffeeMachine::NeedsAttention))
        .await;
    for (at, state) in order.trace() {
        println!("{:>4} s  {state:?}", at.as_secs());
    }
}
