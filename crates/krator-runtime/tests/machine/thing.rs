//! An object without Kubernetes, and a machine whose states use every key of the language that matters to the
//! runtime.

use krator_runtime::{
    Context, Dispatch, Edit, Error, FieldValue, Final, Graph, Local, Machine, MachineStatus, MayStay, Node,
    Object, ObjectState, ObjectStatus, OnDelete, OnSpecChange, OwnCondition, Policy, Result, Retry, State,
    StateId, StateKind, Transition, TransitionTo, Watch, dispatch,
};
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::Duration,
};

pub const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// An object without Kubernetes.
#[derive(Clone, Debug, Default)]
pub struct Thing {
    pub generation: i64,
    pub version: u64,
    pub deleting: bool,
    pub finalizers: Vec<String>,
    pub label: u32,
    pub annotations: BTreeMap<String, String>,
    pub work: Work,
    /// The field that the machines with such a one read limits from.
    pub limit: Option<FieldValue>,
    /// The fields that the server drops from each status.
    pub dropped: Vec<&'static str>,
    pub status: Option<Status>,
}

/// What the handler of the state `Work` does.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Work {
    #[default]
    Succeed,
    Fail,
    FailForGood,
    Panic,
    Hang,
    SaveAndHang,
    FailThenSay,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Status {
    pub runs: u32,
    pub machine: MachineStatus,
}

impl Status {
    /// The fields that a server may drop.
    pub const FIELDS: [&str; 11] = [
        "runs",
        "state",
        "phase",
        "message",
        "entry",
        "stateEnteredTime",
        "attempts",
        "entries",
        "observedGeneration",
        "conditions",
        "conditions[*].observedGeneration",
    ];

    fn drop_field(&mut self, field: &str) {
        let machine = &mut self.machine;
        match field {
            "runs" => self.runs = 0,
            "state" => machine.state = None,
            "phase" => machine.phase = None,
            "message" => machine.message = None,
            "entry" => machine.entry = None,
            "stateEnteredTime" => machine.state_entered_time = None,
            "attempts" => machine.attempts = None,
            "entries" => machine.entries.clear(),
            "observedGeneration" => machine.observed_generation = None,
            "conditions" => machine.conditions.clear(),
            _ => {
                for condition in &mut machine.conditions {
                    condition.observed_generation = None;
                }
            }
        }
    }
}

impl ObjectStatus for Status {
    fn machine(&self) -> &MachineStatus {
        &self.machine
    }
    fn machine_mut(&mut self) -> &mut MachineStatus {
        &mut self.machine
    }
}

impl Object for Thing {
    type Status = Status;
    fn name(&self) -> &str {
        "thing"
    }
    fn namespace(&self) -> &str {
        "default"
    }
    fn uid(&self) -> &str {
        "1"
    }
    fn generation(&self) -> i64 {
        self.generation
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn deleting(&self) -> bool {
        self.deleting
    }
    fn has_finalizer(&self, name: &str) -> bool {
        self.finalizers.iter().any(|f| f == name)
    }
    fn same_labels(&self, other: &Self) -> bool {
        self.label == other.label && self.annotations == other.annotations
    }
    fn annotation(&self, name: &str) -> Option<&str> {
        self.annotations.get(name).map(String::as_str)
    }
    fn status(&self) -> Option<&Status> {
        self.status.as_ref()
    }
    fn edit(&mut self, edit: Edit<'_, Status>) {
        match edit {
            Edit::Version(version) => {
                assert!(version < 10_000, "it is written again and again");
                self.version = version;
            }
            Edit::Generation(generation) => self.generation = generation,
            Edit::Delete => self.deleting = true,
            Edit::Annotation(name, value) => {
                self.annotations.insert(name.to_owned(), value.to_owned());
            }
            Edit::Finalizer(name, true) => self.finalizers.push(name.to_owned()),
            Edit::Finalizer(name, false) => self.finalizers.retain(|f| f != name),
            Edit::Status(mut status) => {
                for field in &self.dropped {
                    status.drop_field(field);
                }
                self.status = Some(status);
            }
        }
    }
}

#[derive(Default)]
pub struct Memory;
#[derive(Default)]
pub struct Shared {
    pub dropped: AtomicU32,
}
impl ObjectState for Memory {
    type Manifest = Thing;
    type SharedState = Shared;
    async fn async_drop(self, shared: &Shared) {
        shared.dropped.fetch_add(1, Relaxed);
    }
}

macro_rules! states {
    ($($state:ident = $id:literal),*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum M { $($state),* }
        $(
            #[derive(Clone, Copy)]
            pub struct $state;
            impl Node for $state {
                type Machine = M;
                const ID: StateId = StateId($id);
            }
        )*
        impl Machine for M {
            type ObjectState = Memory;
            const GRAPH: &'static Graph<'static> = &GRAPH;
            fn id(self) -> StateId {
                StateId(self as u16)
            }
            fn from_id(id: StateId) -> Option<Self> {
                [$(M::$state),*].get(usize::from(id.0)).copied()
            }
            fn field_values(
                thing: &$crate::thing::Thing,
                _: Option<&$crate::thing::Status>,
            ) -> Vec<Option<krator_runtime::FieldValue>> {
                vec![thing.limit.clone()]
            }
            fn run<'a>(self, cx: &'a mut Context<'_, M>) -> Dispatch<'a> {
                match self { $(M::$state => dispatch($state, cx)),* }
            }
        }
    };
}
pub(crate) use states;
states!(
    New = 0,
    Work_ = 1,
    Rest = 2,
    Lost = 3,
    Once = 4,
    Check = 5,
    Spin = 6,
    Leave = 7,
    Gone = 8,
    Done = 9
);

pub static GRAPH: Graph =
    Graph::new(&STATES, New::ID, Some(Leave::ID), "example.com/things").conditions(&["Tired"]);
pub static STATES: [Policy; 10] = [
    Policy::new("New")
        .next(&[Work_::ID, Once::ID, Spin::ID])
        .no_checkpoint()
        .conditions(&[("Born", "True")]),
    Policy::new("Work")
        .phase("Working")
        .renamed_from(&["Toil"])
        .next(&[Rest::ID])
        .poll(seconds(5))
        .timeout(seconds(600), Lost::ID)
        .retry(Retry::DEFAULT.limit(3, Lost::ID)),
    Policy::new("Rest")
        .kind(StateKind::Ready)
        .next(&[Work_::ID])
        .watch(&[Watch::Itself])
        .conditions(&[("Fed", "True")])
        .on_spec_change(OnSpecChange::To(Work_::ID)),
    Policy::new("Lost")
        .kind(StateKind::Failed)
        .on_spec_change(OnSpecChange::To(New::ID)),
    Policy::new("Once")
        .next(&[Rest::ID])
        .once()
        .resume(Check::ID)
        .on_delete(OnDelete::Wait),
    Policy::new("Check").next(&[Rest::ID]).limit(2, Lost::ID),
    Policy::new("Spin").next(&[Check::ID]),
    Policy::new("Leave")
        .next(&[Gone::ID])
        .poll(seconds(1))
        .deletion_path(),
    Policy::new("Gone").kind(StateKind::Final).deletion_path(),
    Policy::new("Done")
        .kind(StateKind::Final)
        .on_delete(OnDelete::Wait),
];

impl TransitionTo<Work_> for New {}
impl TransitionTo<Rest> for Work_ {}
impl TransitionTo<Rest> for Once {}
impl TransitionTo<Rest> for Check {}
impl TransitionTo<Gone> for Leave {}
impl MayStay for Work_ {}
impl MayStay for Rest {}
impl MayStay for Lost {}
impl MayStay for Leave {}
impl Final for Gone {}
impl Final for Done {}
impl TransitionTo<Check> for Spin {}

/// The condition that the description declares; the others are set by states.
#[derive(Clone, Copy)]
pub enum OwnConditions {
    Tired,
}
impl OwnCondition for OwnConditions {
    type Machine = M;
    fn name(self) -> &'static str {
        match self {
            Self::Tired => "Tired",
        }
    }
}

pub type Cx<'a, 'b> = &'a mut Context<'b, M>;
impl State for New {
    async fn next(self, _: Cx<'_, '_>) -> Result<Transition<Self>> {
        Ok(Transition::to(Work_))
    }
}
impl State for Work_ {
    async fn next(self, cx: Cx<'_, '_>) -> Result<Transition<Self>> {
        cx.status_mut().runs += 1;
        match cx.manifest().work {
            Work::Fail => return Err(format!("attempt {}", cx.attempt()).into()),
            Work::FailForGood => return Err(Error::permanent("no use")),
            Work::Panic => panic!("too heavy"),
            Work::SaveAndHang => {
                cx.save().await?;
                assert_eq!(cx.manifest().status.as_ref().map(|s| s.runs), Some(1));
                std::future::pending().await
            }
            Work::FailThenSay if cx.attempt() == 1 => return Err("once".into()),
            Work::FailThenSay => {
                cx.message("better");
                return Ok(Transition::stay());
            }
            Work::Hang => std::future::pending().await,
            Work::Succeed => {}
        }
        if cx.first_run() {
            return Ok(Transition::stay());
        }
        Ok(Transition::to(Rest))
    }
}
impl State for Rest {
    async fn next(self, cx: Cx<'_, '_>) -> Result<Transition<Self>> {
        cx.event("Rested", format!("with the label {}", cx.manifest().label));
        cx.set(OwnConditions::Tired, false, "Slept", "well");
        Ok(Transition::stay())
    }
}
impl State for Lost {
    async fn next(self, _: Cx<'_, '_>) -> Result<Transition<Self>> {
        Ok(Transition::stay())
    }
}
impl State for Once {
    async fn next(self, _: Cx<'_, '_>) -> Result<Transition<Self>> {
        Err("cut short".into())
    }
}
impl State for Check {
    async fn next(self, _: Cx<'_, '_>) -> Result<Transition<Self>> {
        Ok(Transition::to(Rest))
    }
}
impl State for Spin {
    async fn next(self, _: Cx<'_, '_>) -> Result<Transition<Self>> {
        Ok(Transition::to(Check))
    }
}
impl State for Leave {
    async fn next(self, cx: Cx<'_, '_>) -> Result<Transition<Self>> {
        assert!(cx.deleting());
        Ok(if cx.first_run() {
            Transition::stay()
        } else {
            Transition::to(Gone)
        })
    }
}
impl State for Gone {
    async fn next(self, _: Cx<'_, '_>) -> Result<Transition<Self>> {
        Ok(Transition::done())
    }
}
impl State for Done {
    async fn next(self, _: Cx<'_, '_>) -> Result<Transition<Self>> {
        tokio::time::sleep(seconds(10)).await;
        Ok(Transition::done())
    }
}

pub fn thing(work: Work) -> Thing {
    Thing {
        generation: 1,
        version: 1,
        work,
        ..Thing::default()
    }
}

/// An object in the state that an earlier process stored.
pub fn stored(state: &str, work: Work) -> Thing {
    let machine = MachineStatus {
        state: Some(state.to_owned()),
        entry: "00000000000000ff".parse().ok(),
        observed_generation: Some(1),
        state_entered_time: Some(jiff::Timestamp::now()),
        ..MachineStatus::default()
    };
    Thing {
        status: Some(Status { runs: 0, machine }),
        ..thing(work)
    }
}

pub fn local(thing: Thing) -> Local<M> {
    local_of(thing)
}

/// An object in another machine of things.
pub fn local_of<M: Machine<ObjectState = Memory>>(thing: Thing) -> Local<M> {
    Local::new(thing, Memory, Arc::default())
}

pub fn trace(one: &Local<M>) -> Vec<(u64, M)> {
    one.trace()
        .iter()
        .map(|(at, state)| (at.as_secs(), *state))
        .collect()
}

pub fn machine<M: Machine<ObjectState = Memory>>(one: &Local<M>) -> MachineStatus {
    one.manifest().status.clone().unwrap_or_default().machine
}

pub fn condition<M: Machine<ObjectState = Memory>>(one: &Local<M>, kind: &str) -> String {
    let found = machine(one).conditions.into_iter().find(|c| c.kind == kind);
    found.map_or_else(String::new, |c| format!("{} {}", c.status, c.reason))
}
