//! The program: `karpenter --help` tells what it can do.

use std::process::ExitCode;

use karpenter::ABOUT;
use karpenter::node_claim::NodeClaimOperator;

fn main() -> ExitCode {
    krator_runtime::main(&ABOUT, |runtime| {
        runtime
            .operator(NodeClaimOperator::default())
    })
}
