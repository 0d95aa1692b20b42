//! A generated operator beside a hand-written kube-rs `Controller` and beside krator 0.6, on one real API server:
//! objects take four transitions, and what that costs each operator is measured. `LOG.md` tells what was tried.
//!
//! `cargo bench --bench converge`, with `KUBEBUILDER_ASSETS` as for the tests. All are built here, in release.

mod contender;
mod parcels;
mod process;

/// The control plane that tests run on.
#[path = "../../tests/it"]
#[allow(dead_code, reason = "tests need more of it")]
mod it {
    pub mod cluster;
}

use clap::Parser;
use contender::Contender;
use it::cluster::{self, Cluster};
use parcels::Parcels;
use process::{Process, Usage};
use std::path::Path;
use std::time::Instant;

#[derive(Parser)]
struct Args {
    /// How many objects go all the way
    #[arg(long, default_value_t = 1_000)]
    objects: usize,
    /// How many objects rest while memory is measured; 0 leaves this out
    #[arg(long, default_value_t = 10_000)]
    idle: usize,
    /// How often everything is measured: medians count
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// The Controller as others might write it, too
    #[arg(long)]
    variants: bool,
    /// All is built: measure it as it is
    #[arg(long)]
    built: bool,
    /// Only this operator; may be given more than once
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Cargo gives it to all benchmarks
    #[arg(long, hide = true)]
    bench: bool,
}

/// What it took to bring all objects to their end.
struct Run {
    seconds: f64,
    usage: Usage,
    writes: usize,
}

#[tokio::main]
async fn main() {
    let args = Args::parse();
    let Some(assets) = cluster::assets() else { return };
    if !args.built {
        contender::build();
    }
    let contenders: Vec<Contender> = contender::all(args.variants)
        .into_iter()
        .filter(|contender| args.only.is_empty() || args.only.iter().any(|name| name == contender.name))
        .collect();
    let mut runs: Vec<Vec<Run>> = contenders.iter().map(|_| Vec::new()).collect();
    // In turns, so that whatever else the machine does hits all of them.
    for round in 1..=args.rounds {
        for (contender, runs) in contenders.iter().zip(&mut runs) {
            let run = converge(&assets, contender, args.objects).await;
            cluster::say(&format!(
                "{round}/{}: {}: {:.2} s, CPU {:.2} s, {:.1} MiB, {} writes",
                args.rounds, contender.name, run.seconds, run.usage.cpu, run.usage.peak, run.writes
            ));
            runs.push(run);
        }
    }
    print_runs(&contenders, &runs, args.objects);
    if args.idle > 0 {
        idle(&assets, &contenders, &args).await;
    }
}

/// A server of its own, so that nobody has to do with what others have left it to do.
async fn server(assets: &Path) -> (Cluster, Parcels) {
    let cluster = Cluster::start(assets);
    contender::install(&cluster);
    let parcels = Parcels::new(&cluster).await;
    (cluster, parcels)
}

/// One operator brings fresh objects to their end.
async fn converge(assets: &Path, contender: &Contender, objects: usize) -> Run {
    let (cluster, parcels) = server(assets).await;
    parcels.create(objects).await;
    let delivered = parcels.watch_deliveries().await;
    let writes_before = cluster.writes("").len();
    let start = Instant::now();
    let process = Process::start(&cluster, contender);
    delivered.wait_for(objects).await;
    let seconds = start.elapsed().as_secs_f64();
    // What its own last writes make it do belongs to the work.
    process.settle().await;
    let usage = process.usage();
    Run {
        seconds,
        usage,
        writes: cluster.writes("").len() - writes_before,
    }
}

/// What objects cost that have nothing to do.
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
    println!("| operator | without objects | with them | above | of the first's |\n|---|---|---|---|---|");
    let above = |at: usize| full[at] - empty[at];
    for (at, contender) in contenders.iter().enumerate() {
        let (name, empty, full) = (contender.name, empty[at], full[at]);
        let (above, ratio) = (above(at), above(at) / above(0));
        println!("| {name} | {empty:.1} | {full:.1} | {above:.1} | {ratio:.2} |");
    }
}

/// What each operator holds once it has come to rest.
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
    println!("\n{objects} objects, four transitions each; in brackets: of the first operator's\n");
    println!("| operator | seconds | CPU seconds | peak MiB | writes |\n|---|---|---|---|---|");
    let all = |at: usize, of: fn(&Run) -> f64| median(runs[at].iter().map(of).collect());
    let cell = |at: usize, of: fn(&Run) -> f64| {
        let (here, first) = (all(at, of), all(0, of));
        format!("{here:.2} ({:.2})", here / first)
    };
    for (at, contender) in contenders.iter().enumerate() {
        println!(
            "| {} | {} | {} | {} | {} |",
            contender.name,
            cell(at, |run| run.seconds),
            cell(at, |run| run.usage.cpu),
            cell(at, |run| run.usage.peak),
            all(at, |run| run.writes as f64),
        );
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
