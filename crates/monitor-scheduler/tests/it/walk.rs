//! The crate beside the walk over every minute, around changes of the clock.

use chrono::TimeDelta;
use chrono_tz::Tz;
use monitor_scheduler::Schedule;

use crate::oracle::{Expression, Random, changes};

/// Zones with large, small, odd and frequent changes, by day and at midnight.
const ZONES: [Tz; 14] = [
    Tz::America__New_York,
    Tz::Europe__Berlin,
    Tz::Australia__Lord_Howe,
    Tz::Antarctica__Troll,
    Tz::Africa__Casablanca,
    Tz::Asia__Gaza,
    Tz::America__Havana,
    Tz::America__Nuuk,
    Tz::Pacific__Chatham,
    Tz::America__Santiago,
    Tz::Atlantic__Azores,
    Tz::Africa__Cairo,
    Tz::Europe__Dublin,
    Tz::Asia__Beirut,
];

#[test]
fn runs_are_those_of_a_walk_over_every_minute() {
    let changes: Vec<_> = ZONES.iter().flat_map(|zone| changes(*zone).into_iter().map(move |at| (*zone, at))).collect();
    assert!(changes.len() >= 14 * 7, "{}", changes.len());
    let mut random = Random::new(34);
    let (mut walked, mut runs) = (0, 0);
    while walked < 400 {
        let (zone, change) = changes[random.below(changes.len() as u32) as usize];
        let Some(found) = compare(&mut random, zone, change) else { continue };
        walked += 1;
        runs += found;
    }
    assert!(runs > 4000, "only {runs} runs");
}

/// Compares a random schedule around a change of the clock, and returns the number of its runs; `None` when it is refused.
pub(crate) fn compare(random: &mut Random, zone: Tz, change: chrono::DateTime<chrono::Utc>) -> Option<usize> {
    let cron = random.expression(change.with_timezone(&zone).naive_local());
    let schedule = Schedule::cron(&cron, zone.name()).ok()?;
    let (from, to) = (change - TimeDelta::hours(40), change + TimeDelta::hours(40));
    let expected = Expression::new(&cron).runs(zone, from, to);
    let found: Vec<_> =
        std::iter::successors(schedule.next(from), |run| schedule.next(*run)).take_while(|run| *run <= to).collect();
    assert_eq!(found, expected, "{cron} in {zone} around {change}");
    // From any instant, not from runs alone.
    let minute = |random: &mut Random| TimeDelta::seconds(i64::from(random.below(80 * 3600)));
    let (first, second) = (from + minute(random), from + minute(random));
    let next = expected.iter().find(|run| **run > first);
    if let Some(next) = next {
        assert_eq!(schedule.next(first).as_ref(), Some(next), "{cron} in {zone} after {first}");
    }
    if let Some(last) = expected.iter().rev().find(|run| **run <= first) {
        assert_eq!(schedule.last_run(first).as_ref(), Some(last), "{cron} in {zone} up to {first}");
    }
    let between = expected.iter().filter(|run| **run > first && **run <= second).count() as u64;
    assert_eq!(schedule.count(first, second), between, "{cron} in {zone} between {first} and {second}");
    Some(found.len())
}
