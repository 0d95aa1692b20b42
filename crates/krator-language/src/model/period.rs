//! Durations, and fields that hold durations.

use std::fmt;
use std::time::Duration;

use super::FieldPath;

/// A time to wait: fixed, or read from a field of the object.
#[derive(Debug, Clone, PartialEq)]
pub enum Period {
    /// The same for all objects.
    Fixed(Duration),
    /// The value of the field. An absent field or 0 means never.
    Field(MomentField),
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Period::Fixed(duration) => f.write_str(&format_duration(*duration)),
            Period::Field(field) => write!(f, "{}", field.path),
        }
    }
}

/// A field from which a time is read.
#[derive(Debug, Clone, PartialEq)]
pub struct MomentField {
    /// The field.
    pub path: FieldPath,
    /// The unit of its value.
    pub unit: MomentUnit,
}

/// The unit of the value of such a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MomentUnit {
    /// A `duration` in the format of Go.
    Duration,
    /// A number of seconds.
    Seconds,
    /// A `date-time`: the time is over at that instant, once.
    Instant,
}

/// Parses a duration in the format of Go (`1h30m`, `750ms`) without a sign. `None` if it is not one, or longer than
/// `i64::MAX` nanoseconds.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let unsigned = Some(text).filter(|text| !text.starts_with(['+', '-']));
    let nanoseconds = krator_schema::parse_duration(unsigned?)?;
    Some(Duration::from_nanos(u64::try_from(nanoseconds).ok()?))
}

/// Formats a duration in the format of Go, as short as possible: `1h30m`, `750ms`, `0s`.
pub fn format_duration(duration: Duration) -> String {
    let mut nanoseconds = duration.as_nanos();
    if nanoseconds == 0 {
        return "0s".to_owned();
    }
    let mut text = String::new();
    let units = [
        ("h", 3_600_000_000_000),
        ("m", 60_000_000_000),
        ("s", 1_000_000_000),
        ("ms", 1_000_000),
        ("us", 1_000),
        ("ns", 1),
    ];
    for (unit, length) in units {
        let count = nanoseconds / length;
        if count > 0 {
            text.push_str(&format!("{count}{unit}"));
            nanoseconds %= length;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_and_write_as_in_go() {
        for (text, milliseconds) in [
            ("1s", 1000),
            ("1h30m", 5_400_000),
            ("750ms", 750),
            ("1.5s", 1500),
            ("24h", 86_400_000),
            (".5s", 500),
            ("0", 0),
        ] {
            assert_eq!(
                parse_duration(text),
                Some(Duration::from_millis(milliseconds)),
                "{text}"
            );
        }
        for text in [
            "",
            "1",
            "s",
            "1x",
            "1d",
            "-1s",
            "1s ",
            "1..5s",
            "99999999999999999999h",
            "9999999999h",
        ] {
            assert_eq!(parse_duration(text), None, "{text:?}");
        }
        for text in ["1h30m", "750ms", "10s", "0s", "1h1ns"] {
            assert_eq!(format_duration(parse_duration(text).unwrap()), text);
        }
    }
}
