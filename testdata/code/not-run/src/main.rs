//! Runs the operator. `karpenter --help` lists its options.

use std::process::ExitCode;

use karpenter::ABOUT;
use karpenter::node_claim::NodeClaimOperator;

fn main() -> ExitCode {
    krator_runtime::main(&ABOUT, |runtime| {
        runtime
            .operator(NodeClaimOperator::default())
    })
}
