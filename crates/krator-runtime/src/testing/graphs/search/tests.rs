//! Searches all small machines: a run searches a slice of them, `KRATOR_SEARCH=all` searches all, and
//! `KRATOR_SEARCH=50` one of fifty.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test prints how far it went, and a variable says how far it goes"
)]

mod machines;
mod planted;

use super::{Bounds, search};
use machines::{Small, graphs};
use std::env;

/// A machine with at most one key: two faults, or one fault and one event of another client or process.
const ONE_KEY: Bounds = Bounds {
    faults: 2,
    events: 1,
    answers: 1,
    disturbances: 2,
    runs: 4,
};

/// A machine with two keys: one fault, or one event of another client or process.
const TWO_KEYS: Bounds = Bounds {
    faults: 1,
    events: 1,
    answers: 1,
    disturbances: 1,
    runs: 4,
};

/// A machine that distinguishes changes of fields: two edits, or one edit and a fault or another event.
const BY_FIELD: Bounds = Bounds {
    faults: 1,
    events: 2,
    answers: 0,
    disturbances: 2,
    runs: 4,
};

/// A machine with a limit that is exceeded and reset, which takes several runs.
const WAY_BACK: Bounds = Bounds { runs: 6, ..TWO_KEYS };

/// A run searches one of this many machines.
const SLICE: usize = 400;

async fn searched(what: &str, machines: &[Small], bounds: Bounds, slice: usize) -> Vec<String> {
    let (mut taken, mut schedules, mut wrong) = (0, 0, Vec::new());
    let began = std::time::Instant::now();
    for small in machines.iter().step_by(slice) {
        let graph = small.graph();
        let found = search(&graph, &graph, None, bounds).await;
        taken += 1;
        schedules += found.schedules;
        if !found.wrong.is_empty() {
            wrong.push(format!("{small:?}\n{}", found.wrong.join("\n")));
            if wrong.len() == 3 {
                break;
            }
        }
    }
    println!(
        "{what}: {taken} of {} machines, {schedules} schedules, {:?}",
        machines.len(),
        began.elapsed()
    );
    wrong
}

fn slice() -> usize {
    match env::var("KRATOR_SEARCH").as_deref() {
        Ok("all") => 1,
        Ok(slice) => slice.parse().expect("`all`, or one of how many machines"),
        Err(_) => SLICE,
    }
}

#[tokio::test(start_paused = true)]
async fn no_schedule_of_edits_is_judged_twice_or_by_the_wrong_fields() {
    let wrong = searched("by field", &Small::by_field(false), BY_FIELD, 1 + slice() / 8).await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[tokio::test(start_paused = true)]
async fn no_schedule_of_edits_with_another_key_breaks_a_promise() {
    // There are many of these machines, so a run takes fewer of them.
    let slice = if slice() == 1 { 1 } else { 4 * slice() };
    let machines = Small::by_field(true);
    let wrong = searched("by field, and another key", &machines, TWO_KEYS, slice).await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[tokio::test(start_paused = true)]
async fn no_schedule_within_the_bounds_breaks_a_promise() {
    let slice = slice();
    let all = [Small::all(0), Small::all(1), Small::all(2)];
    println!(
        "{} graphs; machines without a key, with one, and with two: {}, {}, {}",
        graphs().len(),
        all[0].len(),
        all[1].len(),
        all[2].len()
    );
    let [none, one, two] = all;
    let mut wrong = searched("no key", &none, ONE_KEY, 1 + slice / 40).await;
    wrong.extend(searched("one key", &one, ONE_KEY, slice).await);
    wrong.extend(searched("two keys", &two, TWO_KEYS, slice).await);
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[tokio::test(start_paused = true)]
async fn no_schedule_through_a_limit_and_back_breaks_a_promise() {
    let mut machines = [Small::all(1), Small::all(2)].concat();
    machines.retain(Small::has_way_back);
    let wrong = searched("a limit with a way back", &machines, WAY_BACK, slice()).await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
