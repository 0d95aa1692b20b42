//! The certificates that the replicas of an operator share in one Secret: its contents, their validation, and
//! their renewal. Pure, except that keys are random.
//!
//! The leaf is renewed at two thirds of its life. A new certificate authority is first added to the trusted
//! bundle; it signs leaves only after it has been there for a while, and the old one is removed only when no
//! replica uses a leaf of it.
use crate::{
    cluster::process::serve::tls::Certificate,
    error::{Fallible as _, Result},
};
use jiff::Timestamp;
use k8s_openapi::ByteString;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use tokio_rustls::rustls::{
    RootCertStore,
    client::{WebPkiServerVerifier, danger::ServerCertVerifier as _},
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem::PemObject as _},
};

/// The keys in the data of the Secret.
const BUNDLE: &str = "ca.crt";
const CA_KEY: &str = "ca.key";
const CA_EXPIRES: &str = "ca.expires";
const LEAF: &str = "tls.crt";
const LEAF_KEY: &str = "tls.key";

/// How far the validity begins in the past, for clients whose clocks are slow.
const SKEW: Duration = Duration::from_secs(3600);
/// The life of a certificate authority, in lives of leaves.
const LIVES: u32 = 4;

/// The DNS names in a certificate.
pub(super) struct Names(Vec<String>);

impl Names {
    /// The names of the operator's Service, and of this machine for development.
    pub fn of(operator: &str, namespace: &str) -> Self {
        let service = format!("{operator}-webhook.{namespace}.svc");
        Self(vec![service, "localhost".to_owned(), "127.0.0.1".to_owned()])
    }
}

/// The contents of the Secret.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CertificateSet {
    /// The certificates of authorities in PEM, the newest first.
    cas: Vec<String>,
    /// The key of the newest authority.
    ca_key: String,
    /// When the newest authority expires.
    ca_expires: Timestamp,
    leaf: String,
    leaf_key: String,
}

impl CertificateSet {
    /// Makes a new authority and a leaf. A usable former leaf is served until the API server trusts the new
    /// authority.
    ///
    /// # Errors
    ///
    /// If there is no randomness for the keys.
    pub fn new(before: Option<&Self>, names: &Names, life: Duration, now: Timestamp) -> Result<Self> {
        let key = KeyPair::generate()?;
        let ca_expires = now + life * LIVES;
        let certificate = authority(ca_expires, now).self_signed(&key)?;
        let mut made = Self {
            cas: vec![certificate.pem()],
            ca_key: key.serialize_pem(),
            ca_expires,
            leaf: String::new(),
            leaf_key: String::new(),
        };
        let signs =
            |before: &&Self, ca: &&String| before.verify(std::slice::from_ref(*ca), names, now).is_ok();
        match before.and_then(|before| Some((before, before.cas.iter().find(|ca| signs(&before, ca))?))) {
            None => made.sign(names, life, now)?,
            Some((before, ca)) => {
                made.cas.push(ca.clone());
                (made.leaf, made.leaf_key) = (before.leaf.clone(), before.leaf_key.clone());
            }
        }
        Ok(made)
    }

    /// Reads a Secret.
    ///
    /// # Errors
    ///
    /// If the certificates in it cannot be used now.
    pub fn read(data: &BTreeMap<String, ByteString>, names: &Names, now: Timestamp) -> Result<Self> {
        let text = |key: &str| {
            let bytes = data.get(key).map_or(&[][..], |bytes| &bytes.0);
            String::from_utf8(bytes.to_vec()).context(key)
        };
        let bundle = text(BUNDLE)?;
        let set = Self {
            cas: bundle
                .split_inclusive("-----END CERTIFICATE-----\n")
                .map(str::to_owned)
                .collect(),
            ca_key: text(CA_KEY)?,
            ca_expires: text(CA_EXPIRES)?.parse().context(CA_EXPIRES)?,
            leaf: text(LEAF)?,
            leaf_key: text(LEAF_KEY)?,
        };
        set.issuer(now).context(CA_KEY)?;
        set.certificate().context(LEAF)?;
        set.verify(&set.cas, names, now)?;
        Ok(set)
    }

    /// The data of the Secret.
    pub fn data(&self) -> BTreeMap<String, ByteString> {
        let data = [
            (BUNDLE, self.bundle()),
            (CA_KEY, self.ca_key.clone()),
            (CA_EXPIRES, self.ca_expires.to_string()),
            (LEAF, self.leaf.clone()),
            (LEAF_KEY, self.leaf_key.clone()),
        ];
        data.into_iter()
            .map(|(key, text)| (key.to_owned(), ByteString(text.into_bytes())))
            .collect()
    }

    /// The certificates that the API server has to trust, in PEM.
    pub fn bundle(&self) -> String {
        self.cas.concat()
    }

    /// The next contents of the Secret and the reason for the change; `None` if nothing has to change.
    /// `trusted` says whether the API server trusts the whole bundle.
    ///
    /// # Errors
    ///
    /// If there is no randomness for a key.
    pub fn next(
        &self,
        names: &Names,
        life: Duration,
        now: Timestamp,
        trusted: bool,
    ) -> Result<Option<(Self, &'static str)>> {
        let left = now.duration_until(self.ca_expires).unsigned_abs();
        if self.ca_expires <= now || left < life * LIVES / 3 {
            let next = Self::new(Some(self), names, life, now)?;
            return Ok(Some((
                next,
                "announced a new certificate authority of the webhooks",
            )));
        }
        // API servers observe a new bundle with a delay.
        let age = (life * LIVES).saturating_sub(left);
        let settled = trusted && age >= settling(life);
        let is_old = self.verify(&self.cas[..1], names, now).is_err();
        let ends = self.verify(&self.cas, names, now + life / 3).is_err();
        let mut next = self.clone();
        if settled && (is_old || ends) {
            next.sign(names, life, now)?;
            return Ok(Some((next, "renewed the certificate of the webhooks")));
        }
        if self.cas.len() > 1 && !is_old && age >= settling(life) + life / 4 {
            next.cas.truncate(1);
            return Ok(Some((
                next,
                "removed the former certificate authority of the webhooks",
            )));
        }
        Ok(None)
    }

    /// The leaf and its key, for a TLS server.
    ///
    /// # Errors
    ///
    /// If the key is of another certificate.
    pub fn certificate(&self) -> Result<Certificate> {
        let key = PrivateKeyDer::from_pem_slice(self.leaf_key.as_bytes())?;
        Certificate::new(vec![CertificateDer::from_pem_slice(self.leaf.as_bytes())?], key)
    }

    /// Makes a leaf, signed by the newest authority.
    fn sign(&mut self, names: &Names, life: Duration, now: Timestamp) -> Result<()> {
        let key = KeyPair::generate()?;
        let mut leaf = CertificateParams::new(names.0.clone())?;
        leaf.distinguished_name
            .push(DnType::CommonName, names.0[0].as_str());
        leaf.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        leaf.use_authority_key_identifier_extension = true;
        valid(&mut leaf, now + life, now);
        self.leaf = leaf.signed_by(&key, &self.issuer(now)?)?.pem();
        self.leaf_key = key.serialize_pem();
        Ok(())
    }

    fn issuer(&self, now: Timestamp) -> Result<Issuer<'static, KeyPair>> {
        let key = KeyPair::from_pem(&self.ca_key)?;
        Ok(Issuer::new(authority(self.ca_expires, now), key))
    }

    /// Whether a client that trusts these authorities accepts the leaf at a time.
    fn verify(&self, cas: &[String], names: &Names, at: Timestamp) -> Result<()> {
        let mut roots = RootCertStore::empty();
        for ca in cas {
            roots.add(CertificateDer::from_pem_slice(ca.as_bytes())?)?;
        }
        let provider = Arc::new(ring::default_provider());
        let client = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build()?;
        let leaf = CertificateDer::from_pem_slice(self.leaf.as_bytes())?;
        let name = ServerName::try_from(&*names.0[0])?;
        let since_epoch = Duration::from_secs(u64::try_from(at.as_second()).unwrap_or_default());
        client.verify_server_cert(&leaf, &[], &name, &[], UnixTime::since_unix_epoch(since_epoch))?;
        Ok(())
    }
}

/// How long after its creation every API server has observed an authority.
fn settling(life: Duration) -> Duration {
    (life / 12).min(Duration::from_secs(60))
}

/// How often the renewal is checked.
pub(super) fn checked_every(life: Duration) -> Duration {
    (life / 60).clamp(Duration::from_millis(100), Duration::from_secs(3600))
}

fn authority(expires: Timestamp, now: Timestamp) -> CertificateParams {
    let mut ca = CertificateParams::default();
    ca.distinguished_name.push(DnType::CommonName, "webhooks");
    ca.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    ca.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    valid(&mut ca, expires, now);
    ca
}

fn valid(certificate: &mut CertificateParams, until: Timestamp, now: Timestamp) {
    let time = |at: Timestamp| {
        let since_epoch = u64::try_from(at.as_second()).unwrap_or_default();
        date_time_ymd(1970, 1, 1) + Duration::from_secs(since_epoch)
    };
    (certificate.not_before, certificate.not_after) = (time(now - SKEW), time(until));
}

#[cfg(test)]
mod tests;
