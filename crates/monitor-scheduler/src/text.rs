//! Schedules in words.

use sha2::{Digest, Sha256};

use crate::Invalid;

/// Longest text in bytes.
const MAX_LENGTH: usize = 100;

/// The forms, for users.
const FORMS: &str = "every N minutes [starting at :MM], hourly or every hour [at :MM], every N hours [at :MM], \
                     daily or every day [at TIME], weekly or every week [on DAY] [at TIME], every DAY [at TIME], \
                     weekdays, every weekday or weekends [at TIME]; TIME such as 9, 9:00, 9am, 5:30 PM, noon or midnight";

/// Days of the week in the order of their numbers.
const DAYS: [&str; 7] = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/// Time of a day.
#[derive(Clone, Copy)]
struct Clock {
    hour: u32,
    minute: u32,
}

/// Number that the id of a monitor gives: the first four bytes of its SHA-256, the highest first.
#[derive(Clone, Copy)]
struct Spread(u32);

impl Spread {
    fn of(monitor_id: &str) -> Self {
        let [first, second, third, fourth, ..]: [u8; 32] = Sha256::digest(monitor_id).into();
        Self(u32::from_be_bytes([first, second, third, fourth]))
    }

    fn minute(self) -> u32 {
        self.0 % 60
    }
}

/// Reads a schedule in words as a cron expression of the same zone.
///
/// What the text leaves open depends on `monitor_id`, so that monitors are spread over the hour: `every N minutes` starts at
/// minute h mod N, other texts without a minute are due at minute h mod 60, where h is the first four bytes of the SHA-256 of
/// the id. Open hours are 0, and an open day of the week is Sunday. A given time is exact.
///
/// # Errors
/// The text is none of the forms; the error lists them.
pub fn parse_text(text: &str, monitor_id: &str) -> Result<String, Invalid> {
    if text.len() > MAX_LENGTH {
        return Err(unknown());
    }
    let lower = text.to_ascii_lowercase();
    let words: Vec<&str> = lower.split([' ', '\t']).filter(|word| !word.is_empty()).collect();
    let spread = Spread::of(monitor_id);
    match *words.as_slice() {
        ["every", count, "minutes" | "mins" | "min", ref rest @ ..] => {
            every_minutes(number(count)?, starting(rest)?, spread)
        }
        ["every", "1", "hour", ref rest @ ..] => every_hours(1, at_or_starting(rest)?, spread),
        ["every", count, "hours" | "hrs", ref rest @ ..] => every_hours(number(count)?, at_or_starting(rest)?, spread),
        ["hourly", ref rest @ ..] | ["every", "hour", ref rest @ ..] => every_hours(1, at(rest)?, spread),
        ["daily", ref rest @ ..] | ["every", "day", ref rest @ ..] => on_days("*", rest, spread),
        ["weekly", "on", day, ref rest @ ..] | ["every", "week", "on", day, ref rest @ ..] => {
            on_days(weekday(day)?, rest, spread)
        }
        ["weekly", ref rest @ ..] | ["every", "week", ref rest @ ..] => on_days("0", rest, spread),
        ["weekdays", ref rest @ ..] | ["every", "weekday", ref rest @ ..] => on_days("1-5", rest, spread),
        ["weekends", ref rest @ ..] => on_days("0,6", rest, spread),
        ["every", day, ref rest @ ..] => on_days(weekday(day)?, rest, spread),
        _ => Err(unknown()),
    }
}

fn every_minutes(count: u32, phase: Option<u32>, spread: Spread) -> Result<String, Invalid> {
    if count > 0 && count % 60 == 0 {
        return every_hours(count / 60, phase, spread);
    }
    if count == 0 || 60 % count != 0 {
        return Err(Invalid::Text(format!(
            "every {count} minutes does not fill an hour: use 5, 6, 10, 12, 15, 20 or 30 minutes, or whole hours"
        )));
    }
    if count < crate::MIN_DISTANCE {
        return Err(Invalid::Text(format!("every {count} minutes is too often: 5 minutes is the smallest distance")));
    }
    let first = phase.unwrap_or(spread.0) % count;
    let minutes: Vec<String> = (first..60).step_by(count as usize).map(|minute| minute.to_string()).collect();
    Ok(format!("{} * * * *", minutes.join(",")))
}

fn every_hours(count: u32, minute: Option<u32>, spread: Spread) -> Result<String, Invalid> {
    let hours = match count {
        1 => "*".to_owned(),
        2 | 3 | 4 | 6 | 8 | 12 => format!("*/{count}"),
        24 => "0".to_owned(),
        _ => {
            return Err(Invalid::Text(format!(
                "every {count} hours does not fill a day: use 1, 2, 3, 4, 6, 8, 12 or 24 hours"
            )));
        }
    };
    Ok(format!("{} {hours} * * *", minute.unwrap_or_else(|| spread.minute())))
}

/// Schedule of a time on days of the week, where `rest` is empty or `at TIME`.
fn on_days(weekdays: &str, rest: &[&str], spread: Spread) -> Result<String, Invalid> {
    let Clock { hour, minute } = match *rest {
        [] => Clock { hour: 0, minute: spread.minute() },
        ["at", time] => clock(time)?,
        ["at", time, half @ ("am" | "pm")] => clock(&format!("{time}{half}"))?,
        _ => return Err(unknown()),
    };
    Ok(format!("{minute} {hour} * * {weekdays}"))
}

/// Reads `at :MM`, or nothing.
fn at(rest: &[&str]) -> Result<Option<u32>, Invalid> {
    match *rest {
        [] => Ok(None),
        ["at", minute] => minute_of_hour(minute).map(Some),
        _ => Err(unknown()),
    }
}

/// Reads `starting at :MM`, or nothing.
fn starting(rest: &[&str]) -> Result<Option<u32>, Invalid> {
    match *rest {
        [] => Ok(None),
        ["starting", "at", minute] => minute_of_hour(minute).map(Some),
        _ => Err(unknown()),
    }
}

fn at_or_starting(rest: &[&str]) -> Result<Option<u32>, Invalid> {
    if rest.first() == Some(&"starting") { starting(rest) } else { at(rest) }
}

/// Reads `:MM`.
fn minute_of_hour(word: &str) -> Result<u32, Invalid> {
    word.strip_prefix(':').and_then(two_digits).ok_or_else(unknown)
}

/// Reads a time such as `9`, `09:05`, `9am`, `5:30pm`, `noon` or `midnight`.
fn clock(word: &str) -> Result<Clock, Invalid> {
    match word {
        "noon" => return Ok(Clock { hour: 12, minute: 0 }),
        "midnight" => return Ok(Clock { hour: 0, minute: 0 }),
        _ => (),
    }
    let (time, half) = match (word.strip_suffix("am"), word.strip_suffix("pm")) {
        (Some(time), _) => (time, Some(0)),
        (_, Some(time)) => (time, Some(12)),
        (None, None) => (word, None),
    };
    let (hour, minute) = match time.split_once(':') {
        Some((hour, minute)) => (hour, two_digits(minute).ok_or_else(unknown)?),
        None => (time, 0),
    };
    if hour.len() > 2 {
        return Err(unknown());
    }
    match (half, number(hour)?) {
        (None, hour @ 0..24) => Ok(Clock { hour, minute }),
        (Some(half), hour @ 1..=12) => Ok(Clock { hour: hour % 12 + half, minute }),
        _ => Err(unknown()),
    }
}

/// Reads the name of a day, whole or in three letters, as its number.
fn weekday(word: &str) -> Result<&'static str, Invalid> {
    let day = DAYS.iter().position(|day| *day == word || day.get(..3) == Some(word));
    let number = day.and_then(|day| ["0", "1", "2", "3", "4", "5", "6"].get(day));
    number.copied().ok_or_else(unknown)
}

fn two_digits(word: &str) -> Option<u32> {
    if word.len() == 2 { number(word).ok().filter(|minute| *minute < 60) } else { None }
}

fn number(word: &str) -> Result<u32, Invalid> {
    let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
    word.parse().ok().filter(|_| is_number).ok_or_else(unknown)
}

fn unknown() -> Invalid {
    Invalid::Text(format!("a schedule in words has one of these forms: {FORMS}"))
}
