//! Schedules in the notation of cron: when something begins, in a time zone.
use cronexpr::{Crontab, MakeTimestamp};
use jiff::Timestamp;

/// The fields of a schedule.
const FIELDS: [&str; 5] = ["minute", "hour", "day of the month", "month", "day of the week"];

/// The times at which something begins: whole minutes, as five fields of cron choose them.
///
/// A start that daylight saving time skips does not happen; one in an hour that happens twice happens once.
#[derive(Clone, Debug)]
pub struct Schedule(Crontab);

impl Schedule {
    /// Reads five fields of cron, such as `0 22 * * MON-FRI`, and the name of a time zone of IANA, such as `Europe/Berlin`.
    ///
    /// # Errors
    ///
    /// What is wrong with them, in words.
    pub fn parse(fields: &str, zone: &str) -> Result<Self, String> {
        // The parser would take a sixth field for the zone, and what follows a blank in a zone for anything.
        let parts: Vec<&str> = fields.split_whitespace().collect();
        if parts.len() != FIELDS.len() {
            let (names, count) = (FIELDS.join(", "), parts.len());
            return Err(format!("a schedule has five fields ({names}), and not {count}"));
        }
        if zone.is_empty() || zone.contains(char::is_whitespace) {
            return Err("a time zone has a name of IANA, such as `UTC` or `Europe/Berlin`".to_owned());
        }
        let parsed = cronexpr::parse_crontab(&format!("{} {zone}", parts.join(" ")));
        parsed.map(Self).map_err(|error| {
            // The text repeats the schedule in a line of its own, and the next line has a mark below the place.
            let text = error.to_string();
            let (place, reason) = text.rsplit_once("^ ").unwrap_or(("", &text));
            let at = place.rsplit('\n').next().unwrap_or_default().len();
            let mut ends = parts.iter().scan(0, |end, part| {
                *end += part.len() + 1;
                Some(*end)
            });
            match ends.position(|end| at < end) {
                Some(field) => format!("the {} `{}`: {reason}", FIELDS[field], parts[field]),
                None => format!("there is no time zone `{zone}`"),
            }
        })
    }

    /// The first start after a time; `None` if there is none in the next years.
    pub fn next(&self, after: Timestamp) -> Option<Timestamp> {
        let next = self.0.find_next(MakeTimestamp(after)).ok()?;
        Some(next.timestamp())
    }

    /// The latest start after one time and not after another. It takes time that grows with the logarithm of the time between them,
    /// however many starts there are.
    pub fn latest(&self, after: Timestamp, until: Timestamp) -> Option<Timestamp> {
        let (mut low, mut high) = (after, until);
        let mut latest = None;
        // There is no start after `high` and not after `until`; `latest` is the one at `low`, if there is one.
        while high.duration_since(low).as_secs() > 60 {
            let half = high.duration_since(low) / 2;
            let middle = low.checked_add(half).ok()?;
            match self.next(middle) {
                Some(start) if start <= high => (latest, low) = (Some(start), start),
                _ => high = middle,
            }
        }
        while let Some(start) = self.next(low).filter(|start| *start <= high) {
            (latest, low) = (Some(start), start);
        }
        latest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::ToSpan as _;

    fn time(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    #[test]
    fn a_schedule_is_read_in_its_time_zone() {
        let nights = Schedule::parse("0 22 * * MON-FRI", "Europe/Berlin").expect("it is right");
        // A Friday in winter and the Monday after it.
        assert_eq!(
            nights.next(time("2026-01-09T20:59:59Z")),
            Some(time("2026-01-09T21:00:00Z"))
        );
        assert_eq!(
            nights.next(time("2026-01-09T21:00:00Z")),
            Some(time("2026-01-12T21:00:00Z"))
        );
        assert_eq!(
            nights.next(time("2026-07-03T12:00:00Z")),
            Some(time("2026-07-03T20:00:00Z"))
        );
    }

    #[test]
    fn what_is_wrong_is_said_in_a_line() {
        for (fields, zone, reason) in [
            (
                "0 22 * *",
                "UTC",
                "a schedule has five fields (minute, hour, day of the month, month, day of the week), and not 4",
            ),
            (
                "61 * * * *",
                "UTC",
                "the minute `61`: value must be in range 0..=59; found 61",
            ),
            (
                "* * * * *",
                "Europe/Atlantis",
                "there is no time zone `Europe/Atlantis`",
            ),
            (
                "* * * * *",
                "UTC * *",
                "a time zone has a name of IANA, such as `UTC` or `Europe/Berlin`",
            ),
            (
                "* * * * MON-FOO",
                "UTC",
                "the day of the week `MON-FOO`: malformed expression",
            ),
            (
                "*  *  5-3 * *",
                "UTC",
                "the day of the month `5-3`: range must be in ascending order; found 5-3",
            ),
        ] {
            assert_eq!(
                Schedule::parse(fields, zone).expect_err("it is wrong"),
                reason,
                "{fields} {zone}"
            );
        }
    }

    /// The latest start is the last one of all, found one after the other.
    #[test]
    fn the_latest_start_is_the_last_one() {
        let mut seed = 0;
        let mut below = |bound: u64| {
            seed = crate::spec_digest::STEP.wrapping_add(seed);
            crate::spec_digest::mixed(seed) % bound
        };
        let (mut some, mut none) = (0, 0);
        for _ in 0..300 {
            let minute = ["*", "*/7", "13", "0,59"][below(4) as usize];
            let hour = ["*", "3", "*/5", "2"][below(4) as usize];
            let day = ["*", "1", "L", "1-7"][below(4) as usize];
            let weekday = ["*", "SUN", "1-5", "5#3"][below(4) as usize];
            let zone = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"][below(4) as usize];
            let schedule =
                Schedule::parse(&format!("{minute} {hour} {day} * {weekday}"), zone).expect("it is right");
            let after =
                time("2026-01-01T00:00:00Z") + i64::try_from(below(400 * 86_400)).expect("small").seconds();
            let until = after + i64::try_from(below(20 * 86_400)).expect("small").seconds();
            let mut last = None;
            let mut at = after;
            while let Some(start) = schedule.next(at).filter(|start| *start <= until) {
                (last, at) = (Some(start), start);
            }
            assert_eq!(
                schedule.latest(after, until),
                last,
                "{schedule:?} {after} {until}"
            );
            if last.is_some() { some += 1 } else { none += 1 }
        }
        assert!(some > 50 && none > 20, "{some} {none}");
    }
}
