//! The resources that a process uses, as reported by the kernel.

use std::fs;

/// The resources that a process has used.
pub struct Usage {
    /// Seconds of user and system time.
    pub cpu: f64,
    /// The peak of its resident memory, in MiB.
    pub peak: f64,
    /// Its resident memory now, in MiB.
    pub resident: f64,
}

impl Usage {
    /// The resources of a running process.
    pub fn of(process: u32) -> Self {
        let status = read(process, "status");
        let mib = |key: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(key));
            let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
            kib.expect("a process that runs has memory") / 1024.0
        };
        Usage {
            cpu: cpu(process),
            peak: mib("VmHWM:"),
            resident: mib("VmRSS:"),
        }
    }
}

/// The seconds of user and system time that a process has used.
pub fn cpu(process: u32) -> f64 {
    let stat = read(process, "stat");
    // The name in parentheses may contain anything, so fields are counted after it. The 12th and 13th are user and system
    // time, in hundredths of a second.
    let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
    let ticks: f64 = fields
        .skip(11)
        .take(2)
        .filter_map(|n| n.parse::<f64>().ok())
        .sum();
    ticks / 100.0
}

/// Reads a file about a process in `/proc`.
fn read(process: u32, file: &str) -> String {
    fs::read_to_string(format!("/proc/{process}/{file}")).expect("Linux tells, while the process runs")
}
