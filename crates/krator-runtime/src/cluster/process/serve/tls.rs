//! The certificate of a server: one that it makes itself, one that is mounted and may be replaced at any time, or one that the
//! replicas of the operator keep in common.
#![allow(clippy::disallowed_methods, reason = "a mounted certificate is in files")]
use crate::error::{Fallible as _, Result};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
#[cfg(feature = "admission")]
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
    },
};

/// How often the files of a mounted certificate are read again, at most.
const REREAD: Duration = Duration::from_secs(10);

/// How a server accepts TLS connections.
pub(in crate::cluster) struct Tls {
    acceptor: Option<TlsAcceptor>,
    /// The folder of a mounted certificate, and when it was read last.
    mounted: Option<(PathBuf, Instant)>,
    #[cfg(feature = "admission")]
    kept: Option<watch::Receiver<Option<TlsAcceptor>>>,
}

impl Tls {
    /// A certificate that the server signs itself. It lives as long as the process.
    ///
    /// # Errors
    ///
    /// If there is no randomness for the key.
    pub fn self_signed() -> Result<Self> {
        let own = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
        let key = PrivateKeyDer::try_from(own.signing_key.serialize_der())?;
        Ok(Self {
            acceptor: Some(acceptor(vec![own.cert.into()], key)?),
            mounted: None,
            #[cfg(feature = "admission")]
            kept: None,
        })
    }

    /// The certificate in `tls.crt` and its key in `tls.key`, as a Secret of type `kubernetes.io/tls` is mounted.
    ///
    /// # Errors
    ///
    /// If the files cannot be read, or do not belong together.
    pub fn mounted(folder: &Path) -> Result<Self> {
        Ok(Self {
            acceptor: Some(read(folder)?),
            mounted: Some((folder.to_owned(), Instant::now())),
            #[cfg(feature = "admission")]
            kept: None,
        })
    }

    /// The certificate that the replicas of the operator keep in common.
    #[cfg(feature = "admission")]
    pub fn kept(certificate: watch::Receiver<Option<TlsAcceptor>>) -> Self {
        Self {
            acceptor: None,
            mounted: None,
            kept: Some(certificate),
        }
    }

    /// For the next connection; `None` if there is no certificate yet. A certificate that was replaced is used from then on; if
    /// the new one is not usable, the old one stays.
    pub fn acceptor(&mut self) -> Option<TlsAcceptor> {
        #[cfg(feature = "admission")]
        if let Some(kept) = &self.kept {
            return kept.borrow().clone();
        }
        if let Some((folder, last)) = &mut self.mounted
            && last.elapsed() >= REREAD
        {
            *last = Instant::now();
            match read(folder) {
                Ok(acceptor) => self.acceptor = Some(acceptor),
                Err(error) => {
                    tracing::warn!(%error, folder = %folder.display(), "a mounted certificate cannot be replaced")
                }
            }
        }
        self.acceptor.clone()
    }
}

/// Reads a mounted certificate with the others of its chain, and its private key.
fn read(folder: &Path) -> Result<TlsAcceptor> {
    let read = |name: &str| {
        let path = folder.join(name);
        fs::read(&path).context(path.display())
    };
    let (certificates, key) = (read("tls.crt")?, read("tls.key")?);
    let made = || {
        let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&certificates).collect();
        acceptor(certificates?, PrivateKeyDer::from_pem_slice(&key)?)
    };
    made().context(folder.display())
}

/// Accepts connections with this certificate, which comes first, and those that have signed it.
///
/// # Errors
///
/// If the key is of another certificate.
pub(in crate::cluster) fn acceptor(
    certificates: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<TlsAcceptor> {
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(certificates, key)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
    use tokio_rustls::{
        TlsConnector,
        rustls::{ClientConfig, RootCertStore, pki_types::ServerName},
    };

    fn certificate() -> CertifiedKey<KeyPair> {
        generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate")
    }

    fn mount(folder: &Path, certificate: &str, key: &str) {
        fs::write(folder.join("tls.crt"), certificate).expect("a folder of our own");
        fs::write(folder.join("tls.key"), key).expect("a folder of our own");
    }

    /// Whether a client that trusts this certificate alone can connect.
    async fn presents(tls: &mut Tls, certificate: &CertifiedKey<KeyPair>) -> bool {
        let mut roots = RootCertStore::empty();
        roots.add(certificate.cert.der().clone()).expect("a certificate");
        let client = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions of TLS")
            .with_root_certificates(roots)
            .with_no_client_auth();
        let (near, far) = tokio::io::duplex(1 << 16);
        let name = ServerName::try_from("localhost").expect("a name");
        let connector = TlsConnector::from(Arc::new(client));
        let (accepted, connected) = tokio::join!(
            tls.acceptor().expect("a certificate").accept(near),
            connector.connect(name, far)
        );
        accepted.is_ok() && connected.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn a_mounted_certificate_may_be_replaced() {
        let folder = std::env::temp_dir().join(format!("krator-tls-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a temporary folder");
        let (old, new) = (certificate(), certificate());
        let pem = |of: &CertifiedKey<KeyPair>| (of.cert.pem(), of.signing_key.serialize_pem());
        let (old_pem, new_pem) = (pem(&old), pem(&new));

        assert!(Tls::mounted(&folder).is_err(), "there is none yet");
        mount(&folder, &old_pem.0, &new_pem.1);
        assert!(
            Tls::mounted(&folder).is_err(),
            "the key is of another certificate"
        );
        mount(&folder, &old_pem.0, &old_pem.1);
        let mut tls = Tls::mounted(&folder).expect("a certificate with its key");
        assert!(presents(&mut tls, &old).await);

        mount(&folder, &new_pem.0, &old_pem.1);
        tokio::time::advance(REREAD).await;
        assert!(presents(&mut tls, &old).await, "the new one is not complete yet");
        mount(&folder, &new_pem.0, &new_pem.1);
        tokio::time::advance(REREAD).await;
        assert!(presents(&mut tls, &new).await);
        assert!(!presents(&mut tls, &old).await);
        fs::remove_dir_all(&folder).expect("a folder of our own");
    }

    #[tokio::test]
    async fn a_certificate_of_its_own_is_accepted_by_nobody_who_checks_it() {
        let mut tls = Tls::self_signed().expect("a certificate");
        assert!(!presents(&mut tls, &certificate()).await);
    }
}
