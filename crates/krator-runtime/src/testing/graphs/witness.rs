//! A world in memory that records everything that is stored, and injects faults into writes.
use super::{
    recorder::{Note, Recorder},
    scripted::{Plan, Role, Scripted, TestObject},
};
use crate::{
    engine::Moved,
    error::Result,
    graph::Graph,
    local::{FaultKind, Hooks, Memory, with_fault},
    world::WriteError,
};
use jiff::Timestamp;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

/// Records the events of an object in memory, and injects faults into its writes.
pub(super) struct Witness<'g> {
    pub graph: &'g Graph<'g>,
    pub role: Role,
    pub writes: AtomicUsize,
}

/// A world with a witness.
pub(super) type Witnessed<'g> = Memory<Scripted, Witness<'g>>;

/// A world with this object, which obeys the graph.
pub(super) fn world<'g>(
    graph: &'g Graph<'g>,
    object: TestObject,
    began: Timestamp,
    recorder: Recorder,
    plan: Arc<dyn Plan>,
) -> Witnessed<'g> {
    let world = Memory::new(
        object,
        Arc::default(),
        Arc::new(()),
        graph.finalizer,
        began,
        |outside| Witness {
            graph,
            role: Role {
                recorder: Arc::new(recorder),
                outside: outside.clone(),
                plan,
            },
            writes: AtomicUsize::new(0),
        },
    );
    world.hooks.look();
    world
}

impl Witness<'_> {
    /// Notes the stored object.
    pub fn look(&self) {
        self.role.look(self.graph);
    }
}

impl Hooks<Scripted> for Witness<'_> {
    async fn write<T: Send>(
        &self,
        _: &'static str,
        write: impl FnOnce() -> Result<T, WriteError> + Send,
    ) -> Result<T, WriteError> {
        let nth = self.writes.fetch_add(1, Relaxed);
        let kind = self.role.plan.before_write(nth, &self.role, self.graph).await;
        if kind == Some(FaultKind::AnotherClientIsFaster) {
            self.role.outside.update_unseen(TestObject::relabel);
        }
        let write = async {
            let written = write();
            self.look();
            written
        };
        let failed = || WriteError::Other("no answer".into());
        with_fault(kind, &self.role.recorder.dies, write, failed).await
    }
    fn initialize(&self) -> Result<Role> {
        Ok(self.role.clone())
    }
    fn has_place(&self) -> bool {
        self.role.plan.has_place()
    }
    fn moved(&self, moved: &Moved<'_>) {
        self.role.recorder.note(Note::Moved {
            from: moved.from.map(|from| from.name.to_owned()),
            to: moved.to.name.to_owned(),
            entry: moved.entry,
            cause: moved.cause,
        });
    }
}
