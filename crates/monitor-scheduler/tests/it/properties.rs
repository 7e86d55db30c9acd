//! Properties of schedules that hold for all of them.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Timelike, Utc};
use chrono_tz::{TZ_VARIANTS, Tz};
use monitor_scheduler::{Invalid, MIN_DISTANCE, Schedule, parse_text};

use crate::oracle::{Random, changes, matches};

fn at(time: &str) -> DateTime<Utc> {
    time.parse().unwrap()
}

#[test]
fn an_expression_in_digits_gives_the_same_schedule() {
    let mut random = Random::new(1);
    let near = at("2026-03-29T01:00:00Z");
    let mut made = 0;
    for _ in 0..2000 {
        let cron = random.expression(near.naive_utc());
        let Ok(schedule) = Schedule::cron(&cron, "Europe/Berlin") else { continue };
        let again = Schedule::cron(schedule.expression(), schedule.zone()).unwrap();
        assert_eq!(again.expression(), schedule.expression(), "{cron}");
        assert!(!schedule.expression().contains(|c: char| c.is_alphabetic()), "{cron}");
        let from = near - TimeDelta::hours(30);
        let runs = |schedule: &Schedule| -> Vec<_> {
            std::iter::successors(schedule.next(from), |run| schedule.next(*run)).take(40).collect()
        };
        assert_eq!(runs(&again), runs(&schedule), "{cron}");
        made += 1;
    }
    assert!(made > 1000, "{made}");
}

#[test]
fn the_distance_is_that_of_the_minutes_of_a_day() {
    let mut random = Random::new(2);
    let (mut refused, mut accepted) = (0, 0);
    for _ in 0..3000 {
        let minute = match random.below(4) {
            0 => format!("{},{}", random.below(60), random.below(60)),
            1 => format!("*/{}", 1 + random.below(30)),
            2 => format!("{}-{}/{}", random.below(10), 20 + random.below(40), 1 + random.below(20)),
            _ => random.below(60).to_string(),
        };
        let hour = random.pick(&["*", "0", "23", "0,23", "*/2", "22-23", "0-1", "3"]);
        let minutes: Vec<u32> =
            (0..24 * 60).filter(|time| matches(hour, time / 60, 0) && matches(&minute, time % 60, 0)).collect();
        let next = minutes.iter().skip(1).copied().chain([minutes[0] + 24 * 60]);
        let distance = minutes.iter().zip(next).map(|(first, second)| second - first).min().unwrap();
        match Schedule::cron(&format!("{minute} {hour} * * *"), "UTC") {
            Ok(_) => {
                assert!(distance >= MIN_DISTANCE, "{minute} {hour}");
                accepted += 1;
            }
            Err(Invalid::TooClose { minutes, .. }) => {
                assert!(distance < MIN_DISTANCE && minutes < MIN_DISTANCE, "{minute} {hour}");
                refused += 1;
            }
            Err(other) => panic!("{minute} {hour}: {other}"),
        }
    }
    assert!(refused > 300 && accepted > 500, "{refused} {accepted}");
}

#[test]
fn two_runs_that_are_too_close_are_named() {
    let fault = |cron| Schedule::cron(cron, "UTC").unwrap_err();
    assert_eq!(
        fault("58,2 * * * *").to_string(),
        "runs at 00:58 and 01:02 are 4 minutes apart, and 5 minutes is the smallest distance"
    );
    let night = fault("0,58 0,23 * * *");
    assert_eq!(night, Invalid::TooClose { first: "23:58".to_owned(), second: "00:00".to_owned(), minutes: 2 });
    assert_eq!(night.member(), "cron");
    // Only where both days match is there a midnight between two runs.
    assert!(Schedule::cron("0,58 0,23 * * 1", "UTC").is_ok());
    assert!(Schedule::cron("0,58 0,23 * * 1,2", "UTC").is_err());
    assert!(Schedule::cron("0,58 0,23 1,31 * *", "UTC").is_err(), "31 January and 1 February");
    assert!(Schedule::cron("0,58 0,23 1,28 2,3 *", "UTC").is_err(), "28 February and 1 March of most years");
    assert!(Schedule::cron("0,58 0,23 1,30 2,3 *", "UTC").is_ok());
}

#[test]
fn what_never_fires_is_refused() {
    for cron in ["0 0 30 2 *", "0 0 31 4,6,9,11 *", "0 0 31 2 */2"] {
        assert!(matches!(Schedule::cron(cron, "UTC"), Err(Invalid::Never(_))), "{cron}");
    }
    let rare = Schedule::cron("0 0 29 2 */7", "UTC").unwrap();
    assert_eq!(rare.next(at("2026-01-01T00:00:00Z")), Some(at("2032-02-29T00:00:00Z")));
    assert_eq!(rare.last_run(at("2032-02-28T00:00:00Z")), Some(at("2004-02-29T00:00:00Z")));
    assert_eq!(rare.next(at("2099-01-01T00:00:00Z")), None, "2100 is no leap year, and nothing comes after it");
}

#[test]
fn zones_have_exact_names() {
    for zone in ["UTC", "Etc/GMT+5", "US/Pacific", "EST5EDT", "Europe/Kiev", "America/Argentina/ComodRivadavia"] {
        assert_eq!(Schedule::cron("0 9 * * *", zone).unwrap().zone(), zone);
    }
    for zone in ["", "utc", "Local", "UTC+1", "europe/berlin", "Europe/Berlin ", "../../etc/passwd", "Mars/Olympus"] {
        let fault = Schedule::cron("0 9 * * *", zone).unwrap_err();
        assert_eq!(fault.member(), "timezone", "{zone}");
    }
}

#[test]
fn texts_that_leave_the_minute_open_are_spread_evenly() {
    let mut minutes = [0_u32; 60];
    for monitor in 0..10_000 {
        let cron = parse_text("hourly", &format!("monitor {monitor}")).unwrap();
        let minute: usize = cron.split(' ').next().unwrap().parse().unwrap();
        minutes[minute] += 1;
    }
    let mean = 10_000.0 / 60.0;
    let chi_square: f64 = minutes.iter().map(|count| (f64::from(*count) - mean).powi(2) / mean).sum();
    // 59 degrees of freedom, p = 0.001.
    assert!(chi_square < 98.3, "{chi_square}");
}

#[test]
fn a_text_that_is_unknown_gets_the_forms() {
    for text in ["every 7 minutes", "every 5 hours", "monthly", "daily at 25:00", "каждый день", ""] {
        let fault = Schedule::text(text, "", "UTC").unwrap_err();
        assert_eq!(fault.member(), "text");
        assert!(fault.to_string().contains("every "), "{text}: {fault}");
    }
}

#[test]
fn no_clock_changes_twice_within_two_days() {
    for zone in TZ_VARIANTS {
        let changes = changes(zone);
        for pair in changes.windows(2) {
            assert!(pair[1] - pair[0] > TimeDelta::days(4), "{zone} {pair:?}");
        }
    }
}

#[test]
fn runs_follow_each_other_and_lie_on_whole_minutes() {
    let berlin = Schedule::cron("*/5 * * * *", "Europe/Berlin").unwrap();
    let odd = at("2026-01-01T00:04:59.999999Z");
    assert_eq!(berlin.next(odd), Some(at("2026-01-01T00:05:00Z")));
    assert_eq!(berlin.last_run(odd), Some(at("2026-01-01T00:00:00Z")));
    assert_eq!(berlin.last_run(at("2026-01-01T00:05:00Z")), Some(at("2026-01-01T00:05:00Z")));
    // A year with a day of 23 and one of 25 hours has as many runs as any other.
    assert_eq!(berlin.count(at("2026-01-01T00:00:00Z"), at("2027-01-01T00:00:00Z")), 365 * 288);
    let runs: BTreeSet<_> = std::iter::successors(berlin.next(odd), |run| berlin.next(*run)).take(3000).collect();
    assert_eq!(runs.len(), 3000);
    assert!(runs.iter().all(|run| run.second() == 0 && run.minute() % 5 == 0));
}

#[test]
fn a_day_that_a_country_leaves_out_has_no_runs() {
    // Samoa had no 30 December 2011.
    let noon = Schedule::cron("0 12 * * *", Tz::Pacific__Apia.name()).unwrap();
    assert_eq!(noon.next(at("2011-12-29T22:00:00Z")), Some(at("2011-12-30T22:00:00Z")));
    let every = Schedule::cron("30 * * * *", "Pacific/Apia").unwrap();
    assert_eq!(every.next(at("2011-12-30T09:30:00Z")), Some(at("2011-12-30T10:30:00Z")));
}
