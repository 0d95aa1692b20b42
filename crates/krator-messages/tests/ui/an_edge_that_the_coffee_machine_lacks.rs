use coffee_machine::{Brewing, Heating};
use krator_runtime::Transition;

fn cool_down() -> Transition<Brewing> {
    Transition::to(Heating)
}

fn main() {}
