//! How long `krator check` takes on graphs of 100, 1,000 and 10,000 states with five edges each, and how long
//! `krator new` takes, apart from writing to disk, on every description of `testdata/ok`.

use std::fmt::Write;
use std::fs;
use std::hint::black_box;
use std::path::Path;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use krator::render::{Runtime, plan};

/// A ring of states with chords, each of which may wait.
fn description(states: usize) -> String {
    let mut text = String::from(
        "krator: 1\nresource: {group: example.com, version: v1, kind: Big}\nspec: {size: integer}\n\
         machine: {initial: S0, deletion: Deleting, retry: {limit: 5, then: Failed}}\nstates:\n",
    );
    for at in 0..states {
        let next: Vec<String> = [1, 7, 31, 127, 1009]
            .iter()
            .map(|step| (at + step) % states)
            .filter(|to| *to != at)
            .map(|to| format!("S{to}"))
            .collect();
        let mut unique = next.clone();
        unique.sort();
        unique.dedup();
        let _ = writeln!(
            text,
            "  S{at}:\n    doc: State number {at}.\n    next: [{}]\n    wait: {{poll: 30s}}",
            unique.join(", ")
        );
    }
    text.push_str("  Failed: {kind: failed, next: [S0], wait: {poll: 1m}}\n  Deleting: {kind: final}\n");
    text
}

fn check(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("check");
    group.sample_size(10);
    for states in [100, 1_000, 10_000] {
        let text = description(states);
        let checked = krator::check("big.yaml", text.as_bytes());
        assert!(
            !krator::finding::has_errors(&checked.findings),
            "{:?}",
            checked.findings.first()
        );
        group.throughput(Throughput::Elements(states as u64));
        group.bench_with_input(BenchmarkId::from_parameter(states), &text, |bencher, text| {
            bencher.iter(|| krator::check("big.yaml", black_box(text.as_bytes())));
        });
    }
    group.finish();
}

fn new(criterion: &mut Criterion) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/ok");
    let mut cases: Vec<_> = fs::read_dir(folder)
        .expect("testdata/ok")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    cases.sort();
    let mut group = criterion.benchmark_group("new");
    group.sample_size(10);
    for case in cases {
        let text = fs::read(case.join("spec.yaml")).expect("a description");
        let name = case.file_name().unwrap_or_default().to_string_lossy();
        group.bench_with_input(BenchmarkId::from_parameter(name), &text, |bencher, text| {
            bencher.iter(|| {
                let checked = krator::check("spec.yaml", black_box(text));
                let description = checked.description.expect("a good description");
                plan(&description, &checked.source, &Runtime::Vendored)
            });
        });
    }
    group.finish();
}

criterion_group!(benches, check, new);
criterion_main!(benches);
