//! Serves over HTTPS, for kubectl and for operators in other processes: only on loopback, with its own certificate and
//! token.

use crate::server::Server;
use http::Request;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use std::{io, net::SocketAddr, sync::Arc};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::oneshot,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{self, pki_types::PrivateKeyDer},
};

/// A server that is reachable until this value is dropped.
#[derive(Debug)]
pub struct Serving {
    /// The URL, such as `https://127.0.0.1:6443`.
    pub url: String,
    /// The token for clients, whose user may do everything.
    pub token: String,
    /// The certificate that clients have to trust, as PEM.
    pub certificate: String,
    _until_dropped: oneshot::Sender<()>,
}

impl Serving {
    /// A kubeconfig for a user that may do everything.
    pub fn kubeconfig(&self) -> String {
        self.kubeconfig_of("admin", &self.token)
    }

    /// A kubeconfig for the user of a token; see [`Server::add_user`].
    pub fn kubeconfig_of(&self, user: &str, token: &str) -> String {
        use base64::{Engine as _, engine::general_purpose::STANDARD};
        let config = serde_json::json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "krator", "cluster": {
                "server": self.url,
                "certificate-authority-data": STANDARD.encode(&self.certificate),
            }}],
            "users": [{"name": user, "user": {"token": token}}],
            "contexts": [{"name": "krator", "context": {
                "cluster": "krator",
                "user": user,
                "namespace": "default",
            }}],
            "current-context": "krator",
        });
        // JSON is valid YAML.
        format!("{config:#}\n")
    }
}

impl Server {
    /// Serves on an address of this machine; port 0 selects a free port.
    ///
    /// # Errors
    ///
    /// If the address is not a loopback address, or cannot be bound.
    pub async fn serve(&self, address: SocketAddr) -> io::Result<Serving> {
        if !address.ip().is_loopback() {
            let why = "this server is for development, and only listens where other machines cannot reach it";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let listener = TcpListener::bind(address).await?;
        let names = ["localhost".to_owned(), address.ip().to_string()];
        let made = rcgen::generate_simple_self_signed(names).map_err(io::Error::other)?;
        let certificate = made.cert.pem();
        let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|config| {
                config
                    .with_no_client_auth()
                    .with_single_cert(vec![made.cert.der().clone()], key)
            })
            .map_err(io::Error::other)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let url = format!("https://{}", listener.local_addr()?);
        let token = self.add_user("admin", &["system:masters"]);
        let (until_dropped, dropped) = oneshot::channel();
        let accept = accept(listener, TlsAcceptor::from(Arc::new(config)), self.for_anybody());
        tokio::spawn(async move {
            // Nothing is sent on the channel: it is closed when serving has to end.
            futures::future::select(Box::pin(accept), dropped).await;
        });
        Ok(Serving {
            url,
            token,
            certificate,
            _until_dropped: until_dropped,
        })
    }
}

/// Accepts connections. When the future is dropped, the connections are closed.
async fn accept(listener: TcpListener, acceptor: TlsAcceptor, server: Server) {
    let mut connections = tokio::task::JoinSet::new();
    loop {
        // A failed connection does not affect the next ones.
        let Ok((stream, _)) = listener.accept().await else {
            continue;
        };
        while connections.try_join_next().is_some() {}
        connections.spawn(connection(stream, acceptor.clone(), server.clone()));
    }
}

async fn connection(stream: TcpStream, acceptor: TlsAcceptor, server: Server) {
    let Ok(stream) = acceptor.accept(stream).await else {
        return;
    };
    let service = service_fn(move |request: Request<Incoming>| {
        let server = server.clone();
        async move { server.deliver(request).await }
    });
    // An aborted connection has no response, and neither has one that a fault closes.
    drop(
        http1::Builder::new()
            .serve_connection(TokioIo::new(stream), service)
            .await,
    );
}
