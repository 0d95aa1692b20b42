use krator_derive::{Machine, TransitionTo};

#[derive(TransitionTo)]
#[state(steady)]
struct Steady;

#[derive(TransitionTo)]
struct Loaded(u32);

#[derive(Machine)]
#[machine(object_state = (), initial = Nowhere)]
enum NoSuchState {
    Somewhere,
}

#[derive(Machine)]
#[machine(object_state = (), initial = Somewhere, deletion = Somewhere)]
enum NoFinalizer {
    Somewhere,
}

fn main() {}
