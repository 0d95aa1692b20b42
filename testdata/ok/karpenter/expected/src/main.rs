//! Runs the operator. `karpenter --help` lists its options.

use std::process::ExitCode;

use karpenter::ABOUT;
use karpenter::node_claim::NodeClaimOperator;
use karpenter::node_pool::NodePoolOperator;

fn main() -> ExitCode {
    krator_runtime::main(&ABOUT, |runtime| {
        runtime
            .operator(NodeClaimOperator::default())
            .operator(NodePoolOperator::default())
    })
}
