//! Time of finding the next run, beside croner in the same run: `cargo xtask bench schedule`.
//!
//! Both have read the expression before, and search in the time zone. Each time is the mean of a batch, so that the clock
//! does not count; the worst is that of the slowest batch of the slowest schedule.

#![expect(clippy::unwrap_used, reason = "a benchmark that stops when it cannot go on")]

use std::hint::black_box;
use std::io::{Error, Write, stdout};
use std::time::Instant;

use chrono::{DateTime, TimeDelta, TimeZone, Utc};
use chrono_tz::Tz;
use monitor_scheduler::Schedule;

/// Name, expression, zone, and an instant to search from.
const SCHEDULES: [(&str, &str, Tz, &str); 11] = [
    ("every 30 minutes", "*/30 * * * *", Tz::UTC, "2026-01-05T00:10:00Z"),
    ("every 5 minutes in a zone", "*/5 * * * *", Tz::Europe__Berlin, "2026-01-05T00:12:00Z"),
    ("hourly", "7 * * * *", Tz::America__New_York, "2026-01-05T00:10:00Z"),
    ("daily", "0 9 * * *", Tz::America__New_York, "2026-01-05T00:10:00Z"),
    ("weekdays", "0 9 * * 1-5", Tz::Asia__Tokyo, "2026-01-02T01:00:00Z"),
    ("monthly", "0 0 1 * *", Tz::Europe__Berlin, "2026-01-05T00:10:00Z"),
    ("day of month or week", "0 0 1,15 * 1", Tz::Europe__Berlin, "2026-01-05T00:10:00Z"),
    ("the 31st", "0 0 31 * *", Tz::Europe__Berlin, "2026-03-31T12:00:00Z"),
    ("29 February", "0 0 29 2 *", Tz::Europe__Berlin, "2024-03-01T00:00:00Z"),
    ("in a fold", "*/5 1 * * *", Tz::America__New_York, "2026-11-01T05:58:00Z"),
    ("in a gap", "30 2 * * *", Tz::America__New_York, "2026-03-08T06:30:00Z"),
];

const BATCHES: usize = 300;
const BATCH: u32 = 50;

fn main() -> Result<(), Error> {
    let mut out = stdout().lock();
    writeln!(out, "{:28} {:>9} {:>9} {:>11} {:>11}", "µs", "p50", "worst", "croner p50", "croner worst")?;
    let (mut ours_all, mut theirs_all) = (Vec::new(), Vec::new());
    for (name, cron, zone, from) in SCHEDULES {
        let from: DateTime<Utc> = from.parse().unwrap();
        let schedule = Schedule::cron(cron, zone.name()).unwrap();
        let theirs: croner::Cron = cron.parse().unwrap();
        // Starts differ from each other, so that no answer is kept.
        let starts: Vec<_> = (0..BATCH).map(|second| from + TimeDelta::seconds(second.into())).collect();
        let ours = measure(|start| schedule.next(start), &starts);
        let theirs = measure(
            |start| theirs.find_next_occurrence(&zone.from_utc_datetime(&start.naive_utc()), false).ok(),
            &starts,
        );
        writeln!(
            out,
            "{name:28} {:>9.2} {:>9.2} {:>11.2} {:>11.2}",
            middle(&ours),
            worst(&ours),
            middle(&theirs),
            worst(&theirs)
        )?;
        ours_all.extend(ours);
        theirs_all.extend(theirs);
    }
    writeln!(
        out,
        "{:28} {:>9.2} {:>9.2} {:>11.2} {:>11.2}",
        "all",
        middle(&ours_all),
        worst(&ours_all),
        middle(&theirs_all),
        worst(&theirs_all)
    )
}

/// Returns the microseconds of a search in each batch.
fn measure<T>(search: impl Fn(DateTime<Utc>) -> T, starts: &[DateTime<Utc>]) -> Vec<f64> {
    let batch = || {
        let begin = Instant::now();
        for start in starts {
            black_box(search(black_box(*start)));
        }
        begin.elapsed().as_secs_f64() * 1e6 / f64::from(BATCH)
    };
    (0..BATCHES).map(|_| batch()).collect()
}

fn middle(times: &[f64]) -> f64 {
    let mut times = times.to_vec();
    times.sort_unstable_by(f64::total_cmp);
    times[times.len() / 2]
}

fn worst(times: &[f64]) -> f64 {
    times.iter().copied().fold(0.0, f64::max)
}
