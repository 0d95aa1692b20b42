//! Sends random requests to the embedded server and to a real one, and compares their codes, refusals and answers.
//! Refusals are compared with their messages; for invalid objects of builtin kinds, only the fields and the types of
//! the errors are compared.
//!
//! Requests are drawn in rounds. A round has a namespace of its own and a few objects. It ends with the first
//! difference that is not accepted, and with an accepted one after which the objects on the servers may differ.
//! Accepted differences are listed, with their reasons, in `testdata/conformance/differences.yaml` of
//! `krator-apiserver`. `KRATOR_REQUESTS` sets how many requests are sent, and `KRATOR_SEED` the seed.

mod bodies;
mod differences;
mod drawn;
mod session;

use super::{DEFINITIONS, client::Target, real, real_cluster, runtime, webhook::Webhook};
use crate::{
    cluster,
    dice::{Dice, number},
};
use differences::Differences;
use drawn::Drawn;
use futures::StreamExt as _;
use kube::Client;
use session::{Answer, Session};
use std::{
    collections::BTreeMap,
    fs,
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// The maximum number of requests of a round.
const ROUND: usize = 40;
/// How many rounds run at once.
const AT_ONCE: usize = 6;
/// The maximum number of attempts of a read.
const READS: usize = 4;
/// The allowed growth of the memory, in MiB: the server keeps the recent changes of each kind, up to a limit.
const KEPT: u64 = 600;

/// The results of the rounds.
#[derive(Default)]
struct Found {
    requests: usize,
    /// The number of answers with each code.
    codes: BTreeMap<u16, usize>,
    /// The number of occurrences of each listed difference.
    listed: BTreeMap<usize, usize>,
    unlisted: Vec<String>,
}

/// One of several words.
fn word(dice: &mut Dice, words: &[&'static str]) -> &'static str {
    dice.among::<&str>(words)
}

/// The resident memory of this process, in MiB, if the system reports it.
fn memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? >> 10)
}

/// Sends the requests of a round until it ends.
async fn round(
    seed: u64,
    number: usize,
    clients: (&Client, &Client),
    known: &Differences,
    found: &Mutex<Found>,
) {
    // Factors that differ from the step of the dice: otherwise one round would repeat another.
    let seed_of_round = seed.wrapping_mul(0x2545_f491_4f6c_dd1d);
    let mut dice = Dice::new(seed_of_round ^ (number as u64).wrapping_mul(0xd134_2543_de82_ef95));
    let namespace = format!("random-{seed}-{number}");
    let mut sessions = (
        Session::begin(clients.0, &namespace).await,
        Session::begin(clients.1, &namespace).await,
    );
    for step in 0..ROUND {
        let drawn = Drawn::random(&mut dice, step);
        let (real, embedded) = answers(&drawn, &mut sessions).await;
        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
        found.requests += 1;
        *found.codes.entry(real.code).or_default() += 1;
        if real.shown == embedded.shown {
            continue;
        }
        let listed = known.find(&drawn, &real, &embedded);
        match listed {
            Some(at) => *found.listed.entry(at).or_default() += 1,
            None => found.unlisted.push(format!(
                "seed {seed}, round {number}, request {step}\n{drawn}\n- {}\n+ {}",
                real.shown, embedded.shown
            )),
        }
        // The objects are still the same on both servers only if neither has changed any.
        let is_refused = real.code == embedded.code && real.code >= 400;
        if listed.is_none() || !is_refused && !drawn.is_read() {
            break;
        }
    }
    // Frees the objects in the embedded server; the real one ends with the test.
    sessions.1.end().await;
}

/// The answers of both servers. A read of the real one is repeated, because its caches may be behind.
async fn answers(drawn: &Drawn, (real, embedded): &mut (Session, Session)) -> (Answer, Answer) {
    let (mut of_real, of_embedded) = futures::join!(real.send(drawn), embedded.send(drawn));
    for _ in 1..READS {
        if of_real.shown == of_embedded.shown || !drawn.is_read() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
        of_real = real.send(drawn).await;
    }
    (of_real, of_embedded)
}

#[test]
fn random_requests_are_answered_alike() {
    let runtime = runtime();
    let Some(cluster) = real_cluster() else { return };
    let (seed, wanted) = (number("KRATOR_SEED", 1), number("KRATOR_REQUESTS", 1500));
    let known = Differences::read();
    let found = Mutex::new(Found::default());
    let (mut before, mut after) = (None, None);
    runtime.block_on(async {
        let real = real(&cluster).await;
        let server = krator_apiserver::Server::builder().rbac(true).start();
        let embedded = Client::new(server, "default");
        let webhook = Webhook::start(None).await;
        for client in [&real, &embedded] {
            Target::new(client.clone(), &webhook).define(DEFINITIONS).await;
        }
        let mut next = 0;
        loop {
            let sent = found.lock().unwrap_or_else(PoisonError::into_inner).requests;
            if sent as u64 >= wanted {
                break;
            }
            let rounds = (next..next + AT_ONCE * 8)
                .map(|number| round(seed, number, (&real, &embedded), &known, &found));
            futures::stream::iter(rounds)
                .buffer_unordered(AT_ONCE)
                .collect::<Vec<()>>()
                .await;
            next += AT_ONCE * 8;
            before = before.or_else(memory);
        }
        after = memory();
    });
    let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    for difference in &found.unlisted {
        cluster::say(&format!("== {difference}\n"));
    }
    cluster::say(&format!(
        "seed {seed}: {} requests, codes {:?}, listed differences {:?}, {} others; {before:?} MiB after the first rounds, \
         {after:?} MiB at the end",
        found.requests,
        found.codes,
        found.listed,
        found.unlisted.len()
    ));
    assert!(found.unlisted.is_empty(), "not alike, and not listed");
    if let (Some(before), Some(after)) = (before, after) {
        assert!(after < before + KEPT, "from {before} to {after} MiB");
    }
}
