//! Simulations: an API server in memory, replicas of an operator, and the people who create, change and delete its objects, in a
//! single thread, on a clock that jumps. A seed decides what happens, so that a failure is a number that anybody can play again:
//!
//! ```sh
//! KRATOR_SEED=7 KRATOR_SEEDS=1 cargo test -p e2e -- sim::
//! ```
//!
//! The oracle of the contract judges what was written.

mod network;
mod play;

use crate::dice::number;
use play::{Played, play};
use std::process::{Command, Stdio};

/// How many requests about an object are shown with a finding.
const LAST: usize = 15;

/// How many seeds are played, from which on.
fn seeds(default: u64) -> std::ops::Range<u64> {
    let first = number("KRATOR_SEED", 0);
    first..first + number("KRATOR_SEEDS", default)
}

/// In a process of its own it plays the seed and writes all requests to the file of this variable.
const LOG: &str = "KRATOR_SIMULATED_LOG";

#[test]
fn a_seed_gives_the_same_requests_in_two_processes() {
    if let Some(file) = std::env::var_os(LOG) {
        let log = play(number("KRATOR_SEED", 0)).log.join("\n");
        return std::fs::write(file, log).expect("a file of the test");
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    for seed in seeds(1) {
        let files = ["first", "second"].map(|name| folder.path().join(name));
        let processes = files.each_ref().map(|file| {
            Command::new(std::env::current_exe().expect("this test"))
                .args(["--exact", "sim::a_seed_gives_the_same_requests_in_two_processes"])
                .env(LOG, file)
                .env("KRATOR_SEED", seed.to_string())
                .stdout(Stdio::null())
                .spawn()
                .expect("this test runs")
        });
        for mut process in processes {
            assert!(process.wait().expect("it was started").success());
        }
        let [first, second] = files.map(|file| std::fs::read_to_string(file).expect("it was written"));
        let mut lines = first.lines().zip(second.lines());
        if let Some((one, other)) = lines.find(|(one, other)| one != other) {
            panic!("seed {seed}:\n{one}\n{other}");
        }
        assert_eq!(first.len(), second.len(), "seed {seed}");
        assert!(
            first.lines().count() > 500,
            "seed {seed}: hardly anything happens"
        );
    }
}

#[test]
fn objects_live_through_faults_and_kills() {
    let mut total = (0, 0, 0);
    for seed in seeds(4) {
        let Played {
            log,
            findings,
            objects,
            entries,
        } = play(seed);
        if let Some(first) = findings.first() {
            panic!(
                "{} findings, the first of which is: {first}\n\nthe last requests about it:\n{}\n\nplay it again: \
                 KRATOR_SEED={seed} KRATOR_SEEDS=1 cargo test -p e2e -- sim::objects",
                findings.len(),
                last_requests(&log, first).join("\n")
            );
        }
        total = (total.0 + log.len(), total.1 + objects, total.2 + entries);
    }
    let (requests, objects, entries) = total;
    crate::cluster::say(&format!(
        "simulated: {requests} requests, {objects} objects, {entries} entries of states"
    ));
    assert!(entries > objects);
}

/// The last requests about the object that a finding names, as `Moose it-1: …`.
fn last_requests(log: &[String], finding: &str) -> Vec<String> {
    let mut words = finding.split([' ', ':']);
    let [Some(kind), Some(name)] = [(); 2].map(|()| words.next()) else {
        return Vec::new();
    };
    let about = format!("/{}", kind.to_lowercase());
    let requests = log.iter().filter(|line| {
        let path = line.split(' ').nth(3).unwrap_or_default();
        path.contains(&about) && path.contains(&format!("/{name}"))
    });
    let requests: Vec<String> = requests.map(|line| line.chars().take(500).collect()).collect();
    requests[requests.len().saturating_sub(LAST)..].to_vec()
}
