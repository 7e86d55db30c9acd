//! `schedules [FILE…] [--walks N]`: judges files of cases; compares N random schedules around every change of a clock from
//! 2025 to 2028 with a walk over every minute, and with croner. Run by `cargo xtask schedules`.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a tool for the terminal that stops when it cannot go on")]

use std::collections::BTreeMap;
use std::io::{Error, Write, stdout};
use std::process::ExitCode;

use chrono::{DateTime, TimeDelta, TimeZone, Utc};
use chrono_tz::{TZ_VARIANTS, Tz};
use monitor_scheduler::Schedule;

#[path = "../tests/it/judge.rs"]
mod judge;
#[path = "../tests/it/oracle.rs"]
mod oracle;

use oracle::{Expression, Random, changes};

/// Hours before and after a change of the clock.
const AROUND: TimeDelta = TimeDelta::hours(40);

fn main() -> Result<ExitCode, Error> {
    let mut failed = 0;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        failed += match argument.as_str() {
            "--walks" => walk(arguments.next().and_then(|count| count.parse().ok()).expect("a number of walks"))?,
            file => cases(file)?,
        };
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn cases(file: &str) -> Result<usize, Error> {
    let tally = judge::judge_all(&serde_json::from_slice(&std::fs::read(file)?)?);
    let mut out = stdout().lock();
    for fault in &tally.failed {
        writeln!(out, "failed: {fault}")?;
    }
    writeln!(out, "{file}: {} passed, {} failed, {} not judged", tally.passed, tally.failed.len(), tally.left_out)?;
    Ok(tally.failed.len())
}

/// Schedule around a change of the clock.
struct Walk {
    cron: String,
    zone: Tz,
    change: DateTime<Utc>,
}

fn walk(count: usize) -> Result<usize, Error> {
    let all: Vec<_> =
        TZ_VARIANTS.into_iter().flat_map(|zone| changes(zone).into_iter().map(move |at| (zone, at))).collect();
    let mut random = Random::new(2025);
    let (mut done, mut runs, mut different) = (0, 0, 0);
    let mut croner: BTreeMap<&str, (usize, String)> = BTreeMap::new();
    while done < count {
        // Every change once, then from the first again.
        let (zone, change) = all[done % all.len()];
        let cron = random.expression(change.with_timezone(&zone).naive_local());
        let Ok(schedule) = Schedule::cron(&cron, zone.name()) else { continue };
        let walk = Walk { cron, zone, change };
        let expected = Expression::new(&walk.cron).runs(zone, change - AROUND, change + AROUND);
        let found = until_end(change, |at| schedule.next(at));
        if found != expected {
            different += 1;
            writeln!(stdout(), "differs: {} in {zone} around {change}", walk.cron)?;
        }
        let class = class(&walk, &expected);
        let entry = croner.entry(class).or_default();
        entry.0 += 1;
        entry.1 = format!("{} in {zone} around {change}", walk.cron);
        done += 1;
        runs += found.len();
    }
    let zones = all.iter().map(|(zone, _)| zone.name()).collect::<std::collections::BTreeSet<_>>().len();
    let mut out = stdout().lock();
    writeln!(out, "{done} schedules around {} changes in {zones} zones, {runs} runs: {different} differ", all.len())?;
    for (class, (count, example)) in croner {
        writeln!(out, "croner, {class}: {count}, such as {example}")?;
    }
    Ok(different)
}

fn until_end(change: DateTime<Utc>, next: impl Fn(DateTime<Utc>) -> Option<DateTime<Utc>>) -> Vec<DateTime<Utc>> {
    let end = change + AROUND;
    std::iter::successors(next(change - AROUND), |run| next(*run)).take_while(|run| *run <= end).collect()
}

/// Says where croner agrees, or in which way it differs.
fn class(walk: &Walk, expected: &[DateTime<Utc>]) -> &'static str {
    let Ok(cron) = walk.cron.parse::<croner::Cron>() else { return "refused" };
    let next = |at: DateTime<Utc>| {
        let found = cron.find_next_occurrence(&walk.zone.from_utc_datetime(&at.naive_utc()), false).ok()?;
        // It has answered with the same instant, which would never end.
        Some(found.with_timezone(&Utc)).filter(|found| *found > at)
    };
    let found = until_end(walk.change, next);
    if found == expected {
        return "the same";
    }
    let words: Vec<&str> = walk.cron.split(' ').collect();
    if [words[2], words[4]].iter().any(|word| word.starts_with("*/")) {
        return "a day field with a step after * is joined by OR";
    }
    let offset = |at: DateTime<Utc>| walk.zone.from_utc_datetime(&at.naive_utc()).naive_local() - at.naive_utc();
    let is_forward = offset(walk.change) > offset(walk.change - TimeDelta::minutes(1));
    let is_fixed = !words[0].starts_with('*') && !words[1].starts_with('*');
    match (is_forward, is_fixed) {
        (true, true) => "fixed times in a gap",
        (true, false) => "other times in a gap",
        (false, true) => "fixed times in a fold",
        (false, false) => "other times in a fold",
    }
}
