//! Every edge of random machines leads to the state in the description, with every fault at every write.
//!
//! The text goes through `krator check` and the generators, and [`generated`] reads their output. So a failure is a
//! mistake of the runtime, of the generated machine, or of a rule that should have refused the description.
//! `KRATOR_MACHINES` is the number of machines, `KRATOR_SEED` another seed, and with `KRATOR_TOLD_APART=1` all of them
//! have rules for changes of single fields.

mod generated;
mod random;

use crate::descriptions::cases;
use crate::dice::{Dice, number};
use generated::Generated;
use krator::graph::StateGraph;
use krator::model;
use krator::policies::may_follow;
use random::RandomMachine;
use std::collections::BTreeSet;
use std::fs;

/// The number of edges, and the defects of the edges; `None` if the description has an error.
fn test(text: &str) -> Option<(usize, Vec<String>)> {
    let checked = krator::check("krator.yaml", text.as_bytes());
    let description = checked.sound()?;
    let (mut edges, mut wrong) = (0, Vec::new());
    for kind in &description.kinds {
        let generated = Generated::of(description, kind);
        edges += generated.edges();
        wrong.extend(generated.test());
    }
    Some((edges, wrong))
}

#[test]
fn every_edge_of_random_machines_survives_every_fault() {
    let (machines, seed) = (number("KRATOR_MACHINES", 100), number("KRATOR_SEED", 1));
    let all_tell_apart = number("KRATOR_TOLD_APART", 0) > 0;
    let mut dice = Dice::new(seed);
    let (mut good, mut by_field, mut edges, mut refused, mut failures) = (0, 0, 0, 0, Vec::new());
    while good < machines && failures.len() < 5 {
        let machine = RandomMachine::new(&mut dice);
        if all_tell_apart && !machine.tells_apart() {
            continue;
        }
        let Some((taken, wrong)) = test(&machine.text()) else {
            refused += 1;
            assert!(refused < 1_000 + 100 * good, "no description is good any more");
            continue;
        };
        good += 1;
        by_field += usize::from(machine.tells_apart());
        edges += taken;
        if !wrong.is_empty() {
            let fails =
                |machine: &RandomMachine| test(&machine.text()).is_some_and(|(_, wrong)| !wrong.is_empty());
            let text = machine.shrink(fails).text();
            let (_, wrong) = test(&text).unwrap_or_default();
            failures.push(format!("{text}\n{}", wrong.join("\n")));
        }
    }
    println!(
        "seed {seed}: {good} machines with {edges} edges, {by_field} of them tell fields of the spec apart, and {refused} \
         descriptions with an error"
    );
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn policies_let_every_move_of_a_random_machine_pass() {
    let mut dice = Dice::new(number("KRATOR_SEED", 1));
    let (mut good, mut refused) = (0, 0);
    while good < number("KRATOR_MACHINES", 100) {
        let text = RandomMachine::new(&mut dice).text();
        let checked = krator::check("krator.yaml", text.as_bytes());
        let Some(description) = checked.sound() else {
            continue;
        };
        good += 1;
        let kind = &description.kinds[0];
        let (generated, graph) = (Generated::of(description, kind), StateGraph::of(kind));
        let name = |id: model::StateId| kind.state(id).name.as_str();
        let all = kind.state_ids().map(|(id, _)| Some(id)).chain([None]);
        for from in all {
            let may_follow = may_follow(kind, &graph, from);
            refused += kind.states.len() - may_follow.len();
            // The same state may be stored again.
            let policy: BTreeSet<&str> = may_follow.into_iter().chain(from).map(name).collect();
            let stored = generated.may_follow(from.map(name));
            let missing: Vec<&&str> = stored.difference(&policy).collect();
            assert!(missing.is_empty(), "{:?} to {missing:?}:\n{text}", from.map(name));
        }
    }
    assert!(refused > 0, "the policies refuse something, too");
}

#[test]
fn every_edge_of_every_good_description_survives_every_fault() {
    for (name, case) in cases() {
        let text = fs::read_to_string(case.join("spec.yaml")).expect("a case has a description");
        let (_, wrong) = test(&text).expect("a good description");
        assert!(wrong.is_empty(), "{name}:\n{}", wrong.join("\n"));
    }
}
