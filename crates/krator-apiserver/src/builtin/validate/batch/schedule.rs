//! Schedules, after `github.com/robfig/cron/v3`, and the names of time zones.

/// The smallest and the largest value of a field, and names for its values.
type Bounds = (i64, i64, &'static [&'static str]);

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const FIELDS: [Bounds; 5] = [
    (0, 59, &[]),
    (0, 23, &[]),
    (1, 31, &[]),
    (1, 12, &MONTHS),
    (0, 6, &DAYS),
];

/// Whether a text is a valid schedule.
pub(super) fn is_schedule(text: &str) -> bool {
    let zone = text.strip_prefix("CRON_TZ=").or_else(|| text.strip_prefix("TZ="));
    let schedule = match zone {
        Some(rest) => rest.split_once(' ').map_or("", |(_, schedule)| schedule.trim()),
        None => text,
    };
    if let Some(name) = schedule.strip_prefix('@') {
        let every = name
            .strip_prefix("every ")
            .map(str::parse::<jiff::SignedDuration>);
        let names = [
            "yearly", "annually", "monthly", "weekly", "daily", "midnight", "hourly",
        ];
        return names.contains(&name) || every.is_some_and(|every| every.is_ok());
    }
    let fields: Vec<&str> = schedule.split_whitespace().collect();
    let mut with_bounds = fields.iter().zip(&FIELDS);
    let is_field = |(field, bounds): (&&str, &Bounds)| {
        let mut ranges = field.split(',').filter(|range| !range.is_empty());
        ranges.all(|range| is_range(range, bounds).unwrap_or_default())
    };
    fields.len() == FIELDS.len() && with_bounds.all(is_field)
}

/// Whether a range is within its bounds. None if a part of it is neither a number nor a name.
fn is_range(range: &str, (least, most, names): &Bounds) -> Option<bool> {
    let number_or_name = |text: &str| {
        let lower = text.to_lowercase();
        let named = (*least..).zip(*names).find(|(_, name)| **name == lower);
        named.map(|(at, _)| at).or_else(|| text.parse().ok())
    };
    let (ends, step) = match range.split_once('/') {
        Some((ends, step)) => (ends, Some(step.parse::<i64>().ok()?)),
        None => (range, None),
    };
    let (start, end) = match ends.split_once('-') {
        _ if matches!(ends, "*" | "?") => (*least, *most),
        Some((start, end)) => (number_or_name(start)?, number_or_name(end)?),
        None => {
            let start = number_or_name(ends)?;
            (start, if step.is_some() { *most } else { start })
        }
    };
    Some(*least <= start && start <= end && end <= *most && step.is_none_or(|step| step > 0))
}

/// Whether a text has the form of a time zone name.
pub(super) fn is_time_zone(zone: &str) -> bool {
    let is_good = |part: &str| {
        (1..=14).contains(&part.len())
            && !matches!(part, "." | "..")
            && !part.starts_with('-')
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b".-_+".contains(&byte))
    };
    zone.split('/').all(is_good) && !zone.eq_ignore_ascii_case("local")
}
