//! The crate of every good description, as generated, compiles without warnings, is formatted, and passes its tests.

mod random;

use crate::goldens::cases;
use crate::operator::{Crate, OWN_CHECKS};
use std::fs;

#[test]
fn every_crate_passes_its_own_checks_as_generated() {
    for (name, case) in cases() {
        println!("{name}");
        let text = fs::read_to_string(case.join("spec.yaml")).expect("a case has a description");
        Crate::generate(&text, |_| ()).cargo(OWN_CHECKS);
    }
}

#[test]
fn the_links_in_the_documentation_of_a_crate_resolve() {
    // This one owns, watches and accesses other kinds, so its prelude documents everything that a handler can use.
    let case = &cases()["backup"];
    let text = fs::read_to_string(case.join("spec.yaml")).expect("a case has a description");
    Crate::generate(&text, |_| ()).cargo(&[&[
        "doc",
        "--locked",
        "--no-deps",
        "--lib",
        "--config",
        "build.rustdocflags=[\"-Dwarnings\"]",
    ]]);
}
