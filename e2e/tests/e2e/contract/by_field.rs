//! Objects whose spec is edited, field by field, while their operator is killed again and again: each difference is judged
//! once. `KRATOR_EDITS` is the number of edits.

use super::crash::resource;
use super::oracle::Oracle;
use super::session::Session;
use crate::cluster::{say, until};
use crate::dice::{Dice, number};
use crate::scripted_operator::prepared;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const OBJECTS: usize = 300;

/// A merge patch of the spec of a Postgresql: fields that its states tell apart, others, and several at once.
fn edit(dice: &mut Dice) -> Value {
    let fields = [
        json!({"volume": {"size": format!("{}Gi", 1 + dice.below(3))}}),
        json!({"volume": {"storageClass": format!("class-{}", dice.below(2))}}),
        json!({"volume": {"storageClass": null}}),
        json!({"teamId": format!("team-{}", dice.below(3))}),
        json!({"numberOfInstances": dice.below(3)}),
        json!({"enableLogicalBackup": false}),
    ];
    let mut spec = json!({});
    for _ in 0..1 + dice.below(2) {
        let field = dice.among(&fields).as_object().expect("a mapping").clone();
        spec.as_object_mut().expect("a mapping").extend(field);
    }
    json!({"spec": spec})
}

#[test]
fn each_edit_is_judged_once_while_the_operator_is_killed() {
    let Some(scripted) = &prepared() else { return };
    let (edits, seed) = (number("KRATOR_EDITS", 120), number("KRATOR_SEED", 27));
    let mut dice = Dice::new(seed);
    let kind = scripted.kind("Postgresql");
    let mut session = Session::new(scripted, "by-field", &[kind], false);
    session.ready_objects_stay();
    let script = "Validating>Creating,Creating>Running,Updating>Running,Running>stay,";
    let objects: Vec<Value> = (0..OBJECTS)
        .map(|number| {
            let name = format!("it-{number}");
            scripted
                .program
                .object(kind, &session.namespace, &name, Some(script))
        })
        .collect();
    scripted.create(&objects);
    let mut operator = session.start(&json!({}));
    let (begun, mut kills) = (Instant::now(), 0);
    until("all objects rest", || {
        session.follow();
        let seen: usize = session.oracles().map(Oracle::objects).sum();
        (seen == OBJECTS && session.restless().is_empty()).then_some(())
    });
    let mut next_kill = Instant::now();
    for _ in 0..edits {
        let resource = resource(kind, &format!("it-{}", dice.below(OBJECTS)));
        let patch = |patch: &Value| {
            let patch = patch.to_string();
            let patched = session.kubectl(&["patch", &resource, "--type=merge", "--patch", &patch]);
            patched.expect("it is there");
        };
        let first = edit(&mut dice);
        patch(&first);
        if dice.below(4) == 0 {
            // To and fro, which the operator sees as one change or as two.
            patch(&edit(&mut dice));
            patch(&first);
        }
        if Instant::now() > next_kill {
            operator.kill();
            kills += 1;
            operator = session.start(&json!({}));
            next_kill = Instant::now() + Duration::from_millis(dice.below(2000) as u64);
        }
        session.follow();
    }
    until("all edits are dealt with", || {
        session.follow();
        session.oracles().all(Oracle::has_caught_up).then_some(())
    });
    assert_eq!(operator.terminate().code(), Some(0));
    let totals = session.judge();
    let judged: usize = session.oracles().map(Oracle::judged).sum();
    say(&format!(
        "by field, seed {seed}: {edits} edits of {} objects, {kills} kills in {:?}; {judged} judgements were stored, {} entries",
        totals.objects,
        begun.elapsed(),
        totals.entries
    ));
    assert_eq!(totals.objects, OBJECTS);
    assert!(judged > 0 && kills > 0);
}
