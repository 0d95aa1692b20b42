//! Cron schedules in a time zone.
use cronexpr::{Crontab, MakeTimestamp};
use jiff::{
    SignedDuration, Timestamp,
    tz::{Offset, TimeZone},
};

/// The fields of a schedule.
const FIELDS: [&str; 5] = ["minute", "hour", "day of the month", "month", "day of the week"];

/// The longest search for a start: two 29ths of February can be eight years apart.
const YEARS: SignedDuration = SignedDuration::from_hours(24 * 366 * 8);

/// A cron schedule of five fields. Its starts are whole minutes.
///
/// The starts are those of a CronJob of Kubernetes: if both day fields are set, either one is enough; a start
/// that daylight saving time skips does not happen, and one in a repeated hour happens twice.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// The schedule in a zone of fixed offset. In a zone with daylight saving time, the crate's search may not terminate.
    crontab: Crontab,
    zone: TimeZone,
}

impl Schedule {
    /// Parses five fields of cron, such as `0 22 * * MON-FRI`, and an IANA time zone, such as `Europe/Berlin`.
    ///
    /// # Errors
    ///
    /// A message for people if the schedule or the time zone is invalid.
    pub fn parse(fields: &str, zone: &str) -> Result<Self, String> {
        let parts: Vec<&str> = fields.split_whitespace().collect();
        if parts.len() != FIELDS.len() {
            let (names, count) = (FIELDS.join(", "), parts.len());
            return Err(format!("a schedule has five fields ({names}), and not {count}"));
        }
        let zone = TimeZone::get(zone).map_err(|_| {
            format!("unknown time zone `{zone}`; use an IANA name, for example `Europe/Berlin`")
        })?;
        // A CronJob treats `*/2` in a day field as a restriction, but `*/1` as no restriction.
        let written = parts.iter().zip(["", "", "1-31", "", "0-6"]).map(|(part, all)| {
            let step = part
                .strip_prefix('*')
                .filter(|step| !all.is_empty() && step.starts_with('/'));
            match step.filter(|step| *step != "/1") {
                Some(step) => format!("{all}{step}"),
                None => (*part).to_owned(),
            }
        });
        let written: Vec<String> = written.collect();
        let crontab = cronexpr::parse_crontab(&format!("{} UTC", written.join(" ")));
        let crontab = crontab.map_err(|error| {
            // The error repeats the schedule in a line of its own, and the next line marks the position.
            let text = error.to_string();
            let (place, reason) = text.rsplit_once("^ ").unwrap_or(("", &text));
            let at = place.rsplit('\n').next().unwrap_or_default().len();
            let mut ends = written.iter().scan(0, |end, part| {
                *end += part.len() + 1;
                Some(*end)
            });
            match ends.position(|end| at < end) {
                Some(field) => format!("the {} `{}`: {reason}", FIELDS[field], parts[field]),
                None => reason.to_owned(),
            }
        })?;
        let schedule = Self { crontab, zone };
        match schedule.next(Timestamp::UNIX_EPOCH) {
            Some(_) => Ok(schedule),
            None => Err(format!("no day matches `{}`", parts.join(" "))),
        }
    }

    /// The first start after a time; `None` if there is none in the next eight years.
    pub fn next(&self, after: Timestamp) -> Option<Timestamp> {
        let end = after.checked_add(YEARS).ok()?;
        let (mut from, mut offset) = (after, self.zone.to_offset(after));
        while from < end {
            // The offset is constant between two transitions of the zone.
            let change = self.zone.following(from).next();
            let start = self.on_clock(offset, from)?;
            match change.filter(|change| change.timestamp() <= start) {
                None => return Some(start),
                Some(change) => {
                    // A start at the very moment of the transition has to be found, too.
                    from = change
                        .timestamp()
                        .checked_sub(SignedDuration::from_nanos(1))
                        .ok()?;
                    offset = change.offset();
                    if let Some(start) = self
                        .on_clock(offset, from)
                        .filter(|start| *start == change.timestamp())
                    {
                        return Some(start);
                    }
                    from = change.timestamp();
                }
            }
        }
        None
    }

    /// The first start after a time, in a zone with this fixed offset.
    fn on_clock(&self, offset: Offset, after: Timestamp) -> Option<Timestamp> {
        let off = SignedDuration::from_secs(offset.seconds().into());
        let shown = after.checked_add(off).ok()?;
        let next = self.crontab.find_next(MakeTimestamp(shown)).ok()?;
        next.timestamp().checked_sub(off).ok()
    }

    /// The latest start after one time and not after another. It is a binary search, so its cost grows with
    /// the logarithm of the interval, and not with the number of starts.
    pub fn latest(&self, after: Timestamp, until: Timestamp) -> Option<Timestamp> {
        let mut latest = Some(self.next(after)?).filter(|start| *start <= until);
        let (mut low, mut high) = (latest?, until);
        // No start is after `high` and not after `until`; `latest` is the start at `low`, if there is one.
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
                "unknown time zone `Europe/Atlantis`; use an IANA name, for example `Europe/Berlin`",
            ),
            (
                "* * * * *",
                "UTC * *",
                "unknown time zone `UTC * *`; use an IANA name, for example `Europe/Berlin`",
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

    #[test]
    fn starts_are_those_of_a_cronjob() {
        let cases = include_str!("../testdata/schedules.txt").lines();
        for case in cases.filter(|line| !line.starts_with('#')) {
            let parts: Vec<&str> = case.split('|').collect();
            let [fields, zone, after, starts] = parts[..] else {
                panic!("{case}");
            };
            let mut at = time(after);
            let schedule = match Schedule::parse(fields, zone) {
                Ok(schedule) => schedule,
                Err(reason) => {
                    assert!(
                        starts == "never" && reason.contains("no day matches"),
                        "{case}: {reason}"
                    );
                    continue;
                }
            };
            for start in starts.split(' ') {
                at = schedule.next(at).expect("there is one");
                assert_eq!(at, time(start), "{case}");
            }
        }
    }

    /// Each minute of a year is a start exactly if the zone's local time matches.
    #[test]
    fn no_start_is_left_out_when_clocks_are_changed() {
        for (fields, zone) in [
            ("*/30 1-3 * * *", "Europe/Berlin"),
            ("15,45 * * * SAT", "Africa/Cairo"),
            ("59 1,2 * 4,10 0", "Australia/Lord_Howe"),
        ] {
            let schedule = Schedule::parse(fields, zone).expect("it is right");
            let mut minute = time("2025-01-01T00:00:00Z");
            let end = time("2026-01-01T00:00:00Z");
            let (mut expected, mut found) = (Vec::new(), Vec::new());
            while minute < end {
                let shown = schedule.zone.to_datetime(minute).to_zoned(TimeZone::UTC);
                let shown = MakeTimestamp(shown.expect("a time").timestamp());
                if schedule.crontab.matches(shown).expect("a time") {
                    expected.push(minute);
                }
                minute += 1.minute();
            }
            let mut at = time("2024-12-31T23:59:00Z");
            while let Some(start) = schedule.next(at).filter(|start| *start < end) {
                (at, _) = (start, found.push(start));
            }
            assert_eq!(found, expected, "{fields} {zone}");
        }
    }

    /// The latest start equals the last one of an exhaustive search.
    #[test]
    fn the_latest_start_is_the_last_one() {
        let mut dice = crate::dice::Dice(0);
        let mut below = |bound: u64| dice.roll() % bound;
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
