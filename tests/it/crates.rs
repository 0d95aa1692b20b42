//! The crates of good descriptions compile without warnings, are formatted and documented, and pass their tests.

mod defaults;
mod workspace;

use crate::goldens::cases;
use crate::operator::{Crate, OWN_CHECKS};
use std::fs;

/// With its lock file, its own copy of the runtime and its profiles. In these, crates do not differ, so one is enough.
#[test]
fn a_crate_passes_its_own_checks_as_generated() {
    // This one owns, watches and accesses other kinds.
    let case = &cases()["backup"];
    let text = fs::read_to_string(case.join("spec.yaml")).expect("a case has a description");
    Crate::generate(&text, |_| ()).cargo(OWN_CHECKS);
}
