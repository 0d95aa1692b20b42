//! Clients of the API server: who they say they are, what they learn and count, and what they may send.
#[cfg(feature = "simulation")]
use crate::cluster::simulation::{Process, Within};
use crate::{
    cluster::{
        api::REQUESTS,
        observability::metrics::{Metrics, count_requests},
        process::{clock::Clock, leadership::Leadership},
    },
    error::Result,
};
use http::{HeaderValue, Request, Response, header::USER_AGENT};
use kube::{
    Client, Config,
    client::{Body, ClientBuilder, DynBody},
};
use std::sync::Arc;
#[cfg(feature = "simulation")]
use tower::util::Either;
use tower::{BoxError, limit::ConcurrencyLimitLayer, util::BoxService};

/// Sets a user agent with the operator and the replica, which the API server's audit log shows.
pub(super) fn identify(config: &mut Config, name: &str, version: &str, identity: &str) {
    let version = if version.is_empty() { "unknown" } else { version };
    let agent = HeaderValue::from_str(&format!("{name}/{version} ({identity})"));
    if let Ok(agent) = agent
        && config.headers.iter().all(|(header, _)| header != USER_AGENT)
    {
        config.headers.push((USER_AGENT, agent));
    }
}

/// A client that teaches the clock and counts its requests. With a leadership it is for everything that acts: it sends
/// nothing without the leadership, and only so many requests at once. Its connections belong to the thread that calls this.
///
/// Nothing is sent again. kube would repeat what was answered with 429, 503 or 504 for up to half a minute, below the layers here:
/// uncounted, past the end of the leadership, and also where a 504 leaves open whether the request was done. Whoever sends a
/// request knows when to send it again.
pub(super) fn connect(
    mut config: Config,
    clock: &Arc<Clock>,
    metrics: &Metrics,
    acting: Option<&Leadership>,
) -> Result<Client> {
    let count = count_requests(metrics.clone(), &config.cluster_url);
    config.default_retry = false;
    let client = stack(config)?;
    #[cfg(feature = "faults")]
    let client = client.with_layer(&crate::cluster::faults::Faults::from_env()?);
    let client = client.with_layer(&count).with_layer(&clock.layer());
    let Some(leadership) = acting else {
        #[cfg(feature = "simulation")]
        let client = client.with_layer(&of_process());
        return Ok(client.build());
    };
    let acting = client
        .with_layer(&leadership.layer())
        .with_layer(&ConcurrencyLimitLayer::new(REQUESTS));
    #[cfg(feature = "simulation")]
    let acting = acting.with_layer(&of_process());
    Ok(acting.build())
}

/// Above all others: a client runs its layers in a task of its own.
#[cfg(feature = "simulation")]
fn of_process<S>() -> impl tower::Layer<S, Service = Either<Within<S>, S>> {
    tower::layer::layer_fn(|service| match Process::current() {
        Some(process) => Either::Left(process.service(service)),
        None => Either::Right(service),
    })
}

/// The service below the layers of the runtime, as kube creates it.
type Stack = BoxService<Request<Body>, Response<Box<DynBody>>, BoxError>;

fn stack(config: Config) -> Result<ClientBuilder<Stack>> {
    #[cfg(feature = "simulation")]
    if let Some(process) = Process::current() {
        return Ok(ClientBuilder::new(process.connection(), config.default_namespace));
    }
    Ok(ClientBuilder::try_from(config)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::host;
    use std::time::Duration;
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
    };

    /// An API server that answers every request with an overload error, and reports the requests.
    async fn busy_server() -> (Config, std::sync::mpsc::Receiver<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("it listens"));
        let (asked, requests) = std::sync::mpsc::channel();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut request = [0; 4096];
                let length = stream.read(&mut request).await.unwrap_or_default();
                if length > 0 && asked.send(()).is_ok() {
                    let answer = b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
                    // A failed write does not matter: the client has stopped waiting.
                    let _ = stream.write_all(answer).await;
                }
            }
        });
        (Config::new(url.parse().expect("a URL")), requests)
    }

    #[tokio::test]
    async fn a_request_that_was_refused_is_not_sent_again_below_the_leadership() {
        let (config, requests) = busy_server().await;
        let leadership = Leadership::none();
        leadership.extend(host::since_boot() + Duration::from_secs(3600));
        let clock = Arc::new(Clock::new());
        let client = connect(config, &clock, &Metrics::new(), Some(&leadership)).expect("a client");
        let api = kube::Api::<k8s_openapi::api::core::v1::Secret>::namespaced(client, "default");
        let refused = api.get("one").await.expect_err("it is busy");
        assert!(
            matches!(&refused, kube::Error::Api(status) if status.code == 503),
            "{refused}"
        );
        assert_eq!(requests.try_iter().count(), 1);
        leadership.end();
        api.get("one").await.expect_err("it does not lead");
        assert_eq!(requests.try_iter().count(), 0);
    }
}
