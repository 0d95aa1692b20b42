//! The control thread of an operator: what has to go on while a handler blocks the thread that all handlers share. It answers
//! probes, serves the metrics and renews the lease.
#[cfg(feature = "simulation")]
use crate::cluster::{host, simulation};
use crate::error::Result;
use futures::future::{self, BoxFuture};
use std::thread;
use tokio::sync::oneshot;

/// A task that does nothing until the control thread runs it.
pub(in crate::cluster) type Task = BoxFuture<'static, ()>;

/// Tasks that run until this is dropped.
pub(in crate::cluster) struct Running {
    _until_dropped: oneshot::Sender<()>,
}

/// Runs tasks on a thread of their own, which has this name.
///
/// # Errors
///
/// If the thread cannot be started.
pub(in crate::cluster) fn start(name: &str, tasks: Vec<Task>) -> Result<Running> {
    let (until_dropped, dropped) = oneshot::channel::<()>();
    #[cfg(feature = "simulation")]
    if simulation::Process::current().is_some() {
        tokio::spawn(host::own(future::select(future::join_all(tasks), dropped)));
        return Ok(Running {
            _until_dropped: until_dropped,
        });
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    thread::Builder::new().name(name.to_owned()).spawn(move || {
        runtime.block_on(async {
            // Nothing is ever sent: the channel is closed when the tasks are to end.
            future::select(future::join_all(tasks), dropped).await;
        });
    })?;
    Ok(Running {
        _until_dropped: until_dropped,
    })
}
