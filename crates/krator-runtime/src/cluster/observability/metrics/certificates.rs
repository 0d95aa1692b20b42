//! When the certificates expire that the process serves with. They are asked at each scrape, so that the answer is right for one
//! that was replaced although nobody has connected since.
use super::{Labels, Metrics, add};
use crate::{cluster::process::serve::Tls, lock::Lock as _};
use prometheus_client::{
    metrics::{family::Family, gauge::Gauge},
    registry::Registry,
};
use std::sync::Mutex;

pub(super) struct Certificates {
    expiries: Family<Labels<1>, Gauge>,
    /// By the value of the label `use`.
    served: Mutex<Vec<(&'static str, Tls)>>,
}

impl Certificates {
    pub fn new(r: &mut Registry) -> Self {
        Self {
            expiries: add(
                r,
                "krator_certificate_expiry_timestamp_seconds",
                "Unix time at which a serving certificate of the operator expires",
                Family::default(),
            ),
            served: Mutex::default(),
        }
    }

    /// Takes notice of when the certificates expire now.
    pub fn look(&self) {
        for (purpose, tls) in &*self.served.locked() {
            let labels = [("use", (*purpose).into())];
            match tls.expires() {
                Some(expires) => {
                    self.expiries.get_or_create(&labels).set(expires);
                }
                None => drop(self.expiries.remove(&labels)),
            }
        }
    }
}

impl Metrics {
    /// Something is served with this certificate.
    pub fn serves(&self, purpose: &'static str, tls: &Tls) {
        self.0.certificates.served.locked().push((purpose, tls.clone()));
    }
}
