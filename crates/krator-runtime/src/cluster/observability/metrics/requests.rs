//! Counts the requests to the API server, by the names that client-go has for them.
use super::{Metrics, Text};
use futures::{FutureExt as _, future::BoxFuture};
use http::{Request, Response, Uri, uri::Authority};
use std::task::{Context, Poll};
use tower::{
    Service,
    layer::{LayerFn, layer_fn},
};

/// A layer of a client that counts the requests to this server.
pub(in crate::cluster) fn count_requests<S>(
    metrics: Metrics,
    server: &Uri,
) -> LayerFn<impl Fn(S) -> Counting<S> + Clone + use<S>> {
    let host = server.authority().map_or("", Authority::as_str);
    let host: Text = host.to_owned().into();
    layer_fn(move |inner| Counting {
        inner,
        metrics: metrics.clone(),
        host: host.clone(),
    })
}

/// The service that counts.
pub(in crate::cluster) struct Counting<S> {
    inner: S,
    metrics: Metrics,
    host: Text,
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
        let (metrics, host) = (self.metrics.clone(), self.host.clone());
        let method: Text = request.method().as_str().to_owned().into();
        #[cfg(feature = "otel")]
        let span = tracing::debug_span!(
            "request",
            otel.kind = "client",
            http.request.method = &*method,
            url.path = request.uri().path(),
            http.response.status_code = tracing::field::Empty,
            otel.status_code = tracing::field::Empty,
        );
        let answer = self.inner.call(request);
        #[cfg(feature = "otel")]
        let answer = tracing::Instrument::instrument(answer, span.clone());
        let counted = async move {
            let answer = answer.await;
            // Without an answer there is no status.
            let code = answer.as_ref().map(|answer| answer.status().as_str().to_owned());
            #[cfg(feature = "otel")]
            match &answer {
                Ok(answer) => span.record("http.response.status_code", answer.status().as_u16()),
                Err(_) => span.record("otel.status_code", "ERROR"),
            };
            let code: Text = code.map_or("<error>".into(), Into::into);
            let labels = [("code", code), ("method", method), ("host", host)];
            metrics.0.requests.get_or_create(&labels).inc();
            answer
        };
        counted.boxed()
    }
}
