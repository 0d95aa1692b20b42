//! Servers that do more than answer.

use super::Server;
use crate::{
    audit::Audit,
    controllers,
    conversion::Convert,
    faults::{Faults, Plan},
    rbac,
    snapshot::Snapshot,
    state::State,
    users::User,
    watching::WATCHES,
    workloads::{self, WorkloadSimulator},
    world::World,
};
use jiff::Timestamp;
use std::{
    io::Write,
    sync::{Arc, Mutex},
};
use tokio::sync::Semaphore;

/// The options of a server. [`Server::builder`] makes one.
#[derive(Default)]
#[must_use = "the server is made by `start`"]
pub struct Builder {
    rbac: bool,
    audit: Option<Audit>,
    faults: Option<Plan>,
    snapshot: Option<Snapshot>,
    workloads: Option<WorkloadSimulator>,
    convert: Option<Arc<Convert>>,
    simulated: Option<(Timestamp, u64)>,
}

impl Builder {
    /// Whether roles and bindings decide who may do what, as in a real cluster. Without it, whoever has a token may do
    /// everything.
    pub fn rbac(self, rbac: bool) -> Self {
        Self { rbac, ..self }
    }

    /// Writes a line about each request, as an `Event` of `audit.k8s.io/v1`.
    pub fn audit(self, log: impl Write + Send + 'static) -> Self {
        Self {
            audit: Some(Audit::new(log)),
            ..self
        }
    }

    /// Fails now and then, for tests of clients.
    pub fn faults(self, faults: Faults) -> Self {
        Self {
            faults: Some(Plan::new(faults)),
            ..self
        }
    }

    /// Begins with the objects of another server, instead of with none.
    pub fn restore(self, snapshot: Snapshot) -> Self {
        Self {
            snapshot: Some(snapshot),
            ..self
        }
    }

    /// Lets workloads become ready or fail after a time, although nothing runs them. Without it they stay as they are
    /// created.
    pub fn workloads(self, simulator: WorkloadSimulator) -> Self {
        Self {
            workloads: Some(simulator),
            ..self
        }
    }

    /// Converts custom resources in place of webhooks that their definitions name by a Service, which nothing here serves.
    /// Without it, such a conversion fails as it does where nobody answers. A webhook with a `url` is called, with or without it.
    pub fn convert(self, convert: Arc<Convert>) -> Self {
        Self {
            convert: Some(convert),
            ..self
        }
    }

    /// Simulates the server: its clock begins at this time and goes on with tokio's, which tests can pause, and its uids and
    /// generated names are those of the seed. The same requests have the same answers then.
    pub fn simulated(self, began: Timestamp, seed: u64) -> Self {
        Self {
            simulated: Some((began, seed)),
            ..self
        }
    }

    /// Starts the server, with the namespaces, roles and bindings that every cluster has.
    ///
    /// # Panics
    ///
    /// Outside of a runtime of tokio, which runs its garbage collector.
    pub fn start(self) -> Server {
        let world = self.simulated.map(|(began, seed)| World::simulated(began, seed));
        let world = Arc::new(world.unwrap_or_default());
        let mut state = State::new(Arc::clone(&world));
        state.kinds.convert = self.convert;
        rbac::seed(&mut state);
        if let Some(snapshot) = self.snapshot {
            snapshot.restore(&mut state);
        }
        state.rbac = self.rbac;
        let state = Arc::new(Mutex::new(state));
        tokio::spawn(controllers::run(Arc::downgrade(&state)));
        tokio::spawn(controllers::run_definitions(Arc::downgrade(&state)));
        if let Some(simulator) = self.workloads {
            tokio::spawn(workloads::run(Arc::downgrade(&state), simulator));
        }
        Server {
            state,
            world,
            caller: Arc::new(User::admin()),
            audit: self.audit,
            faults: self.faults,
            watches: Arc::new(Semaphore::new(WATCHES)),
        }
    }
}
