//! Leader election by a Lease, as Kubernetes' own components do it: of all replicas of an operator, only the holder of
//! the Lease acts.
//!
//! No clocks are compared. A replica takes the Lease over when it has not seen it change for as long as the Lease says,
//! by its own clock; the times in the Lease are for people. The holder stops acting [`RENEW_DEADLINE`] after it *sent*
//! its last successful renewal. So it has stopped before another replica begins, provided that what it sent before that
//! arrives within the difference to [`DURATION`].
use super::{clock::Clock, control, health::Wait, leadership::Leadership};
use crate::{
    cluster::host,
    error::{Error, Result},
};
use futures::FutureExt as _;
use k8s_openapi::{
    api::coordination::v1::{Lease, LeaseSpec},
    apimachinery::pkg::apis::meta::v1::MicroTime,
};
use kube::{Api, api::PostParams};
use std::{sync::Arc, time::Duration};
use tokio::{
    select,
    sync::{oneshot, watch},
    time::{sleep, timeout},
};

/// How long followers wait before they take over an unchanged Lease.
const DURATION: Duration = Duration::from_secs(15);
/// How long the holder may act after a renewal.
const RENEW_DEADLINE: Duration = Duration::from_secs(10);
/// How often the holder renews the Lease. Two renewals may fail before the deadline.
const RENEWAL: Duration = Duration::from_secs(3);
/// How often other replicas read it.
const POLL: Duration = Duration::from_secs(2);
/// The delay after a failed request.
const RETRY: Duration = Duration::from_secs(1);

/// A name for this replica that no other one has: that of its host, which is its pod, with its random number.
pub(in crate::cluster) fn identity(number: u64) -> String {
    format!("{}_{number:016x}", host::name())
}

/// A replica that wants to hold the Lease of its operator, in a namespace.
pub(in crate::cluster) struct Elector {
    pub api: Api<Lease>,
    /// The name of the Lease, which is that of the operator.
    pub name: &'static str,
    /// The name of this replica in the Lease.
    pub identity: String,
    /// The right to act, which the elector extends.
    pub leadership: Leadership,
    pub clock: Arc<Clock>,
    /// The process is not ready before it has seen the Lease for the first time.
    pub first_read: Option<Wait>,
    pub last_seen: LastSeen,
}

/// The part of this process in an election that another thread holds.
pub(in crate::cluster) struct Candidacy {
    lost: oneshot::Receiver<Error>,
    /// Asks for the Lease to be released. The sender in the message is dropped when that is done.
    withdrawal: oneshot::Sender<oneshot::Sender<()>>,
}

/// Starts the participation in an election. The future has to run on a thread that handlers cannot block; it
/// makes the elector, and sets `leads` when this replica becomes the leader.
pub(in crate::cluster) fn elect(
    leads: watch::Sender<bool>,
    elector: impl FnOnce() -> Result<Elector> + Send + 'static,
) -> (Candidacy, control::Task) {
    let (report, lost) = oneshot::channel();
    let (withdrawal, withdrawn) = oneshot::channel::<oneshot::Sender<()>>();
    let election = async move {
        let mut elector = match elector() {
            Ok(elector) => elector,
            Err(error) => return drop(report.send(error)),
        };
        let _done = select! {
            biased;
            error = elector.run(&leads) => return drop(report.send(error)),
            Ok(done) = withdrawn => done,
        };
        if let Err(error) = elector.release().await {
            tracing::warn!(%error, "cannot release the lease, so the next leader waits until it expires");
        }
    };
    (Candidacy { lost, withdrawal }, election.boxed())
}

impl Candidacy {
    /// Waits until this replica has lost the leadership, and returns the reason.
    pub async fn lost(&mut self) -> Error {
        let reported = (&mut self.lost).await;
        reported.unwrap_or_else(|_| Error::from("the thread that renews the lease has stopped"))
    }

    /// Gives the Lease back, if this replica leads. It must not act any more.
    pub async fn withdraw(self) {
        let (done, released) = oneshot::channel();
        // If the receiver is gone, the thread has ended and the Lease expires.
        drop(self.withdrawal.send(done));
        // Nothing is ever sent: the channel is closed when the Lease is released.
        let _ = released.await;
    }
}

/// The Lease as it was last seen, and since when it has looked like that.
#[derive(Default)]
pub(in crate::cluster) struct LastSeen {
    lease: Option<Lease>,
    since: Duration,
}

/// The role of this replica after a look at the Lease.
enum Role {
    /// It holds the Lease.
    Leader,
    /// Another replica holds it, and it is free after this time if it does not change.
    Follower(Duration),
    /// The Lease has changed since it was read: another replica was faster, or the answer to a renewal was lost.
    LostRace,
}

impl LastSeen {
    fn update(&mut self, lease: Option<Lease>, now: Duration) {
        let version = |lease: &Option<Lease>| {
            let lease = lease.as_ref();
            lease.and_then(|lease| lease.metadata.resource_version.clone())
        };
        if version(&lease) != version(&self.lease) {
            self.since = now;
        }
        self.lease = lease;
    }

    fn spec(&self) -> Option<&LeaseSpec> {
        self.lease.as_ref()?.spec.as_ref()
    }

    /// The holder of the Lease. A released one has none.
    fn holder(&self) -> Option<&str> {
        let holder = self.spec()?.holder_identity.as_deref()?;
        Some(holder).filter(|holder| !holder.is_empty())
    }

    /// How long the Lease has to be left alone if it does not change.
    fn free_in(&self, now: Duration) -> Duration {
        if self.holder().is_none() {
            return Duration::ZERO;
        }
        let seconds = self.spec().and_then(|spec| spec.lease_duration_seconds);
        let seconds = seconds.and_then(|seconds| u64::try_from(seconds).ok());
        let duration = seconds.map_or(DURATION, Duration::from_secs);
        (self.since + duration).saturating_sub(now)
    }
}

impl Elector {
    /// Takes the Lease when it is free, tells `leads`, and renews it. Returns only when this replica led and must not
    /// do so any more.
    async fn run(&mut self, leads: &watch::Sender<bool>) -> Error {
        let mut known_holder = None;
        loop {
            let led = *leads.borrow();
            if led && !self.leadership.holds() {
                return self.lost();
            }
            let longest = if led {
                self.leadership.rest()
            } else {
                RENEW_DEADLINE
            };
            let round = timeout(longest, self.round(led)).await;
            if matches!(round, Ok(Ok(_)))
                && let Some(first_read) = self.first_read.take()
            {
                first_read.done();
            }
            let wait = match round {
                Ok(Ok(Role::Leader)) => {
                    if !led {
                        tracing::info!(lease = self.name, identity = self.identity, "became the leader");
                        leads.send_replace(true);
                    }
                    RENEWAL
                }
                Ok(Ok(Role::Follower(_))) if led => return self.lost(),
                Ok(Ok(Role::Follower(free_in))) => {
                    let holder = self.last_seen.holder().map(str::to_owned);
                    if holder != known_holder {
                        tracing::info!(
                            lease = self.name,
                            holder,
                            "waiting: another replica is the leader"
                        );
                        known_holder = holder;
                    }
                    free_in.min(POLL)
                }
                Ok(Ok(Role::LostRace)) => RETRY,
                Ok(Err(error)) => {
                    let error = Error::from(error);
                    tracing::warn!(lease = self.name, %error, "cannot read or renew the lease");
                    if let Some(first_read) = &self.first_read {
                        first_read.fails(&error);
                    }
                    RETRY
                }
                Err(_) => RETRY,
            };
            let led = *leads.borrow();
            sleep(if led {
                wait.min(self.leadership.rest())
            } else {
                wait
            })
            .await;
        }
    }

    /// Gives the Lease back, if this replica leads. It must not act any more.
    async fn release(&mut self) -> Result<()> {
        if !self.leadership.holds() {
            return Ok(());
        }
        self.leadership.end();
        let Some(mut lease) = self.last_seen.lease.take() else {
            return Ok(());
        };
        if let Some(spec) = &mut lease.spec {
            spec.holder_identity = None;
            spec.lease_duration_seconds = Some(1);
        }
        let params = PostParams::default();
        timeout(POLL, self.api.replace(self.name, &params, &lease)).await??;
        Ok(())
    }

    fn lost(&self) -> Error {
        self.leadership.end();
        let holder = match self.last_seen.holder() {
            Some(holder) if holder != self.identity => format!(": {holder} holds it"),
            _ => ": it expired before it was renewed".to_owned(),
        };
        Error::from(format!("this replica has lost the lease `{}`{holder}", self.name))
    }

    /// Renews the Lease, or takes it if it is free.
    async fn round(&mut self, led: bool) -> kube::Result<Role> {
        // The holder knows the version that it wrote, so a renewal is a single request.
        if !led || self.last_seen.lease.is_none() {
            let lease = self.api.get_opt(self.name).await?;
            self.last_seen.update(lease, host::since_boot());
        }
        let free_in = self.last_seen.free_in(host::since_boot());
        if self.last_seen.holder() != Some(&self.identity) && !free_in.is_zero() {
            return Ok(Role::Follower(free_in));
        }
        let sent = host::since_boot();
        match self
            .api
            .replace(self.name, &PostParams::default(), &self.claim())
            .await
        {
            Ok(lease) => {
                self.last_seen.update(Some(lease), sent);
                self.leadership.extend(sent + RENEW_DEADLINE);
                Ok(Role::Leader)
            }
            Err(kube::Error::Api(status)) if status.code == 409 => {
                self.last_seen.lease = None;
                Ok(Role::LostRace)
            }
            Err(error) => Err(error),
        }
    }

    /// The Lease with this replica as its holder.
    fn claim(&self) -> Lease {
        let mut lease = self.last_seen.lease.clone().unwrap_or_default();
        lease.metadata.name = Some(self.name.to_owned());
        lease.metadata.managed_fields = None;
        let spec = lease.spec.get_or_insert_default();
        let now = MicroTime(self.clock.server_time());
        if spec.holder_identity.as_deref() != Some(&self.identity) {
            spec.holder_identity = Some(self.identity.clone());
            spec.acquire_time = Some(now.clone());
            let is_new = self.last_seen.lease.is_none();
            let transitions = spec.lease_transitions.unwrap_or(0);
            spec.lease_transitions = Some(if is_new { 0 } else { transitions.saturating_add(1) });
        }
        spec.renew_time = Some(now);
        spec.lease_duration_seconds = i32::try_from(DURATION.as_secs()).ok();
        lease
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(version: &str, holder: Option<&str>) -> Option<Lease> {
        let mut lease = Lease {
            spec: Some(LeaseSpec {
                holder_identity: holder.map(str::to_owned),
                lease_duration_seconds: Some(15),
                ..LeaseSpec::default()
            }),
            ..Lease::default()
        };
        lease.metadata.resource_version = Some(version.to_owned());
        Some(lease)
    }

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_lease_is_free_when_it_has_not_changed_for_as_long_as_it_says() {
        let mut last_seen = LastSeen::default();
        last_seen.update(held("1", Some("other")), seconds(100));
        assert_eq!(last_seen.free_in(seconds(100)), seconds(15));
        last_seen.update(held("1", Some("other")), seconds(110));
        assert_eq!(last_seen.free_in(seconds(110)), seconds(5));
        last_seen.update(held("2", Some("other")), seconds(114));
        assert_eq!(last_seen.free_in(seconds(115)), seconds(14));
        assert_eq!(last_seen.free_in(seconds(129)), Duration::ZERO);
    }

    #[test]
    fn a_lease_that_was_never_taken_or_was_released_is_free_at_once() {
        let mut last_seen = LastSeen::default();
        assert_eq!(last_seen.free_in(seconds(1)), Duration::ZERO);
        for holder in [None, Some("")] {
            last_seen.update(held("3", holder), seconds(2));
            assert_eq!(last_seen.free_in(seconds(2)), Duration::ZERO, "{holder:?}");
        }
    }
}
