//! The certificate of a server: one that it makes itself, one that is mounted and may be replaced at any time, or one that the
//! replicas of the operator keep in common.
#![allow(clippy::disallowed_methods, reason = "a mounted certificate is in files")]
use crate::{
    error::{Fallible as _, Result},
    lock::Lock as _,
};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{sync::watch, time::Instant};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        self, CertificateError, RootCertStore, ServerConfig,
        client::{WebPkiServerVerifier, danger::ServerCertVerifier as _},
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem::PemObject as _},
    },
};

/// How often the files of a mounted certificate are read again, at most.
const REREAD: Duration = Duration::from_secs(10);

/// How a server accepts TLS connections. Clones share it.
#[derive(Clone)]
pub(in crate::cluster) struct Tls(Arc<Mutex<Source>>);

/// Where the certificate of a server comes from.
enum Source {
    Own(Certificate),
    /// The folder of a mounted certificate, when it was read last, and what was there.
    Mounted(PathBuf, Instant, Certificate),
    /// The certificate that the replicas keep in common, as soon as there is one.
    Rotated(watch::Receiver<Option<Certificate>>),
}

/// A certificate with its key.
#[derive(Clone)]
pub(in crate::cluster) struct Certificate {
    acceptor: TlsAcceptor,
    /// Unix time, if it can be read.
    expires: Option<i64>,
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
        Ok(Self::of(Source::Own(Certificate::new(
            vec![own.cert.into()],
            key,
        )?)))
    }

    /// The certificate in `tls.crt` and its key in `tls.key`, as a Secret of type `kubernetes.io/tls` is mounted.
    ///
    /// # Errors
    ///
    /// If the files cannot be read, or do not belong together.
    pub fn mounted(folder: &Path) -> Result<Self> {
        let certificate = read(folder)?;
        let source = Source::Mounted(folder.to_owned(), Instant::now(), certificate);
        Ok(Self::of(source))
    }

    /// The certificate that the replicas of the operator keep in common.
    pub fn rotated(certificate: watch::Receiver<Option<Certificate>>) -> Self {
        Self::of(Source::Rotated(certificate))
    }

    fn of(source: Source) -> Self {
        Self(Arc::new(Mutex::new(source)))
    }

    /// For the next connection; `None` if there is no certificate yet. A certificate that was replaced is used from then on; if
    /// the new one is not usable, the old one stays.
    pub fn acceptor(&self) -> Option<TlsAcceptor> {
        self.certificate().map(|certificate| certificate.acceptor)
    }

    /// The Unix time at which the certificate for the next connection expires.
    pub fn expires(&self) -> Option<i64> {
        self.certificate()?.expires
    }

    fn certificate(&self) -> Option<Certificate> {
        match &mut *self.0.locked() {
            Source::Own(certificate) => Some(certificate.clone()),
            Source::Rotated(certificate) => certificate.borrow().clone(),
            Source::Mounted(folder, last, certificate) => {
                if last.elapsed() >= REREAD {
                    *last = Instant::now();
                    match read(folder) {
                        Ok(replaced) => *certificate = replaced,
                        Err(error) => {
                            tracing::warn!(%error, folder = %folder.display(), "cannot reload a mounted certificate")
                        }
                    }
                }
                Some(certificate.clone())
            }
        }
    }
}

/// Reads a mounted certificate with the others of its chain, and its private key.
fn read(folder: &Path) -> Result<Certificate> {
    let read = |name: &str| {
        let path = folder.join(name);
        fs::read(&path).context(path.display())
    };
    let (certificates, key) = (read("tls.crt")?, read("tls.key")?);
    let made = || {
        let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&certificates).collect();
        Certificate::new(certificates?, PrivateKeyDer::from_pem_slice(&key)?)
    };
    made().context(folder.display())
}

impl Certificate {
    /// A certificate, which comes first, and those that have signed it.
    ///
    /// # Errors
    ///
    /// If the key is of another certificate.
    pub fn new(certificates: Vec<CertificateDer<'static>>, key: PrivateKeyDer<'static>) -> Result<Self> {
        let expires = certificates.first().and_then(expiry);
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(certificates, key)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let acceptor = TlsAcceptor::from(Arc::new(config));
        Ok(Self { acceptor, expires })
    }
}

/// The Unix time at which a certificate expires. The only certificate parser in operators is the TLS verifier. It
/// checks the validity first, so verifying for the end of time gives an error that contains the expiry.
fn expiry(certificate: &CertificateDer<'_>) -> Option<i64> {
    let mut roots = RootCertStore::empty();
    // The verifier needs a root, which does not matter here.
    roots.add(certificate.clone().into_owned()).ok()?;
    let provider = Arc::new(ring::default_provider());
    let client = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
        .build()
        .ok()?;
    let name = ServerName::try_from("localhost").ok()?;
    let end = UnixTime::since_unix_epoch(Duration::from_secs(u64::MAX));
    match client.verify_server_cert(certificate, &[], &name, &[], end) {
        Err(rustls::Error::InvalidCertificate(CertificateError::ExpiredContext { not_after, .. })) => {
            i64::try_from(not_after.as_secs()).ok()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
    use tokio_rustls::{TlsConnector, rustls::ClientConfig};

    fn certificate() -> CertifiedKey<KeyPair> {
        generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate")
    }

    fn mount(folder: &Path, certificate: &str, key: &str) {
        fs::write(folder.join("tls.crt"), certificate).expect("a folder of our own");
        fs::write(folder.join("tls.key"), key).expect("a folder of our own");
    }

    /// Whether a client that trusts this certificate alone can connect.
    async fn presents(tls: &Tls, certificate: &CertifiedKey<KeyPair>) -> bool {
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
        let tls = Tls::mounted(&folder).expect("a certificate with its key");
        assert!(presents(&tls, &old).await);

        mount(&folder, &new_pem.0, &old_pem.1);
        tokio::time::advance(REREAD).await;
        assert!(presents(&tls, &old).await, "the new one is not complete yet");
        mount(&folder, &new_pem.0, &new_pem.1);
        tokio::time::advance(REREAD).await;
        assert!(presents(&tls, &new).await);
        assert!(!presents(&tls, &old).await);
        assert_eq!(
            tls.expires(),
            Tls::mounted(&folder).expect("the new one").expires()
        );
        fs::remove_dir_all(&folder).expect("a folder of our own");
    }

    #[test]
    fn it_is_known_when_a_certificate_expires() {
        for (year, expires) in [(2001, 978_307_200), (2049, 2_493_072_000), (2050, 2_524_608_000)] {
            let key = KeyPair::generate().expect("randomness");
            let mut params = rcgen::CertificateParams::new(["localhost".to_owned()]).expect("a name");
            params.not_before = rcgen::date_time_ymd(2000, 1, 1);
            params.not_after = rcgen::date_time_ymd(year, 1, 1);
            params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
            let certificate = params.self_signed(&key).expect("a certificate");
            assert_eq!(expiry(certificate.der()), Some(expires), "{year}");
        }
        assert_eq!(expiry(&CertificateDer::from(vec![1, 2, 3])), None);
    }

    #[tokio::test]
    async fn a_certificate_of_its_own_is_accepted_by_nobody_who_checks_it() {
        let tls = Tls::self_signed().expect("a certificate");
        assert!(!presents(&tls, &certificate()).await);
    }
}
