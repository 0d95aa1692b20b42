//! A moose without Kubernetes, for the machine that krator generates.

#[path = "../../../../../testdata/ok/moose/expected/src/moose/generated/machine.rs"]
pub mod machine;

pub mod object {
    use krator_runtime::{Edit, MachineStatus, Object, ObjectState, ObjectStatus};

    pub struct MooseMemory;

    impl ObjectState for MooseMemory {
        type Manifest = Moose;
        type SharedState = ();
    }

    #[derive(Clone)]
    pub struct Moose;

    impl Object for Moose {
        type Status = Status;
        fn name(&self) -> &str {
            ""
        }
        fn namespace(&self) -> &str {
            ""
        }
        fn uid(&self) -> &str {
            ""
        }
        fn generation(&self) -> i64 {
            0
        }
        fn version(&self) -> u64 {
            0
        }
        fn deleting(&self) -> bool {
            false
        }
        fn has_finalizer(&self, _: &str) -> bool {
            false
        }
        fn same_labels(&self, _: &Self) -> bool {
            true
        }
        fn status(&self) -> Option<&Status> {
            None
        }
        fn edit(&mut self, _: Edit<'_, Status>) {}
    }

    #[derive(Clone, Default, PartialEq)]
    pub struct Status(MachineStatus);

    impl ObjectStatus for Status {
        fn machine(&self) -> &MachineStatus {
            &self.0
        }
        fn machine_mut(&mut self) -> &mut MachineStatus {
            &mut self.0
        }
    }
}

pub mod states {
    use super::machine::MooseMachine;
    use krator_runtime::{Context, Result, State, Transition};

    pub struct Tagged;
    pub struct Roam;
    pub struct Eat;
    pub struct Sleep;
    pub struct Lost;
    pub struct Released;

    macro_rules! handlers {
        ($($state:ident => $answer:expr,)*) => {$(
            impl State for $state {
                async fn next(self, _: &mut Context<'_, MooseMachine>) -> Result<Transition<Self>> {
                    Ok($answer)
                }
            }
        )*};
    }
    handlers! {
        Eat => Transition::to(Sleep),
        Lost => Transition::stay(),
    }
}
