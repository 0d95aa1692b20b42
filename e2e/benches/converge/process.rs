//! A running operator.

use crate::contender::Contender;
use crate::e2e::cluster::Cluster;
use crate::usage::{Usage, cpu};
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// An operator that is killed when this value is dropped.
pub struct Process<'a> {
    child: Child,
    cluster: &'a Cluster,
}

impl<'a> Process<'a> {
    /// Starts an operator as the user `operator`.
    pub fn start(cluster: &'a Cluster, contender: &Contender) -> Self {
        let log = File::create(cluster.dir().join("contender.log")).expect("a log file");
        let child = Command::new(contender.binary())
            .args(&contender.args)
            .env("KUBECONFIG", kubeconfig(cluster, contender))
            // The developer's environment must not affect the measurement.
            .env_remove("RUST_LOG")
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a log file"))
            .stderr(log)
            .spawn()
            .unwrap_or_else(|e| panic!("{}: {e}", contender.name));
        cluster.process_guard().hold(&child);
        Self { child, cluster }
    }

    /// Waits until the operator has used no CPU time for two seconds, or for twenty seconds at most, because krator 0.6
    /// never comes to rest.
    pub async fn settle(&self) {
        let (mut before, mut quiet) = (self.usage().cpu, 0);
        for _ in 0..80 {
            if quiet == 8 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(250)).await;
            let now = self.usage().cpu;
            quiet = if now > before { 0 } else { quiet + 1 };
            before = now;
        }
    }

    pub fn usage(&self) -> Usage {
        Usage::of(self.child.id())
    }
}

impl Drop for Process<'_> {
    fn drop(&mut self) {
        // `kill` fails for a process that has ended already, which does not matter here.
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.cluster.process_guard().free(&self.child);
    }
}

/// The seconds of user and system time of etcd and kube-apiserver: the processes whose working directory is the folder
/// of the cluster.
pub fn server_cpu(cluster: &Cluster) -> f64 {
    let processes = fs::read_dir("/proc").expect("Linux").flatten();
    let of_the_server = processes
        .filter(|process| fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd == cluster.dir()));
    of_the_server
        .filter_map(|process| process.file_name().to_str()?.parse().ok())
        .map(cpu)
        .sum()
}

fn kubeconfig(cluster: &Cluster, contender: &Contender) -> PathBuf {
    let usual = cluster.kubeconfig("operator");
    if !contender.by_name {
        return usual;
    }
    let text = fs::read_to_string(&usual).expect("the cluster has written it");
    let text = text.replace("127.0.0.1", "localhost").replace(
        "certificate-authority: certs/apiserver.crt",
        "insecure-skip-tls-verify: true",
    );
    let path = cluster.dir().join("by-name.kubeconfig");
    fs::write(&path, text).expect("the cluster's folder is ours");
    path
}
