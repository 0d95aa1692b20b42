//! Access to the API server: endpoints of kinds, undecoded objects, and limits on requests.
pub(super) mod apis;
pub(super) mod backoff;
pub(super) mod patch;
pub(super) mod raw;
pub(super) mod limiter;

use crate::error::{Error, Result};
use std::time::Duration;
use tokio::time::timeout;

/// The most requests in flight at once, not counting watches. More of them would take memory without being
/// faster.
pub(in crate::cluster) const REQUESTS: usize = 32;
/// The longest that a request of the runtime may take. A connection that no longer responds becomes an error.
pub(in crate::cluster) const LONGEST_REQUEST: Duration = Duration::from_secs(30);

/// Bounds the time of a request.
///
/// # Errors
///
/// If there is no answer within `longest`.
pub(in crate::cluster) async fn answered<T>(
    longest: Duration,
    requests: impl Future<Output = T>,
) -> Result<T> {
    let answered = timeout(longest, requests).await;
    answered.map_err(|_| Error::from("the API server did not answer"))
}
