//! Times as the API server reads and writes them, after `Time` and `MicroTime` of `meta/v1` and Go's `time.Parse`, and the
//! ages of objects that `kubectl get` prints, after `k8s.io/apimachinery/pkg/util/duration`.

use jiff::{Timestamp, tz::TimeZone};

const SECONDS: &str = "2006-01-02T15:04:05Z07:00";
const MICROS: &str = "2006-01-02T15:04:05.000000Z07:00";

/// Reads a time and writes it in UTC, cut to seconds.
///
/// # Errors
///
/// The message of Go's `time.Parse`.
pub(super) fn canonical_time(text: &str) -> Result<String, String> {
    let time = parse(text, SECONDS)?;
    Ok(time
        .to_zoned(TimeZone::UTC)
        .strftime("%Y-%m-%dT%H:%M:%SZ")
        .to_string())
}

/// Reads a time and writes it in UTC, with microseconds.
///
/// # Errors
///
/// The message of Go's `time.Parse`.
pub(super) fn canonical_micro_time(text: &str) -> Result<String, String> {
    let time = parse(text, MICROS)?;
    Ok(time
        .to_zoned(TimeZone::UTC)
        .strftime("%Y-%m-%dT%H:%M:%S.%6fZ")
        .to_string())
}

/// Reads a time that is already known to be valid.
pub(super) fn read_time(text: &str) -> Option<Timestamp> {
    parse(text, SECONDS).ok()
}

/// The elements of a layout: what it looks like, how many digits it has, and which numbers it takes.
const ELEMENTS: [(&str, usize, &str, std::ops::RangeInclusive<u32>); 6] = [
    ("2006", 4, "year", 0..=9999),
    ("01", 2, "month", 1..=12),
    ("02", 2, "day", 1..=31),
    ("15", 2, "hour", 0..=23),
    ("04", 2, "minute", 0..=59),
    ("05", 2, "second", 0..=59),
];

fn parse(text: &str, layout: &str) -> Result<Timestamp, String> {
    let cannot = |rest: &str, element: &str| {
        format!("parsing time {text:?} as {layout:?}: cannot parse {rest:?} as {element:?}")
    };
    let out_of_range = |what: &str| format!("parsing time {text:?}: {what} out of range");
    let mut rest = text;
    for ((element, digits, name, range), separator) in ELEMENTS.iter().zip(["-", "-", "T", ":", ":", ""]) {
        let number = rest
            .get(..*digits)
            .filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
        let number = number.ok_or_else(|| cannot(rest, element))?;
        if !number.parse().is_ok_and(|number| range.contains(&number)) {
            return Err(out_of_range(name));
        }
        rest = &rest[*digits..];
        rest = rest
            .strip_prefix(separator)
            .ok_or_else(|| cannot(rest, separator))?;
    }
    if layout == MICROS && !rest.starts_with(".") {
        return Err(cannot(rest, ".000000"));
    }
    if let Some(fraction) = rest.strip_prefix('.') {
        let end = fraction
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(fraction.len());
        if end == 0 || (layout == MICROS && end != 6) {
            return Err(cannot(rest, if layout == MICROS { ".000000" } else { "Z07:00" }));
        }
        rest = &fraction[end..];
    }
    let zone = rest.as_bytes();
    let is_offset = zone.len() == 6
        && matches!(zone[0], b'+' | b'-')
        && zone[3] == b':'
        && [1, 2, 4, 5].iter().all(|at: &usize| zone[*at].is_ascii_digit());
    if !rest.starts_with('Z') && !is_offset {
        return Err(cannot(rest, "Z07:00"));
    }
    if rest.starts_with('Z') && rest.len() > 1 {
        return Err(format!("parsing time {text:?}: extra text: {:?}", &rest[1..]));
    }
    // What is left to refuse are days that a month does not have.
    text.parse().map_err(|_| out_of_range("day"))
}

/// How long something took, in the one or two largest units that say enough: `5m30s`, `3h`, `2d4h`.
pub fn human_duration(seconds: i64) -> String {
    let two = |big: i64, unit: &str, small: i64, small_unit: &str| match small {
        0 => format!("{big}{unit}"),
        small => format!("{big}{unit}{small}{small_unit}"),
    };
    // The clocks of two machines may differ a little.
    if seconds < -1 {
        return "<invalid>".to_owned();
    }
    if seconds < 0 {
        return "0s".to_owned();
    }
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    match () {
        () if seconds < 60 * 2 => format!("{seconds}s"),
        () if minutes < 10 => two(minutes, "m", seconds % 60, "s"),
        () if minutes < 60 * 3 => format!("{minutes}m"),
        () if hours < 8 => two(hours, "h", minutes % 60, "m"),
        () if hours < 48 => format!("{hours}h"),
        () if hours < 24 * 8 => two(hours / 24, "d", hours % 24, "h"),
        () if hours < 24 * 365 * 2 => format!("{}d", hours / 24),
        () if hours < 24 * 365 * 8 => two(hours / 24 / 365, "y", (hours / 24) % 365, "d"),
        () => format!("{}y", hours / 24 / 365),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_utc() {
        assert_eq!(
            canonical_time("2024-02-29T12:00:00.9+02:00").as_deref(),
            Ok("2024-02-29T10:00:00Z")
        );
        assert_eq!(
            canonical_micro_time("2024-02-29T12:00:00.123456Z").as_deref(),
            Ok("2024-02-29T12:00:00.123456Z")
        );
    }

    #[test]
    fn malformed_times_are_refused_in_the_words_of_go() {
        for (text, message) in [
            (
                "soon",
                r#"parsing time "soon" as "2006-01-02T15:04:05Z07:00": cannot parse "soon" as "2006""#,
            ),
            (
                "2024-13-01T00:00:00Z",
                r#"parsing time "2024-13-01T00:00:00Z": month out of range"#,
            ),
            (
                "2023-02-29T00:00:00Z",
                r#"parsing time "2023-02-29T00:00:00Z": day out of range"#,
            ),
            (
                "2024-01-01",
                r#"parsing time "2024-01-01" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T""#,
            ),
            (
                "2024-01-01T00:00:00",
                r#"parsing time "2024-01-01T00:00:00" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "Z07:00""#,
            ),
        ] {
            assert_eq!(canonical_time(text).err().as_deref(), Some(message));
        }
    }

    #[test]
    fn durations_are_as_kubectl_prints_them() {
        for (seconds, text) in [
            (-5, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (330, "5m30s"),
            (600, "10m"),
            (3 * 3600 - 1, "179m"),
            (3 * 3600, "3h"),
            (3 * 3600 + 60, "3h1m"),
            (8 * 3600, "8h"),
            (48 * 3600, "2d"),
            (52 * 3600, "2d4h"),
            (8 * 24 * 3600, "8d"),
            (365 * 2 * 24 * 3600, "2y"),
            ((365 * 2 + 3) * 24 * 3600, "2y3d"),
            (365 * 9 * 24 * 3600, "9y"),
        ] {
            assert_eq!(human_duration(seconds), text);
        }
    }
}
