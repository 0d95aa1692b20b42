//! Texts of timestamps and durations, as Go's `time` package reads them. Where Go's leniency is not known for sure, a
//! text is accepted.

use std::ops::RangeInclusive;

/// From the year 1 to the year 9999.
pub(super) const TIMESTAMP_SECONDS: RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;

/// Whether a text may be a timestamp of RFC 3339.
pub(super) fn may_be_timestamp(text: &str) -> bool {
    read_timestamp(text).is_some()
}

fn read_timestamp(text: &str) -> Option<()> {
    let mut rest = text;
    let year = number(&mut rest, 4..=4)?;
    let month = number(after(&mut rest, "-")?, 2..=2)?;
    let day = number(after(&mut rest, "-")?, 2..=2)?;
    // Go takes hours of one digit.
    let hour = number(after(&mut rest, "T")?, 1..=2)?;
    let minute = number(after(&mut rest, ":")?, 2..=2)?;
    let second = number(after(&mut rest, ":")?, 2..=2)?;
    if let Some(fraction) = rest.strip_prefix(['.', ',']) {
        rest = fraction.trim_start_matches(|digit: char| digit.is_ascii_digit());
        if rest.len() == fraction.len() {
            return None;
        }
    }
    match rest.strip_prefix(['+', '-']) {
        Some(zone) => {
            rest = zone;
            number(&mut rest, 2..=2).filter(|hours| *hours <= 24)?;
            number(after(&mut rest, ":")?, 2..=2).filter(|minutes| *minutes <= 60)?;
        }
        None => rest = rest.strip_prefix('Z')?,
    }
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    let in_range = year >= 1 && (1..=12).contains(&month) && (1..=days).contains(&day);
    (rest.is_empty() && in_range && hour < 24 && minute < 60 && second < 60).then_some(())
}

fn after<'a, 't>(rest: &'a mut &'t str, separator: &str) -> Option<&'a mut &'t str> {
    *rest = rest.strip_prefix(separator)?;
    Some(rest)
}

fn number(rest: &mut &str, digits: RangeInclusive<usize>) -> Option<u32> {
    let count = rest
        .bytes()
        .take(*digits.end())
        .take_while(u8::is_ascii_digit)
        .count();
    let (number, after) = rest.split_at(count);
    *rest = after;
    digits.contains(&count).then(|| number.parse().ok())?
}

/// Whether a text may be a duration such as `1h30m`.
pub(super) fn may_be_duration(text: &str) -> bool {
    let text = text.strip_prefix(['-', '+']).unwrap_or(text);
    if text == "0" {
        return true;
    }
    let mut rest = text;
    let mut nanoseconds = 0.0;
    while !rest.is_empty() {
        let end = rest
            .find(|next: char| !next.is_ascii_digit() && next != '.')
            .unwrap_or(rest.len());
        let (number, after) = rest.split_at(end);
        let dots = number.matches('.').count();
        if dots > 1 || number.len() == dots {
            return false;
        }
        let unit_end = after
            .find(|next: char| next.is_ascii_digit() || next == '.')
            .unwrap_or(after.len());
        let factor = match &after[..unit_end] {
            "ns" => 1.0,
            "us" | "µs" | "μs" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            "m" => 6e10,
            "h" => 3.6e12,
            _ => return false,
        };
        nanoseconds += number.parse::<f64>().unwrap_or(0.0) * factor;
        rest = &after[unit_end..];
    }
    !text.is_empty() && nanoseconds < 9.3e18
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps() {
        for good in ["2020-02-29T23:59:59Z", "0001-01-01T0:00:00.5+01:00"] {
            assert!(may_be_timestamp(good), "{good}");
        }
        for bad in [
            "2020",
            "2021-02-29T00:00:00Z",
            "2020-01-01T24:00:00Z",
            "2020-01-01T00:00:00",
            "0000-01-01T00:00:00Z",
        ] {
            assert!(!may_be_timestamp(bad), "{bad}");
        }
    }

    #[test]
    fn durations() {
        for good in ["1h", "-1.5h3m.5s", "0", "1.s", "2562047h"] {
            assert!(may_be_duration(good), "{good}");
        }
        for bad in ["", "1", "h", "1d", ".s", "1h ", "2600000h", "-"] {
            assert!(!may_be_duration(bad), "{bad}");
        }
    }
}
