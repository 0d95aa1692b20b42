//! The fixture of one contract test: its namespace, its operators, and the watches and oracles of its objects. The
//! module `contract` describes how these work together.

use super::oracle::Oracle;
use crate::cluster::until;
use crate::cluster::watch::Watch;
use crate::operator::OperatorProcess;
use crate::scripted_operator::{Files, ScriptedOperator};
use k8s_openapi::jiff::Timestamp;
use krator::model::Kind;
use serde_json::Value;
use std::sync::Arc;

/// The name of the objects that are created last, to mark the end of each watch.
const LAST: &str = "last";

/// The numbers of objects and entries in a session, without the objects that mark its end.
#[derive(Debug, PartialEq, Eq)]
pub struct Totals {
    pub objects: usize,
    /// Entries of states that were written.
    pub entries: usize,
}

/// The objects of some kinds in a namespace of their own. Each kind has a watch, which records every write, and an
/// oracle, which judges them.
pub struct Session {
    scripted: Arc<ScriptedOperator>,
    pub namespace: String,
    pub files: Files,
    kinds: Vec<(Watch, Oracle)>,
}

impl Session {
    /// A session for the objects of these kinds.
    pub fn new(scripted: &Arc<ScriptedOperator>, test: &str, kinds: &[&Kind]) -> Session {
        let namespace = scripted.cluster.namespace(test);
        let observed = |kind: &&Kind| (scripted.watch(kind, &namespace), Oracle::new(kind));
        Session {
            kinds: kinds.iter().map(observed).collect(),
            files: Files::new(&scripted.cluster, test),
            scripted: Arc::clone(scripted),
            namespace,
        }
    }

    /// Starts an operator in the namespace. The oracles record the time, because a restart explains some moves of
    /// objects.
    pub fn start(&mut self, faults: &Value) -> OperatorProcess {
        self.leader_changes();
        self.scripted.start(&self.namespace, &self.files, faults, &[])
    }

    /// Starts a replica of an operator in the namespace. Only the leader acts.
    pub fn start_replica(&mut self) -> OperatorProcess {
        let namespace = &*self.scripted.program.description.namespace;
        let arguments = ["--leader-elect", "--leader-elect-resource-namespace", namespace];
        self.scripted
            .start_with(&self.namespace, &self.files, &arguments, &[])
    }

    /// Records in the oracles that the leader changes now, which explains the same moves as a restart.
    pub fn leader_changes(&mut self) {
        let time = Timestamp::now();
        for (_, oracle) in &mut self.kinds {
            oracle.operator_starts(time);
        }
    }

    /// Passes the recorded writes since the last call to the oracles.
    pub fn follow(&mut self) {
        for (watch, oracle) in &mut self.kinds {
            watch.take().iter().for_each(|event| oracle.see(event));
        }
    }

    /// The oracles, one for each kind.
    pub fn oracles(&self) -> impl Iterator<Item = &Oracle> {
        self.kinds.iter().map(|(_, oracle)| oracle)
    }

    /// Ends the session, after its operators have ended: passes the remaining writes and the starts of handlers to the
    /// oracles, and panics if one of them has findings.
    pub fn judge(&mut self) -> Totals {
        self.follow_to_the_end();
        let writes = self.scripted.cluster.writes(&self.namespace).into_iter();
        let refused: Vec<_> = writes.filter(|write| write.code == 403).collect();
        assert!(refused.is_empty(), "a policy refused own writes: {refused:?}");
        let starts = self.files.handler_starts();
        let mut totals = Totals {
            objects: 0,
            entries: 0,
        };
        for (_, oracle) in &mut self.kinds {
            oracle.check_handler_starts(&starts);
            oracle.assert_clean();
            // The object that marks the end of the watch does not count.
            totals.objects += oracle.objects() - 1;
            totals.entries += oracle.entries();
        }
        totals
    }

    /// Follows until no write is in flight. A watch delivers writes in their order, so after the creation of a new
    /// object all earlier writes were delivered.
    fn follow_to_the_end(&mut self) {
        let kinds = self.kinds.iter().map(|(_, oracle)| oracle.kind());
        let last: Vec<Value> = kinds
            .map(|kind| {
                self.scripted
                    .program
                    .object(kind, &self.namespace, LAST, Some(""))
            })
            .collect();
        self.scripted.create(&last);
        until("the last objects are seen", || {
            self.follow();
            self.oracles().all(|oracle| oracle.has_seen(LAST)).then_some(())
        });
    }

    /// Runs kubectl in the namespace.
    pub fn kubectl(&self, args: &[&str]) -> Result<String, String> {
        let args = [args, &["--namespace", &self.namespace]].concat();
        self.scripted.cluster.try_kubectl("admin", &args, "")
    }
}

/// An object of a kind, as an argument of kubectl.
pub fn resource(kind: &Kind, name: &str) -> String {
    let (plural, group) = (kind.resource.plural.as_str(), kind.resource.group.as_str());
    format!("{plural}.{group}/{name}")
}
