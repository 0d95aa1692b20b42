//! Versions, after `blang/semver` and `library/semverlib.go` of the API server.

use std::cmp::Ordering;

use super::go::quoted;
use super::{Fallible, fail};

/// A version. The build metadata after a `+` is ignored.
#[derive(Debug)]
pub(crate) struct Semver {
    pub(super) numbers: [u64; 3],
    before: Vec<Before>,
}

/// A part of a pre-release version such as `rc.1`. Numbers are less than texts.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Before {
    Number(u64),
    Text(String),
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_word(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn number(text: &str, what: &str, leading_zero: &str) -> Fallible<u64> {
    if !is_number(text) {
        return fail(format!("Invalid character(s) found in {what} {}", quoted(text)));
    }
    if text.len() > 1 && text.starts_with('0') {
        return fail(format!(
            "{leading_zero} must not contain leading zeroes {}",
            quoted(text)
        ));
    }
    let why = if text.is_empty() {
        "invalid syntax"
    } else {
        "value out of range"
    };
    text.parse().map_or_else(
        |_| fail(format!("strconv.ParseUint: parsing {}: {why}", quoted(text))),
        Ok,
    )
}

impl Semver {
    pub(super) fn parse(text: &str) -> Fallible<Self> {
        if text.is_empty() {
            return fail("Version string empty".to_owned());
        }
        let parts: Vec<&str> = text.splitn(3, '.').collect();
        let [major, minor, patch] = parts[..] else {
            return fail("No Major.Minor.Patch elements found".to_owned());
        };
        let major = number(major, "major number", "Major number")?;
        let minor = number(minor, "minor number", "Minor number")?;
        let (patch, build) = match patch.split_once('+') {
            Some((patch, build)) => (patch, Some(build)),
            None => (patch, None),
        };
        let (patch, before) = match patch.split_once('-') {
            Some((patch, before)) => (patch, Some(before)),
            None => (patch, None),
        };
        let patch = number(patch, "patch number", "Patch number")?;
        let mut parts = Vec::new();
        for part in before.iter().flat_map(|before| before.split('.')) {
            parts.push(match part {
                "" => return fail("Prerelease is empty".to_owned()),
                part if is_number(part) => {
                    Before::Number(number(part, "prerelease", "Numeric PreRelease version")?)
                }
                part if is_word(part) => Before::Text(part.to_owned()),
                part => {
                    return fail(format!(
                        "Invalid character(s) found in prerelease {}",
                        quoted(part)
                    ));
                }
            });
        }
        for part in build.iter().flat_map(|build| build.split('.')) {
            if part.is_empty() {
                return fail("Build meta data is empty".to_owned());
            }
            if !is_word(part) {
                return fail(format!(
                    "Invalid character(s) found in build meta data {}",
                    quoted(part)
                ));
            }
        }
        Ok(Self {
            numbers: [major, minor, patch],
            before: parts,
        })
    }

    /// Parses a version that may begin with `v`, lack numbers, and have leading zeros.
    pub(super) fn parse_loosely(text: &str) -> Fallible<Self> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let mut parts: Vec<String> = Vec::new();
        for part in text.splitn(3, '.') {
            let significant = part.trim_start_matches('0');
            parts.push(match part.len() {
                0 | 1 => part.to_owned(),
                _ if significant.starts_with(|c: char| c.is_ascii_digit()) => significant.to_owned(),
                _ => format!("0{significant}"),
            });
        }
        if parts.len() < 3 {
            if parts.last().is_some_and(|last| last.contains(['+', '-'])) {
                return fail("short version cannot contain PreRelease/Build meta data".to_owned());
            }
            parts.resize(3, "0".to_owned());
        }
        Self::parse(&parts.join("."))
    }

    pub(super) fn compare(&self, other: &Self) -> Ordering {
        let order = self.numbers.cmp(&other.numbers);
        order.then_with(|| match (self.before.is_empty(), other.before.is_empty()) {
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            _ => self.before.cmp(&other.before),
        })
    }
}
