//! When does a transfer stop by itself (`--stop-after`, `--stop-at`)?
//!
//! The words are read without a clock; who has one asks [`Stop::seconds`].

use crate::escape::printable;

use super::OptionError;

/// How many years ahead a date without a year can be: a 29 February comes within eight.
const YEARS_AHEAD: i32 = 8;
const DAY: i64 = 86_400;
const HOUR: i64 = 3_600;

/// Is what was asked for, before anybody looked at a clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// After so many minutes.
    After(u32),
    /// At the next time that fits.
    At(Moment),
}

/// Is a point in time on the clock at the wall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Civil {
    /// The year, like 2030.
    pub year: i32,
    /// The month, from 1.
    pub month: i32,
    /// The day of the month, from 1.
    pub day: i32,
    /// The hour, from 0.
    pub hour: i32,
    /// The minute, from 0.
    pub minute: i32,
}

/// Is a date, a time or both; what was left out fits always.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    text: String,
    year: Option<i32>,
    month: Option<i32>,
    day: Option<i32>,
    hour: Option<i32>,
    minute: i32,
}

impl Stop {
    /// Reads the minutes of `--stop-after`; what follows the digits does not count.
    pub(crate) fn after(text: &[u8]) -> Result<Stop, OptionError> {
        let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let minutes = std::str::from_utf8(&text[..digits]).ok().and_then(|text| text.parse().ok());
        match minutes {
            Some(minutes) if minutes > 0 => Ok(Stop::After(minutes)),
            _ if digits > 9 => Ok(Stop::After(u32::MAX)),
            _ => Err(invalid("--stop-after value", &printable(text))),
        }
    }

    /// Reads the `[[[y-]m-]d][T[h]:m]` of `--stop-at`.
    pub(crate) fn at(text: &[u8]) -> Result<Stop, OptionError> {
        let shown = printable(text);
        let moment = std::str::from_utf8(text).ok().and_then(Moment::parse);
        moment.map(Stop::At).ok_or_else(|| invalid("--stop-at format", &shown))
    }

    /// Returns when to stop in seconds since 1970: `now` is the present, `civil` and `seconds`
    /// convert to the local time and back.
    ///
    /// # Errors
    ///
    /// Says that the time is past, or that there is no such day.
    pub fn seconds(
        &self,
        now: i64,
        civil: &dyn Fn(i64) -> Civil,
        seconds: &dyn Fn(Civil) -> Option<i64>,
    ) -> Result<i64, OptionError> {
        let moment = match self {
            Stop::After(minutes) => return Ok(now + 60 * i64::from(*minutes)),
            Stop::At(moment) => moment,
        };
        let fitting: Vec<i64> = match moment.day {
            Some(day) => moment.days(day, civil(now)).filter_map(seconds).collect(),
            None => moment.times(now, civil, seconds).collect(),
        };
        match fitting.iter().find(|time| **time > now) {
            Some(time) => Ok(*time),
            None if fitting.is_empty() => Err(invalid("--stop-at format", &moment.text)),
            None => {
                let text = format!("--stop-at time is not in the future: {}", moment.text);
                Err(OptionError::Invalid(text))
            }
        }
    }
}

fn invalid(what: &str, shown: &str) -> OptionError {
    OptionError::Invalid(format!("invalid {what}: {shown}"))
}

impl Moment {
    fn parse(text: &str) -> Option<Moment> {
        let (date, time) = halves(text);
        let mut numbers = date.split(['-', '/']).rev().filter(|_| !date.is_empty());
        let day = numbers.next().map(|day| number(day, 1..=31)).map_or(Some(None), some)?;
        let month = numbers.next().map(|month| number(month, 1..=12)).map_or(Some(None), some)?;
        let year = numbers.next().map(year).map_or(Some(None), some)?;
        let (hour, minute) = match time {
            None if day.is_none() => return None,
            None => (Some(0), 0),
            Some(time) => {
                let (hour, minute) = time.split_once(':')?;
                let hour = if hour.is_empty() { None } else { Some(number(hour, 0..=23)?) };
                (hour, number(minute, 0..=59)?)
            }
        };
        let text = text.to_string();
        numbers.next().is_none().then_some(Moment { text, year, month, day, hour, minute })
    }

    /// The points in time from this year on that a date fits, earliest first.
    fn days(&self, day: i32, today: Civil) -> impl Iterator<Item = Civil> {
        let century = today.year - today.year.rem_euclid(100);
        let years = match self.year {
            Some(year) if year < 100 => century + year..=century + year,
            Some(year) => year..=year,
            None => today.year..=today.year + YEARS_AHEAD,
        };
        let months = self.month.map_or(1..=12, |month| month..=month);
        let (hour, minute) = (self.hour.unwrap_or(0), self.minute);
        years.flat_map(move |year| {
            months.clone().map(move |month| Civil { year, month, day, hour, minute })
        })
    }

    /// The next points in time that a time of the day fits, earliest first.
    fn times(
        &self,
        now: i64,
        civil: &dyn Fn(i64) -> Civil,
        seconds: &dyn Fn(Civil) -> Option<i64>,
    ) -> impl Iterator<Item = i64> {
        let step = if self.hour.is_some() { DAY } else { HOUR };
        [now, now + step].into_iter().filter_map(move |near| {
            let near = civil(near);
            let hour = self.hour.unwrap_or(near.hour);
            seconds(Civil { hour, minute: self.minute, ..near })
        })
    }
}

/// Splits a text into its date and its time.
fn halves(text: &str) -> (&str, Option<&str>) {
    if let Some((date, time)) = text.split_once(['T', 't']) {
        return (date, Some(time));
    }
    match (text.contains(':'), text.rsplit_once(['-', '/'])) {
        (false, _) => (text, None),
        (true, Some((date, time))) => (date, Some(time)),
        (true, None) => ("", Some(text)),
    }
}

fn some(number: Option<i32>) -> Option<Option<i32>> {
    number.map(Some)
}

fn year(text: &str) -> Option<i32> {
    number(text, 0..=9999).filter(|_| matches!(text.len(), 2 | 4))
}

fn number(text: &str, range: std::ops::RangeInclusive<i32>) -> Option<i32> {
    let digits = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| digits && range.contains(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A calendar of 31 days in odd months and 30 in the others.
    fn seconds(at: Civil) -> Option<i64> {
        let days = if at.month % 2 == 1 { 31 } else { 30 };
        let date = ((at.year - 2000) * 12 + at.month - 1) * 31 + at.day - 1;
        let time = (date * 24 + at.hour) * 60 + at.minute;
        (at.day <= days).then_some(i64::from(time) * 60)
    }

    fn civil(seconds: i64) -> Civil {
        let minutes = (seconds / 60) as i32;
        let (days, minute) = (minutes / 1440, minutes % 60);
        let (months, day) = (days / 31, days % 31 + 1);
        let (year, month) = (2000 + months / 12, months % 12 + 1);
        Civil { year, month, day, hour: minutes / 60 % 24, minute }
    }

    #[test]
    fn the_next_time_that_fits_is_taken() {
        let now = seconds(Civil { year: 2030, month: 6, day: 15, hour: 10, minute: 30 }).unwrap();
        let cases = [
            ("2031-12-25T23:59", Ok("2031-12-25 23:59")),
            ("31/2/3", Ok("2031-2-3 0:0")),
            ("6-15T10:31", Ok("2030-6-15 10:31")),
            ("6-15", Ok("2031-6-15 0:0")),
            ("31", Ok("2030-7-31 0:0")),
            ("16-05:00", Ok("2030-6-16 5:0")),
            ("14:00", Ok("2030-6-15 14:0")),
            ("T9:00", Ok("2030-6-16 9:0")),
            (":15", Ok("2030-6-15 11:15")),
            (":45", Ok("2030-6-15 10:45")),
            ("2030-06-15", Err("--stop-at time is not in the future: 2030-06-15")),
            ("2030-13-1", Err("invalid --stop-at format: 2030-13-1")),
            ("1-1T5", Err("invalid --stop-at format: 1-1T5")),
            ("99", Err("invalid --stop-at format: 99")),
            ("", Err("invalid --stop-at format: ")),
        ];
        for (text, expected) in cases {
            let found = Stop::at(text.as_bytes()).and_then(|at| at.seconds(now, &civil, &seconds));
            let found = found.map(civil).map(|at| {
                let Civil { year, month, day, hour, minute } = at;
                format!("{year}-{month}-{day} {hour}:{minute}")
            });
            let expected = expected.map(str::to_string);
            assert_eq!(found.map_err(|error| error.to_string()), expected.map_err(str::to_string));
        }
        assert_eq!(Stop::after(b"5x").unwrap().seconds(60, &civil, &seconds), Ok(360));
        assert!(Stop::after(b"0").is_err());
    }
}
