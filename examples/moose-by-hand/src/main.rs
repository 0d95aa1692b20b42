//! Runs the operator against the cluster of the current kubeconfig. Run `moose-by-hand crd | kubectl apply -f -`
//! before.

use std::process::ExitCode;

use krator_runtime::About;
use moose_by_hand::MooseTracker;

const ABOUT: About = About {
    name: env!("CARGO_PKG_NAME"),
    version: env!("CARGO_PKG_VERSION"),
    about: env!("CARGO_PKG_DESCRIPTION"),
    crd: include_str!("../moose.crd.yaml"),
};

fn main() -> ExitCode {
    krator_runtime::main(&ABOUT, |runtime| runtime.operator(MooseTracker::default()))
}
