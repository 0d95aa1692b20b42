//! Compares a generated operator with hand-written ones on kube-rs and on controller-runtime, and with one of krator
//! 0.6, on a real API server. It measures their time, CPU and memory for two workloads: objects take four transitions,
//! and objects get three children and wait for one of them. `LOG.md` records the variants that were tried.
//!
//! With `PARCELS_COMPUTE` in the environment, the second step of each parcel computes: 15,000,000 rounds take some 20
//! ms.
//!
//! Run it with `cargo bench -p e2e --bench converge`, with `KUBEBUILDER_ASSETS` set as for the tests. It builds all
//! operators in release mode, those on controller-runtime only if Go is installed.

mod build;
mod contender;
mod deployments;
mod idle;
mod objects;
mod process;
mod usage;
mod workload;

/// The control plane of the tests.
#[path = "../../tests/e2e"]
#[allow(dead_code, reason = "only tests use all of it")]
mod e2e {
    pub mod cluster;
}

use build::Program;
use clap::Parser;
use contender::Contender;
use e2e::cluster::{self, Cluster};
use objects::Objects;
use process::{Process, server_cpu};
use std::path::Path;
use std::time::Instant;
use tokio::task::JoinSet;
use usage::Usage;
use workload::{Selection, Workload};

#[derive(Parser)]
struct Args {
    /// What the operators do
    #[arg(long, value_enum, default_value = "both")]
    workload: Selection,
    /// How many objects are brought to their final state [default: 1000 parcels, 300 shops with children]
    #[arg(long)]
    objects: Option<usize>,
    /// How many parcels are at rest while memory and starts are measured; with 0 they are not measured
    #[arg(long, default_value_t = 10_000)]
    idle: usize,
    /// Measure nothing but memory at rest and starts
    #[arg(long)]
    startup: bool,
    /// How many times everything is measured; the medians are printed
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Also measure variants of the Controller
    #[arg(long)]
    variants: bool,
    /// Use the binaries of the last run instead of building them
    #[arg(long)]
    built: bool,
    /// Measure only this operator; may be given more than once
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Cargo passes this to all benchmarks
    #[arg(long, hide = true)]
    bench: bool,
}

/// The resources and requests of an operator until all objects are in their final state.
struct Run {
    seconds: f64,
    usage: Usage,
    /// CPU seconds of etcd and kube-apiserver, which cause most of `seconds`.
    server: f64,
    writes: usize,
}

#[tokio::main]
async fn main() {
    let args = Args::parse();
    let Some(assets) = cluster::assets() else { return };
    // Operators at rest are measured with parcels.
    let workloads = if args.startup {
        &[Workload::Parcels]
    } else {
        args.workload.workloads()
    };
    let is_possible = |program| build::is_possible(program, args.built);
    if !is_possible(Program::ControllerRuntime) {
        cluster::say("There is no Go, so the operators on controller-runtime are left out.");
    }
    let contenders = |workload| -> Vec<Contender> {
        contender::all(workload, args.variants)
            .into_iter()
            .filter(|contender| args.only.is_empty() || args.only.iter().any(|name| name == contender.name))
            .filter(|contender| is_possible(contender.program))
            .collect()
    };
    if !args.built {
        build_all(workloads, contenders);
    }
    for &workload in workloads {
        let contenders = contenders(workload);
        if !args.startup {
            converge_all(&assets, workload, &contenders, &args).await;
        }
        if workload == Workload::Parcels && args.idle > 0 {
            idle::measure(&assets, &contenders, &args).await;
        }
    }
}

fn build_all(workloads: &[Workload], contenders: impl Fn(Workload) -> Vec<Contender>) {
    let mut programs: Vec<Program> = Vec::new();
    for &workload in workloads {
        for Contender { program, .. } in contenders(workload) {
            if !programs.contains(&program) {
                programs.push(program);
            }
        }
        let with_crd = build::with_crd(workload);
        if !programs.contains(&with_crd) {
            build::write_crate(with_crd);
        }
    }
    programs.into_iter().for_each(build::build);
}

/// Starts a server for one measurement, so that leftover work of earlier ones does not affect it.
async fn server(assets: &Path, workload: Workload) -> (Cluster, Objects) {
    let cluster = Cluster::start(assets);
    build::install(&cluster, workload);
    let objects = Objects::new(cluster::client(&cluster.kubeconfig("admin")).await, workload);
    (cluster, objects)
}

/// Measures all operators as they bring new objects to their final state, and prints the results.
async fn converge_all(assets: &Path, workload: Workload, contenders: &[Contender], args: &Args) {
    let objects = args.objects.unwrap_or_else(|| workload.usual_objects());
    let mut runs: Vec<Vec<Run>> = contenders.iter().map(|_| Vec::new()).collect();
    // The operators take turns, so that other load on the machine affects all of them alike.
    for round in 1..=args.rounds {
        for (contender, runs) in contenders.iter().zip(&mut runs) {
            let run = converge(assets, workload, contender, objects).await;
            cluster::say(&format!(
                "{round}/{}: {}: {:.2} s, CPU {:.2} s, the server's {:.2} s, {:.1} MiB, {} writes",
                args.rounds,
                contender.name,
                run.seconds,
                run.usage.cpu,
                run.server,
                run.usage.peak,
                run.writes
            ));
            runs.push(run);
        }
    }
    print_runs(contenders, &runs, objects, workload);
}

/// Measures one operator as it brings new objects to their final state.
async fn converge(assets: &Path, workload: Workload, contender: &Contender, count: usize) -> Run {
    let (cluster, objects) = server(assets, workload).await;
    objects.create(count).await;
    let arrived = objects.watch_arrivals().await;
    let _deployments = match workload {
        Workload::Parcels => JoinSet::new(),
        Workload::Children => deployments::make_ready(cluster::client(&cluster.kubeconfig("admin")).await),
    };
    let writes_before = cluster.writes("").len();
    let server_before = server_cpu(&cluster);
    let start = Instant::now();
    let process = Process::start(&cluster, contender);
    arrived.wait_for(count).await;
    let seconds = start.elapsed().as_secs_f64();
    let server = server_cpu(&cluster) - server_before;
    // The measurement includes the work that the last writes of the operator cause for itself.
    process.settle().await;
    let usage = process.usage();
    Run {
        seconds,
        usage,
        server,
        writes: cluster.writes("").len() - writes_before,
    }
}

fn print_runs(contenders: &[Contender], runs: &[Vec<Run>], objects: usize, workload: Workload) {
    let work = workload.work();
    println!("\n{objects} objects, {work}; in brackets, relative to the first operator\n");
    println!(
        "| operator | seconds | CPU seconds | the server's CPU seconds | peak MiB | writes |\n|---|---|---|---|---|---|"
    );
    let all = |at: usize, of: fn(&Run) -> f64| median(runs[at].iter().map(of).collect());
    let cell = |at: usize, of: fn(&Run) -> f64| {
        let (here, first) = (all(at, of), all(0, of));
        format!("{here:.2} ({:.2})", here / first)
    };
    for (at, contender) in contenders.iter().enumerate() {
        println!(
            "| {} | {} | {} | {} | {} | {} |",
            contender.name,
            cell(at, |run| run.seconds),
            cell(at, |run| run.usage.cpu),
            cell(at, |run| run.server),
            cell(at, |run| run.usage.peak),
            all(at, |run| run.writes as f64),
        );
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
