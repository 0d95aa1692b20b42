//! Random requests to the embedded server and to a real one: their codes, their refusals and what they answer with are compared.
//! Refusals are compared with their words, except for what is wrong with objects of the kinds of Kubernetes itself: of that, the
//! fields and the kinds of the errors are.
//!
//! Requests are drawn in rounds. A round has a namespace of its own and a few objects, and ends with the first answers that
//! differ, because both servers would go on from different objects. Differences that are accepted are listed, with their
//! reasons, in `testdata/conformance/differences.yaml` of `krator-apiserver`. `KRATOR_REQUESTS` and `KRATOR_SEED` set how
//! many requests are sent and which.

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

/// The largest number of requests of a round.
const ROUND: usize = 40;
/// How many rounds run at once.
const AT_ONCE: usize = 6;
/// How often a read is tried.
const READS: usize = 4;
/// What a server may keep of all the requests, in MiB: most of it are changes that it remembers, up to a bound for each kind.
const KEPT: u64 = 600;

/// What the rounds have found.
#[derive(Default)]
struct Found {
    requests: usize,
    /// How many answers had each code.
    codes: BTreeMap<u16, usize>,
    /// How often each listed difference was met.
    listed: BTreeMap<usize, usize>,
    unlisted: Vec<String>,
}

/// One of several words.
fn word(dice: &mut Dice, words: &[&'static str]) -> &'static str {
    dice.among::<&str>(words)
}

/// The memory of this process, in MiB, where the system tells it.
fn memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? >> 10)
}

/// Sends the requests of a round until answers differ.
async fn round(
    seed: u64,
    number: usize,
    clients: (&Client, &Client),
    known: &Differences,
    found: &Mutex<Found>,
) {
    // Factors that are not the step of the dice themselves: otherwise one round would repeat the other.
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
        // Both servers go on from the same objects only if neither has changed any.
        let is_refused = real.code == embedded.code && real.code >= 400;
        if listed.is_none() || !is_refused && !drawn.is_read() {
            break;
        }
    }
    // What the embedded server is to forget; the real one ends with the test.
    sessions.1.end().await;
}

/// The answers of both servers. A read of the real one is repeated, because it reads from caches that may be behind.
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
