//! The HTTP servers of an operator. The number of connections is bounded, and so is the time of each.
pub(in crate::cluster) mod tls;

pub(in crate::cluster) use tls::Tls;

use crate::error::{Error, Result};
use futures::future::pending;
use http::{HeaderValue, Method, Request, Response, StatusCode, header, request::Parts};
use hyper::{
    body::{Body as _, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::{
    convert::Infallible,
    future::poll_fn,
    net,
    pin::{Pin, pin},
    sync::Arc,
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpListener,
    sync::Semaphore,
    time::timeout,
};

/// The longest time from accepting a connection to the end of TLS' handshake and, where a connection answers one request
/// only, to the end of the answer.
const LONGEST_CONNECTION: Duration = Duration::from_secs(30);
/// How long a server waits after cannot accept a connection, because the process has too many files open for
/// example.
const ACCEPT_DELAY: Duration = Duration::from_secs(1);

/// The limits of a server.
#[derive(Clone, Copy)]
pub(in crate::cluster) struct Limits {
    /// The most connections at the same time. Others wait to be accepted.
    pub connections: usize,
    /// How long a connection waits for its next request; `None` if it answers one request and is closed.
    pub idle: Option<Duration>,
}

impl Limits {
    /// For infrequent requests.
    const ONE_REQUEST: Self = Self {
        connections: 64,
        idle: None,
    };
}

/// Answers requests.
pub(in crate::cluster) trait HttpHandler: Send + Sync + 'static {
    /// Answers a GET, whose body is not read.
    fn respond(&self, request: &Parts) -> impl Future<Output = Response<String>> + Send;
    /// Answers a POST.
    fn change(&self, _: &Parts, _: Incoming) -> impl Future<Output = Response<String>> + Send {
        std::future::ready(only_get())
    }
}

/// Listens on an address in the form of Go: `:8081` is this port on all addresses, and `0` is none.
///
/// # Errors
///
/// If it is no address, or nothing can listen there, because another process does for example.
pub(in crate::cluster) fn bind(address: &str) -> Result<Option<net::TcpListener>> {
    if address == "0" {
        return Ok(None);
    }
    let bound = match address.strip_prefix(':') {
        // A node without IPv6 has no `[::]`.
        Some(port) => net::TcpListener::bind(format!("[::]:{port}"))
            .or_else(|_| net::TcpListener::bind(format!("0.0.0.0:{port}"))),
        None => net::TcpListener::bind(address),
    };
    match bound {
        Ok(listener) => {
            listener.set_nonblocking(true)?;
            Ok(Some(listener))
        }
        Err(error) => Err(Error::from(error).context(format!("listening on `{address}`"))),
    }
}

/// Answers the requests on a listener, over TLS if `tls` is set. After `stop` it accepts no more connections,
/// and finishes the requests that have arrived.
pub(in crate::cluster) async fn serve(
    listener: net::TcpListener,
    tls: Option<Tls>,
    handler: Arc<impl HttpHandler>,
    limits: Limits,
    stop: impl Future<Output = ()> + Clone + Send + 'static,
) {
    let listener = match TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return tracing::error!(%error, "a server stopped"),
    };
    let connections = Arc::new(Semaphore::new(limits.connections));
    let accept = async {
        loop {
            // The semaphore is never closed.
            let Ok(permit) = Arc::clone(&connections).acquire_owned().await else {
                return;
            };
            match listener.accept().await {
                Ok((stream, _)) => {
                    // The end of an answer must not wait until the client acknowledges its beginning. Without this option, the
                    // answer is only slower.
                    let _ = stream.set_nodelay(true);
                    let (handler, acceptor) = (Arc::clone(&handler), tls.as_ref().map(Tls::acceptor));
                    let stop = stop.clone();
                    tokio::spawn(async move {
                        let _permit = permit;
                        // A client that breaks off or takes too long gets no answer.
                        match acceptor {
                            None => connection(stream, handler, limits, stop).await,
                            // There is no certificate yet.
                            Some(None) => {}
                            Some(Some(acceptor)) => {
                                let accepted = timeout(LONGEST_CONNECTION, acceptor.accept(stream)).await;
                                if let Ok(Ok(stream)) = accepted {
                                    connection(stream, handler, limits, stop).await;
                                }
                            }
                        }
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(ACCEPT_DELAY).await;
                }
            }
        }
    };
    tokio::select! {
        () = accept => {}
        () = stop.clone() => {}
    }
    drop(listener);
    let all = u32::try_from(limits.connections).unwrap_or(u32::MAX);
    drop(connections.acquire_many(all).await);
}

/// Answers one request each, and never stops by itself.
pub(in crate::cluster) async fn serve_until_dropped(
    listener: net::TcpListener,
    tls: Option<Tls>,
    handler: impl HttpHandler,
) {
    serve(listener, tls, Arc::new(handler), Limits::ONE_REQUEST, pending()).await;
}

async fn connection(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send,
    handler: Arc<impl HttpHandler>,
    limits: Limits,
    stop: impl Future<Output = ()>,
) {
    let service = service_fn(move |request: Request<Incoming>| {
        let handler = Arc::clone(&handler);
        async move {
            let (request, body) = request.into_parts();
            let answer = match request.method {
                Method::GET | Method::HEAD => handler.respond(&request).await,
                Method::POST => handler.change(&request, body).await,
                _ => {
                    drop(body);
                    only_get()
                }
            };
            Ok::<_, Infallible>(answer)
        }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .keep_alive(limits.idle.is_some())
        .header_read_timeout(limits.idle.unwrap_or(LONGEST_CONNECTION))
        .serve_connection(TokioIo::new(stream), service);
    let mut served = pin!(served);
    match limits.idle {
        None => drop(timeout(LONGEST_CONNECTION, served).await),
        Some(_) => tokio::select! {
            _ = &mut served => {}
            () = stop => {
                served.as_mut().graceful_shutdown();
                drop(served.await);
            }
        },
    }
}

/// Reads a body of bounded length.
pub(in crate::cluster) async fn read(
    mut body: Incoming,
    longest: usize,
) -> Result<Vec<u8>, (StatusCode, String)> {
    let mut bytes = Vec::new();
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        let frame = frame.map_err(|error| (StatusCode::BAD_REQUEST, error.to_string()))?;
        if let Ok(data) = frame.into_data() {
            bytes.extend_from_slice(&data);
        }
        if bytes.len() > longest {
            let problem = format!("the body has more than {longest} bytes");
            return Err((StatusCode::PAYLOAD_TOO_LARGE, problem));
        }
    }
    Ok(bytes)
}

/// The answer to a request of another method.
pub(in crate::cluster) fn only_get() -> Response<String> {
    text(StatusCode::METHOD_NOT_ALLOWED, "only GET is allowed".to_owned())
}

/// An answer of plain text.
pub(in crate::cluster) fn text(status: StatusCode, body: String) -> Response<String> {
    let mut answer = answer("text/plain; charset=utf-8", body);
    *answer.status_mut() = status;
    answer
}

/// An answer of this type.
pub(in crate::cluster) fn answer(content_type: &'static str, body: String) -> Response<String> {
    let mut answer = Response::new(body);
    let content_type = HeaderValue::from_static(content_type);
    answer.headers_mut().insert(header::CONTENT_TYPE, content_type);
    answer
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::process::control;
    use std::{
        io::{Read as _, Write as _},
        net::TcpStream,
    };

    /// Answers with the path of the request.
    struct Echo;

    impl HttpHandler for Echo {
        async fn respond(&self, request: &Parts) -> Response<String> {
            text(StatusCode::OK, request.uri.path().to_owned())
        }
    }

    fn ask(address: net::SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(address).expect("somebody listens");
        stream.write_all(request.as_bytes()).expect("the server reads");
        let mut answer = String::new();
        stream
            .read_to_string(&mut answer)
            .expect("the server closes the connection");
        answer
    }

    #[test]
    fn a_request_is_answered_and_its_connection_closed_until_the_servers_are_dropped() {
        let listener = bind("127.0.0.1:0").expect("a free port").expect("an address");
        let address = listener.local_addr().expect("it listens");
        let serving = control::start(
            "control",
            vec![Box::pin(serve_until_dropped(listener, None, Echo))],
        )
        .expect("a thread");
        // A connection that says nothing holds up no other.
        let silent = TcpStream::connect(address).expect("somebody listens");
        let answer = ask(address, "GET /readyz HTTP/1.1\r\nHost: pod\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert!(answer.ends_with("\r\n\r\n/readyz"), "{answer}");
        let answer = ask(
            address,
            "POST / HTTP/1.1\r\nHost: pod\r\nContent-Length: 1\r\n\r\nx",
        );
        assert!(answer.starts_with("HTTP/1.1 405 "), "{answer}");
        drop(serving);
        // The server closes the silent connection, so this ends.
        assert_eq!((&silent).read(&mut [0]).unwrap_or_default(), 0);
    }

    #[test]
    fn an_address_in_use_and_a_bad_one_are_named() {
        assert!(bind("0").expect("off").is_none());
        let everywhere = bind(":0").expect("a free port").expect("an address");
        assert!(everywhere.local_addr().expect("it listens").ip().is_unspecified());
        let taken = bind("127.0.0.1:0").expect("a free port").expect("an address");
        let address = taken.local_addr().expect("it listens").to_string();
        for (address, why) in [
            (address.as_str(), "in use"),
            ("8081", "invalid"),
            (":http", "invalid"),
        ] {
            let error = bind(address)
                .err()
                .map(|error| error.to_string())
                .unwrap_or_default();
            let named = format!("listening on `{address}`: ");
            assert!(error.starts_with(&named) && error.contains(why), "{error}");
        }
    }
}
