//! All kinds of a namespace, watched and judged.

use super::five::{Files, Five};
use super::oracle::Oracle;
use crate::cluster::watch::Watch;
use crate::operator::Operator;
use k8s_openapi::jiff::Timestamp;
use krator::model::Kind;
use serde_json::Value;

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

    /// Panics when something was found; else, how many objects were seen, and how many entries of states.
    pub fn judge(&mut self) -> (usize, usize) {
        self.follow();
        let told = self.files.told();
        let (mut objects, mut entries) = (0, 0);
        for (_, oracle) in &mut self.benches {
            oracle.hear(&told);
            oracle.assert_clean();
            let seen = oracle.seen();
            (objects, entries) = (objects + seen.0, entries + seen.1);
        }
        (objects, entries)
    }

    /// Runs kubectl in the namespace.
    pub fn kubectl(&self, args: &[&str]) -> Result<String, String> {
        let args = [args, &["--namespace", &self.namespace]].concat();
        self.five.cluster.try_kubectl("admin", &args, "")
    }
}
