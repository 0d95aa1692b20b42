//! Replicas that elect a leader: one that is cut off from the API server, one whose clock is an hour off and that is frozen,
//! one that is killed, and one that ends in order. The oracles are as strict as with a single operator, and the audit log
//! says who wrote when: `KRATOR_REPLICATED` is how many objects there are.

use super::proxy::Proxy;
use super::session::Session;
use super::two_operators::signal;
use crate::cluster::audit::Request;
use crate::cluster::{say, until};
use crate::dice::number;
use crate::operator::OperatorProcess;
use crate::scripted_operator::prepared;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use krator::model::Kind;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

/// How long after it has sent a renewal a leader may act.
const DEADLINE: SignedDuration = SignedDuration::from_secs(10);
/// How long at most nobody leads: until the Lease has expired, and the next one has noticed that.
const LONGEST_GAP: SignedDuration = SignedDuration::from_secs(20);
/// The most requests of an operator that are on their way at once.
const IN_FLIGHT: usize = 32;

/// How long a replica is cut off from the API server.
const CUT_OFF: std::time::Duration = std::time::Duration::from_secs(30);

/// The library that lies to a process about the time. Debian's package `libfaketime` has it.
fn faketime() -> Option<PathBuf> {
    let places = [
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/usr/lib",
    ];
    let libraries = places.map(|place| Path::new(place).join("faketime/libfaketimeMT.so.1"));
    libraries.into_iter().find(|library| library.exists())
}

#[test]
fn of_several_replicas_one_acts_and_another_takes_over() {
    let Some(scripted) = &prepared() else { return };
    let kinds = ["Moose", "Backup", "Order"].map(|kind| scripted.kind(kind));
    let mut session = Session::new(scripted, "leader", &kinds, false);
    // Dice move these objects for ever.
    let mut objects = Vec::new();
    for kind in kinds {
        for number in 0..number("KRATOR_REPLICATED", 30) / 3 {
            objects.push(
                scripted
                    .program
                    .object(kind, &session.namespace, &format!("o{number}"), None),
            );
        }
    }
    scripted.create(&objects);

    // Cut off: it ends when its time is over, and what it sent before that arrives late.
    let proxy = Proxy::start(&scripted.cluster.kubeconfig("operator"));
    let through_proxy = proxy.kubeconfig(scripted.cluster.dir());
    let mut cut_off = session.start_replica(&[("KUBECONFIG", &through_proxy)]);
    leads(&mut session, &cut_off);
    let an_hour_off = session.start_replica(&lies_about_time());
    proxy.stall();
    let stalled = std::time::Instant::now();
    leads(&mut session, &an_hour_off);
    assert_eq!(
        ends(&mut cut_off).code(),
        Some(1),
        "it says that it has lost the lease"
    );
    // What arrives late is refused because the object has changed since. No event says that each object has that moves.
    std::thread::sleep(CUT_OFF.saturating_sub(stalled.elapsed()));
    proxy.go_on();

    // Frozen: the Lease expires, and when the replica goes on, it ends without having acted again.
    let third = session.start_replica(&[]);
    let mut frozen = an_hour_off;
    signal(&frozen, "STOP");
    leads(&mut session, &third);
    let before = session.files.starts_of(frozen.id());
    signal(&frozen, "CONT");
    assert_eq!(
        ends(&mut frozen).code(),
        Some(1),
        "it says that it has lost the lease"
    );
    assert_eq!(
        session.files.starts_of(frozen.id()),
        before,
        "a deposed leader starts no handler"
    );

    // Killed: the Lease expires. Ended in order: it is released.
    let fourth = session.start_replica(&[]);
    third.kill();
    leads(&mut session, &fourth);
    let last = session.start_replica(&[]);
    session.leader_changes();
    assert_eq!(fourth.terminate().code(), Some(0));
    leads(&mut session, &last);

    let before = session.files.starts_of(last.id());
    until("the last leader acts", || {
        (session.files.starts_of(last.id()) > before + 20).then_some(())
    });
    delete_all(&session, &kinds);
    assert_eq!(last.terminate().code(), Some(0));
    let totals = session.judge();
    assert!(
        totals.objects == objects.len() && totals.entries > totals.objects,
        "{totals:?}"
    );
    judge_writes(&scripted.cluster.requests(&session.namespace));
}

fn lies_about_time() -> Vec<(&'static str, &'static str)> {
    let Some(library) = faketime() else {
        say("contract::leader: without libfaketime, so no replica has a wrong clock");
        return Vec::new();
    };
    // The path is one of three constants.
    let library = library.to_str().map(str::to_owned).unwrap_or_default();
    vec![
        ("LD_PRELOAD", Box::leak(library.into_boxed_str())),
        ("FAKETIME", "+1h"),
        // The clock that measures periods is not off, only the one that tells the time of day.
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
    ]
}

/// Waits until a replica leads and has acted.
fn leads(session: &mut Session, replica: &OperatorProcess) {
    session.leader_changes();
    until("another replica leads", || {
        session.follow();
        (session.files.starts_of(replica.id()) > 0).then_some(())
    });
}

fn ends(replica: &mut OperatorProcess) -> ExitStatus {
    until("a deposed leader ends", || replica.ended())
}

/// Deletes all objects, and waits until their handlers have let them go.
fn delete_all(session: &Session, kinds: &[&Kind]) {
    let names: Vec<String> = kinds
        .iter()
        .map(|kind| {
            format!(
                "{}.{}",
                kind.resource.plural.as_str(),
                kind.resource.group.as_str()
            )
        })
        .collect();
    let names = names.join(",");
    session
        .kubectl(&["delete", "--all", "--wait=false", &names])
        .expect("they are there");
    until("every object has ended", || {
        let left = session.kubectl(&["get", &names, "--output=name"]).ok()?;
        left.trim().is_empty().then_some(())
    });
}

/// Judges the writes of all replicas by when the server received them.
fn judge_writes(requests: &[Request]) {
    let is_lease =
        |request: &&Request| request.resource == "leases" && request.is_write() && request.code < 300;
    let mut renewals: BTreeMap<&str, BTreeSet<Timestamp>> = BTreeMap::new();
    for renewal in requests.iter().filter(is_lease) {
        renewals
            .entry(&renewal.agent)
            .or_default()
            .insert(renewal.received);
    }
    let (mut late, mut refused) = (BTreeMap::<&str, usize>::new(), 0);
    let writes = requests
        .iter()
        .filter(|request| request.is_write() && request.resource != "leases");
    for write in writes {
        let renewed = renewals
            .get(&*write.agent)
            .and_then(|times| times.range(..=write.received).last());
        let renewed = renewed.unwrap_or_else(|| panic!("{write:?} came from a replica that never led"));
        if write.received.duration_since(*renewed) > DEADLINE {
            *late.entry(&write.agent).or_default() += 1;
            refused += usize::from(write.code >= 400);
            assert!(
                write.code >= 400 || !write.resource.ends_with("/status"),
                "the status of another leader was overwritten: {write:?}"
            );
        }
    }
    for (agent, count) in &late {
        assert!(
            *count <= IN_FLIGHT,
            "{count} writes of {agent} arrived after its time"
        );
    }
    let mut terms: Vec<(Timestamp, Timestamp)> = renewals
        .values()
        .filter_map(|times| Some((*times.first()?, *times.last()?)))
        .collect();
    terms.sort_unstable();
    let gaps = terms
        .windows(2)
        .map(|terms| terms[1].0.duration_since(terms[0].1));
    let gaps: Vec<SignedDuration> = gaps.collect();
    assert_eq!(terms.len(), 5, "each replica has led once");
    assert!(gaps.iter().all(|gap| *gap <= LONGEST_GAP), "{gaps:?}");
    let late: usize = late.values().sum();
    let gaps: Vec<String> = gaps
        .iter()
        .map(|gap| format!("{:.1} s", gap.as_secs_f64()))
        .collect();
    say(&format!(
        "replicas: {} requests; {late} writes arrived late, {refused} of them were refused; nobody led for {}",
        requests.len(),
        gaps.join(", ")
    ));
}
