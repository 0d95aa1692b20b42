//! Sends spans to a collector of OpenTelemetry: runs of handlers, writes of the status, and requests to the API server.
//!
//! The standard environment variables of OpenTelemetry configure the collector. Spans wait in a bounded queue
//! of the SDK, so a collector that does not answer delays nothing.
#![allow(
    clippy::disallowed_methods,
    reason = "OpenTelemetry is configured by variables"
)]
use super::control::{self, Running};
use crate::error::{Fallible as _, Result};
use futures::{FutureExt as _, StreamExt as _, channel::mpsc, future::BoxFuture};
use http::{Uri, uri::PathAndQuery};
use kube::{Client, Config, client::Body};
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::{Resource, trace::SdkTracerProvider};
use std::{env, fmt, time::Duration};
use tokio::{sync::oneshot, time::timeout};
use tracing::{Level, Subscriber};
use tracing_subscriber::{Layer, filter::Targets, registry::LookupSpan};

/// How long the collector may take to answer.
const LONGEST_EXPORT: Duration = Duration::from_secs(10);
/// How long the last spans may take when the process ends.
const LAST_SPANS: Duration = Duration::from_secs(3);

/// The exporter of spans, for the life of the process.
pub(in crate::cluster) struct Traces {
    provider: SdkTracerProvider,
    _thread: Running,
}

impl Traces {
    /// The traces of the process; `None` if no collector is named.
    ///
    /// # Errors
    ///
    /// If the environment variables are invalid.
    pub fn from_env(name: &'static str, version: &'static str) -> Result<Option<Self>> {
        let is_set = |variable: &str| env::var_os(variable).is_some_and(|value| !value.is_empty());
        let is_off = env::var("OTEL_SDK_DISABLED").is_ok_and(|value| value.eq_ignore_ascii_case("true"));
        let endpoints = [
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        ];
        if is_off || !endpoints.into_iter().any(is_set) {
            return Ok(None);
        }
        let name = (!is_set("OTEL_SERVICE_NAME")).then_some(name);
        Self::start(name, version, None).map(Some)
    }

    /// The traces of a process of this name, if the variables do not name it, for this collector, or else for that of the
    /// variables.
    fn start(name: Option<&'static str>, version: &'static str, collector: Option<&str>) -> Result<Self> {
        let (exports, client) = Exports::new();
        let exporter = SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .with_http_client(client);
        let exporter = match collector {
            Some(collector) => exporter.with_endpoint(collector),
            None => exporter,
        };
        let exporter = exporter.build().context("traces")?;
        let mut resource =
            Resource::builder().with_attribute(opentelemetry::KeyValue::new("service.version", version));
        if let Some(name) = name {
            resource = resource.with_service_name(name);
        }
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(resource.build())
            .build();
        // It has a thread of its own, because handlers may block other threads.
        let thread = control::start("traces", vec![exports.run().boxed()])?;
        Ok(Self {
            provider,
            _thread: thread,
        })
    }

    /// The layer that records spans: all of the runtime, and of other crates those that would be logged.
    pub fn layer<S: Subscriber + for<'s> LookupSpan<'s> + Send + Sync>(&self) -> impl Layer<S> + use<S> {
        let filter = Targets::new()
            .with_default(Level::INFO)
            .with_target("krator_runtime", Level::DEBUG);
        tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer("krator-runtime"))
            .with_filter(filter)
    }

    /// Sends the remaining spans.
    pub fn end(self) {
        if let Err(error) = self.provider.shutdown_with_timeout(LAST_SPANS) {
            tracing::warn!(%error, "cannot export the last spans");
        }
    }
}

/// A request to the collector, and where its answer goes.
type Export = (Request<Bytes>, oneshot::Sender<Result<Response<Bytes>>>);

/// Sends what the SDK exports on a thread without tokio, where no client of HTTP works.
#[derive(Clone)]
struct Sender(mpsc::UnboundedSender<Export>);

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sender")
    }
}

impl HttpClient for Sender {
    fn send_bytes<'a: 'f, 'f>(
        &'a self,
        request: Request<Bytes>,
    ) -> BoxFuture<'f, Result<Response<Bytes>, HttpError>> {
        let (answer, answered) = oneshot::channel();
        let sent = self.0.unbounded_send((request, answer));
        async move {
            sent?;
            answered.await?.map_err(|error| error.to_string().into())
        }
        .boxed()
    }
}

/// The requests to the collector.
struct Exports(mpsc::UnboundedReceiver<Export>);

impl Exports {
    fn new() -> (Self, Sender) {
        // The SDK waits for one answer before it exports again.
        let (sender, exports) = mpsc::unbounded();
        (Self(exports), Sender(sender))
    }

    async fn run(mut self) {
        let (mut client, mut fails) = (None, false);
        while let Some((request, answer)) = self.0.next().await {
            let sent = match timeout(LONGEST_EXPORT, send(&mut client, request)).await {
                Ok(sent) => sent,
                Err(late) => Err(late.into()),
            };
            let failed = sent.as_ref().err();
            if let Some(error) = failed.filter(|_| !fails) {
                tracing::warn!(%error, "cannot export spans");
            }
            fails = failed.is_some();
            let _ = answer.send(sent);
        }
    }
}

/// Sends a request with the client for its server, which is made with the first one.
async fn send(client: &mut Option<Client>, request: Request<Bytes>) -> Result<Response<Bytes>> {
    let (mut parts, body) = request.into_parts();
    let mut server = parts.uri.clone().into_parts();
    let path = server.path_and_query.replace(PathAndQuery::from_static("/"));
    let client = match client {
        Some(client) => client,
        None => client.insert(Client::try_from(Config::new(Uri::from_parts(server)?))?),
    };
    parts.uri = path.map_or_else(
        || Ok(Uri::default()),
        |path| Uri::builder().path_and_query(path).build(),
    )?;
    let request = Request::from_parts(parts, Body::from(body));
    let (parts, body) = client.send(request).await?.into_parts();
    Ok(Response::from_parts(parts, body.collect_bytes().await?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::observability::metrics::{Metrics, count_requests};
    use opentelemetry_proto::tonic::{
        collector::trace::v1::ExportTraceServiceRequest,
        common::v1::{KeyValue, any_value::Value},
    };
    use prost::Message as _;
    use std::{
        collections::BTreeMap,
        convert::Infallible,
        io::{BufRead as _, BufReader, Read as _, Write as _},
        net::{SocketAddr, TcpListener},
        sync::mpsc::{Receiver, channel},
        thread,
    };
    use tower::{Layer as _, Service as _, service_fn};
    use tracing::{Instrument as _, info_span};
    use tracing_subscriber::{layer::SubscriberExt as _, registry};

    /// A collector that answers the requests of one connection, and what it gets: the path of each request with its body.
    fn collector() -> (SocketAddr, Receiver<(String, ExportTraceServiceRequest)>) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let (sender, received) = channel();
        thread::spawn(move || {
            let (stream, _) = listener.accept().expect("a connection");
            let mut lines = BufReader::new(stream);
            loop {
                let (mut path, mut length) = (String::new(), 0);
                loop {
                    let mut line = String::new();
                    if lines.read_line(&mut line).unwrap_or(0) <= 2 {
                        break;
                    }
                    let line = line.to_lowercase();
                    if let Some(text) = line.strip_prefix("content-length: ") {
                        length = text.trim().parse().expect("a number");
                    } else if let Some(rest) = line.strip_prefix("post ") {
                        path = rest.split(' ').next().unwrap_or_default().to_owned();
                    }
                }
                let mut body = vec![0; length];
                if length == 0 || lines.read_exact(&mut body).is_err() {
                    return;
                }
                let spans = ExportTraceServiceRequest::decode(&*body).expect("spans");
                let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
                if lines.get_mut().write_all(answer).is_err() || sender.send((path, spans)).is_err() {
                    return;
                }
            }
        });
        (address, received)
    }

    fn texts(attributes: Vec<KeyValue>) -> BTreeMap<String, String> {
        let text = |value: Option<Value>| match value {
            Some(Value::StringValue(text)) => text,
            Some(Value::IntValue(number)) => number.to_string(),
            _ => String::new(),
        };
        let pairs = attributes.into_iter();
        let pairs = pairs.map(|pair| (pair.key, text(pair.value.and_then(|value| value.value))));
        pairs.collect()
    }

    #[test]
    fn a_collector_gets_handlers_with_their_requests() {
        let (address, received) = collector();
        let endpoint = format!("http://{address}/v1/traces");
        let traces = Traces::start(Some("moose-operator"), "0.1.0", Some(&endpoint)).expect("an endpoint");
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().expect("a runtime");
        tracing::subscriber::with_default(registry().with(traces.layer()), || {
            let server = Uri::from_static("https://10.0.0.1");
            let mut service =
                count_requests(Metrics::new(), &server).layer(service_fn(async |_: Request<()>| {
                    let answer = Response::builder().status(409).body(());
                    Ok::<_, Infallible>(answer.expect("an answer"))
                }));
            let handler = async {
                let request = Request::patch("/apis/animals.com/v1/moose/a?force=true").body(());
                service
                    .call(request.expect("a request"))
                    .await
                    .expect("an answer");
            };
            runtime.block_on(handler.instrument(info_span!("state", kind = "Moose", state = "Eat")));
            tracing::debug_span!(target: "kube_client", "HTTP").in_scope(|| ());
        });
        traces.end();

        let (path, export) = received.recv().expect("spans");
        assert_eq!(path, "/v1/traces");
        let [resource] = <[_; 1]>::try_from(export.resource_spans).expect("one process");
        let process = texts(resource.resource.expect("a resource").attributes);
        assert_eq!(process["service.name"], "moose-operator");
        assert_eq!(process["service.version"], "0.1.0");
        let spans = resource.scope_spans.into_iter().flat_map(|scope| scope.spans);
        let mut spans: BTreeMap<String, _> = spans.map(|span| (span.name.clone(), span)).collect();
        assert_eq!(spans.keys().collect::<Vec<_>>(), ["request", "state"]);
        let (request, state) = (spans.remove("request"), spans.remove("state"));
        let (request, state) = (request.expect("a request"), state.expect("a handler"));
        assert_eq!(
            (&request.trace_id, &request.parent_span_id),
            (&state.trace_id, &state.span_id)
        );
        let handler = texts(state.attributes);
        assert_eq!((&*handler["kind"], &*handler["state"]), ("Moose", "Eat"));
        let request = texts(request.attributes);
        assert_eq!(request["url.path"], "/apis/animals.com/v1/moose/a");
        let answer = (
            &*request["http.request.method"],
            &*request["http.response.status_code"],
        );
        assert_eq!(answer, ("PATCH", "409"));
    }

    #[test]
    fn a_collector_that_is_not_there_holds_up_nothing_but_the_end_for_a_moment() {
        let endpoint = "http://127.0.0.1:1/v1/traces";
        let traces = Traces::start(None, "0.1.0", Some(endpoint)).expect("an endpoint");
        let began = std::time::Instant::now();
        tracing::subscriber::with_default(registry().with(traces.layer()), || {
            info_span!("state").in_scope(|| ());
        });
        traces.end();
        assert!(began.elapsed() < LAST_SPANS + Duration::from_secs(2));
    }
}
