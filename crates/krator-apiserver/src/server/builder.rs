//! The options of servers.

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

/// The options of a server, from [`Server::builder`].
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
    /// Whether roles and bindings authorize requests, as in a real cluster. Without it, every user may do everything.
    pub fn rbac(self, rbac: bool) -> Self {
        Self { rbac, ..self }
    }

    /// Writes a line for each request, as an `Event` of `audit.k8s.io/v1`.
    pub fn audit(self, log: impl Write + Send + 'static) -> Self {
        Self {
            audit: Some(Audit::new(log)),
            ..self
        }
    }

    /// Injects faults, for tests of clients.
    pub fn faults(self, faults: Faults) -> Self {
        Self {
            faults: Some(Plan::new(faults)),
            ..self
        }
    }

    /// Starts with the objects of another server.
    pub fn restore(self, snapshot: Snapshot) -> Self {
        Self {
            snapshot: Some(snapshot),
            ..self
        }
    }

    /// Simulates workloads, which become ready or fail after a time although nothing runs them. Without it, their
    /// status does not change.
    pub fn workloads(self, simulator: WorkloadSimulator) -> Self {
        Self {
            workloads: Some(simulator),
            ..self
        }
    }

    /// Converts custom resources instead of conversion webhooks that refer to a Service, because this server has no
    /// Services. Without it, such a conversion fails as if the Service did not exist. A webhook with a `url` is always
    /// called.
    pub fn convert(self, convert: Arc<Convert>) -> Self {
        Self {
            convert: Some(convert),
            ..self
        }
    }

    /// Simulates the server: its clock starts at this time and advances with tokio's clock, which tests can pause, and
    /// its uids and generated names depend on the seed. The same requests then have the same responses.
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
    /// Outside of a tokio runtime, which runs the garbage collector.
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
