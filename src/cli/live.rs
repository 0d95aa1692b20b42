//! Operators that run while somebody watches: what `krator demo` and `krator dev` share.

pub mod cargo;
pub mod cluster;
pub mod inputs;
pub mod operator;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::ExitCode;

use anyhow::Context;

/// Where the page of an operator is, unless something else is there.
const PAGE: u16 = 8080;

/// Runs a verb that waits for several things at once.
pub fn wait_for(verb: impl Future<Output = anyhow::Result<ExitCode>>) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime of tokio")?;
    runtime.block_on(verb)
}

/// An address for the page of an operator: the one that people know by heart, or a free one.
pub fn page_address() -> anyhow::Result<SocketAddr> {
    match TcpListener::bind((Ipv4Addr::LOCALHOST, PAGE)) {
        Ok(_) => Ok((Ipv4Addr::LOCALHOST, PAGE).into()),
        Err(_) => free_address(),
    }
}

/// An address of this machine where nothing listens.
pub fn free_address() -> anyhow::Result<SocketAddr> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .context("cannot find a free port on this machine")
}

/// Waits until somebody ends the verb, with Ctrl-C or SIGTERM.
pub async fn interrupted() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminated) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminated.recv() => {}
            }
            return;
        }
    }
    // An error means that nothing is listened for: then only SIGKILL ends the verb, and what it has started ends with it.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
