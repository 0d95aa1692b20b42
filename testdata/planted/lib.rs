//! What generated code needs around it, without Kubernetes: objects in memory, and handlers that never run.

pub mod thing {
    #[path = "machine.rs"]
    pub mod machine;
    #[cfg(test)]
    #[path = "tests.rs"]
    mod tests;

    pub mod object {
        use krator_runtime::{Edit, MachineStatus, Object, ObjectState, ObjectStatus};

        pub struct ThingMemory;

        impl ObjectState for ThingMemory {
            type Manifest = Thing;
            type SharedState = ();
        }

        #[derive(Clone)]
        pub struct Thing;

        impl Object for Thing {
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
        use super::machine::ThingMachine;
        use krator_runtime::{Context, Result, State, Transition};

        macro_rules! states {
            ($($state:ident: $written:literal),*) => {$(
                pub struct $state;
                impl State for $state {
                    const WRITTEN: bool = $written;
                    async fn next(self, _: &mut Context<'_, ThingMachine>) -> Result<Transition<Self>> {
                        std::future::pending().await
                    }
                }
            )*};
        }
        states!(New: true, Working: false, Paying: true, Looking: true, Resting: true, Lost: true, Closed: true,
            Leaving: true, Gone: true);
    }

    /// Where an edge begins, why it is taken, and where it leads.
    #[cfg(test)]
    type Edge = (krator_runtime::StateId, krator_runtime::testing::Cause, Option<krator_runtime::StateId>);

    /// Takes all edges, as if all handlers were written.
    #[cfg(test)]
    fn take(edges: &[Edge]) {
        use krator_runtime::{Machine as _, testing::drive_written};

        let clock = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        let clock = clock.expect("tokio can start");
        let mut wrong = Vec::new();
        for &(from, cause, to) in edges {
            wrong.extend(clock.block_on(drive_written(machine::ThingMachine::GRAPH, from, cause, to)));
        }
        assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    }

    #[test]
    fn a_handler_that_nobody_has_written_takes_no_edge() {
        use krator_runtime::testing::{Cause, drive};
        use krator_runtime::{Exit, Machine as _, Node as _};

        let clock = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        let graph = machine::ThingMachine::GRAPH;
        let cause = Cause::Code(Exit::Stay);
        let wrong = clock.expect("tokio can start").block_on(drive(graph, states::Working::ID, cause, None));
        assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    }

    /// What an author writes in `conversions.rs`.
    #[cfg(test)]
    mod conversions {
        use krator_runtime::versions::Direction;
        use serde_json::{Value, json};

        fn convert(_: &str, direction: Direction, value: Option<Value>) -> Result<Option<Value>, String> {
            let value = value.unwrap_or_default();
            let text = |field: &str| value[field].as_str().unwrap_or_default().to_owned();
            Ok(Some(match direction {
                Direction::Up => {
                    let parts = value.as_str().unwrap_or_default().split_once('=');
                    let (key, value) = parts.ok_or("there is no = in it")?;
                    json!({"key": key, "value": value})
                }
                Direction::Down => format!("{}={}", text("key"), text("value")).into(),
            }))
        }

        #[test]
        fn conversions_lose_nothing() {
            let [versions, specs] = [include_str!("thing/versions.json"), include_str!("thing/specs.json")];
            krator_runtime::testing::conversions(versions, &convert, specs);
        }
    }
}
