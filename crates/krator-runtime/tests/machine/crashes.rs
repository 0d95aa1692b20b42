//! Handlers that are wrong in ten ways, each beside one that does the same and is right: `testing::crashes` refuses the first
//! and accepts the second.

use k8s_openapi::api::{
    batch::v1::Job,
    core::v1::{ConfigMap, Secret},
};
use krator_runtime::{
    Child, Context, Dispatch, Error, Exit, Fallible as _, Grants, Graph, Link, Linked, Machine,
    MachineStatus, ObjectState, ObjectStatus, Owns, Policy, Result, StateId, StateKind, testing::crashes,
};
use kube::{CustomResource, api::PostParams};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::Duration,
};

#[derive(CustomResource, Clone, Debug, Default, Serialize, Deserialize)]
#[kube(
    group = "example.com",
    version = "v1",
    kind = "Thing",
    status = "Status",
    schema = "disabled",
    derive = "Default",
    namespaced
)]
pub struct ThingSpec {}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Status {
    count: u32,
    value: Option<String>,
    #[serde(flatten)]
    machine: MachineStatus,
}

impl ObjectStatus for Status {
    fn machine(&self) -> &MachineStatus {
        &self.machine
    }
    fn machine_mut(&mut self) -> &mut MachineStatus {
        &mut self.machine
    }
}

/// What a process remembers of an object.
#[derive(Default)]
struct Memory {
    value: Option<String>,
}

/// What a process remembers of all objects, and an outside system.
struct Shared {
    handler: Handler,
    known: Mutex<BTreeSet<String>>,
    bank: Arc<AtomicU32>,
}

impl ObjectState for Memory {
    type Manifest = Thing;
    type SharedState = Shared;
}

/// All handlers of a machine.
type Handler = for<'a> fn(M, &'a mut Cx<'_>) -> Dispatch<'a>;
type Cx<'a> = Context<'a, M>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum M {
    First,
    Second,
    Pay,
    Check,
    Done,
    Lost,
    Clean,
    Gone,
}
use M::{Check, Clean, Done, First, Gone, Lost, Pay, Second};

const ALL: [M; 8] = [First, Second, Pay, Check, Done, Lost, Clean, Gone];

const fn id(state: M) -> StateId {
    StateId(state as u16)
}

static GRAPH: Graph = Graph::new(&STATES, id(First), Some(id(Clean)), "example.com/things");
static STATES: [Policy; 8] = [
    Policy::new("First")
        .next(&[id(Second), id(Pay)])
        .retry(krator_runtime::Retry::DEFAULT.limit(9, id(Lost))),
    Policy::new("Second")
        .next(&[id(Done)])
        .poll(Duration::from_secs(5)),
    Policy::new("Pay").next(&[id(Done)]).once().resume(id(Check)),
    Policy::new("Check").next(&[id(Pay), id(Done), id(Lost)]),
    Policy::new("Done").kind(StateKind::Ready),
    Policy::new("Lost").kind(StateKind::Failed),
    Policy::new("Clean").next(&[id(Gone)]).deletion_path(),
    Policy::new("Gone").kind(StateKind::Final).deletion_path(),
];

impl Machine for M {
    type ObjectState = Memory;
    const GRAPH: &'static Graph<'static> = &GRAPH;
    fn id(self) -> StateId {
        id(self)
    }
    fn from_id(id: StateId) -> Option<Self> {
        ALL.get(usize::from(id.0)).copied()
    }
    fn run<'a>(self, cx: &'a mut Cx<'_>) -> Dispatch<'a> {
        (cx.shared.handler)(self, cx)
    }
}
impl Linked for M {
    fn links() -> Vec<Link<M>> {
        vec![
            Link::owned::<Job>("batch/v1.Job"),
            Link::owned::<Secret>("core/v1.Secret"),
            Link::owned::<ConfigMap>("core/v1.ConfigMap"),
        ]
    }
}
impl Grants<Job> for M {}
impl Owns<Job> for M {}
impl Grants<Secret> for M {}
impl Owns<Secret> for M {}
impl Grants<ConfigMap> for M {}
impl Owns<ConfigMap> for M {}

fn to(state: M) -> Result<Exit> {
    Ok(Exit::To(id(state)))
}

/// Where states lead that do nothing.
fn usual(state: M) -> Result<Exit> {
    match state {
        First => to(Second),
        Second | Pay | Check => to(Done),
        Done | Lost => Ok(Exit::Stay),
        Clean => to(Gone),
        Gone => Ok(Exit::Done),
    }
}

/// A number that no other call returns.
fn drawn() -> String {
    static DRAWN: AtomicU32 = AtomicU32::new(0);
    format!("drawn-{}", DRAWN.fetch_add(1, Relaxed))
}

fn object<K: Child>(metadata: &Value, data: &Value) -> K {
    serde_json::from_value(json!({"metadata": metadata, "data": data})).expect("an object of the kind")
}

/// A ConfigMap `map` with this value.
async fn map(cx: &Cx<'_>, value: &str) -> Result<()> {
    cx.apply(&object::<ConfigMap>(
        &json!({"name": "map"}),
        &json!({"value": value}),
    ))
    .await?;
    Ok(())
}

/// Writes `async` handlers as functions of one type.
macro_rules! handlers {
    ($($name:ident($state:ident, $cx:ident) $body:block)*) => {
        $(fn $name<'a>($state: M, $cx: &'a mut Cx<'_>) -> Dispatch<'a> {
            Box::pin(async move $body)
        })*
    };
}

handlers! {
    // A Job is made twice, because each has another name.
    job_twice(state, cx) {
        if state == First {
            let job: Job = serde_json::from_value(json!({"metadata": {"generateName": "job-"}}))?;
            cx.api::<Job>().create(&PostParams::default(), &job).await?;
        }
        usual(state)
    }
    job_by_name(state, cx) {
        if state == First {
            let job: Job = serde_json::from_value(json!({"metadata": {"name": cx.name()}}))?;
            cx.apply(&job).await?;
        }
        usual(state)
    }

    // The counter is stored before the state in which nothing is counted any more.
    counter_before(state, cx) {
        if state == First {
            cx.status_mut().count += 1;
            cx.save().await?;
        }
        usual(state)
    }
    counter_with(state, cx) {
        if state == First {
            cx.status_mut().count += 1;
        }
        usual(state)
    }

    // The value that the next state needs is in memory only.
    value_in_memory(state, cx) {
        match state {
            First => cx.object.value = Some("kept".to_owned()),
            Second => map(cx, cx.object.value.as_deref().unwrap_or("forgotten")).await?,
            _ => {}
        }
        usual(state)
    }
    value_in_status(state, cx) {
        match state {
            First => cx.status_mut().value = Some("kept".to_owned()),
            Second => map(cx, cx.status().value.as_deref().unwrap_or("forgotten")).await?,
            _ => {}
        }
        usual(state)
    }

    // Each run draws another password, and somebody may have read the first one.
    secret_anew(state, cx) {
        if state == First {
            let data = json!({"password": k8s_openapi::ByteString(drawn().into_bytes())});
            cx.apply(&object::<Secret>(&json!({"name": "secret"}), &data)).await?;
        }
        usual(state)
    }
    secret_once(state, cx) {
        if state == First && cx.owned::<Secret>().await?.is_empty() {
            let data = json!({"password": k8s_openapi::ByteString(drawn().into_bytes())});
            cx.apply(&object::<Secret>(&json!({"name": "secret"}), &data)).await?;
        }
        usual(state)
    }

    // What is there already is an error, each time.
    exists_is_an_error(state, cx) {
        if state == First {
            let map: ConfigMap = object(&json!({"name": "map"}), &json!({}));
            cx.api::<ConfigMap>().create(&PostParams::default(), &map).await?;
        }
        usual(state)
    }
    exists_is_fine(state, cx) {
        if state == First {
            let map: ConfigMap = object(&json!({"name": "map"}), &json!({}));
            match cx.api::<ConfigMap>().create(&PostParams::default(), &map).await {
                Err(kube::Error::Api(status)) if status.code == 409 => {}
                created => drop(created?),
            }
        }
        usual(state)
    }

    // What is gone already is an error, each time.
    gone_is_an_error(state, cx) {
        match state {
            First => map(cx, "there").await?,
            Clean => {
                cx.api::<ConfigMap>().delete("map", &Default::default()).await?;
            }
            _ => {}
        }
        usual(state)
    }
    gone_is_fine(state, cx) {
        match state {
            First => map(cx, "there").await?,
            Clean => {
                for map in cx.owned::<ConfigMap>().await? {
                    cx.delete(&*map).await?;
                }
            }
            _ => {}
        }
        usual(state)
    }

    // A conflict passes, but here nothing is tried again.
    conflict_for_good(state, cx) {
        if state == First {
            map(cx, "first").await?;
            let maps = cx.api::<ConfigMap>();
            let mut map = maps.get("map").await?;
            map.data = Some([("value".to_owned(), "second".to_owned())].into());
            let replaced = maps.replace("map", &PostParams::default(), &map).await;
            replaced.map_err(|error| Error::permanent(error.to_string()))?;
        }
        usual(state)
    }
    conflict_again(state, cx) {
        if state == First {
            map(cx, "first").await?;
            let maps = cx.api::<ConfigMap>();
            let mut map = maps.get("map").await?;
            map.data = Some([("value".to_owned(), "second".to_owned())].into());
            maps.replace("map", &PostParams::default(), &map).await.context("the map")?;
        }
        usual(state)
    }

    // Nobody looks whether it was paid.
    pays_again(state, cx) {
        match state {
            First => to(Pay),
            Pay => {
                cx.shared.bank.fetch_add(1, Relaxed);
                to(Done)
            }
            Check => to(Pay),
            _ => usual(state),
        }
    }
    pays_once(state, cx) {
        match state {
            First => to(Pay),
            Pay => {
                cx.shared.bank.fetch_add(1, Relaxed);
                to(Done)
            }
            Check if cx.shared.bank.load(Relaxed) == 0 => to(Pay),
            _ => usual(state),
        }
    }

    // The name is stored after what it names.
    name_too_late(state, cx) {
        if state == First && cx.status().value.is_none() {
            let name = drawn();
            cx.apply(&object::<ConfigMap>(&json!({"name": name}), &json!({}))).await?;
            cx.status_mut().value = Some(name);
        }
        usual(state)
    }
    name_before(state, cx) {
        if state == First {
            if cx.status().value.is_none() {
                cx.status_mut().value = Some(drawn());
                cx.save().await?;
            }
            let name = cx.status().value.clone();
            cx.apply(&object::<ConfigMap>(&json!({"name": name}), &json!({}))).await?;
        }
        usual(state)
    }

    // The state that all objects share is that of a process.
    known_in_memory(state, cx) {
        let mut known = cx.shared.known.lock().expect("nothing panics");
        match state {
            First => drop(known.insert(cx.name().to_owned())),
            Second if !known.contains(cx.name()) => return Ok(Exit::Stay),
            _ => {}
        }
        usual(state)
    }
    known_again(state, cx) {
        let mut known = cx.shared.known.lock().expect("nothing panics");
        if matches!(state, First | Second) {
            known.insert(cx.name().to_owned());
        }
        usual(state)
    }

    // Times, and names that follow from chance, are not the same in any two runs.
    times_and_names(state, cx) {
        if state == First {
            let metadata = json!({"name": format!("map-{}", cx.entry())});
            let data = json!({"at": cx.now().to_string(), "until": format!("not before {}", cx.now())});
            cx.apply(&object::<ConfigMap>(&metadata, &data)).await?;
        }
        usual(state)
    }

    // An error leads the object elsewhere, as the description says.
    looks_and_gives_up(state, cx) {
        match state {
            First => to(Pay),
            Pay => {
                map(cx, "paid").await?;
                to(Done)
            }
            Check if cx.owned::<ConfigMap>().await?.is_empty() => to(Lost),
            _ => usual(state),
        }
    }
}

/// Runs the handlers, up to the ready state or to the end of the object. Returns how they are wrong.
fn judged(handler: Handler, to_the_end: bool) -> Option<String> {
    let clock = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("tokio can start");
    let scenario = crashes::<M>(async |surroundings| {
        let bank = Arc::new(AtomicU32::new(0));
        let process = move || {
            let shared = Shared {
                handler,
                known: Mutex::default(),
                bank: Arc::clone(&bank),
            };
            (Memory::default(), Arc::new(shared))
        };
        let mut thing = Thing::new("thing", ThingSpec::default());
        thing.metadata.namespace = Some("default".to_owned());
        let mut thing = surroundings.local(thing, process);
        thing.run_until(|state| state == Done).await;
        if to_the_end {
            thing.run_until_idle().await;
            thing.handle().delete();
            thing.run().await;
        }
        thing
    });
    let panic = catch_unwind(AssertUnwindSafe(|| clock.block_on(scenario))).err()?;
    let text = panic.downcast_ref::<String>().cloned();
    Some(text.unwrap_or_else(|| "a panic without a text".to_owned()))
}

#[test]
fn handlers_that_are_wrong_in_ten_ways_are_red_and_right_ones_green() {
    let pairs: [(Handler, Handler, bool, &str); 10] = [
        (
            job_twice,
            job_by_name,
            false,
            "2 objects instead of 1 are left in /apis/batch/v1/jobs",
        ),
        (
            counter_before,
            counter_with,
            false,
            "`.status.count` is 2 instead of 1",
        ),
        (
            value_in_memory,
            value_in_status,
            false,
            "is \"forgotten\" instead of \"kept\"",
        ),
        (
            secret_anew,
            secret_once,
            false,
            "`.data.password` of Secret `secret` is generated again",
        ),
        (exists_is_an_error, exists_is_fine, false, "the scenario panics"),
        (gone_is_an_error, gone_is_fine, true, "the scenario panics"),
        (conflict_for_good, conflict_again, false, "the scenario panics"),
        (
            pays_again,
            pays_once,
            false,
            "`Pay`, which has `effects: once`, has finished 2 times",
        ),
        (
            name_too_late,
            name_before,
            false,
            "2 objects instead of 1 are left in /api/v1/configmaps",
        ),
        (known_in_memory, known_again, false, "the scenario panics"),
    ];
    for (nth, (wrong, right, to_the_end, red)) in pairs.into_iter().enumerate() {
        let nth = nth + 1;
        let found = judged(wrong, to_the_end);
        let found = found.unwrap_or_else(|| panic!("wrong handler {nth} is green"));
        assert!(found.contains(red), "wrong handler {nth}:\n{found}");
        assert_eq!(judged(right, to_the_end), None, "right handler {nth}");
    }
}

#[test]
fn what_differs_between_two_runs_without_faults_is_no_difference() {
    assert_eq!(judged(times_and_names, true), None);
}

#[test]
fn a_fault_may_lead_the_object_to_where_resume_does() {
    assert_eq!(judged(looks_and_gives_up, false), None);
}
