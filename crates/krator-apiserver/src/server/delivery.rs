//! Delivers responses to clients, with injected faults.

use super::responses::{full, json_response, refused};
use super::{Body, Server};
use crate::faults;
use futures::StreamExt as _;
use http::{Request, Response, StatusCode};
use http_body::{Body as HttpBody, Frame};
use http_body_util::{BodyExt as _, StreamBody};
use std::{
    future::Future,
    io,
    pin::Pin,
    task::{Context, Poll},
};

impl Server {
    /// Responds to a request, or injects a fault.
    ///
    /// # Errors
    ///
    /// If the connection has to be closed.
    pub(crate) async fn deliver<B>(&self, request: Request<B>) -> io::Result<Response<Body>>
    where
        B: HttpBody,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let Some(plan) = &self.faults else {
            return Ok(self.answer(request).await);
        };
        let injected = plan.draw(request.method(), request.uri());
        tokio::time::sleep(injected.delay).await;
        let cut = || {
            Err(io::Error::new(
                io::ErrorKind::ConnectionReset,
                "an injected fault",
            ))
        };
        if injected.cut_before {
            return cut();
        }
        if let Some(refusal) = &injected.refusal {
            return Ok(refused(refusal));
        }
        if injected.gone {
            return Ok(json_response(StatusCode::OK, full(faults::gone_event())));
        }
        let response = self.answer(request).await;
        match injected.dropped {
            _ if injected.cut_after => cut(),
            Some(after) => Ok(response.map(|body| {
                let frames = body.into_data_stream().map(|bytes| bytes.map(Frame::data));
                StreamBody::new(frames.take_until(Box::pin(tokio::time::sleep(after)))).boxed_unsync()
            })),
            None => Ok(response),
        }
    }
}

impl<B> tower_service::Service<Request<B>> for Server
where
    B: HttpBody + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<Body>;
    /// The only errors are injected faults.
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Response<Body>>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let server = self.clone();
        Box::pin(async move { server.deliver(request).await })
    }
}
