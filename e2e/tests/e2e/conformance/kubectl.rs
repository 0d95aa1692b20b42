//! One script, two servers: each session of `testdata/kubectl/` runs with kubectl against the embedded server, over
//! HTTPS, and against a real API server. The complete output of kubectl and its exit codes are compared.
//!
//! `KRATOR_CASES=TEXT` runs only sessions whose names contain the text.

mod masked;
mod sessions;
mod shell;

use super::{DEFINITIONS, masked::difference, real_cluster, runtime};
use crate::cluster;
use krator_apiserver::Server;
use sessions::Session;
use shell::Shell;
use std::{
    fs,
    net::Ipv4Addr,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// How many sessions run at once.
const AT_ONCE: usize = 4;

/// The transcripts of all sessions, in their order.
fn run(shell: &Shell, sessions: &[Session]) -> Vec<String> {
    shell.define(DEFINITIONS);
    let next = AtomicUsize::new(0);
    let transcripts = Mutex::new(vec![String::new(); sessions.len()]);
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let number = next.fetch_add(1, Ordering::Relaxed)
                    && let Some(session) = sessions.get(number)
                {
                    let transcript = shell.run(session);
                    transcripts.lock().expect("nothing panics with it")[number] = transcript;
                }
            });
        }
    });
    transcripts.into_inner().expect("nothing panics with it")
}

#[test]
fn kubectl_prints_the_same_of_both_servers() {
    let Some(real) = real_cluster() else { return };
    let runtime = runtime();
    let sessions = sessions::all();
    let embedded = {
        let server = runtime.block_on(async { Server::builder().rbac(true).start() });
        let serving = runtime.block_on(server.serve((Ipv4Addr::LOCALHOST, 0).into()));
        let serving = serving.expect("a port of loopback");
        let folder = tempfile::tempdir().expect("a temporary folder");
        run(
            &Shell::new(real.assets(), folder.path(), &serving.kubeconfig()),
            &sessions,
        )
    };
    let kubeconfig = fs::read_to_string(real.kubeconfig("admin")).expect("the cluster has written it");
    let real = run(&Shell::new(real.assets(), real.dir(), &kubeconfig), &sessions);

    let mut different = Vec::new();
    for ((session, embedded), real) in sessions.iter().zip(&embedded).zip(&real) {
        if embedded != real {
            different.push(&session.name);
            cluster::say(&format!("== {}\n{}", session.name, difference(real, embedded)));
        }
    }
    let commands: usize = sessions.iter().map(|session| session.commands.len()).sum();
    cluster::say(&format!(
        "{commands} commands of kubectl in {} sessions, {} of them alike",
        sessions.len(),
        sessions.len() - different.len()
    ));
    assert!(different.is_empty(), "not alike: {different:#?}");
}
