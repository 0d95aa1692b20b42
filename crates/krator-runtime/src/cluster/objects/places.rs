//! The places of the limits of a kind, shared by the tasks of all its objects.
use crate::{
    cluster::{api::raw::Raw, related::watch_index::Uid},
    engine::{Claim, Place},
    error::{Error, Result},
    graph::Graph,
    lock::Lock as _,
    machine::Object,
    resource::version,
    status::MachineStatus,
};
use krator_machine::ledger::{Ledger, Report};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Mutex,
};
use tokio::sync::Notify;

/// Checks that limits are known, and count all objects of their kind together.
///
/// # Errors
///
/// If a limit is unknown, or counts the values of a field separately.
pub(in crate::cluster) fn check(
    given: &BTreeMap<String, u32>,
    known: &BTreeMap<&'static str, bool>,
) -> Result<()> {
    for name in given.keys() {
        match known.get(&**name) {
            Some(false) => {}
            Some(true) => {
                let why = "it has `per`, so it has no single count";
                return Err(Error::permanent(format!(
                    "cannot override the limit `{name}`: {why}"
                )));
            }
            None => {
                let known: Vec<&str> = known.keys().copied().collect();
                let known = match known[..] {
                    [] => "the operator has no limits".to_owned(),
                    _ => format!("the limits are {}", known.join(", ")),
                };
                return Err(Error::permanent(format!("there is no limit `{name}`: {known}")));
            }
        }
    }
    Ok(())
}

/// The [`Ledger`] of a kind behind a lock, so that a place is never granted twice.
pub(in crate::cluster) struct Places {
    graph: &'static Graph<'static>,
    known: Mutex<LedgerState>,
    /// Notified when objects are granted places without their task knowing it.
    served: Notify,
}

struct LedgerState {
    ledger: Ledger<Uid>,
    /// The objects that were granted places without their task knowing it.
    unnoticed: BTreeSet<Uid>,
}

impl Places {
    /// Those of a kind with limits. `most` says how many objects a limit lets in where that is not what its description says.
    pub fn of(graph: &'static Graph<'static>, most: &BTreeMap<String, u32>) -> Option<Self> {
        let of_limits = graph.limits.iter();
        let most = of_limits.map(|limit| most.get(limit.name).copied().unwrap_or(limit.at_most));
        let known = LedgerState {
            ledger: Ledger::new(most.collect()),
            unnoticed: BTreeSet::new(),
        };
        (!graph.limits.is_empty()).then(|| Self {
            graph,
            known: Mutex::new(known),
            served: Notify::new(),
        })
    }

    /// Reports the places that an object holds and needs. Returns whether they are granted.
    pub fn claim(&self, object: &impl Object, claim: Claim, is_unsure: bool) -> bool {
        let uid: Uid = object.uid().into();
        self.report(
            &uid,
            Report {
                name: &format!("{}/{}", object.name(), object.namespace()),
                version: object.version(),
                claim,
                is_unsure,
            },
        )
    }

    /// Takes notice of an object that cannot be decoded. What it takes of limits that count the values of a field apart, it takes of
    /// each of them; and it may be in the state that it asks for by now.
    pub fn unreadable(&self, raw: &Raw, stored: &MachineStatus) {
        let asked = stored.ask.as_ref().map(|ask| ask.to.as_str());
        let states = stored.state.as_deref().into_iter().chain(asked);
        let states: Vec<_> = states.filter_map(|name| self.graph.find(name)).collect();
        let limits = (0..).zip(self.graph.limits);
        let taken = limits.filter(|(_, limit)| limit.states.iter().any(|state| states.contains(state)));
        let holds = taken.map(|(limit, _)| Place { limit, of: None }).collect();
        self.report(
            &raw.uid().into(),
            Report {
                name: "",
                version: version(raw),
                claim: Claim { holds, wish: None },
                is_unsure: false,
            },
        );
    }

    fn report(&self, uid: &Uid, report: Report<'_>) -> bool {
        self.change(|known| {
            let served = known.ledger.report(uid, report);
            known.unnoticed.extend(served);
            // The caller gets the result, so no notification is needed.
            known.unnoticed.remove(uid);
            known.ledger.has_turn(uid)
        })
    }

    /// Takes notice that an object is gone, or that its machine has ended.
    pub fn forget(&self, uid: &Uid) {
        self.change(|known| {
            known.unnoticed.remove(uid);
            let served = known.ledger.forget(uid);
            known.unnoticed.extend(served);
        });
    }

    /// Takes notice that all objects have been reported, as they were when this replica already led.
    pub fn complete(&self) {
        self.change(|known| {
            let served = known.ledger.complete();
            known.unnoticed.extend(served);
        });
    }

    fn change<T>(&self, change: impl FnOnce(&mut LedgerState) -> T) -> T {
        let mut known = self.known.locked();
        let changed = change(&mut known);
        if !known.unnoticed.is_empty() {
            self.served.notify_one();
        }
        changed
    }

    /// Waits for objects whose turn it is, and that do not know it.
    pub async fn served(&self) -> BTreeSet<Uid> {
        self.served.notified().await;
        std::mem::take(&mut self.known.locked().unnoticed)
    }

    /// How many places of each limit are taken, and how many objects wait for one.
    pub fn counts(&self) -> Vec<(u32, u32)> {
        self.known.locked().ledger.counts()
    }

    /// All objects whose turn it is.
    pub fn turns(&self) -> Vec<Uid> {
        self.known.locked().ledger.turns().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_that_cannot_be_given_are_named() {
        let known = BTreeMap::from([("rollout", false), ("zone", true)]);
        let given = |name: &str| check(&BTreeMap::from([(name.to_owned(), 5)]), &known);
        assert!(given("rollout").is_ok());
        let said = |name: &str| given(name).expect_err("it cannot be given").to_string();
        assert_eq!(
            said("zone"),
            "cannot override the limit `zone`: it has `per`, so it has no single count"
        );
        assert_eq!(
            said("zones"),
            "there is no limit `zones`: the limits are rollout, zone"
        );
    }
}
