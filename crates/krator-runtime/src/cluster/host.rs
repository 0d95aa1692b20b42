//! The services of the host machine: clocks, randomness, a host name, and signals. Simulated processes have their own.
#[cfg(feature = "simulation")]
use super::simulation::{Own, Process};
use jiff::Timestamp;
use std::{
    hash::{BuildHasher as _, RandomState},
    time::Duration,
};
use tokio::signal;

/// The time since boot on a clock that also runs during suspend, and that is never set.
pub(in crate::cluster) fn since_boot() -> Duration {
    #[cfg(feature = "simulation")]
    if let Some(process) = Process::current() {
        return process.since_boot();
    }
    #[cfg(target_os = "linux")]
    {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        // The time since the machine was started is not negative.
        let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
        let nanos = u32::try_from(now.tv_nsec).unwrap_or_default();
        Duration::new(seconds, nanos)
    }
    #[cfg(not(target_os = "linux"))]
    {
        use std::{sync::LazyLock, time::Instant};
        static ORIGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
        ORIGIN.elapsed()
    }
}

/// The wall clock of the machine, which may be wrong.
pub(in crate::cluster) fn time() -> Timestamp {
    #[cfg(feature = "simulation")]
    if let Some(process) = Process::current() {
        return process.time();
    }
    Timestamp::now()
}

/// A random number.
pub(in crate::cluster) fn random() -> u64 {
    #[cfg(feature = "simulation")]
    if let Some(process) = Process::current() {
        return process.random();
    }
    // `RandomState` is seeded anew for each instance.
    RandomState::new().hash_one(())
}

/// The host name; in a pod, the name of the pod.
pub(in crate::cluster) fn name() -> String {
    #[cfg(feature = "simulation")]
    if let Some(process) = Process::current() {
        return process.name();
    }
    hostname::get().unwrap_or_default().to_string_lossy().into_owned()
}

/// Binds a future that another task polls to the current simulated process, if there is one.
pub(in crate::cluster) fn own<F: Future>(future: F) -> impl Future<Output = F::Output> {
    #[cfg(feature = "simulation")]
    let future = Own::of_current(future);
    future
}

/// Waits until the process is asked to end.
pub(in crate::cluster) async fn asked_to_stop() -> std::io::Result<()> {
    #[cfg(feature = "simulation")]
    if let Some(process) = Process::current() {
        process.stopped().await;
        return Ok(());
    }
    #[cfg(unix)]
    {
        let mut terminate = signal::unix::signal(signal::unix::SignalKind::terminate())?;
        tokio::select! {
            biased;
            _ = terminate.recv() => Ok(()),
            interrupted = signal::ctrl_c() => interrupted,
        }
    }
    #[cfg(not(unix))]
    signal::ctrl_c().await
}
