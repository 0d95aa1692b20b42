//! Parses times and durations of objects, in every form that the API server accepts.
//!
//! The API server checks the form of these texts and not their size: people write the year 9999 for "never",
//! and programs in other languages write more digits of a second than Rust keeps. Such a field must not make
//! an object undecodable, so it is read as the nearest value of the Rust type.

use jiff::{SignedDuration, Timestamp, civil};
use std::time::Duration;

/// Parses a `date-time` as the API server accepts it: saturated at the ends of [`Timestamp`], and truncated
/// to nine digits of a second. `None` if the text is not a time.
///
/// The form is that of `IsDateTime` in `go-openapi/strfmt`, which takes any character before the fraction and any offset.
pub fn time(text: &str) -> Option<Timestamp> {
    let (date, time) = text.split_once(['T', 't'])?;
    let mut date = date.split('-').map(number);
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let day = civil::Date::new(
        year.try_into().ok()?,
        month.try_into().ok()?,
        day.try_into().ok()?,
    )
    .ok()?;
    let (clock, rest) = time.split_at_checked(8)?;
    let mut clock = clock.split(':').map(number);
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    let zone = rest.rfind(['Z', 'z', '+', '-'])?;
    let (fraction, zone) = rest.split_at_checked(zone)?;
    let fraction = fraction.trim_start_matches(|c: char| !c.is_ascii_digit());
    let nanosecond = number(format!("{fraction:0<9}").get(..9)?)?;
    let offset = match zone.split_at_checked(1)? {
        ("+", offset) => minutes(offset)?,
        ("-", offset) => -minutes(offset)?,
        _ => 0,
    };
    let days = day.duration_since(civil::date(1970, 1, 1));
    // Hours and minutes of an offset have two digits each.
    let of_day = 3600 * hour + 60 * (minute - offset) + second;
    let since_epoch = days.saturating_add(SignedDuration::new(of_day, i32::try_from(nanosecond).ok()?));
    let nearest = since_epoch.clamp(Timestamp::MIN.as_duration(), Timestamp::MAX.as_duration());
    Timestamp::from_duration(nearest).ok()
}

/// The minutes of an offset such as `01:30`.
fn minutes(offset: &str) -> Option<i64> {
    let (hours, minutes) = offset.split_once(':')?;
    Some(60 * number(hours)? + number(minutes)?)
}

/// Parses a few digits.
fn number(digits: impl AsRef<str>) -> Option<i64> {
    let digits = digits.as_ref();
    let is_number = digits.len() <= 9 && digits.bytes().all(|digit| digit.is_ascii_digit());
    digits.parse().ok().filter(|_| is_number)
}

/// Parses a duration such as `1h30m`, without a sign, and saturated at the longest duration of Go, which is
/// 292 years. `None` if the text is not a duration.
pub fn duration(text: &str) -> Option<Duration> {
    const LONGEST: u128 = i64::MAX.unsigned_abs() as u128;
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let mut total: u128 = 0;
    let mut rest = (!text.is_empty()).then_some(text)?;
    while !rest.is_empty() {
        let is_number = |c: char| c.is_ascii_digit() || c == '.';
        let (number, after) = rest.split_at_checked(rest.find(|c| !is_number(c))?)?;
        let (unit, after) = after.split_at_checked(after.find(is_number).unwrap_or(after.len()))?;
        let unit: u128 = match unit {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return None,
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
            return None;
        }
        // A number that overflows is longer than the longest duration. Digits below a nanosecond are ignored.
        let whole = format!("0{whole}").parse().unwrap_or(LONGEST).min(LONGEST);
        let digits = fraction.get(..fraction.len().min(18))?;
        let scale = 10_u128.pow(u32::try_from(digits.len()).ok()?);
        let fraction = format!("0{digits}").parse::<u128>().ok()? * unit / scale;
        total = (total + whole * unit + fraction).min(LONGEST);
        rest = after;
    }
    u64::try_from(total).ok().map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_the_nearest_ones() {
        for (text, expected) in [
            ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
            ("2026-01-02t03:04:05.5z", "2026-01-02T03:04:05.5Z"),
            (
                "2026-01-02T03:04:05.123456789999Z",
                "2026-01-02T03:04:05.123456789Z",
            ),
            ("2026-01-02T03:04:05x25Z", "2026-01-02T03:04:05.25Z"),
            ("2026-01-02T03:04:05+01:30", "2026-01-02T01:34:05Z"),
            ("2026-01-02T03:04:05-99:99", "2026-01-06T07:43:05Z"),
            ("9999-12-30T21:59:59Z", "9999-12-30T21:59:59Z"),
            ("9999-12-31T23:59:59Z", "9999-12-30T22:00:00.999999999Z"),
            ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"),
        ] {
            assert_eq!(
                time(text).map(|time| time.to_string()).as_deref(),
                Some(expected),
                "{text}"
            );
        }
        for text in [
            "",
            "2026-01-02",
            "2026-02-30T00:00:00Z",
            "2026-01-02T03:04:05",
            "2026-01-02T0304:05Z",
            "T:::Z",
        ] {
            assert_eq!(time(text), None, "{text}");
        }
    }

    #[test]
    fn durations_are_the_nearest_ones() {
        let longest = Duration::from_nanos(i64::MAX.unsigned_abs());
        for (text, expected) in [
            ("0", Duration::ZERO),
            ("1h30m", Duration::from_secs(5400)),
            (".5s", Duration::from_millis(500)),
            ("1.5000000000000000000000001s", Duration::from_millis(1500)),
            ("99999999999999999999999999999999999999999999h", longest),
            ("2562047h48m", longest),
            ("1h99999999999999999999ns", longest),
        ] {
            assert_eq!(duration(text), Some(expected), "{text}");
        }
        for text in ["", "1", "h", ".s", "1.2.3s", "-1s", "1d"] {
            assert_eq!(duration(text), None, "{text}");
        }
    }
}
