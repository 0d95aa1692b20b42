//! Schedules, after `github.com/robfig/cron/v3`, and the names of time zones.

/// The least and the most of a field, and names for its numbers.
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

/// The errors of a schedule.
pub(super) fn check(schedule: &str) -> Result<(), String> {
    let schedule = match schedule
        .strip_prefix("CRON_TZ=")
        .or_else(|| schedule.strip_prefix("TZ="))
    {
        Some(rest) => rest.split_once(' ').map_or("", |(_, schedule)| schedule.trim()),
        None => schedule,
    };
    if let Some(name) = schedule.strip_prefix('@') {
        return descriptor(schedule, name);
    }
    let fields: Vec<&str> = schedule.split_whitespace().collect();
    if fields.len() != FIELDS.len() {
        return Err(format!(
            "expected exactly 5 fields, found {}: [{}]",
            fields.len(),
            fields.join(" ")
        ));
    }
    for (field, bounds) in fields.into_iter().zip(&FIELDS) {
        for range in field.split(',').filter(|range| !range.is_empty()) {
            check_range(range, bounds)?;
        }
    }
    Ok(())
}

fn descriptor(schedule: &str, name: &str) -> Result<(), String> {
    match name {
        "yearly" | "annually" | "monthly" | "weekly" | "daily" | "midnight" | "hourly" => Ok(()),
        _ => match name.strip_prefix("every ") {
            Some(duration) if duration.parse::<jiff::SignedDuration>().is_ok() => Ok(()),
            Some(duration) => Err(format!(
                "failed to parse duration {schedule}: time: invalid duration {duration:?}"
            )),
            None => Err(format!("unrecognized descriptor: {schedule}")),
        },
    }
}

fn check_range(range: &str, (least, most, names): &Bounds) -> Result<(), String> {
    let number_or_name = |text: &str| {
        let lower = text.to_lowercase();
        let named = (*least..).zip(*names).find(|(_, name)| **name == lower);
        named.map_or_else(|| number(text), |(at, _)| Ok(at))
    };
    let (ends, step) = range
        .split_once('/')
        .map_or((range, None), |(ends, step)| (ends, Some(step)));
    let (start, end) = match ends.split_once('-') {
        _ if matches!(ends, "*" | "?") => (*least, *most),
        Some((start, end)) => (number_or_name(start)?, number_or_name(end)?),
        None => {
            let start = number_or_name(ends)?;
            (start, if step.is_some() { *most } else { start })
        }
    };
    let step = step.map_or(Ok(1), number)?;
    match () {
        () if start < *least => Err(format!(
            "beginning of range ({start}) below minimum ({least}): {range}"
        )),
        () if end > *most => Err(format!("end of range ({end}) above maximum ({most}): {range}")),
        () if start > end => Err(format!(
            "beginning of range ({start}) beyond end of range ({end}): {range}"
        )),
        () if step == 0 => Err(format!("step of range should be a positive number: {range}")),
        () => Ok(()),
    }
}

fn number(text: &str) -> Result<i64, String> {
    match text.parse() {
        Ok(number) if number < 0 => Err(format!("negative number ({number}) not allowed: {text}")),
        Ok(number) => Ok(number),
        Err(_) => {
            let reason = format!("strconv.Atoi: parsing {text:?}: invalid syntax");
            Err(format!("failed to parse int from {text}: {reason}"))
        }
    }
}

/// The errors in the form of the name of a time zone.
pub(super) fn check_time_zone(zone: &str) -> Vec<String> {
    if zone.is_empty() {
        return vec!["timeZone must be nil or non-empty string".to_owned()];
    }
    let is_good = |part: &str| {
        (1..=14).contains(&part.len())
            && !matches!(part, "." | "..")
            && !part.starts_with('-')
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b".-_+".contains(&byte))
    };
    if !zone.split('/').all(is_good) {
        return vec![format!("unknown time zone {zone}")];
    }
    if zone.eq_ignore_ascii_case("local") {
        let message = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
        return vec![message.to_owned()];
    }
    Vec::new()
}
