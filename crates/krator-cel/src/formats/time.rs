//! Dates, times and durations as parsed by Go and its libraries.

/// A date such as `2006-01-02`.
pub(super) fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts[..] else {
        return false;
    };
    let number = |text: &str, length: usize| {
        let digits = text.len() == length && text.chars().all(|c| c.is_ascii_digit());
        digits.then(|| text.parse::<u32>().ok()).flatten()
    };
    let (Some(year), Some(month), Some(day)) = (number(year, 4), number(month, 2), number(day, 2)) else {
        return false;
    };
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => return false,
    };
    (1..=days).contains(&day)
}

/// A time such as `2014-12-15T19:30:20.000Z`, as checked by the library: any character is allowed before the fraction
/// of the second, and the offset is not limited.
pub(super) fn is_date_time(text: &str) -> bool {
    // The library converts the text to lower case, and ignores it from a second `t` on.
    let text = text.to_lowercase();
    let mut parts = text.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else {
        return false;
    };
    let digits = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    let Some((clock, rest)) = time.split_at_checked(8) else {
        return false;
    };
    let fields: Vec<&str> = clock.split(':').collect();
    let [hour, minute, second] = fields[..] else {
        return false;
    };
    let limits = [(hour, "23"), (minute, "59"), (second, "59")];
    let clock = limits
        .iter()
        .all(|(field, most)| field.len() == 2 && digits(field) && field <= most);
    let is_offset = |text: &str| {
        let offset = text
            .strip_prefix(['+', '-'])
            .and_then(|text| text.split_once(':'));
        offset.is_some_and(|(hours, minutes)| {
            [hours, minutes]
                .iter()
                .all(|part| part.len() == 2 && digits(part))
        })
    };
    let is_zone = |text: &str| text == "z" || is_offset(text);
    let fraction = || {
        let mut rest = rest.chars();
        let separator = rest.next();
        let zone = rest.as_str().trim_start_matches(|c: char| c.is_ascii_digit());
        separator.is_some_and(|c| c != '\n') && zone.len() < rest.as_str().len() && is_zone(zone)
    };
    is_date(date) && clock && (is_zone(rest) || fraction())
}

/// A time as parsed by Go's `time.Parse` with the layout of RFC 3339: the hour may have one digit, and a comma may
/// precede the fraction of the second.
pub fn is_rfc3339(text: &str) -> bool {
    let Some((date, time)) = text.split_once('T') else {
        return false;
    };
    let Some((clock, zone)) = time.find(['Z', '+', '-']).map(|at| time.split_at(at)) else {
        return false;
    };
    let (clock, fraction) = match clock.find(['.', ',']) {
        Some(at) => (&clock[..at], Some(&clock[at + 1..])),
        None => (clock, None),
    };
    let digits = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    let number = |text: &str, lengths: &[usize], most: u32| {
        digits(text) && lengths.contains(&text.len()) && text.parse::<u32>().is_ok_and(|value| value <= most)
    };
    let fields: Vec<&str> = clock.split(':').collect();
    let [hour, minute, second] = fields[..] else {
        return false;
    };
    let offset = |text: &str| {
        text.split_once(':')
            .is_some_and(|(hours, minutes)| number(hours, &[2], 24) && number(minutes, &[2], 60))
    };
    is_date(date)
        && number(hour, &[1, 2], 23)
        && number(minute, &[2], 59)
        && number(second, &[2], 59)
        && fraction.is_none_or(digits)
        && (zone == "Z" || zone.len() == 6 && offset(&zone[1..]))
}

/// A duration in Go's format, or numbers with units such as `2 weeks` anywhere in the text.
pub(super) fn is_duration(text: &str) -> bool {
    read_duration(text).is_some()
}

/// The nanoseconds of a text with the format `duration`.
pub(crate) fn read_duration(text: &str) -> Option<i64> {
    parse_duration(text).or_else(|| parse_worded_duration(text))
}

/// The nanoseconds of a duration such as `1h30m`, as parsed by Go's `time.ParseDuration`; `None` if it refuses the
/// text.
pub fn parse_duration(text: &str) -> Option<i64> {
    const LIMIT: u64 = 1 << 63;
    let is_negative = text.starts_with('-');
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    if text == "0" {
        return Some(0);
    }
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let mut rest = (!text.is_empty()).then_some(text)?;
    let mut nanoseconds: u64 = 0;
    while !rest.is_empty() {
        let (number, after) = rest.split_at(rest.find(|c| !is_number(c))?);
        let (unit, after) = after.split_at(after.find(is_number).unwrap_or(after.len()));
        let factor: u64 = match unit {
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
        let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        // Go uses as many digits as fit into an integer and ignores the others.
        let digits = &fraction[..fraction.len().min(18)];
        let scale = factor as f64 / 10_f64.powi(digits.len() as i32);
        let fraction = (digits.parse::<u64>().unwrap_or(0) as f64 * scale) as u64;
        let whole = whole.checked_mul(factor).filter(|whole| *whole <= LIMIT)?;
        // The sum also wraps around in Go.
        nanoseconds = nanoseconds.wrapping_add(whole + fraction);
        nanoseconds = (nanoseconds <= LIMIT).then_some(nanoseconds)?;
        rest = after;
    }
    match is_negative {
        true => Some((nanoseconds as i64).wrapping_neg()),
        false => i64::try_from(nanoseconds).ok(),
    }
}

fn parse_worded_duration(text: &str) -> Option<i64> {
    const SECOND: i64 = 1_000_000_000;
    // The names of each unit, a prefix of further names, and the unit in nanoseconds.
    const UNITS: [(&[&str], &str, i64); 8] = [
        (&["ns"], "nano", 1),
        (&["us", "µs", "μs"], "micro", 1_000),
        (&["ms"], "milli", 1_000_000),
        (&["s", "ſ"], "sec", SECOND),
        (&["m"], "min", 60 * SECOND),
        (&["h", "hr"], "hour", 3_600 * SECOND),
        (&["d"], "day", 86_400 * SECOND),
        (&["w", "wk"], "week", 604_800 * SECOND),
    ];
    let mut nanoseconds = None;
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        rest = &rest[at..];
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (number, after) = rest.split_at(end);
        let unit = after.trim_start_matches(['\t', '\n', '\u{c}', '\r', ' ']);
        let length = unit
            .find(|c: char| !c.is_ascii_alphabetic() && c != 'µ')
            .unwrap_or(unit.len());
        rest = &unit[length..];
        if length == 0 {
            continue;
        }
        let number: i64 = number.parse().ok()?;
        let unit = unit[..length].to_lowercase();
        for (words, start, factor) in UNITS {
            if words.contains(&unit.as_str()) || unit.starts_with(start) {
                // The sum also wraps around in Go.
                let more = number.wrapping_mul(factor);
                nanoseconds = Some(nanoseconds.unwrap_or(0_i64).wrapping_add(more));
            }
        }
    }
    nanoseconds
}
