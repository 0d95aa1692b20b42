//! Random edits of an author, some of them mistakes: after each one either `krator dev` reports the mistake while the
//! last operator keeps running, or the new operator applies the edit. `KRATOR_EDITS` is the number of edits,
//! `KRATOR_SEED` the seed of the dice.

mod desk;
mod world;

use super::Session;
use crate::dice::{Dice, number};
use crate::operator::krator;
use desk::Desk;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use world::World;

#[test]
fn dev_is_right_after_every_edit() {
    let (edits, seed) = (number("KRATOR_EDITS", 6), number("KRATOR_SEED", 1));
    let mut dice = Dice::new(seed);
    let mut desk = Desk::new();
    let mut dev = Session::start(&desk.dir(), &["dev"]);
    let world = World::of(&mut dev);
    world.shows(desk.sound(), "the first operator");
    let mut made: BTreeMap<&str, usize> = BTreeMap::new();
    let mut log = Vec::new();
    for _ in 0..edits {
        dev.drain();
        let what = desk.edit(&mut dice);
        *made.entry(what).or_default() += 1;
        log.push(what);
        judge(&desk, &mut dev, &world, &format!("seed {seed}, {log:?}"));
    }
    let place = format!("seed {seed}, {log:?}, and all mended");
    desk.mend_all(|desk| judge(desk, &mut dev, &world, &place));
    agree(&desk, &world, &place);
    println!("{edits} edits, seed {seed}: {made:?}");
    assert!(dev.end().success());
}

/// Waits for the expected effects of an edit.
fn judge(desk: &Desk, dev: &mut Session, world: &World, place: &str) {
    let complaints = desk.complaints();
    if !complaints.is_empty() {
        dev.wait_for_any(&complaints, place);
    }
    if desk.is_buildable() {
        world.shows(desk.sound(), place);
    }
    // An operator keeps running despite mistakes.
    assert!(world.page().is_some(), "{place}: no operator runs");
}

/// Asserts that the crate, its definition and its sample, the operator and its page agree with the description.
fn agree(desk: &Desk, world: &World, place: &str) {
    let checked = Command::new(krator_tests::program())
        // Under `krator dev`, edits may break accepted objects.
        .args(["gen", "--check", "--allow-breaking"])
        .current_dir(desk.dir())
        .output()
        .expect("krator runs");
    let said = String::from_utf8_lossy(&checked.stderr);
    // `krator dev` does not record edits as accepted; only `krator gen` does.
    let is_to_be_accepted = said.contains("would change only .krator/");
    assert!(checked.status.success() || is_to_be_accepted, "{place}\n{said}");
    let description = desk.dir().join("krator.yaml");
    let printed = krator(&[Path::new("gen"), Path::new("crd"), &description]).stdout;
    let printed: serde_json::Value = serde_yaml::from_slice(&printed).expect("a definition");
    let schema = |definition: &serde_json::Value| definition["spec"]["versions"][0]["schema"].clone();
    assert_eq!(schema(&world.definition()), schema(&printed), "{place}");
    let page = world.page().expect("the operator runs");
    let kind = &page["kinds"][0];
    let states = kind["states"].as_array().expect("states");
    let grazes = states.iter().any(|state| state["name"] == "Graze");
    assert_eq!(grazes, desk.sound().grazes, "{place}: {states:?}");
    assert_eq!(page["version"], desk.sound().version(), "{place}");
    assert_eq!(kind["parked"], 0, "{place}");
}
