//! The resources that the process uses, under the names that Prometheus' own clients have for them. They are read at
//! each scrape, on Linux; elsewhere only the start is known.
#![allow(
    clippy::disallowed_methods,
    reason = "what the kernel says of the process is in files"
)]
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{counter::ConstCounter, gauge::ConstGauge},
};
use std::{
    fmt, fs,
    time::{SystemTime, UNIX_EPOCH},
};

/// The unit of times in `/proc`. The kernel converts them to this unit on every architecture that Rust has.
const TICKS_PER_SECOND: f64 = 100.0;

#[derive(Debug)]
pub(super) struct Process {
    /// In seconds since 1970.
    started: f64,
}

impl Process {
    /// The process, which is assumed to have started now.
    pub fn new() -> Self {
        let started = SystemTime::now().duration_since(UNIX_EPOCH);
        Self {
            started: started.map_or(0.0, |since| since.as_secs_f64()),
        }
    }
}

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut add = |name: &str, help: &str, metric: &dyn EncodeMetric| {
            metric.encode(encoder.encode_descriptor(name, help, None, metric.metric_type())?)
        };
        let started = "When the process started, in seconds since 1970.";
        add(
            "process_start_time_seconds",
            started,
            &ConstGauge::new(self.started),
        )?;
        if let Some(seconds) = cpu_seconds() {
            let help = "User and system time of the process.";
            add("process_cpu_seconds", help, &ConstCounter::new(seconds))?;
        }
        if let Some(bytes) = resident_bytes() {
            let help = "Resident memory of the process.";
            add("process_resident_memory_bytes", help, &ConstGauge::new(bytes))?;
        }
        if let Some(count) = open_files() {
            add(
                "process_open_fds",
                "Files that the process has open.",
                &ConstGauge::new(count),
            )?;
        }
        Ok(())
    }
}

/// User and system time: the 14th and the 15th field.
fn cpu_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is a name in parentheses, which may contain anything.
    let (_, fields) = stat.rsplit_once(") ")?;
    let ticks: f64 = fields
        .split(' ')
        .skip(11)
        .take(2)
        .filter_map(|ticks| ticks.parse::<f64>().ok())
        .sum();
    Some(ticks / TICKS_PER_SECOND)
}

fn resident_bytes() -> Option<i64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: i64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib * 1024)
}

fn open_files() -> Option<i64> {
    // The folder itself is open while it is read.
    let open = fs::read_dir("/proc/self/fd").ok()?.count().saturating_sub(1);
    i64::try_from(open).ok()
}
