//! Requests to webhooks over HTTPS, with a connection for each.

use bytes::Bytes;
use http::{Request, Response, Uri, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::Value as Json;
use std::{future::Future, io, sync::Arc, time::Duration};
use tokio::net::TcpStream;
use tokio_rustls::{
    TlsConnector,
    rustls::{
        self, CertificateError, ClientConfig, RootCertStore,
        pki_types::{CertificateDer, ServerName, pem::PemObject as _},
    },
};

/// The largest response body that is read.
const LARGEST_ANSWER: usize = 16 << 20;

/// Sends a review to the `url` of a client configuration, and returns the review in the response.
///
/// # Errors
///
/// If there is no valid response in time, with the message of Go.
pub(crate) async fn post(client: &Json, review: &Json, timeout: Duration) -> Result<Json, String> {
    let text = |key: &str| client[key].as_str().unwrap_or_default();
    let url = with_timeout(text("url"), timeout.as_secs());
    let sent = send(&url, text("caBundle"), review.to_string());
    let sent = tokio::time::timeout(timeout, sent).await;
    let sent = sent.unwrap_or_else(|_| Err("context deadline exceeded".to_owned()));
    read(sent.map_err(|why| format!("Post {url:?}: {why}"))?)
}

fn with_timeout(url: &str, seconds: u64) -> String {
    let has_path = url.split_once("://").is_some_and(|(_, rest)| rest.contains('/'));
    format!("{url}{}?timeout={seconds}s", if has_path { "" } else { "/" })
}

/// Sends a review and returns the response. Errors have the messages of Go.
async fn send(url: &str, bundle: &str, review: String) -> Result<Response<Bytes>, String> {
    let uri: Uri = url
        .parse()
        .map_err(|error: http::uri::InvalidUri| error.to_string())?;
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    let address = (host.as_str(), uri.port_u16().unwrap_or(443));
    let refused = |error: io::Error| match error.kind() {
        io::ErrorKind::ConnectionRefused => {
            format!(
                "dial tcp {}:{}: connect: connection refused",
                address.0, address.1
            )
        }
        _ => format!("dial tcp {}:{}: {error}", address.0, address.1),
    };
    let stream = TcpStream::connect(address).await.map_err(refused)?;
    let name = ServerName::try_from(host.clone()).map_err(|error| error.to_string())?;
    let connector = TlsConnector::from(Arc::new(trusting(bundle)?));
    let stream = connector
        .connect(name, stream)
        .await
        .map_err(|error| in_words_of_go(&error))?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|error| error.to_string())?;
    let request = Request::post(uri.path_and_query().map_or("/", |path| path.as_str()))
        .header(
            header::HOST,
            uri.authority().map_or("", |authority| authority.as_str()),
        )
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, "application/json, */*")
        .body(Full::<Bytes>::from(review))
        .map_err(|error| error.to_string())?;
    let answer = async {
        let response = sender.send_request(request).await.map_err(closed)?;
        let (parts, body) = response.into_parts();
        let body = Limited::new(body, LARGEST_ANSWER).collect().await;
        let body = body.map_err(|error| error.to_string())?.to_bytes();
        Ok(Response::from_parts(parts, body))
    };
    alongside(answer, connection).await
}

/// Awaits a result while the connection is driven.
async fn alongside<T>(result: impl Future<Output = T>, connection: impl Future) -> T {
    let (result, connection) = (std::pin::pin!(result), std::pin::pin!(connection));
    match futures::future::select(result, connection).await {
        futures::future::Either::Left((result, _)) => result,
        // The connection has ended, and the result contains the reason.
        futures::future::Either::Right((_, result)) => result.await,
    }
}

fn closed(error: hyper::Error) -> String {
    match error.is_incomplete_message() || error.is_closed() {
        true => "EOF".to_owned(),
        false => error.to_string(),
    }
}

/// A client that trusts only the certificates of a bundle, and none of the system.
fn trusting(bundle: &str) -> Result<ClientConfig, String> {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    let bundle = STANDARD.decode(bundle).map_err(|error| error.to_string())?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&bundle) {
        let certificate = certificate.map_err(|error| error.to_string())?;
        roots.add(certificate).map_err(|error| error.to_string())?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map_err(|error| error.to_string())?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

fn in_words_of_go(error: &io::Error) -> String {
    let found = error
        .get_ref()
        .and_then(|error| error.downcast_ref::<rustls::Error>());
    let rustls::Error::InvalidCertificate(why) = found.unwrap_or(&rustls::Error::HandshakeNotComplete) else {
        return format!("tls: {error}");
    };
    let why = match why {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "certificate signed by unknown authority".to_owned()
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "certificate has expired or is not yet valid".to_owned()
        }
        other => other.to_string(),
    };
    format!("tls: failed to verify certificate: x509: {why}")
}

/// The review in a response, after `transformResponse` of client-go.
fn read(response: Response<Bytes>) -> Result<Json, String> {
    let (status, body) = (response.status(), response.body());
    if !status.is_success() {
        let form = response.headers().get(header::CONTENT_TYPE);
        let form = form.map_or(&b"text/"[..], |form| form.as_bytes());
        let body = match form.starts_with(b"text/") {
            true => String::from_utf8_lossy(body),
            false => "unknown".into(),
        };
        return Err(match status.as_u16() {
            404 => "the server could not find the requested resource".to_owned(),
            503 => "the server is currently unable to handle the request".to_owned(),
            code if code >= 500 => {
                format!(
                    "an error on the server ({:?}) has prevented the request from succeeding",
                    body.trim()
                )
            }
            code => {
                format!("the server responded with the status code {code} but did not return more details")
            }
        });
    }
    serde_json::from_slice(body)
        .map_err(|error| format!("couldn't get version/kind; json parse error: {error}"))
}
