//! The crates of good descriptions compile without warnings, are formatted and documented, and pass their tests.

mod defaults;
mod workspace;

use crate::descriptions::cases;
use crate::operator::{Crate, OWN_CHECKS, write_handlers};
use std::fs;

/// With its lock file, its own copy of the runtime and its profiles. In these, crates do not differ, so one is enough.
#[test]
fn a_crate_passes_its_own_checks_as_generated() {
    // This one owns, watches and accesses other kinds.
    let case = &cases()["backup"];
    let text = fs::read_to_string(case.join("spec.yaml")).expect("a case has a description");
    let krate = Crate::untouched(&text);
    krate.cargo(OWN_CHECKS);
    // The tests that need handlers are ignored until somebody has written those.
    write_handlers(&krate.dir());
    krate.cargo(&[&["test", "--locked", "--quiet"]]);
}
