//! The program: `doors --help` tells what it can do.

use std::process::ExitCode;

use doors::ABOUT;
use doors::door::DoorOperator;
use doors::gate::GateOperator;

fn main() -> ExitCode {
<<<<<<< ours
    eprintln!("knock, knock");
    krator_runtime::main(&ABOUT, |runtime| runtime.operator(DoorOperator::of_oak()))
=======
    krator_runtime::main(&ABOUT, |runtime| {
        runtime
            .operator(DoorOperator::default())
            .operator(GateOperator::default())
    })
>>>>>>> theirs
}
