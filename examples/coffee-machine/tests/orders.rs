//! Orders on a stopped clock.

use std::sync::Arc;

use coffee_machine::{CoffeeMachine, Order, Sensors};
use krator_runtime::{Local, LocalObject};

fn order(cups: u32, water: u32) -> Local<CoffeeMachine> {
    let sensors = Sensors {
        celsius: 20,
        water,
        made: 0,
    };
    Local::new(LocalObject::new("table 7", Order { cups }), sensors, Arc::new(()))
}

#[tokio::test(start_paused = true)]
async fn two_cups_take_a_minute_and_a_half() {
    let mut order = order(2, 4);
    order.run_until(|state| state == CoffeeMachine::Served).await;
    let trace: Vec<_> = order
        .trace()
        .iter()
        .map(|(at, state)| (at.as_secs(), *state))
        .collect();
    assert_eq!(
        trace,
        [
            (0, CoffeeMachine::Heating),
            (18, CoffeeMachine::Brewing),
            (78, CoffeeMachine::Served)
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn an_empty_tank_needs_attention() {
    let mut order = order(3, 1);
    order
        .run_until(|state| state == CoffeeMachine::NeedsAttention)
        .await;
    order.run_until_idle().await;
    let status = order.manifest().status.clone().expect("a status was written");
    let message = status.machine.message.expect("a message was written");
    assert!(message.contains("the tank is empty"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn another_order_is_served_too() {
    let mut order = order(1, 4);
    order.run_until(|state| state == CoffeeMachine::Served).await;
    order.handle().update_spec(|order| order.spec.cups = 2);
    order.run_until(|state| state == CoffeeMachine::Heating).await;
    order.run_until(|state| state == CoffeeMachine::Served).await;
}
