//! The certificates of the webhooks, as the API server judges them: by its caBundle, and at the time of its clock.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use jiff::Timestamp;
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use webpki::{ALL_VERIFICATION_ALGS, EndEntityCert, Error, KeyUsage, anchor_from_trusted_cert};

use super::{Facts, Fault, Outcome, Site};
use crate::crd::webhook_service;
use crate::observed::{Lookup, items, text};

/// Whether the API server trusts the operator.
pub(super) fn judge(site: &Site, facts: &Facts) -> Outcome {
    let name = webhook_service(&site.operator);
    let Some(now) = facts.server_time() else {
        return Outcome::skipped("the server sent no valid `Date` header");
    };
    // The leader or cert-manager creates the Secret again.
    let renew = || format!("kubectl delete secret/{name} -n {}", site.namespace);
    let secret = match &facts.secret {
        Lookup::There(secret) => secret,
        Lookup::Unknown(why) => return Outcome::unreadable("the Secret with the certificates", why),
        Lookup::Absent => {
            return Outcome::Failed(vec![Fault::run(
                format!("the Secret `{name}`, which holds the certificates of the webhooks, does not exist"),
                format!("kubectl logs -n {} deployment/{}", site.namespace, site.operator),
            )]);
        }
    };
    let chain = certificates(text(secret, "/data/tls.crt"));
    let host = format!("{name}.{}.svc", site.namespace);
    let mut faults = Vec::new();
    if let Err(trouble) = is_valid(&chain, now) {
        let what = format!("the certificate in the Secret `{name}` {trouble}");
        return Outcome::Failed(vec![Fault::run(what, renew())]);
    }
    for (whose, bundle) in bundles(facts) {
        let authorities = certificates(bundle);
        let trouble = trusted(&chain, &authorities, &host, now).err();
        if let Some(trouble) = trouble {
            let what = format!("the caBundle of {whose} does not verify the operator: {trouble}");
            faults.push(Fault::run(what, renew()));
        }
    }
    Outcome::of(faults)
}

/// The bundles in the configuration of the API server, and their places.
fn bundles(facts: &Facts) -> Vec<(String, &str)> {
    let mut bundles: Vec<(String, &str)> = Vec::new();
    for (kind, found) in &facts.configurations {
        let webhooks = found.object().map_or(&[][..], |found| items(found, "/webhooks"));
        bundles.extend(webhooks.iter().map(|webhook| {
            let whose = format!("the {kind}");
            (whose, text(webhook, "/clientConfig/caBundle"))
        }));
    }
    for definition in facts.definitions.iter().filter_map(Lookup::object) {
        let bundle = text(definition, "/spec/conversion/webhook/clientConfig/caBundle");
        bundles.push((crate::observed::name(definition).to_owned(), bundle));
    }
    // A missing bundle is reported by other checks.
    bundles.retain(|(_, bundle)| !bundle.is_empty());
    bundles.dedup();
    bundles
}

/// The certificates of a text in base64 and PEM; none if it is neither.
fn certificates(encoded: &str) -> Vec<CertificateDer<'static>> {
    let text = BASE64_STANDARD.decode(encoded).unwrap_or_default();
    CertificateDer::pem_slice_iter(&text)
        .filter_map(Result::ok)
        .collect()
}

fn unix(time: Timestamp) -> UnixTime {
    UnixTime::since_unix_epoch(Duration::from_secs(time.as_second().try_into().unwrap_or(0)))
}

/// Whether the first certificate may be used at a time.
fn is_valid(chain: &[CertificateDer<'_>], now: Timestamp) -> Result<(), String> {
    let first = chain.first().ok_or("cannot be read")?;
    let certificate = EndEntityCert::try_from(first).map_err(|error| format!("cannot be read: {error}"))?;
    let anchors: Vec<_> = anchor_from_trusted_cert(first).into_iter().collect();
    let usage = KeyUsage::server_auth();
    // The certificate is its own authority here, because only errors about its time matter.
    match certificate.verify_for_usage(ALL_VERIFICATION_ALGS, &anchors, &[], unix(now), usage, None, None) {
        Err(error @ (Error::CertExpired { .. } | Error::CertNotValidYet { .. })) => Err(in_words(&error)),
        _ => Ok(()),
    }
}

/// Whether a chain leads to one of the authorities, for a host, at a time.
fn trusted(
    chain: &[CertificateDer<'_>],
    authorities: &[CertificateDer<'_>],
    host: &str,
    now: Timestamp,
) -> Result<(), String> {
    let [first, between @ ..] = chain else {
        return Err("there is no certificate".to_owned());
    };
    let valid: Vec<_> = authorities
        .iter()
        .filter(|authority| is_valid(std::slice::from_ref(authority), now).is_ok())
        .collect();
    if valid.is_empty() {
        let expired = authorities
            .first()
            .and_then(|first| is_valid(std::slice::from_ref(first), now).err());
        let trouble = expired.unwrap_or_else(|| "cannot be read".to_owned());
        return Err(format!("the certificate in it {trouble}"));
    }
    let anchors: Vec<_> = valid
        .into_iter()
        .filter_map(|authority| anchor_from_trusted_cert(authority).ok())
        .collect();
    let certificate = EndEntityCert::try_from(first).map_err(|error| error.to_string())?;
    let usage = KeyUsage::server_auth();
    let verified = certificate.verify_for_usage(
        ALL_VERIFICATION_ALGS,
        &anchors,
        between,
        unix(now),
        usage,
        None,
        None,
    );
    verified.map_err(|error| in_words(&error))?;
    let name = ServerName::try_from(host).map_err(|_| format!("{host} is not a host name"))?;
    let is_for_host = certificate.verify_is_valid_for_subject_name(&name);
    is_for_host.map_err(|_| format!("the certificate of the operator is not for {host}"))
}

fn in_words(error: &Error) -> String {
    let at = |time: &UnixTime| {
        let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
        Timestamp::from_second(seconds).map_or_else(|_| "that time".to_owned(), |time| time.to_string())
    };
    match error {
        Error::CertExpired { not_after, .. } => format!("has expired at {}", at(not_after)),
        Error::CertNotValidYet { not_before, .. } => format!("is not valid before {}", at(not_before)),
        Error::UnknownIssuer | Error::InvalidSignatureForPublicKey => {
            "the certificate of the operator was signed by another authority".to_owned()
        }
        other => format!("the certificate of the operator cannot be used: {other}"),
    }
}
