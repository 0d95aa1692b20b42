//! The clock of the API server, learned from the `Date` header of its answers, so that time stamps in objects do not
//! depend on the clock of the operator's node.
use crate::{
    cluster::{api::answered, host},
    lock::Lock as _,
};
use futures::{FutureExt as _, future::BoxFuture};
use http::{HeaderMap, Response, header::DATE};
use jiff::{SignedDuration, Timestamp};
use kube::Client;
use std::{
    sync::{Arc, Mutex},
    task::{Context, Poll},
    time::Duration,
};
use tokio::time::Instant;
use tower::{Layer, Service, layer::layer_fn};

/// Differences up to this are due to the resolution of `Date`, and to the latency of answers.
const IGNORED: Duration = Duration::from_secs(2);

/// Monotonic between corrections, and accurate to about a second, the resolution of `Date`.
#[derive(Debug)]
pub(crate) struct Clock {
    origin: Instant,
    /// The server's time at the origin.
    began: Mutex<Timestamp>,
    /// The latency of the fastest answer from which the time was learned; `None` before the first one.
    fastest: Mutex<Option<Duration>>,
    /// How far people have moved the clock forward.
    #[cfg(feature = "dev")]
    ahead: Mutex<Duration>,
}

impl Clock {
    pub fn new() -> Self {
        Self {
            origin: Instant::now(),
            began: Mutex::new(host::time()),
            fastest: Mutex::default(),
            #[cfg(feature = "dev")]
            ahead: Mutex::default(),
        }
    }
    /// The instant at which the time since the origin is this.
    pub fn instant(&self, elapsed: Duration) -> Instant {
        self.origin + elapsed.saturating_sub(self.ahead())
    }
    /// The time since the origin.
    pub fn elapsed(&self) -> Duration {
        self.origin.elapsed() + self.ahead()
    }
    /// The time by which objects are handled, to the second: the server's, unless it was advanced in a development build.
    pub fn time(&self) -> Timestamp {
        self.time_after(self.elapsed())
    }
    /// The server's time, to the second.
    pub fn server_time(&self) -> Timestamp {
        self.time_after(self.origin.elapsed())
    }
    fn time_after(&self, elapsed: Duration) -> Timestamp {
        let began = *self.began.locked();
        let now = began + elapsed;
        Timestamp::from_second(now.as_second()).unwrap_or(now)
    }

    /// How far the clock is ahead of the server's.
    #[cfg(feature = "dev")]
    pub fn ahead(&self) -> Duration {
        *self.ahead.locked()
    }
    #[cfg(not(feature = "dev"))]
    fn ahead(&self) -> Duration {
        Duration::ZERO
    }
    /// Moves the clock forward, and returns how far it is ahead then; `None` if that were further than `most`. Timers that were
    /// set before have to be set again.
    #[cfg(feature = "dev")]
    pub fn advance(&self, by: Duration, most: Duration) -> Option<Duration> {
        let mut ahead = self.ahead.locked();
        let sum = ahead.checked_add(by).filter(|sum| *sum <= most)?;
        *ahead = sum;
        Some(sum)
    }

    /// A layer of a client that learns from the answers to its requests.
    pub fn layer<S>(self: &Arc<Self>) -> impl Layer<S, Service = Learning<S>> + use<S> {
        let clock = Arc::clone(self);
        layer_fn(move |inner| Learning {
            clock: Arc::clone(&clock),
            inner,
        })
    }

    /// Learns from the answer to a request that was sent at this time since the origin: the server wrote its
    /// `Date` between then and now. Differences of up to two seconds are ignored.
    fn learn(&self, headers: &HeaderMap, sent: Duration) {
        const IGNORED_BY: SignedDuration = SignedDuration::from_secs(IGNORED.as_secs().cast_signed());
        let date = headers.get(DATE).and_then(|value| value.to_str().ok());
        let Some(date) = date.and_then(|text| jiff::fmt::rfc2822::parse(text).ok()) else {
            return;
        };
        let arrived = self.origin.elapsed();
        let (earliest, latest) = (date.timestamp() - arrived, date.timestamp() - sent);
        {
            let mut began = self.began.locked();
            if earliest.duration_since(*began) > IGNORED_BY {
                *began = earliest;
            } else if began.duration_since(latest) > IGNORED_BY {
                *began = latest;
            }
        }
        let under_way = arrived.saturating_sub(sent);
        let mut fastest = self.fastest.locked();
        *fastest = Some(fastest.map_or(under_way, |fastest| fastest.min(under_way)));
    }

    /// Waits until the server's time is known, and asks for it if no answer has shown it. A slow answer
    /// leaves open when it was written, so another one is requested: a few times only, because the server may
    /// always be slow.
    pub async fn known(&self, client: &Client) {
        const TIMES: usize = 5;
        let mut times = 0;
        loop {
            let fastest = *self.fastest.locked();
            match fastest {
                Some(fastest) if fastest <= IGNORED || times == TIMES => return,
                Some(_) => times += 1,
                None => {}
            }
            // The content of the answer does not matter.
            let answer = answered(IGNORED * 2, client.apiserver_version().boxed()).await;
            if !matches!(answer, Ok(Ok(_))) {
                tokio::time::sleep(IGNORED).await;
            }
        }
    }
}

/// A service from whose answers a clock learns.
#[derive(Clone, Debug)]
pub(in crate::cluster) struct Learning<S> {
    clock: Arc<Clock>,
    inner: S,
}

impl<S, R, B> Service<R> for Learning<S>
where
    S: Service<R, Response = Response<B>>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<S::Response, S::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: R) -> Self::Future {
        let (clock, sent) = (Arc::clone(&self.clock), self.clock.origin.elapsed());
        let answer = self.inner.call(request);
        async move {
            let answer = answer.await?;
            clock.learn(answer.headers(), sent);
            Ok(answer)
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_time_is_taken_over_and_does_not_waver() {
        let clock = Clock::new();
        let time_after = |date: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(DATE, http::HeaderValue::from_static(date));
            clock.learn(&headers, clock.origin.elapsed());
            clock.time().to_string()
        };
        assert!(time_after("Sun, 06 Nov 2044 08:49:37 GMT").starts_with("2044-11-06T08:49:3"));
        assert!(time_after("Sun, 06 Nov 2044 08:49:36 GMT").starts_with("2044-11-06T08:49:3"));
        assert!(time_after("not a date").starts_with("2044-11-06"));
        assert!(time_after("Sun, 06 Nov 1994 08:49:37 GMT").starts_with("1994-11-06"));
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_was_under_way_for_long_does_not_turn_the_clock_back() {
        let clock = Clock::new();
        let (sent, before) = (clock.elapsed(), clock.time());
        let date = jiff::fmt::rfc2822::to_string(&before.to_zoned(jiff::tz::TimeZone::UTC));
        let date = http::HeaderValue::try_from(date.expect("a date")).expect("ASCII");
        let headers = HeaderMap::from_iter([(DATE, date)]);
        tokio::time::advance(Duration::from_secs(60)).await;
        let now = clock.time();
        clock.learn(&headers, sent);
        assert_eq!(clock.time(), now, "the server may have written it a minute ago");
        clock.learn(&headers, clock.elapsed());
        assert_eq!(clock.time(), before, "the server has written it just now");
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_is_known_when_an_answer_was_not_under_way_for_long() {
        let clock = Arc::new(Clock::new());
        let delays = Arc::new(Mutex::new(vec![20; 100]));
        let next = Arc::clone(&delays);
        let server = tower::service_fn(move |_: http::Request<kube::client::Body>| {
            let delay = next.locked().pop().unwrap_or_default();
            async move {
                tokio::time::sleep(Duration::from_secs(delay)).await;
                let answer = Response::builder().status(403);
                let answer = answer.header(DATE, "Sun, 06 Nov 2044 08:49:37 GMT");
                Ok::<_, tower::BoxError>(answer.body(kube::client::Body::empty()).expect("an answer"))
            }
        });
        let client = Client::new(clock.layer().layer(server), "default");
        let pending = tokio::time::timeout(Duration::from_secs(60), clock.known(&client)).await;
        assert!(pending.is_err(), "nothing has answered");
        *delays.locked() = vec![1, 20];
        client.apiserver_version().await.expect_err("it refuses");
        let before = Instant::now();
        clock.known(&client).await;
        assert_eq!(
            before.elapsed().as_secs(),
            3,
            "another answer, and a pause after the refusal"
        );
        assert!(clock.time().to_string().starts_with("2044-11-06T08:49:"));
    }

    #[cfg(feature = "dev")]
    #[tokio::test(start_paused = true)]
    async fn what_people_skip_passes_at_once_and_the_servers_time_stays() {
        const HOUR: Duration = Duration::from_secs(3600);
        let clock = Clock::new();
        let (due, time, server) = (clock.instant(HOUR), clock.time(), clock.server_time());
        assert_eq!(due, Instant::now() + HOUR);
        assert_eq!(clock.advance(HOUR, 2 * HOUR), Some(HOUR));
        assert_eq!(clock.elapsed(), HOUR);
        assert_eq!(
            clock.instant(HOUR),
            Instant::now(),
            "what was due in an hour is due now"
        );
        assert_eq!(clock.instant(2 * HOUR), due);
        assert!(clock.time().duration_since(time) >= SignedDuration::from_hours(1));
        assert!(clock.server_time().duration_since(server) < SignedDuration::from_mins(1));

        // An answer of the server does not turn it back.
        let mut headers = HeaderMap::new();
        let date = jiff::fmt::rfc2822::to_string(&clock.server_time().to_zoned(jiff::tz::TimeZone::UTC));
        let date = http::HeaderValue::try_from(date.expect("a date")).expect("ASCII");
        headers.insert(DATE, date);
        clock.learn(&headers, clock.origin.elapsed());
        assert!(clock.time().duration_since(time) >= SignedDuration::from_hours(1));
        assert_eq!(clock.advance(2 * HOUR, 2 * HOUR), None);
        assert_eq!(clock.ahead(), HOUR, "a refused advance changes nothing");
    }
}
