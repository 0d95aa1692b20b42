//! The server of the metrics, and of the page that shows the objects.
mod review;

#[cfg(feature = "dev")]
use crate::cluster::dev::{self, Controls};
use crate::{
    cluster::{
        observability::{
            inspect::{Inspection, Page},
            metrics::Metrics,
        },
        process::{
            control,
            serve::{self, HttpHandler, Tls, text},
        },
    },
    error::{Error, Result},
};
use http::{Response, StatusCode, request::Parts};
#[cfg(feature = "dev")]
use hyper::body::Incoming;
use kube::{Client, Config};
use review::{Access, Reviews};
use std::{net, path::PathBuf};

/// The format of [`Metrics::render`].
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Where and how the metrics are served.
pub(in crate::cluster) struct MetricsServer {
    /// In the form of [`serve::bind`].
    pub address: String,
    /// Whether with TLS, to those who have the right.
    pub secure: bool,
    /// The folder of a mounted certificate.
    pub certificate: Option<PathBuf>,
}

impl Default for MetricsServer {
    fn default() -> Self {
        Self {
            address: "0".to_owned(),
            secure: true,
            certificate: None,
        }
    }
}

impl MetricsServer {
    /// The server, if there is to be one. It asks the API server of `config` who may read what.
    ///
    /// # Errors
    ///
    /// If nothing can listen at the address, the certificate is unusable, or the metrics would be served without TLS to
    /// other machines.
    pub fn server(
        self,
        metrics: &Metrics,
        inspection: &Inspection,
        config: &Config,
    ) -> Result<Option<control::Task>> {
        let Some(listener) = serve::bind(&self.address)? else {
            return Ok(None);
        };
        let address = listener.local_addr()?;
        if !self.secure && !address.ip().is_loopback() {
            return Err(Error::from(format!(
                "metrics without TLS are served on loopback addresses only, and `{}` is not one",
                self.address
            )));
        }
        #[cfg(feature = "dev")]
        if !address.ip().is_loopback() {
            return Err(Error::from(format!(
                "this operator was built for development (feature `dev`), so its page is served on loopback addresses \
                 only, and `{}` is not one",
                self.address
            )));
        }
        let tls = match (self.secure, &self.certificate) {
            (false, _) => None,
            (true, None) => Some(Tls::self_signed()?),
            (true, Some(folder)) => Some(Tls::mounted(folder)?),
        };
        if let Some(tls) = &tls {
            metrics.serves("metrics", tls);
        }
        tracing::info!(%address, "serving metrics");
        Ok(Some(Box::pin(run(
            listener,
            tls,
            metrics.clone(),
            inspection.clone(),
            config.clone(),
        ))))
    }
}

async fn run(
    listener: net::TcpListener,
    tls: Option<Tls>,
    metrics: Metrics,
    inspection: Inspection,
    config: Config,
) {
    #[cfg(feature = "dev")]
    let controls = match tls
        .is_none()
        .then(|| Controls::new(config.clone(), inspection.clone()))
    {
        Some(Err(error)) => return tracing::error!(%error, "cannot serve the page"),
        Some(Ok(controls)) => Some(controls),
        None => None,
    };
    #[cfg(feature = "dev")]
    let page = if controls.is_some() {
        Page::with(dev::CONTROLS_STYLE, dev::CONTROLS_SCRIPT)
    } else {
        Page::new()
    };
    #[cfg(not(feature = "dev"))]
    let page = Page::new();
    let access = if tls.is_some() {
        // It is made here because its connections belong to the thread that makes it, which handlers cannot block.
        match Client::try_from(config) {
            Ok(client) => Access::Reviewed(Reviews::new(client)),
            Err(error) => return tracing::error!(error = %Error::from(error), "cannot serve the metrics"),
        }
    } else {
        Access::Loopback
    };
    let routes = Routes {
        metrics,
        inspection,
        page,
        access,
        #[cfg(feature = "dev")]
        controls,
    };
    serve::serve_until_dropped(listener, tls, routes).await;
}

struct Routes {
    metrics: Metrics,
    inspection: Inspection,
    page: Page,
    access: Access,
    /// The controls of development; `None` with TLS.
    #[cfg(feature = "dev")]
    controls: Option<Controls>,
}

impl HttpHandler for Routes {
    #[cfg(feature = "dev")]
    async fn change(&self, request: &Parts, body: Incoming) -> Response<String> {
        let Some(controls) = &self.controls else {
            return serve::only_get();
        };
        match self.access.refusal(request).await {
            Some(refusal) => refusal,
            None => controls.change(request, body).await,
        }
    }

    async fn respond(&self, request: &Parts) -> Response<String> {
        let path = request.uri.path();
        #[cfg(feature = "dev")]
        if let Some(controls) = self.controls.as_ref().filter(|_| path == dev::PATH) {
            return match self.access.refusal(request).await {
                Some(refusal) => refusal,
                None => controls.show(request),
            };
        }
        if !["/metrics", "/state", "/"].contains(&path) {
            let paths = "not found: this server has /metrics, /state and /\n";
            return text(StatusCode::NOT_FOUND, paths.to_owned());
        }
        if let Some(refusal) = self.access.refusal(request).await {
            return refusal;
        }
        match path {
            "/metrics" => self.metrics().await,
            "/state" => self.inspection.respond(request.uri.query()).await,
            _ => self.page.respond(),
        }
    }
}

impl Routes {
    async fn metrics(&self) -> Response<String> {
        self.inspection.measure().await;
        match self.metrics.render() {
            Ok(rendered) => serve::answer(OPEN_METRICS, rendered),
            Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "dev")]
    #[tokio::test]
    async fn an_operator_that_was_built_for_development_stays_on_its_machine() {
        let config = Config::new("http://127.0.0.1:9".parse().expect("an address"));
        for (address, secure, is_refused) in [
            (":0", true, true),
            ("0.0.0.0:0", false, true),
            ("127.0.0.1:0", true, false),
            ("127.0.0.1:0", false, false),
            ("0", true, false),
        ] {
            let options = MetricsServer {
                address: address.to_owned(),
                secure,
                certificate: None,
            };
            let server = options.server(&Metrics::new(), &Inspection::of_nothing(), &config);
            assert_eq!(server.is_err(), is_refused, "{address}, with TLS: {secure}");
        }
    }

    #[tokio::test]
    async fn without_tls_metrics_do_not_leave_the_machine() {
        let config = Config::new("http://127.0.0.1:9".parse().expect("an address"));
        let start = |address: &str| {
            let options = MetricsServer {
                address: address.to_owned(),
                secure: false,
                certificate: None,
            };
            options
                .server(&Metrics::new(), &Inspection::of_nothing(), &config)
                .map(|server| server.is_some())
        };
        assert!(matches!(start("0"), Ok(false)));
        assert!(matches!(start("127.0.0.1:0"), Ok(true)));
        let error = start(":0").expect_err("all addresses").to_string();
        assert!(
            error.contains("on loopback addresses only, and `:0` is not one"),
            "{error}"
        );
    }
}
