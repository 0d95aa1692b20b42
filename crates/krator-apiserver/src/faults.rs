//! Failures of an API server and of the network, for the tests of its clients. They depend on a seed: the same sequence
//! of requests meets the same faults.

use crate::{
    object::fields_mut,
    refusal::{About, Refusal},
    request::{Query, Target},
    world::{STEP, mixed},
};
use http::{Method, Uri};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

/// The rates of faults. Each number counts the affected requests per thousand requests to which the fault applies. Only
/// requests for objects are affected, not discovery.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Faults {
    /// The seed of the random choices.
    pub seed: u64,
    /// The request waits for up to `longest_delay`.
    pub delayed: u64,
    /// The longest time that a delayed request waits.
    pub longest_delay: Duration,
    /// A change of an object is not executed, and answered with 409.
    pub conflict: u64,
    /// The request is not executed, and answered with 429 and a `Retry-After` of one second.
    pub throttled: u64,
    /// The request is not executed, and answered with 500.
    pub broken: u64,
    /// The request is not executed, and answered with 503.
    pub unavailable: u64,
    /// The connection is closed before the request is executed.
    pub cut_before: u64,
    /// The connection is closed after the request is executed.
    pub cut_after: u64,
    /// A watch ends within the first second.
    pub dropped: u64,
    /// A watch starts with the error 410, as if its version had expired.
    pub gone: u64,
}

/// The faults of a server, and its number of requests. Clones share the number.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    faults: Faults,
    requests: Arc<AtomicU64>,
}

/// The faults that are injected into a request.
#[derive(Debug, Default)]
pub(crate) struct InjectedFaults {
    pub delay: Duration,
    pub refusal: Option<Refusal>,
    pub cut_before: bool,
    pub cut_after: bool,
    /// The time after which a watch ends.
    pub dropped: Option<Duration>,
    pub gone: bool,
}

impl Plan {
    pub fn new(faults: Faults) -> Self {
        Self {
            faults,
            requests: Arc::default(),
        }
    }

    /// Chooses the faults of the next request.
    pub fn draw(&self, method: &Method, uri: &Uri) -> InjectedFaults {
        let Some(target) = Target::of(uri.path()) else {
            return InjectedFaults::default();
        };
        let nth = self.requests.fetch_add(1, Ordering::Relaxed);
        let mut chances =
            Chances(self.faults.seed.wrapping_mul(STEP) ^ nth.wrapping_mul(0xd1b5_4a32_d192_ed03));
        let is_watch = target.verb(method, &Query::parse(uri.query().unwrap_or_default())) == "watch";
        let is_change = [Method::PUT, Method::PATCH].contains(method);
        let faults = &self.faults;
        // Each request draws all numbers, so that the rate of one fault does not affect the others.
        let delay = chances.below(u64::try_from(faults.longest_delay.as_millis()).unwrap_or(u64::MAX));
        let delayed = chances.hit(faults.delayed);
        let conflict = chances.hit(faults.conflict) && is_change;
        let [throttled, broken, unavailable] =
            [faults.throttled, faults.broken, faults.unavailable].map(|of| chances.hit(of));
        let [cut_before, cut_after] = [faults.cut_before, faults.cut_after].map(|of| chances.hit(of));
        let runs = Duration::from_millis(chances.below(1000));
        let [dropped, gone] = [faults.dropped, faults.gone].map(|of| chances.hit(of) && is_watch);
        let about = About::new(&target.group, &target.resource, &target.name);
        InjectedFaults {
            delay: if delayed {
                Duration::from_millis(delay)
            } else {
                Duration::ZERO
            },
            refusal: match () {
                () if conflict => Some(Refusal::conflict(about, "an injected fault")),
                () if throttled => Some(Refusal::too_many_requests("an injected fault", 1)),
                () if broken => Some(Refusal::internal("an injected fault")),
                () if unavailable => Some(Refusal::unavailable("an injected fault")),
                () => None,
            },
            cut_before,
            cut_after,
            dropped: dropped.then_some(runs),
            gone,
        }
    }
}

/// The only event of a watch whose version has expired.
pub(crate) fn gone_event() -> String {
    let mut event = serde_json::json!({"type": "ERROR"});
    let status = Refusal::expired("an injected fault: too old resource version").status();
    fields_mut(&mut event).insert("object".to_owned(), status);
    format!("{event}\n")
}

/// SplitMix64, which is small and random enough for tests.
struct Chances(u64);

impl Chances {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mixed(self.0)
    }

    /// A number from 0 to `most`.
    fn below(&mut self, most: u64) -> u64 {
        self.next() % most.saturating_add(1)
    }

    /// True with a probability of `of_thousand` / 1000.
    fn hit(&mut self, of_thousand: u64) -> bool {
        self.next() % 1000 < of_thousand
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The refusals of a thousand updates.
    fn drawn(seed: u64) -> Vec<Option<u16>> {
        let plan = Plan::new(Faults {
            seed,
            conflict: 100,
            throttled: 50,
            ..Faults::default()
        });
        let uri = Uri::from_static("/api/v1/namespaces/default/pods/a");
        (0..1000)
            .map(|_| plan.draw(&Method::PUT, &uri).refusal.map(|refusal| refusal.code))
            .collect()
    }

    #[test]
    fn the_same_seed_gives_the_same_faults() {
        assert_eq!(drawn(7), drawn(7));
        assert_ne!(drawn(7), drawn(8));
        let conflicts = drawn(7).iter().filter(|code| **code == Some(409)).count();
        assert!(
            (70..130).contains(&conflicts),
            "{conflicts} of 1000 instead of about 100"
        );
    }

    #[test]
    fn faults_affect_only_requests_that_they_are_about() {
        let all = Faults {
            conflict: 1000,
            dropped: 1000,
            gone: 1000,
            ..Faults::default()
        };
        let plan = Plan::new(all);
        let read = plan.draw(&Method::GET, &Uri::from_static("/api/v1/pods"));
        assert!(read.refusal.is_none() && read.dropped.is_none() && !read.gone);
        let watch = plan.draw(&Method::GET, &Uri::from_static("/api/v1/pods?watch=1"));
        assert!(watch.refusal.is_none() && watch.dropped.is_some() && watch.gone);
        let discovery = Plan::new(Faults {
            broken: 1000,
            ..Faults::default()
        })
        .draw(&Method::GET, &Uri::from_static("/api/v1"));
        assert!(discovery.refusal.is_none());
    }
}
