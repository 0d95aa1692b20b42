use krator_derive::{Machine, TransitionTo};
use krator_runtime::{Context, LocalObject, ObjectState, Result, State, Transition};

struct Memory;

impl ObjectState for Memory {
    type Manifest = LocalObject;
    type SharedState = ();
}

#[derive(Machine, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[machine(object_state = Memory, initial = First, deletion = Second, finalizer = "example.com/things")]
enum ByHand {
    First,
    Second,
}

#[derive(TransitionTo)]
#[transition_to(Second)]
struct First;

#[derive(TransitionTo)]
#[transition_to(First)]
struct Second;

impl State for First {
    async fn next(self, _: &mut Context<'_, ByHand>) -> Result<Transition<Self>> {
        Ok(Transition::to(Second))
    }
}

impl State for Second {
    async fn next(self, _: &mut Context<'_, ByHand>) -> Result<Transition<Self>> {
        Ok(Transition::to(First))
    }
}

fn main() {}
