//! The time until which this process may act. It is checked immediately before each action.
use crate::cluster::host;
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tower::filter::FilterLayer;

/// The right to act on objects until a certain time. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Leadership {
    /// Milliseconds on the clock of [`host::since_boot`].
    until: Arc<AtomicU64>,
}

impl Leadership {
    /// The leadership of an operator that is the only one.
    pub fn unlimited() -> Self {
        Self {
            until: Arc::new(AtomicU64::new(u64::MAX)),
        }
    }

    /// The leadership of a replica that does not lead yet.
    pub fn none() -> Self {
        Self {
            until: Arc::new(AtomicU64::new(0)),
        }
    }

    /// Whether this process may act now.
    pub fn holds(&self) -> bool {
        !self.rest().is_zero()
    }

    /// How much longer this process may act.
    pub fn rest(&self) -> Duration {
        Duration::from_millis(self.until.load(Ordering::Acquire)).saturating_sub(host::since_boot())
    }

    /// Extends the leadership to this time on the clock of [`host::since_boot`].
    pub fn extend(&self, until: Duration) {
        let until = u64::try_from(until.as_millis()).unwrap_or(u64::MAX);
        self.until.store(until, Ordering::Release);
    }

    /// Ends the leadership.
    pub fn end(&self) {
        self.until.store(0, Ordering::Release);
    }

    /// A layer of a client that sends requests only while the leadership holds.
    pub fn layer<R>(&self) -> FilterLayer<impl Fn(R) -> Result<R, tower::BoxError> + Clone + use<R>> {
        let leadership = self.clone();
        FilterLayer::new(move |request| {
            if leadership.holds() {
                Ok(request)
            } else {
                Err("this replica does not hold the lease, so the request was not sent".into())
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt as _;
    use tower::{Layer as _, ServiceExt as _, service_fn};

    #[test]
    fn nothing_is_sent_after_the_leadership() {
        let leadership = Leadership::none();
        let send = || {
            let server = service_fn(|request: u8| async move { Ok::<_, tower::BoxError>(request) });
            let sent = leadership.layer().layer(server).oneshot(1);
            sent.now_or_never().expect("nothing to wait for").is_ok()
        };
        assert!(!send());
        leadership.extend(host::since_boot() + Duration::from_secs(60));
        assert!(send() && leadership.holds());
        leadership.extend(host::since_boot());
        assert!(!send() && !leadership.holds());
        leadership.extend(host::since_boot() + Duration::from_secs(60));
        leadership.end();
        assert!(!send());
        assert!(Leadership::unlimited().holds());
    }
}
