//! Counts what the API server asks the webhooks.
use super::{Buckets, Histograms, Labels, Metrics, Text, add, histograms};
use prometheus_client::{
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};
use std::time::Duration;

/// From 1 ms to 10 s, which is how long the API server waits by default.
const OF_REVIEWS: Buckets = Buckets(&[
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
]);

/// The metrics of webhooks. Those of controller-runtime have its names.
pub(super) struct Admissions {
    requests: Family<Labels<3>, Counter>,
    answers: Family<Labels<2>, Counter>,
    in_flight: Family<Labels<1>, Gauge>,
    latencies: Histograms<Labels<1>>,
    failed_conversions: Family<Labels<2>, Counter>,
}

impl Admissions {
    pub fn new(r: &mut Registry) -> Self {
        Self {
            requests: add(
                r,
                "krator_admission_requests",
                "Admission requests, and whether they were allowed",
                Family::default(),
            ),
            answers: add(
                r,
                "controller_runtime_webhook_requests",
                "Responses of webhooks by status code",
                Family::default(),
            ),
            in_flight: add(
                r,
                "controller_runtime_webhook_requests_in_flight",
                "Requests that webhooks are handling now",
                Family::default(),
            ),
            latencies: add(
                r,
                "controller_runtime_webhook_latency_seconds",
                "Duration of webhook requests",
                histograms(OF_REVIEWS),
            ),
            failed_conversions: add(
                r,
                "krator_conversion_failures",
                "Objects that could not be converted to another version, or only with a fallback for a value",
                Family::default(),
            ),
        }
    }
}

/// A request that is being answered, as long as this exists.
pub(in crate::cluster) struct InFlight(Gauge);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Metrics {
    /// A webhook is asked about a request.
    pub fn asked(&self, webhook: &str) -> InFlight {
        let labels = [("webhook", Text::from(webhook.to_owned()))];
        let gauge = self.0.admissions.in_flight.get_or_create(&labels).clone();
        gauge.inc();
        InFlight(gauge)
    }
    /// A webhook was asked about a request; `allowed` is `None` if it could not say anything.
    pub fn admitted(
        &self,
        webhook: &str,
        kind: &str,
        operation: &'static str,
        allowed: Option<bool>,
        took: Duration,
    ) {
        let (said, code) = match allowed {
            Some(true) => ("true", "200"),
            Some(false) => ("false", "200"),
            None => ("unknown", "500"),
        };
        let kind = ("kind", kind.to_owned().into());
        let labels = [kind, ("operation", operation.into()), ("allowed", said.into())];
        self.0.admissions.requests.get_or_create(&labels).inc();
        self.answered(webhook, code, took);
    }
    /// Counts the objects of a kind that could not be converted.
    pub fn failed_conversions(&self, group: &str, kind: &str) -> Counter {
        let labels = [
            ("group", group.to_owned().into()),
            ("kind", kind.to_owned().into()),
        ];
        self.0.admissions.failed_conversions.get_or_create_owned(&labels)
    }
    /// A webhook has answered.
    pub fn answered(&self, webhook: &str, code: &'static str, took: Duration) {
        let admissions = &self.0.admissions;
        let webhook = ("webhook", Text::from(webhook.to_owned()));
        let labels = [webhook.clone(), ("code", code.into())];
        admissions.answers.get_or_create(&labels).inc();
        let latencies = admissions.latencies.get_or_create(&[webhook]);
        latencies.observe(took.as_secs_f64());
    }
}
