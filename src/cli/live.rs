//! Operators that run on this machine: the common part of `krator demo` and `krator dev`.

pub mod cargo;
pub mod cluster;
pub mod inputs;
pub mod operator;
pub mod policies;
pub mod webhooks;

use std::io::ErrorKind;
use std::iter;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::ops::Range;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;

/// The address of the page of an operator, unless something else has it.
const PAGE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);

/// Ports that operating systems do not use for outgoing connections. A connection could take another port between two
/// operators that serve the same page.
const FREE: Range<u16> = 20_000..30_000;

/// The time in which an address has to refuse a connection. It is only needed for a listener that does not respond.
const REFUSAL: Duration = Duration::from_secs(1);

/// Runs an asynchronous verb.
pub fn wait_for(verb: impl Future<Output = anyhow::Result<ExitCode>>) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the tokio runtime")?;
    runtime.block_on(verb)
}

/// An address for the page of an operator: the previous address or the default if it is free, otherwise any free one.
pub fn page_address(former: Option<SocketAddr>) -> anyhow::Result<SocketAddr> {
    let preferred = former.unwrap_or(PAGE);
    if is_free(preferred) {
        Ok(preferred)
    } else {
        free_address()
    }
}

/// An address of this machine without a listener.
pub fn free_address() -> anyhow::Result<SocketAddr> {
    iter::repeat_with(|| SocketAddr::new(PAGE.ip(), fastrand::u16(FREE)))
        .take(FREE.len())
        .find(|address| is_free(*address))
        .context("cannot find a free port on this machine")
}

/// Whether an address of this machine has no listener. A test by listening there could take the address from an
/// operator of another session that starts at the same moment.
pub fn is_free(address: SocketAddr) -> bool {
    let connected = TcpStream::connect_timeout(&address, REFUSAL);
    connected.is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
}

/// Waits for Ctrl-C or SIGTERM.
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
    // If no signal handler can be installed, this waits forever: the verb ends when it is killed, with the processes
    // that it has started.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    #[test]
    fn a_look_at_an_address_does_not_take_it() {
        let address = free_address().expect("a free address");
        let looking = thread::spawn(move || (0..1000).filter(|_| is_free(address)).count());
        for _ in 0..1000 {
            drop(TcpListener::bind(address).expect("nothing else listens there"));
        }
        looking.join().expect("looking does not panic");
    }

    #[test]
    fn an_address_is_free_unless_something_listens_there() {
        let listener = TcpListener::bind((PAGE.ip(), 0)).expect("any port");
        let address = listener.local_addr().expect("it listens");
        assert!(!is_free(address));
        drop(listener);
        assert!(is_free(address));
    }
}
