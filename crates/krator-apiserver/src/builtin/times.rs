//! Times as the API server reads and writes them, after `Time` and `MicroTime` of `meta/v1` and Go's `time.Parse`, and the
//! ages of objects that `kubectl get` prints, after `k8s.io/apimachinery/pkg/util/duration`.

use jiff::{Timestamp, tz::TimeZone};

/// Parses a time and formats it in UTC, truncated to seconds. None if the text is not a time.
pub(super) fn canonical_time(text: &str) -> Option<String> {
    let time = read_time(text)?.to_zoned(TimeZone::UTC);
    Some(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

/// Parses a time with microseconds and formats it in UTC. None if the text is not such a time.
pub(super) fn canonical_micro_time(text: &str) -> Option<String> {
    let (_, fraction) = text.split_once('.')?;
    let micros = fraction.find(|c: char| !c.is_ascii_digit());
    let time = read_time(text)?.to_zoned(TimeZone::UTC);
    (micros == Some(6)).then(|| time.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string())
}

/// Parses a time.
pub(super) fn read_time(text: &str) -> Option<Timestamp> {
    let is_plain = text.contains('T') && !text.contains('[');
    text.parse().ok().filter(|_| is_plain)
}

/// A duration in its one or two largest units: `5m30s`, `3h`, `2d4h`.
pub fn human_duration(seconds: i64) -> String {
    let two = |big: i64, unit: &str, small: i64, small_unit: &str| match small {
        0 => format!("{big}{unit}"),
        small => format!("{big}{unit}{small}{small_unit}"),
    };
    // Tolerates small differences between the clocks of two machines.
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
            Some("2024-02-29T10:00:00Z")
        );
        assert_eq!(
            canonical_micro_time("2024-02-29T12:00:00.123456Z").as_deref(),
            Some("2024-02-29T12:00:00.123456Z")
        );
    }

    #[test]
    fn malformed_times_are_refused() {
        for text in [
            "soon",
            "2024-13-01T00:00:00Z",
            "2023-02-29T00:00:00Z",
            "2024-01-01",
            "2024-01-01T00:00:00",
        ] {
            assert_eq!(canonical_time(text), None, "{text}");
        }
        assert_eq!(canonical_micro_time("2024-01-01T00:00:00Z"), None);
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
