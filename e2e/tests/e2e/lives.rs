//! Operators whose objects have the same histories on the embedded API server and on a real one. One operator of the
//! descriptions of `testdata/ok/` runs on both; its objects go through each state that an edge leads to, with a child
//! of each kind that they own, and are deleted at the end. All writes to objects and children have to be the same in
//! the same order, and so have the events.

mod life;
mod offspring;
mod recorder;
mod run;
mod seen;

use crate::cluster::{self, Cluster, say};
use crate::operator::Crate;
use crate::scripted_operator::{Program, Recipe, Text};
use life::Life;

/// The namespace of all namespaced objects, which is compiled into the handlers.
const NAMESPACE: &str = "it-lives";

/// All descriptions but `database`, because the name of one of its kinds is used in another description.
const RECIPE: Recipe = Recipe {
    text: Text {
        operator: "lives",
        cases: &[
            "analysisrun",
            "backup",
            "baremetalhost",
            "cronjob",
            "externalsecret",
            "helmrelease",
            "karpenter",
            "memcached",
            "moose",
            "order",
            "postgresql",
            "rollout",
            "small-machines",
            "taskrun",
        ],
        // An object whose state times out after a millisecond would never come to rest. Policies are left out, because
        // the operator of the contract tests runs under them, and the conformance cases cover refusals by policies.
        more: |_| "",
        line: |line| line.replace("after: 1ms", "after: 1h"),
    },
    first: offspring::applied,
    // A build whose clock can be moved forward.
    build: Crate::build_for_development,
};

/// The controllers of a real server whose work the embedded server does itself.
const CONTROLLERS: [&str; 3] = [
    "garbage-collector-controller",
    "namespace-controller",
    "persistentvolumeclaim-protection-controller",
];

#[test]
fn every_operator_lives_its_life_on_the_embedded_server_as_on_a_real_one() {
    let Some(mut real) = Cluster::for_controllers() else {
        return;
    };
    let embedded = &cluster::embedded().expect("there is kubectl where there are servers");
    let (program, krate) = Program::build(&RECIPE, real.dir());
    program.install(&krate, &real);
    program.install(&krate, embedded);
    // The garbage collector discovers the kinds at its start.
    real.start_controllers(&CONTROLLERS);
    let lives: Vec<Life> = program.description.kinds.iter().flat_map(Life::all).collect();

    let on_embedded = seen::histories(&run::lead(embedded, &program, &lives));
    let on_real = seen::histories(&run::lead(&real, &program, &lives));

    let names = |histories: &std::collections::BTreeMap<String, Vec<String>>| -> Vec<String> {
        histories.keys().cloned().collect()
    };
    assert_eq!(names(&on_embedded), names(&on_real));
    let mut different = Vec::new();
    for (name, history) in &on_real {
        let (expected, is) = (history.join("\n"), on_embedded[name].join("\n"));
        if expected != is {
            let patch = diffy::DiffOptions::new()
                .set_context_len(8)
                .create_patch(&expected, &is);
            say(&format!("== {name}\n{patch}"));
            different.push(name);
        }
    }
    let lines: usize = on_real.values().map(Vec::len).sum();
    say(&format!(
        "{} objects and children, {lines} writes and events",
        on_real.len()
    ));
    assert!(different.is_empty(), "not alike: {different:#?}");
}
