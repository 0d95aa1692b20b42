//! Durations, and fields that they are read from.

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

/// Parses a duration in the format of Go (`1h30m`, `750ms`). `None` if it is not one, or longer than `i64::MAX`
/// nanoseconds.
pub fn parse_duration(text: &str) -> Option<Duration> {
    const LONGEST: u128 = i64::MAX as u128;
    let mut rest = text;
    let mut nanoseconds: u128 = 0;
    if rest.is_empty() {
        return None;
    }
    if rest == "0" {
        return Some(Duration::ZERO);
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, unit_and_rest) = rest.split_at(digits);
        let unit_length = unit_and_rest
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(unit_and_rest.len());
        let (unit, after) = unit_and_rest.split_at(unit_length);
        let unit: u128 = match unit {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60 * 1_000_000_000,
            "h" => 3600 * 1_000_000_000,
            _ => return None,
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') || fraction.len() > 9 {
            return None;
        }
        let whole: u128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        nanoseconds = nanoseconds.checked_add(whole.checked_mul(unit)?)?;
        if !fraction.is_empty() {
            // At most nine digits times the nanoseconds of an hour, which cannot overflow 128 bits.
            nanoseconds += fraction.parse::<u128>().ok()? * unit / 10u128.pow(fraction.len() as u32);
        }
        if nanoseconds > LONGEST {
            return None;
        }
        rest = after;
    }
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
