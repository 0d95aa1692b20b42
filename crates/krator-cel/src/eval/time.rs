//! Times and durations, after `common/types/timestamp.go` and `common/types/duration.go` of cel-go.

use std::cmp::Ordering;

use jiff::SignedDuration;
use jiff::civil::{DateTime, Time, date};
use jiff::tz::TimeZone;

use super::go::quoted;
use super::{Fallible, fail};
use crate::formats::is_rfc3339;

/// The range of timestamps, from the year 1 to the year 9999, in seconds.
const SECONDS: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;
const EPOCH: DateTime = date(1970, 1, 1).at(0, 0, 0, 0);
const SECOND: i128 = 1_000_000_000;

/// A time, with the offset from UTC in its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Timestamp {
    /// The seconds since 1970, in UTC.
    seconds: i64,
    nanoseconds: u32,
    /// The offset in seconds, to the east.
    offset: i32,
}

impl Timestamp {
    /// The time that is a number of seconds after 1970; `None` if it is out of range.
    pub(super) fn of_seconds(seconds: i64) -> Option<Self> {
        SECONDS.contains(&seconds).then_some(Self {
            seconds,
            nanoseconds: 0,
            offset: 0,
        })
    }

    /// Parses a time like Go; `None` if it is malformed, and an error if it is out of range.
    pub(super) fn parse(text: &str) -> Option<Result<Self, ()>> {
        if !is_rfc3339(text) {
            return None;
        }
        let (date, time) = text.split_once('T')?;
        let (clock, zone) = time.split_at(time.find(['Z', '+', '-'])?);
        let (clock, fraction) = clock.split_once(['.', ',']).unwrap_or((clock, ""));
        let numbers = |text: &str, separator: char| -> Option<Vec<i16>> {
            text.split(separator).map(|part| part.parse().ok()).collect()
        };
        let (date, clock) = (numbers(date, '-')?, numbers(clock, ':')?);
        let [year, month, day] = date[..] else { return None };
        let [hour, minute, second] = clock[..] else {
            return None;
        };
        let small = |number: i16| i8::try_from(number).ok();
        let time = DateTime::new(
            year,
            small(month)?,
            small(day)?,
            small(hour)?,
            small(minute)?,
            small(second)?,
            0,
        );
        let seconds = time.ok()?.duration_since(EPOCH).as_secs();
        let offset = match zone.get(1..).and_then(|zone| numbers(zone, ':')).as_deref() {
            Some([hours, minutes]) => i32::from(*hours) * 3600 + i32::from(*minutes) * 60,
            _ => 0,
        };
        let offset = if zone.starts_with('-') { -offset } else { offset };
        // Further digits are ignored.
        let digits = format!("{:0<9}", &fraction[..fraction.len().min(9)]);
        let found = Self {
            seconds: seconds - i64::from(offset),
            nanoseconds: digits.parse().ok()?,
            offset,
        };
        Some(if SECONDS.contains(&found.seconds) {
            Ok(found)
        } else {
            Err(())
        })
    }

    /// Parses a text of a schema with the format `date` or `date-time`.
    pub(super) fn of_schema(text: &str) -> Option<Self> {
        match text.len() {
            10 => Self::parse(&format!("{text}T00:00:00Z"))?.ok(),
            // Times that are out of the range of conversions can be stored.
            _ => Self::parse(text)?.ok(),
        }
    }

    pub(super) fn seconds(&self) -> i64 {
        self.seconds
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.compare(other) == Ordering::Equal
    }

    pub(super) fn compare(&self, other: &Self) -> Ordering {
        (self.seconds, self.nanoseconds).cmp(&(other.seconds, other.nanoseconds))
    }

    /// Whether this is the zero time of Go.
    pub(super) fn is_zero(&self) -> bool {
        (self.seconds, self.nanoseconds) == (*SECONDS.start(), 0)
    }

    fn total(&self) -> i128 {
        i128::from(self.seconds) * SECOND + i128::from(self.nanoseconds)
    }

    /// The time that is a number of nanoseconds later; `None` if it is out of range.
    pub(super) fn plus(&self, nanoseconds: i128) -> Option<Self> {
        let total = self.total() + nanoseconds;
        let seconds = i64::try_from(total.div_euclid(SECOND)).ok()?;
        SECONDS.contains(&seconds).then_some(Self {
            seconds,
            nanoseconds: total.rem_euclid(SECOND) as u32,
            offset: self.offset,
        })
    }

    /// The nanoseconds since another time; `None` if they overflow.
    pub(super) fn since(&self, other: &Self) -> Option<i64> {
        i64::try_from(self.total() - other.total()).ok()
    }

    /// The local date and time at an offset from UTC, and a number to add to the year.
    fn shown(&self, offset: i64) -> Fallible<(DateTime, i64)> {
        /// The seconds of 400 years, after which calendars repeat.
        const CYCLE: i64 = 146_097 * 86_400;
        let seconds = self.seconds.saturating_add(offset);
        // At an eastern offset, the local year may be 10,000.
        let (seconds, years) = match seconds > *SECONDS.end() {
            true => (seconds - CYCLE, 400),
            false => (seconds, 0),
        };
        let time = EPOCH.checked_add(SignedDuration::new(seconds, self.nanoseconds as i32));
        time.map_or_else(
            |_| fail("timestamp overflow".to_owned()),
            |time| Ok((time, years)),
        )
    }

    /// The time in the format of RFC 3339, with as many fraction digits as needed.
    pub(super) fn written(&self) -> String {
        let offset = i64::from(self.offset);
        let (shown, _) = self.shown(offset).unwrap_or_default();
        let suffix = match offset {
            0 => "Z".to_owned(),
            offset => {
                let (sign, minutes) = (if offset < 0 { '-' } else { '+' }, offset.abs() / 60);
                format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
            }
        };
        let fraction = match shown.subsec_nanosecond() {
            0 => String::new(),
            nanoseconds => format!(".{nanoseconds:09}").trim_end_matches('0').to_owned(),
        };
        let whole = Time::new(shown.hour(), shown.minute(), shown.second(), 0).unwrap_or_default();
        format!("{}T{whole}{fraction}{suffix}", shown.date())
    }

    /// The offset of a time zone at this time, by the name of the zone or in the form `+01:00`.
    pub(super) fn offset_of(&self, zone: &str) -> Fallible<i64> {
        let Some((hours, minutes)) = zone.split_once(':') else {
            let found = match zone {
                "" | "UTC" => return Ok(0),
                _ => TimeZone::get(zone).ok(),
            };
            // The offset of the last hours of the year 9999 is that of the hours before.
            let seconds = self.seconds.min(jiff::Timestamp::MAX.as_second());
            let time = jiff::Timestamp::from_second(seconds).ok();
            return match (found, time) {
                (Some(found), Some(time)) => Ok(i64::from(found.to_offset(time).seconds())),
                _ if zone.contains('\0') => fail("invalid argument".to_owned()),
                _ => fail(format!("unknown time zone {zone}")),
            };
        };
        let number = |text: &str| match text.parse::<i64>() {
            Ok(number) if number.abs() < 1_000_000 => Ok(number),
            _ => fail(format!("strconv.Atoi: parsing {}: invalid syntax", quoted(text))),
        };
        let (hours, minutes) = (number(hours)?, number(minutes)?);
        let offset = match zone.starts_with('-') {
            true => hours * 60 - minutes,
            false => hours * 60 + minutes,
        };
        Ok(offset * 60)
    }

    pub(super) fn part(&self, function: &str, offset: i64) -> Option<Fallible<i64>> {
        let (shown, years) = match self.shown(offset) {
            Ok(shown) => shown,
            Err(why) => return Some(Err(why)),
        };
        Some(Ok(match function {
            "getFullYear" => i64::from(shown.year()) + years,
            "getMonth" => i64::from(shown.month()) - 1,
            "getDate" => shown.day().into(),
            "getDayOfMonth" => i64::from(shown.day()) - 1,
            "getDayOfWeek" => shown.weekday().to_sunday_zero_offset().into(),
            "getDayOfYear" => i64::from(shown.day_of_year()) - 1,
            "getHours" => shown.hour().into(),
            "getMinutes" => shown.minute().into(),
            "getSeconds" => shown.second().into(),
            "getMilliseconds" => i64::from(shown.subsec_nanosecond() / 1_000_000),
            _ => return None,
        }))
    }
}
