//! The log of an operator, for people or for programs.
use super::LogFormat;
#[cfg(feature = "otel")]
use crate::cluster::process::traces::Traces;
use crate::text::printable;
use std::fmt::Debug;
use tracing::field::Field;
use tracing_subscriber::{
    EnvFilter, Layer as _,
    field::MakeExt as _,
    fmt::{
        self, FormatFields,
        format::{Writer, debug_fn},
    },
    layer::SubscriberExt as _,
    registry,
    util::SubscriberInitExt as _,
};

/// Starts the log, and sends spans to a collector if there is one.
pub(super) fn start(format: LogFormat, #[cfg(feature = "otel")] traces: Option<&Traces>) {
    // What kube says of a request or a watch that fails, the error says too, which is logged with its object or kind.
    const FILTER: &str = "info,kube_client::client::builder=off,kube_runtime::watcher=error";
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(FILTER));
    let log = fmt::layer().with_writer(std::io::stderr);
    let log = match format {
        LogFormat::Pretty => log
            .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
            .with_target(false)
            .fmt_fields(fields())
            .boxed(),
        LogFormat::Json => log.json().boxed(),
    };
    // A collector gets spans that the log leaves out, so that the filter is one of the log.
    let subscriber = registry().with(log.with_filter(filter));
    #[cfg(feature = "otel")]
    let subscriber = subscriber.with(traces.map(Traces::layer));
    subscriber.init();
}

/// How the log for people shows fields.
pub(super) fn fields() -> impl for<'w> FormatFields<'w> + Send + Sync + 'static {
    debug_fn(write_field).delimited(" ")
}

/// Writes a field of a log line for people. Handlers, users and servers say what is in it, so what a terminal would act on
/// is escaped. JSON does that by itself.
fn write_field(line: &mut Writer<'_>, field: &Field, value: &dyn Debug) -> std::fmt::Result {
    let value = printable(&format!("{value:?}"));
    match field.name() {
        "message" => write!(line, "{value}"),
        // The crate `log` adds these fields to its lines.
        name if name.starts_with("log.") => Ok(()),
        name if line.has_ansi_escapes() => write!(line, "\x1b[3m{name}\x1b[0m\x1b[2m=\x1b[0m{value}"),
        name => write!(line, "{name}={value}"),
    }
}
