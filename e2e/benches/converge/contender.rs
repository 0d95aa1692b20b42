//! The operators that are compared.

use crate::build::{self, Program};
use crate::workload::Workload;
use std::path::PathBuf;

/// A free port, because the default one may be in use on the machine.
const PROBES: &str = "--health-probe-bind-address=127.0.0.1:0";

/// The Controllers publish no events. No object fails, so there are no warnings either.
const NO_EVENTS: &str = "--events=warnings";

/// The settings of krator: one thread, at most 32 requests at once, no managedFields in memory.
const TUNED: [&str; 3] = ["--one-thread", "--lean", "--bounded"];

/// An operator that is compared.
pub struct Contender {
    pub name: &'static str,
    pub program: Program,
    pub args: Vec<&'static str>,
    /// Whether it continues from the stored state of an object after a restart.
    pub resumes: bool,
    /// Whether its TLS library accepts only host names, not addresses.
    pub by_name: bool,
}

impl Contender {
    fn new(name: &'static str, program: Program, args: &[&'static str]) -> Self {
        Self {
            name,
            program,
            args: args.to_vec(),
            resumes: true,
            by_name: false,
        }
    }

    pub fn binary(&self) -> PathBuf {
        build::binary(self.program)
    }
}

/// The operators that are compared. The first one is the baseline of the others.
pub fn all(workload: Workload, variants: bool) -> Vec<Contender> {
    let controller = |name, args: &[&'static str]| {
        let chosen: &[&str] = match workload {
            Workload::Parcels => &[],
            Workload::Children => &["--children"],
        };
        Contender::new(name, Program::Controller, &[args, chosen].concat())
    };
    let go = |name, args: &[&'static str]| {
        let chosen = match workload {
            Workload::Parcels => "--workload=parcels",
            Workload::Children => "--workload=children",
        };
        // The logs of the scaffold are verbose by default, and those of the others are not.
        let usual = [PROBES, "--zap-log-level=info", chosen];
        Contender::new(name, Program::ControllerRuntime, &[args, &usual].concat())
    };
    let krator = |name, args: &[&'static str]| {
        let program = match workload {
            Workload::Parcels => Program::Parcels,
            Workload::Children => Program::Shops,
        };
        Contender::new(name, program, &[args, &[PROBES]].concat())
    };
    let mut contenders = vec![
        controller("kube-rs Controller, tuned", &TUNED),
        controller("kube-rs Controller", &[]),
        go("controller-runtime", &[]),
        go("controller-runtime, tuned", &["--tuned", "--zap-devel=false"]),
    ];
    if variants {
        contenders.extend([
            controller("kube-rs Controller, at most 32 at once", &["--bounded"]),
            controller("kube-rs Controller, without managedFields", &["--lean"]),
        ]);
    }
    if variants && workload == Workload::Parcels {
        contenders.extend([
            controller(
                "kube-rs Controller, all of it in one reconciliation",
                &["--at-once"],
            ),
            controller("kube-rs Controller, merge patches", &["--merge"]),
        ]);
    }
    if workload == Workload::Parcels {
        contenders.push(Contender {
            resumes: false,
            by_name: true,
            ..Contender::new("krator 0.6", Program::Krator06, &[])
        });
    }
    contenders.extend([krator("krator", &[NO_EVENTS]), krator("krator with events", &[])]);
    // A state in which an object may wait has a checkpoint, so this variant is impossible for shops.
    if workload == Workload::Parcels {
        let args = [PROBES, NO_EVENTS];
        contenders.push(Contender::new(
            "krator, `checkpoint: false`",
            Program::ParcelsPassing,
            &args,
        ));
    }
    contenders
}
