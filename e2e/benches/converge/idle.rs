//! Measures operators whose objects are at rest: the memory for the objects, and the time from the start of an operator
//! to its first write. Before that write, an operator lists the stored objects.

use crate::contender::Contender;
use crate::e2e::cluster::{self, Cluster};
use crate::objects::Objects;
use crate::process::Process;
use crate::workload::Workload;
use crate::{Args, median, server};
use std::path::Path;
use std::time::Instant;

/// The measurements of an operator, one for each round.
#[derive(Default)]
struct Starts {
    resident: Vec<f64>,
    /// Seconds until the first status of an object that was created before the start.
    first_write: Vec<f64>,
}

/// The medians of all rounds.
struct Start {
    resident: f64,
    first_write: f64,
}

pub async fn measure(assets: &Path, contenders: &[Contender], args: &Args) {
    let (cluster, objects) = server(assets, Workload::Parcels).await;
    let contenders: Vec<&Contender> = contenders.iter().filter(|contender| contender.resumes).collect();
    let Some(last) = contenders.last() else { return };
    let empty = starts(&cluster, &objects, &contenders, ("empty", args.rounds)).await;
    objects.create(args.idle).await;
    let arrived = objects.watch_arrivals().await;
    let process = Process::start(&cluster, last);
    // The sum includes the objects of the earlier starts.
    arrived.wait_for(args.idle + args.rounds * contenders.len()).await;
    process.settle().await;
    drop(process);
    let full = starts(&cluster, &objects, &contenders, ("full", args.rounds)).await;
    print(&contenders, &empty, &full, args.idle);
}

/// Starts the operators in turns, and measures each after it has come to rest.
async fn starts(
    cluster: &Cluster,
    objects: &Objects,
    contenders: &[&Contender],
    (stage, rounds): (&str, usize),
) -> Vec<Start> {
    let mut all: Vec<Starts> = contenders.iter().map(|_| Starts::default()).collect();
    for round in 1..=rounds {
        for (at, (contender, starts)) in contenders.iter().zip(&mut all).enumerate() {
            let name = format!("{stage}-{round}-{at}");
            objects.create_one(&name).await;
            let first_status = objects.watch_first_status(&name);
            let start = Instant::now();
            let process = Process::start(cluster, contender);
            let first_write = first_status.time().await.duration_since(start).as_secs_f64();
            process.settle().await;
            let resident = process.usage().resident;
            cluster::say(&format!(
                "{round}/{rounds}: {}, {stage}: {first_write:.2} s to the first write, {resident:.1} MiB",
                contender.name
            ));
            starts.resident.push(resident);
            starts.first_write.push(first_write);
        }
    }
    let medians = |starts: Starts| Start {
        resident: median(starts.resident),
        first_write: median(starts.first_write),
    };
    all.into_iter().map(medians).collect()
}

fn print(contenders: &[&Contender], empty: &[Start], full: &[Start], count: usize) {
    println!("\n{count} objects at rest: MiB resident, and seconds from the start to the first write\n");
    println!(
        "| operator | MiB without objects | with them | difference | relative to the first | \
         seconds without objects | with them | relative to the first |\n|---|---|---|---|---|---|---|---|"
    );
    let above = |at: usize| full[at].resident - empty[at].resident;
    for (at, contender) in contenders.iter().enumerate() {
        println!(
            "| {} | {:.1} | {:.1} | {:.1} | {:.2} | {:.2} | {:.2} | {:.2} |",
            contender.name,
            empty[at].resident,
            full[at].resident,
            above(at),
            above(at) / above(0),
            empty[at].first_write,
            full[at].first_write,
            full[at].first_write / full[0].first_write,
        );
    }
}
