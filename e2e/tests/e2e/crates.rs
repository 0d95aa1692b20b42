//! The crates of good descriptions compile without warnings, are formatted and documented, and pass their tests.

mod defaults;
mod workspace;

use crate::descriptions::cases;
use crate::operator::{Crate, OWN_CHECKS, write_handlers};
use std::fs;

/// The crate keeps its lock file, its copy of the runtime and its profiles. These do not differ between crates, so one
/// crate is enough.
#[test]
fn a_crate_passes_its_own_checks_as_generated() {
    // This crate owns, watches and accesses other kinds.
    let case = &cases()["backup"];
    let text = fs::read_to_string(case.join("spec.yaml")).expect("a case has a description");
    let krate = Crate::untouched(&text);
    krate.cargo(OWN_CHECKS);
    // The tests that need handlers are ignored until the handlers are written.
    write_handlers(&krate.dir());
    krate.cargo(&[&["test", "--locked", "--quiet"]]);
}
