//! Formats of strings, after `k8s.io/kube-openapi/pkg/validation/strfmt`. Dashes in names of formats are ignored, and
//! so are formats with other names.
//!
//! The API server also checks formats that custom resources rarely use: email, ISBN, credit card, SSN, colours and BSON
//! object IDs. This crate accepts every string for them.

mod address;
mod numbers;
mod time;
mod uri;

pub(crate) use time::read_duration;
pub use time::{is_rfc3339, parse_duration};
pub use uri::is_url_with_host;
pub(crate) use uri::{is_authority, is_request_uri, split_scheme};

/// Whether a format is checked.
pub fn is_known(format: &str) -> bool {
    check(&normalize(format)).is_some()
}

/// Whether a string has a format. Every string is valid for an unknown format.
pub fn is_valid(format: &str, text: &str) -> bool {
    check(&normalize(format)).is_none_or(|check| check(text))
}

fn normalize(format: &str) -> String {
    format.replace('-', "")
}

fn check(format: &str) -> Option<fn(&str) -> bool> {
    Some(match format {
        "uri" => uri::is_request_uri,
        "hostname" => address::is_hostname,
        "ipv4" => address::is_ipv4,
        "ipv6" => address::is_ipv6,
        "cidr" => address::is_cidr,
        "mac" => address::is_mac,
        "uuid" => |text| numbers::is_uuid(text, None),
        "uuid3" => |text| numbers::is_uuid(text, Some('3')),
        "uuid4" => |text| numbers::is_uuid(text, Some('4')),
        "uuid5" => |text| numbers::is_uuid(text, Some('5')),
        "byte" => numbers::is_base64,
        "password" => |_| true,
        "date" => time::is_date,
        "duration" => time::is_duration,
        "datetime" => time::is_date_time,
        "k8sshortname" => |text| crate::names::dns_1123_label(text).is_empty(),
        "k8slongname" => |text| crate::names::dns_1123_subdomain(text).is_empty(),
        _ => return None,
    })
}
