//! A short version of the simulations on a real API server: the same objects have the same writes, a replica takes over
//! from one that ends, and objects continue after the process was killed.

use super::session::{Session, resource};
use crate::cluster::{say, until, until_ok};
use crate::operator::OperatorProcess;
use crate::scripted_operator::{Action, prepared};
use crate::sim::routes::{CHANGED, RESTING, Target, targets, walked};
use krator::model::Kind;
use serde_json::{Value, json};

/// The number of handlers that an operator starts in each part of a test.
const STARTS: usize = 60;

#[test]
fn objects_have_the_same_history_as_simulated_ones() {
    let Some(scripted) = &prepared() else { return };
    let kinds = RESTING.map(|name| scripted.kind(name));
    let (targets, simulated) = (targets(&RESTING), walked(0, &RESTING, false));
    let mut session = Session::new(scripted, "real", &kinds);
    let objects: Vec<Value> = targets
        .iter()
        .map(|target| {
            let script = target.route.script(target.kind);
            scripted
                .program
                .object(target.kind, &session.namespace, &target.name(1), Some(&script))
        })
        .collect();
    scripted.create(&objects);
    let first = session.start_replica();
    for done in [false, true] {
        until_ok("objects come where they are sent", || {
            session.follow();
            let is_missing =
                |target: &&Target| !target.has_settled(target.oracle(session.oracles()), 1, done);
            let missing: Vec<_> = targets
                .iter()
                .filter(is_missing)
                .map(|target| target.name(1))
                .collect();
            if missing.is_empty() { Ok(()) } else { Err(missing) }
        });
        for target in targets.iter().filter(|_| !done) {
            let object = resource(target.kind, &target.name(1));
            if target.route.has(Action::Change) {
                let change = scripted
                    .program
                    .change(target.kind, CHANGED)
                    .expect("its spec may change");
                let patch = ["patch", &object, "--type=merge", "--patch", &change];
                session.kubectl(&patch).expect("it is there");
            }
            if target.route.has(Action::Delete) {
                session
                    .kubectl(&["delete", "--wait=false", &object])
                    .expect("it is there");
            }
        }
    }
    assert_eq!(simulated.judged.findings, Vec::<String>::new());
    // Objects enter a state again and again if they may leave it.
    for target in &targets {
        let way = target.way(target.oracle(session.oracles()).journal(), 1);
        let point = format!(
            "{} {}",
            target.kind.resource.kind.as_str(),
            target.state.name.as_str()
        );
        assert!(way.is_some(), "{point} is not reached");
        assert_eq!(way, target.way(&simulated.journal, 1), "{point}");
    }

    // A replica that ends in order releases the Lease, so the other one need not wait until the Lease expires.
    let second = session.start_replica();
    session.leader_changes();
    assert_eq!(first.terminate().code(), Some(0));
    let names = kinds.map(|kind| {
        format!(
            "{}.{}",
            kind.resource.plural.as_str(),
            kind.resource.group.as_str()
        )
    });
    let names = names.join(",");
    session
        .kubectl(&["delete", "--all", "--wait=false", &names])
        .expect("they are there");
    until("the other replica has ended every object", || {
        let left = session.kubectl(&["get", &names, "--output=name"]).ok()?;
        left.trim().is_empty().then_some(())
    });
    assert_eq!(second.terminate().code(), Some(0));
    let totals = session.judge();
    say(&format!("real: {totals:?} as simulated"));
    assert_eq!(totals.objects, targets.len());
}

#[test]
fn a_process_that_is_killed_is_survived() {
    let Some(scripted) = &prepared() else { return };
    let kinds: Vec<&Kind> = scripted.program.description.kinds.iter().collect();
    let mut session = Session::new(scripted, "killed", &kinds);
    // Without a script, dice move these objects forever.
    let objects = kinds
        .iter()
        .flat_map(|kind| (0..3).map(move |number| (kind, number)));
    let objects: Vec<Value> = objects
        .map(|(kind, number)| {
            let name = format!("it-{number}");
            scripted.program.object(kind, &session.namespace, &name, None)
        })
        .collect();
    scripted.create(&objects);
    let killed = session.start(&json!({}));
    acts(&session, &killed);
    killed.kill();
    let next = session.start(&json!({}));
    acts(&session, &next);
    // The policies are in force, although they refuse no writes of the operator.
    let lost = json!({
        "apiVersion": "animals.com/v1", "kind": "Moose", "status": {"state": "Nowhere"},
        "metadata": {"name": "it-0", "namespace": session.namespace},
    });
    until("a policy refuses a state without an edge", || {
        let dry = ["--force-conflicts", "--dry-run=server"];
        let refused = scripted.cluster.try_apply_status(&lost.to_string(), &dry).err()?;
        refused.contains("no edge of the machine").then_some(())
    });
    until("a policy protects a release", || {
        let releases = "helmreleases.helm.toolkit.fluxcd.io";
        let delete = ["delete", releases, "--all", "--dry-run=server"];
        let refused = session.kubectl(&delete).err()?;
        refused.contains("is protected in the state").then_some(())
    });
    assert_eq!(next.terminate().code(), Some(0));
    let totals = session.judge();
    assert!(
        totals.objects == objects.len() && totals.entries > totals.objects,
        "{totals:?}"
    );
}

/// Waits until an operator has started the handlers for one part of a test.
fn acts(session: &Session, operator: &OperatorProcess) {
    let before = session.files.starts_of(operator.id());
    until("an operator starts handlers", || {
        (session.files.starts_of(operator.id()) >= before + STARTS).then_some(())
    });
}
