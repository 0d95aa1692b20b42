//! Simulations: an API server in memory, replicas of an operator, and users who create, change and delete its objects,
//! in a single thread, with a simulated clock. A seed determines all events, so that every failure can be reproduced by
//! its number:
//!
//! ```sh
//! KRATOR_SEED=7 KRATOR_SEEDS=1 cargo test -p e2e -- sim::
//! ```
//!
//! The oracle of the contract tests judges the writes.

mod fleet;
mod forecast;
mod network;
mod planted;
mod play;
mod restart;
pub mod routes;
mod run;
mod witness;
mod world;

use crate::dice::number;
use network::Faults;
use play::{play, run};
use run::{Deployment, Run, Scenario};
use std::process::{Command, Stdio};
use std::time::Duration;
use world::{Judged, World, postgresql, simulate};

/// The number of requests about an object that are shown with a finding.
const LAST: usize = 15;
/// The number of runs that are tried to find a shorter one.
const TRIES: usize = 100;

/// Seeds that found a defect in the past. Such seeds are rare.
const FOUND: [(Scenario, u64); 5] = [
    // One of two operators moved to the next state while the other one stored that it had handled an edit.
    (Scenario::Rivals, 20013),
    // The same, but the first operator had judged the edit, too, in a state that it had not stored.
    (Scenario::Rivals, 20273),
    // A refused status resets the object to its state before the run, and not to a state before the writes of the other
    // operator.
    (Scenario::Rivals, 20159),
    // The response to a write was lost, the object moved on in memory, and the conflict led it back, with a reset rate
    // limiter.
    (Scenario::Spinning, 1825),
    // The very first response took twenty seconds, and the next write was dated by the wrong clock of a node.
    (Scenario::Spinning, 20199),
];

/// The seeds to play; the variable sets their number.
fn seeds(variable: &str, default: u64) -> std::ops::Range<u64> {
    let first = number("KRATOR_SEED", 0);
    first..first + number(variable, default)
}

/// Only set in a separate process: it plays the seed and writes all requests to the file in this variable.
const LOG: &str = "KRATOR_SIMULATED_LOG";

#[test]
fn a_seed_gives_the_same_requests_in_two_processes() {
    if let Some(file) = std::env::var_os(LOG) {
        let scenarios = [
            Scenario::Alone,
            Scenario::Elected,
            Scenario::Rivals,
            Scenario::Edited,
            Scenario::Spinning,
        ];
        let logs = scenarios.map(|scenario| play(&run(scenario, number("KRATOR_SEED", 0))).log.join("\n"));
        return std::fs::write(file, logs.join("\n")).expect("a file of the test");
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    for seed in seeds("KRATOR_PAIRS", 1) {
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
    played("objects_live_through_faults_and_kills", Scenario::Alone);
}

#[test]
fn of_several_replicas_one_acts_and_another_takes_over() {
    played(
        "of_several_replicas_one_acts_and_another_takes_over",
        Scenario::Elected,
    );
}

#[test]
fn an_operator_that_was_frozen_undoes_nothing_that_another_one_did() {
    played(
        "an_operator_that_was_frozen_undoes_nothing_that_another_one_did",
        Scenario::Rivals,
    );
}

#[test]
fn each_edit_is_judged_once_while_the_operator_is_killed() {
    played(
        "each_edit_is_judged_once_while_the_operator_is_killed",
        Scenario::Edited,
    );
}

#[test]
fn objects_whose_handlers_never_stay_go_on_at_one_state_a_second() {
    played(
        "objects_whose_handlers_never_stay_go_on_at_one_state_a_second",
        Scenario::Spinning,
    );
}

/// Plays the seeds of a scenario.
fn played(test: &str, scenario: Scenario) {
    let (mut requests, mut objects, mut length) = (0, 0, Duration::ZERO);
    let (mut entries, mut judgements) = (0, 0);
    let seeds = seeds("KRATOR_SEEDS", 3);
    let found = FOUND
        .iter()
        .filter(|(of, _)| *of == scenario)
        .map(|(_, seed)| *seed);
    for seed in seeds.clone().chain(found) {
        let run = run(scenario, seed);
        let judged = play(&run);
        assert!(judged.findings.is_empty(), "{}", told(test, &run, &judged));
        requests += judged.log.len();
        objects += judged.objects;
        entries += judged.entries;
        judgements += judged.judgements;
        length += judged.length;
    }
    crate::cluster::say(&format!(
        "{scenario:?}: {} seeds, {length:?}, {requests} requests, {objects} objects, {entries} entries of states, {judgements} judgements of edits",
        seeds.end - seeds.start
    ));
    assert!(entries > objects && judgements > 0);
}

#[test]
fn a_kill_before_or_after_any_status_write_is_survived() {
    for seed in seeds("KRATOR_WALKS", 1) {
        let walked = routes::walked(seed, &routes::KINDS, true);
        let judged = &walked.judged;
        if let Some(first) = judged.findings.first() {
            panic!(
                "seed {seed}: {first}\nits last requests about the object:\n{}",
                last_requests(&judged.log, first).join("\n")
            );
        }
        crate::cluster::say(&format!(
            "killed around writes: {} kills, {} objects, {:?}",
            walked.kills, judged.objects, judged.length
        ));
        assert!(judged.entries > judged.objects);
    }
}

#[test]
fn an_operator_whose_objects_rest_only_watches() {
    simulate(async {
        let mut world = World::begin(0, Deployment::Alone, &[]).await;
        let kind = postgresql();
        // In one state handlers wait for a change, in the other one they run twice a second and stay.
        for (name, objects, script) in [("waits", 100, "Validating>Invalid,"), ("polls", 3, play::TO_REST)] {
            for number in 0..objects {
                world
                    .create(kind, &format!("{name}-{number}"), Some(script))
                    .await;
            }
        }
        world.wait_until(Duration::from_secs(60)).await;
        assert_eq!(world.restless(), [""; 0]);
        let before = world.network.log().len();
        assert!(before > 3 * 103, "it has led them there");
        world.wait_until(Duration::from_secs(660)).await;
        let asked = world.network.log().split_off(before);
        let is_watch = |line: &&String| line.contains(" GET ") && line.contains("watch=");
        let others: Vec<&String> = asked.iter().filter(|line| !is_watch(line)).collect();
        assert!(others.is_empty(), "{others:#?}");
        let judged = world.end().await;
        assert!(judged.findings.is_empty(), "{:#?}", judged.findings);
    });
}

#[test]
fn a_deletion_between_a_run_and_its_refused_status_is_not_forgotten() {
    simulate(async {
        let mut world = World::begin(0, Deployment::Alone, &[]).await;
        // The handlers of this kind change the status in each run.
        let kind = postgresql();
        for number in 0..20 {
            let script = "Running>Syncing,Syncing>Running,";
            world.create(kind, &format!("it-{number}"), Some(script)).await;
        }
        world.network.set(Faults {
            slow: 300,
            refused: 300,
            ..Faults::default()
        });
        for number in 0..20 {
            world.wait_until(Duration::from_secs(2 + number)).await;
            world.delete(kind, &format!("it-{number}")).await;
        }
        world.network.set(Faults::default());
        world.wait_until(Duration::from_secs(120)).await;
        let judged = world.end().await;
        assert!(judged.findings.is_empty(), "{:#?}", judged.findings);
        assert_eq!(judged.objects, 20);
    });
}

/// The findings of a run, and a shorter run that also has findings.
fn told(test: &str, run: &Run, judged: &Judged) -> String {
    let seed = run.seed;
    let shrunk = run.clone().shrunk(|run| !play(run).findings.is_empty(), TRIES);
    let shorter = play(&shrunk);
    let first = shorter.findings.first().map_or("", String::as_str);
    format!(
        "seed {seed}, {} findings: {}\n\nThis is a shorter run, with {} findings: {first}\n{shrunk}\nIts last requests about the \
         object:\n{}\n\nPlay it again: KRATOR_SEED={seed} KRATOR_SEEDS=1 cargo test -p e2e -- sim::{test}",
        judged.findings.len(),
        judged.findings[0],
        shorter.findings.len(),
        last_requests(&shorter.log, first).join("\n")
    )
}

/// The last requests about the object in a finding, such as `Moose it-1: …`.
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
