//! Compares a generated operator with a hand-written kube-rs `Controller` and with krator 0.6, on a real API server: objects
//! take four transitions, and the time, CPU and memory that each operator needs are measured. `LOG.md` records what was
//! tried.
//!
//! With `PARCELS_COMPUTE` in the environment, the second step of each parcel computes: 15,000,000 rounds take some 20 ms.
//!
//! Run it with `cargo bench -p e2e --bench converge`, with `KUBEBUILDER_ASSETS` set as for the tests. It builds all operators in
//! release mode.

mod contender;
mod parcels;
mod process;

/// The control plane of the tests.
#[path = "../../tests/e2e"]
#[allow(dead_code, reason = "only tests use all of it")]
mod e2e {
    pub mod cluster;
}

use clap::Parser;
use contender::Contender;
use e2e::cluster::{self, Cluster};
use parcels::Parcels;
use process::{Process, Usage, server_cpu};
use std::path::Path;
use std::time::Instant;

#[derive(Parser)]
struct Args {
    /// How many objects take all transitions
    #[arg(long, default_value_t = 1_000)]
    objects: usize,
    /// How many objects are at rest while memory is measured; with 0 it is not measured
    #[arg(long, default_value_t = 10_000)]
    idle: usize,
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

/// What an operator needed to bring all objects to their final state.
struct Run {
    seconds: f64,
    usage: Usage,
    /// CPU seconds of etcd and kube-apiserver, which most of `seconds` are spent on.
    server: f64,
    writes: usize,
}

#[tokio::main]
async fn main() {
    let args = Args::parse();
    let Some(assets) = cluster::assets() else { return };
    let contenders: Vec<Contender> = contender::all(args.variants)
        .into_iter()
        .filter(|contender| args.only.is_empty() || args.only.iter().any(|name| name == contender.name))
        .collect();
    if !args.built {
        contender::build(&contenders);
    }
    let mut runs: Vec<Vec<Run>> = contenders.iter().map(|_| Vec::new()).collect();
    // The operators take turns, so that other load on the machine affects all of them alike.
    for round in 1..=args.rounds {
        for (contender, runs) in contenders.iter().zip(&mut runs) {
            let run = converge(&assets, contender, args.objects).await;
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
    print_runs(&contenders, &runs, args.objects);
    if args.idle > 0 {
        idle(&assets, &contenders, &args).await;
    }
}

/// Starts a server for one measurement, so that work that earlier ones have left to the server does not affect it.
async fn server(assets: &Path) -> (Cluster, Parcels) {
    let cluster = Cluster::start(assets);
    contender::install(&cluster);
    let parcels = Parcels::new(&cluster).await;
    (cluster, parcels)
}

/// Measures one operator that brings new objects to their final state.
async fn converge(assets: &Path, contender: &Contender, objects: usize) -> Run {
    let (cluster, parcels) = server(assets).await;
    parcels.create(objects).await;
    let delivered = parcels.watch_deliveries().await;
    let writes_before = cluster.writes("").len();
    let server_before = server_cpu(&cluster);
    let start = Instant::now();
    let process = Process::start(&cluster, contender);
    delivered.wait_for(objects).await;
    let seconds = start.elapsed().as_secs_f64();
    let server = server_cpu(&cluster) - server_before;
    // The work that its own last writes cause is part of the measurement.
    process.settle().await;
    let usage = process.usage();
    Run {
        seconds,
        usage,
        server,
        writes: cluster.writes("").len() - writes_before,
    }
}

/// Measures the memory that objects at rest need.
async fn idle(assets: &Path, contenders: &[Contender], args: &Args) {
    let (cluster, parcels) = server(assets).await;
    let contenders: Vec<&Contender> = contenders.iter().filter(|contender| contender.resumes).collect();
    let empty = memory(&cluster, &contenders, args.rounds).await;
    parcels.create(args.idle).await;
    let delivered = parcels.watch_deliveries().await;
    let last = contenders.last().expect("there is always one");
    let process = Process::start(&cluster, last);
    delivered.wait_for(args.idle).await;
    process.settle().await;
    drop(process);
    let full = memory(&cluster, &contenders, args.rounds).await;

    println!("\n{} objects at rest, MiB resident\n", args.idle);
    println!(
        "| operator | without objects | with them | difference | relative to the first |\n|---|---|---|---|---|"
    );
    let above = |at: usize| full[at] - empty[at];
    for (at, contender) in contenders.iter().enumerate() {
        let (name, empty, full) = (contender.name, empty[at], full[at]);
        let (above, ratio) = (above(at), above(at) / above(0));
        println!("| {name} | {empty:.1} | {full:.1} | {above:.1} | {ratio:.2} |");
    }
}

/// The resident memory of each operator, once it has come to rest.
async fn memory(cluster: &Cluster, contenders: &[&Contender], rounds: usize) -> Vec<f64> {
    let mut resident: Vec<Vec<f64>> = contenders.iter().map(|_| Vec::new()).collect();
    for _ in 0..rounds {
        for (contender, resident) in contenders.iter().zip(&mut resident) {
            let process = Process::start(cluster, contender);
            process.settle().await;
            resident.push(process.usage().resident);
        }
    }
    resident.into_iter().map(median).collect()
}

fn print_runs(contenders: &[Contender], runs: &[Vec<Run>], objects: usize) {
    println!("\n{objects} objects, four transitions each; in brackets, relative to the first operator\n");
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
