//! Runs the operator. `moose-tracker --help` lists its options.

use std::process::ExitCode;

use moose_tracker::ABOUT;
use moose_tracker::moose::MooseOperator;

fn main() -> ExitCode {
    krator_runtime::main(&ABOUT, |runtime| runtime.operator(MooseOperator::default()))
}
