//! Runs the operator. `doors --help` lists its options.

use std::process::ExitCode;

use doors::ABOUT;
use doors::door::DoorOperator;

fn main() -> ExitCode {
    eprintln!("knock, knock");
    krator_runtime::main(&ABOUT, |runtime| runtime.operator(DoorOperator::of_oak()))
}
