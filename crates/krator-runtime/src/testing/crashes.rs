//! The handlers of an operator under crashes, conflicts and errors.
#[cfg(feature = "kube")]
mod left;

use crate::{
    error::message_of,
    local::{Fault, FaultKind, InMemoryApi, Local, Noted, Point, Trial},
    machine::{Machine, ManifestOf, Object as _, SharedOf, StatusOf},
    status::{MachineStatus, ObjectStatus as _},
};
use futures::FutureExt as _;
use jiff::{SignedDuration, Timestamp};
use std::{
    any::Any,
    collections::BTreeMap,
    fmt::Write as _,
    marker::PhantomData,
    panic::{AssertUnwindSafe, resume_unwind},
    sync::Arc,
};

/// The number of listed faults with the same effect, and of listed states on the path of one of them.
const LISTED: usize = 3;
const LISTED_STATES: usize = 20;

/// The second run without faults has another time and other random numbers, so that values that depend on them are
/// recognized: they differ between the two runs. An hour is longer than any delay by a fault.
const LATER: SignedDuration = SignedDuration::from_secs(3_723);
const OTHER_SEED: u64 = 0x5eed_0417;

/// Runs your handlers under crashes: a scenario once without faults, and then again for each fault at each write of the
/// object and at each request that handlers make through `cx`. The process ends before or after the request, the
/// request fails, its response is lost, or another client was faster, which is a conflict.
///
/// The scenario starts the operator of one object in the surroundings that are passed to it, drives the object to the
/// place where it has to rest, and returns it. The surroundings outlive a process: the stored object, and the objects
/// of other kinds. The memory of handlers, `cx.object` and `cx.shared`, is created for each process by the closure that
/// starts it; a simulated outside system, which outlives processes as well, belongs before that closure.
///
/// ```
#[doc = include_str!("../doc/website.txt")]
#[doc = include_str!("../doc/publish.txt")]
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(async {
/// use krator_runtime::testing::crashes;
///
/// crashes::<WebsiteMachine>(async |surroundings| {
///     let process = || (WebsiteMemory::default(), Arc::default());
///     let mut website = surroundings.local(Website::default(), process);
///     website.run_until(|state| state == WebsiteMachine::Live).await;
///     website
/// })
/// .await;
/// # });
/// ```
///
/// Each run has to come to rest like the run without faults:
///
/// - in the same state, or in a state that the description allows for the fault, by `resume` or by a `retry` with the
///   limit 0;
/// - with the same objects of other kinds and the same fields of its status. Times, versions and uids may differ, and
///   so may names and values that differ between two runs without faults: a random identifier, or the time in a name.
///   Such a value is created once, so it must not change after it was stored;
/// - without a second completed run of a handler with `effects: once`, unless this happens without faults.
///
/// [`Local::run_until_idle`] waits here until the object rests where it rested without the fault, which may take a few
/// more attempts, before the scenario continues.
///
/// The scenario has to run on tokio's paused clock.
///
/// # Panics
///
/// If a run differs from the run without faults. The message contains the differences, and the faults that cause them.
pub async fn crashes<M: Machine>(scenario: impl AsyncFn(Surroundings<M>) -> Local<M>) {
    let wrong = differences(&scenario).await;
    assert!(wrong.is_empty(), "{}", report(&wrong));
}

/// The surroundings that outlive the processes of an operator in one run of a scenario; see [`crashes`].
pub struct Surroundings<M> {
    trial: Arc<Trial>,
    others: Arc<InMemoryApi>,
    machine: PhantomData<fn() -> M>,
}

impl<M: Machine> Surroundings<M> {
    /// Starts the operator of this object. `process` creates the memory of a process, that of the object and that of
    /// all objects of the kind; it is called again for each process.
    pub fn local(
        self,
        manifest: ManifestOf<M>,
        process: impl Fn() -> (M::ObjectState, Arc<SharedOf<M>>) + Send + 'static,
    ) -> Local<M> {
        Local::tried(&self.trial, self.others, manifest, Box::new(process))
    }
}

/// The differences from the run without faults, each with the faults that cause it.
type Differences = BTreeMap<String, Vec<String>>;

async fn differences<M: Machine>(scenario: &impl AsyncFn(Surroundings<M>) -> Local<M>) -> Differences {
    // Read only once, because the real time passes between two readings.
    let began = Timestamp::now();
    let plain = run(scenario, Trial::new(began, 0, None)).await;
    let again = run(scenario, Trial::new(began + LATER, OTHER_SEED, None)).await;
    let [plain, again] = [plain, again].map(|ran| match ran.end {
        End::Panicked(payload) => resume_unwind(payload),
        _ => ran,
    });
    let noted = plain.noted.clone();
    let like = Like { plain, again };
    let mut wrong = Differences::new();
    let points = noted.points.iter().enumerate();
    for fault in points.flat_map(|(nth, point)| point.faults(nth)) {
        let ran = run(scenario, Trial::new(began, 0, Some((fault, &noted)))).await;
        let name = described(fault, &noted.points[fault.write], ran.path());
        for difference in like.differences(ran) {
            wrong.entry(difference).or_default().push(name.clone());
        }
    }
    wrong
}

/// The description of a fault with the path of the object.
fn described(fault: Fault, point: &Point, path: String) -> String {
    let (nth, what) = (fault.write + 1, &point.what);
    let happens = match fault.kind {
        FaultKind::DiesBefore => "the process ends before",
        FaultKind::DiesAfter => "the process ends after",
        FaultKind::Fails => "there is an error instead of",
        FaultKind::AnswerIsLost => "there is no answer to",
        FaultKind::AnotherClientIsFaster => "there is a conflict at",
    };
    format!("{happens} {what} (number {nth}){path}")
}

fn report(wrong: &Differences) -> String {
    let mut report = "the object does not reach the state that it reaches without faults:".to_owned();
    for (difference, faults) in wrong {
        let _ = write!(report, "\n{difference}, if");
        for fault in faults.iter().take(LISTED) {
            let _ = write!(report, "\n    {fault}");
        }
        if let Some(more) = faults.len().checked_sub(LISTED).filter(|more| *more > 0) {
            let _ = write!(report, "\n    and at {more} more");
        }
    }
    report
}

/// A run of the scenario.
struct Ran<M: Machine> {
    noted: Noted,
    end: End<M>,
    #[cfg(feature = "kube")]
    left: left::Left,
}

/// The end of a run.
enum End<M: Machine> {
    /// The object rests, or is gone.
    Rests {
        state: Option<M>,
        manifest: Option<Arc<ManifestOf<M>>>,
        entered: Vec<M>,
    },
    /// The scenario does not describe the path on which the object is.
    Elsewhere,
    Panicked(Box<dyn Any + Send>),
}

async fn run<M: Machine>(scenario: &impl AsyncFn(Surroundings<M>) -> Local<M>, trial: Trial) -> Ran<M> {
    let trial = Arc::new(trial);
    let others = Arc::new(InMemoryApi::tried(&trial));
    let surroundings = Surroundings {
        trial: Arc::clone(&trial),
        others: Arc::clone(&others),
        machine: PhantomData,
    };
    let whole = async {
        let mut local = scenario(surroundings).await;
        local.run_until_idle().await;
        End::Rests {
            state: local.state().filter(|_| !local.is_over()),
            manifest: local.handle().stored(),
            entered: local.trace().iter().map(|(_, state)| *state).collect(),
        }
    };
    let end = tokio::select! {
        biased;
        end = AssertUnwindSafe(whole).catch_unwind() => end.unwrap_or_else(End::Panicked),
        () = trial.ends.notified() => End::Elsewhere,
    };
    Ran {
        noted: trial.noted().clone(),
        end,
        #[cfg(feature = "kube")]
        left: left::Left::of(&others),
    }
}

impl<M: Machine> Ran<M> {
    /// The states that the object has entered, for messages.
    fn path(&self) -> String {
        let End::Rests { entered, .. } = &self.end else {
            return String::new();
        };
        let names: Vec<_> = entered.iter().map(|state| state.name()).collect();
        let first = names.len().saturating_sub(LISTED_STATES);
        format!("; it enters {}", names[first..].join(", "))
    }
}

/// The fields of the status that handlers set.
fn fields<M: Machine>(manifest: &ManifestOf<M>) -> StatusOf<M> {
    let mut status = manifest.status().cloned().unwrap_or_default();
    *status.machine_mut() = MachineStatus::default();
    status
}

/// The reference for a run with a fault: two runs without one.
struct Like<M: Machine> {
    plain: Ran<M>,
    again: Ran<M>,
}

impl<M: Machine> Like<M> {
    fn differences(&self, ran: Ran<M>) -> Vec<String> {
        let mut wrong = Vec::new();
        for (state, times) in &ran.noted.completed {
            // Handlers may lead the object there repeatedly without faults as well; then a fault changes the number.
            let repeats = self
                .plain
                .noted
                .completed
                .get(state)
                .is_some_and(|times| *times > 1);
            if *times > 1 && !repeats {
                wrong.push(format!(
                    "the handler of `{state}`, which has `effects: once`, has finished {times} times"
                ));
            }
        }
        let is_diverted = ran.noted.is_diverted;
        let (state, manifest) = match ran.end {
            End::Panicked(payload) if !is_diverted => {
                wrong.push(format!("the scenario panics: {}", message_of(&*payload)));
                return wrong;
            }
            End::Panicked(_) | End::Elsewhere => {
                #[cfg(feature = "kube")]
                wrong.extend(ran.left.more_made_than(&self.plain.left));
                return wrong;
            }
            End::Rests { state, manifest, .. } => (state, manifest),
        };
        let End::Rests {
            state: expected,
            manifest: plain,
            ..
        } = &self.plain.end
        else {
            return wrong;
        };
        if state != *expected {
            if is_diverted {
                #[cfg(feature = "kube")]
                wrong.extend(ran.left.more_made_than(&self.plain.left));
            } else {
                let name = |state: Option<M>| state.map_or("nothing, because it is gone,", M::name);
                wrong.push(format!(
                    "the object rests in {} instead of {}",
                    name(state),
                    name(*expected)
                ));
            }
            return wrong;
        }
        if let (
            Some(manifest),
            Some(plain),
            End::Rests {
                manifest: Some(again),
                ..
            },
        ) = (&manifest, plain, &self.again.end)
            && manifest.status_fields().is_none()
            && fields::<M>(plain) == fields::<M>(again)
            && fields::<M>(plain) != fields::<M>(manifest)
        {
            wrong.push("other fields are in the status".to_owned());
        }
        #[cfg(feature = "kube")]
        {
            let text = |manifest: Option<&ManifestOf<M>>| manifest.and_then(|it| it.status_fields());
            let again = match &self.again.end {
                End::Rests { manifest, .. } => manifest.as_deref(),
                End::Elsewhere | End::Panicked(_) => None,
            };
            let status = [text(plain.as_deref()), text(again), text(manifest.as_deref())];
            wrong.extend(left::differences(
                [&self.plain.left, &self.again.left, &ran.left],
                status,
            ));
        }
        wrong
    }
}
