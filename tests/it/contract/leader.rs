//! Replicas that elect a leader: one that is killed, one that is frozen and goes on, and one that ends in order. The
//! oracles are as strict as with a single operator.

use super::scripted_operator::prepared;
use super::session::Session;
use super::two_operators::signal;
use crate::cluster::until;
use crate::operator::OperatorProcess;

#[test]
fn of_several_replicas_one_acts_and_another_takes_over() {
    let Some(scripted) = prepared() else { return };
    let kinds = ["Moose", "Backup", "Order"].map(|kind| scripted.kind(kind));
    let mut session = Session::new(scripted, "leader", &kinds, false);
    // Dice move these objects for ever.
    let mut objects = Vec::new();
    for kind in kinds {
        for number in 0..10 {
            objects.push(scripted.object(kind, &session.namespace, &format!("o{number}"), None));
        }
    }
    scripted.create(&objects);
    let mut replicas: Vec<OperatorProcess> = (0..3).map(|_| session.start_replica()).collect();
    session.leader_changes();

    // Killed: the Lease expires.
    let first = leader(&session, &mut replicas, &[]);
    session.leader_changes();
    let killed = first.id();
    first.kill();

    // Frozen: the Lease expires, and when the replica goes on, it ends without having acted again.
    let mut frozen = leader(&session, &mut replicas, &[killed]);
    session.leader_changes();
    signal(&frozen, "STOP");
    let known = [killed, frozen.id()];
    let third = leader(&session, &mut replicas, &known);
    let starts_of = |session: &Session, id: u32| {
        let starts = session.files.handler_starts();
        starts
            .lines()
            .filter(|line| line.ends_with(&format!(" {id}")))
            .count()
    };
    let before = starts_of(&session, frozen.id());
    signal(&frozen, "CONT");
    let status = until("the deposed leader ends", || frozen.ended());
    assert_eq!(status.code(), Some(1), "it says that it has lost the lease");
    assert_eq!(
        starts_of(&session, frozen.id()),
        before,
        "a deposed leader starts no handler"
    );

    // Ended in order: the Lease is released.
    replicas.push(session.start_replica());
    session.leader_changes();
    let known = [known[0], known[1], third.id()];
    assert_eq!(third.terminate().code(), Some(0));
    let last = leader(&session, &mut replicas, &known);

    until("the last leader acts", || {
        (starts_of(&session, last.id()) > 20).then_some(())
    });
    assert_eq!(last.terminate().code(), Some(0));
    let totals = session.judge();
    assert!(
        totals.objects == objects.len() && totals.entries > totals.objects,
        "{totals:?}"
    );
}

/// Waits until a replica starts handlers that is none of the `known` former leaders, and takes it out of the list.
fn leader(session: &Session, replicas: &mut Vec<OperatorProcess>, known: &[u32]) -> OperatorProcess {
    let id = until("another replica leads", || {
        let starts = session.files.handler_starts();
        let id: u32 = starts.lines().last()?.rsplit(' ').next()?.parse().ok()?;
        (!known.contains(&id)).then_some(id)
    });
    let at = replicas.iter().position(|replica| replica.id() == id);
    replicas.remove(at.expect("one of the replicas"))
}
