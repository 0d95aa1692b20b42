//! Counts the requests to the API server, by the names that client-go has for them.
use super::{Metrics, Text};
use futures::{FutureExt as _, future::BoxFuture};
use http::{Request, Response, StatusCode, Uri, uri::Authority};
use std::task::{Context, Poll};
use tower::{Layer, Service};

/// A layer that counts the requests of a client.
#[derive(Clone)]
pub(in crate::cluster) struct CountRequests {
    metrics: Metrics,
    host: Text,
}

impl CountRequests {
    /// Counts the requests to this server.
    pub fn new(metrics: Metrics, server: &Uri) -> Self {
        let host = server.authority().map_or("", Authority::as_str);
        Self {
            metrics,
            host: host.to_owned().into(),
        }
    }

    fn count(&self, method: Text, code: Option<StatusCode>) {
        // Without an answer there is no status.
        let code = code.map_or("<error>".into(), |code| code.as_str().to_owned().into());
        let labels = [("code", code), ("method", method), ("host", self.host.clone())];
        self.metrics.0.requests.get_or_create(&labels).inc();
    }
}

impl<S> Layer<S> for CountRequests {
    type Service = Counting<S>;

    fn layer(&self, inner: S) -> Counting<S> {
        Counting {
            inner,
            count: self.clone(),
        }
    }
}

/// The service that [`CountRequests`] makes.
#[derive(Clone)]
pub(in crate::cluster) struct Counting<S> {
    inner: S,
    count: CountRequests,
}

impl<S, A, B> Service<Request<A>> for Counting<S>
where
    S: Service<Request<A>, Response = Response<B>, Future: Send + 'static>,
{
    type Response = Response<B>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Response<B>, S::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<A>) -> Self::Future {
        let (count, method) = (self.count.clone(), request.method().as_str().to_owned());
        let answer = self.inner.call(request);
        let counted = async move {
            let answer = answer.await;
            count.count(method.into(), answer.as_ref().ok().map(Response::status));
            answer
        };
        counted.boxed()
    }
}
