//! Runs the operator. `doors --help` lists its options.

use std::process::ExitCode;

use doors::ABOUT;
use doors::door::DoorOperator;
use doors::gate::GateOperator;

fn main() -> ExitCode {
<<<<<<< yours
    eprintln!("knock, knock");
    krator_runtime::main(&ABOUT, |runtime| runtime.operator(DoorOperator::of_oak()))
||||||| before
    krator_runtime::main(&ABOUT, |runtime| runtime.operator(DoorOperator::default()))
=======
    krator_runtime::main(&ABOUT, |runtime| {
        runtime
            .operator(DoorOperator::default())
            .operator(GateOperator::default())
    })
>>>>>>> krator's
}
