//! Runs the operator. `doors --help` lists its options.

use std::process::ExitCode;

// Of the hinges.
mod oil;

use doors::ABOUT;
use doors::door::DoorOperator;

fn main() -> ExitCode {
    krator_runtime::main(&ABOUT, |runtime| runtime.operator(DoorOperator::default()))
}
