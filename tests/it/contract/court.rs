//! All kinds of a namespace, watched and judged.

use super::five::{Files, Five};
use super::oracle::Oracle;
use crate::cluster::until;
use crate::cluster::watch::Watch;
use crate::operator::Operator;
use k8s_openapi::jiff::Timestamp;
use krator::model::Kind;
use serde_json::Value;

/// The name of the objects that are created last.
const LAST: &str = "last";

/// A watch and an oracle for each kind, and where operators of the namespace leave their traces.
pub struct Court {
    five: &'static Five,
    pub namespace: String,
    pub files: Files,
    benches: Vec<(Watch, Oracle)>,
}

impl Court {
    /// For the objects of these kinds in a namespace of its own. `contested` is said of objects that several operators
    /// look after.
    pub fn new(five: &'static Five, test: &str, kinds: &[&Kind], contested: bool) -> Court {
        let namespace = five.cluster.namespace(test);
        let bench = |kind: &&Kind| {
            let oracle = if contested {
                Oracle::contested(kind)
            } else {
                Oracle::new(kind)
            };
            (five.watch(kind, &namespace), oracle)
        };
        Court {
            benches: kinds.iter().map(bench).collect(),
            files: Files::new(five.cluster, test),
            five,
            namespace,
        }
    }

    /// Starts the operator.
    pub fn start(&mut self, faults: &Value) -> Operator {
        let time = Timestamp::now();
        for (_, oracle) in &mut self.benches {
            oracle.operator_starts(time);
        }
        self.five.start(&self.namespace, &self.files, faults)
    }

    /// Takes notice of what has happened.
    pub fn follow(&mut self) {
        for (watch, oracle) in &mut self.benches {
            watch.take().iter().for_each(|event| oracle.see(event));
        }
    }

    /// The oracles, one a kind.
    pub fn oracles(&self) -> impl Iterator<Item = &Oracle> {
        self.benches.iter().map(|(_, oracle)| oracle)
    }

    /// Objects that are not gone and have not been at rest since the last start.
    pub fn restless(&self) -> Vec<String> {
        self.oracles().flat_map(Oracle::restless).collect()
    }

    /// Panics when something was found; else, how many objects were seen and not made here, and how many entries of states. No operator
    /// runs any more.
    pub fn judge(&mut self) -> (usize, usize) {
        self.see_the_last();
        let told = self.files.told();
        let (mut objects, mut entries) = (0, 0);
        for (_, oracle) in &mut self.benches {
            oracle.hear(&told);
            oracle.assert_clean();
            let seen = oracle.seen();
            (objects, entries) = (objects + seen.0 - 1, entries + seen.1);
        }
        (objects, entries)
    }

    /// Follows until nothing is on its way any more: watches are in order, so whoever sees an object that is created
    /// now has seen all that was written before.
    fn see_the_last(&mut self) {
        let kinds = self.benches.iter().map(|(_, oracle)| oracle.kind());
        let last: Vec<Value> = kinds
            .map(|kind| self.five.object(kind, &self.namespace, LAST, Some("")))
            .collect();
        self.five.create(&last);
        until("the last objects are seen", || {
            self.follow();
            self.oracles().all(|oracle| oracle.knows(LAST)).then_some(())
        });
    }

    /// Runs kubectl in the namespace.
    pub fn kubectl(&self, args: &[&str]) -> Result<String, String> {
        let args = [args, &["--namespace", &self.namespace]].concat();
        self.five.cluster.try_kubectl("admin", &args, "")
    }
}
