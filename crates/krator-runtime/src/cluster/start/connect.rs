//! Clients of the API server: who they say they are, what they learn and count, and what they may send.
use crate::{
    cluster::{
        api::REQUESTS,
        process::{clock::Clock, leadership::Leadership},
        shown::metrics::{Metrics, count_requests},
    },
    error::Result,
};
use http::{HeaderValue, header::USER_AGENT};
use kube::{Client, Config, client::ClientBuilder};
use std::sync::Arc;
use tower::{limit::ConcurrencyLimitLayer, util::MapResponseLayer};

/// Tells the API server in each request which replica of which operator makes it, as its audit log shows.
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
pub(super) fn connect(
    config: Config,
    clock: &Arc<Clock>,
    metrics: &Metrics,
    acting: Option<&Leadership>,
) -> Result<Client> {
    let (count, learning) = (
        count_requests(metrics.clone(), &config.cluster_url),
        Arc::clone(clock),
    );
    let client = ClientBuilder::try_from(config)?;
    #[cfg(feature = "faults")]
    let client = client.with_layer(&crate::cluster::faults::Faults::from_env()?);
    let client =
        client
            .with_layer(&count)
            .with_layer(&MapResponseLayer::new(move |answer: http::Response<_>| {
                learning.learn(answer.headers());
                answer
            }));
    Ok(match acting {
        None => client.build(),
        Some(leadership) => client
            .with_layer(&leadership.layer())
            .with_layer(&ConcurrencyLimitLayer::new(REQUESTS))
            .build(),
    })
}
