//! Judges cases of schedules: files of cron expressions through changes of the clock, and of texts.

use chrono::{DateTime, Utc};
use monitor_scheduler::{Schedule, parse_text};
use serde_json::{Value, json};

/// Counts of one file.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Scored cases that are as expected.
    pub(crate) passed: usize,
    /// Scored cases that are not, each with its fault.
    pub(crate) failed: Vec<String>,
    /// Cases that are not scored, or that are about a request as a whole.
    pub(crate) left_out: usize,
}

/// Judges all cases of a file.
pub(crate) fn judge_all(file: &Value) -> Tally {
    let mut tally = Tally::default();
    for case in file["cases"].as_array().into_iter().flatten() {
        if case["scored"] == false {
            tally.left_out += 1;
            continue;
        }
        match judge(case) {
            None => tally.left_out += 1,
            Some(None) => tally.passed += 1,
            Some(Some(fault)) => tally.failed.push(format!("{} ({}): {fault}", case["id"], case["note"])),
        }
    }
    tally
}

/// Returns the fault of a case, if it has one; `None` where the request decides, not the schedule.
fn judge(case: &Value) -> Option<Option<String>> {
    let schedule = if case["schedule"].is_object() { &case["schedule"] } else { case };
    let zone = match &schedule["timezone"] {
        Value::Null => "UTC",
        zone => zone.as_str()?,
    };
    let made = match (schedule["cron"].as_str(), schedule["text"].as_str(), case["kind"].as_str()?) {
        // A text case has the cron that is expected beside the text.
        (_, Some(text), "text" | "text-reject" | "spread") => {
            let id = case["monitorId"].as_str().unwrap_or("a monitor");
            Schedule::text(text, id, zone).map(|schedule| (schedule, id))
        }
        // How close runs may be is a question of its own.
        (Some(cron), None, "fire") => Schedule::at_any_distance(cron, zone).map(|schedule| (schedule, "")),
        // An unknown zone; other faults are those of the members.
        (None, Some(text), "schedule-reject") if schedule.get("jitter").is_none() => {
            Schedule::text(text, "", zone).map(|schedule| (schedule, ""))
        }
        (Some(cron), None, _) => Schedule::cron(cron, zone).map(|schedule| (schedule, "")),
        _ => return None,
    };
    let expected = [&case["expect"], &case["expected"]].into_iter().find(|expected| expected.is_object());
    let is_refused = expected.is_some_and(|expected| expected["http"] == 400);
    Some(match made {
        Err(fault) if is_refused => fault.to_string().is_empty().then(|| "no reason".to_owned()),
        Err(fault) => Some(fault.to_string()),
        Ok((schedule, _)) if is_refused => Some(format!("accepted as {}", schedule.expression())),
        Ok((schedule, id)) => fault_of(case, &schedule, id),
    })
}

fn fault_of(case: &Value, schedule: &Schedule, id: &str) -> Option<String> {
    let cron = schedule.expression();
    match case["kind"].as_str()? {
        "fire" => fires(case, schedule),
        "spread" => sets(&case["expected_for_id"], cron, id),
        "text" if case["cron_regex"].is_string() => text(case, schedule, id),
        "text" | "cron" => sets(&case["expect"], cron, id).or_else(|| {
            let zone = case["expect"]["timezone"].as_str()?;
            (zone != schedule.zone()).then(|| format!("the zone is {}", schedule.zone()))
        }),
        _ => None,
    }
}

fn fires(case: &Value, schedule: &Schedule) -> Option<String> {
    let mut at: DateTime<Utc> = case["from"].as_str()?.parse().ok()?;
    for expected in case["expected_next"].as_array()? {
        let next = schedule.next(at);
        if next != expected.as_str()?.parse().ok() {
            return Some(format!("after {at} comes {next:?}, not {expected}"));
        }
        at = next?;
    }
    None
}

/// Compares the distances of a text schedule, and whether the id decides.
fn text(case: &Value, schedule: &Schedule, id: &str) -> Option<String> {
    let words = case["text"].as_str()?;
    let ids = (0..200).map(|number| format!("{id} {number}"));
    let crons: std::collections::HashSet<String> = ids.filter_map(|id| parse_text(words, &id).ok()).collect();
    if (crons.len() > 1) != case["spread_by_monitor_id"].as_bool()? {
        return Some(format!("{} different expressions for 200 ids", crons.len()));
    }
    let utc = Schedule::cron(schedule.expression(), "UTC").ok()?;
    let first = utc.next(DateTime::UNIX_EPOCH)?;
    let gap = (utc.next(first)? - first).num_minutes();
    let expected = case["gap_minutes"].as_i64()?;
    let pattern = case["cron_regex"].as_str()?;
    let exact = pattern.trim_matches(['^', '$']).replace('\\', "");
    if crons.len() == 1 && schedule.expression() != exact {
        return Some(format!("{}, not {exact}", schedule.expression()));
    }
    (gap != expected).then(|| format!("{gap} minutes between two runs, not {expected}"))
}

/// Compares the minutes, hours and weekdays of an expression in digits.
fn sets(expected: &Value, cron: &str, id: &str) -> Option<String> {
    let [minute, hour, "*", "*", weekday] = cron.split(' ').collect::<Vec<_>>()[..] else {
        return Some(format!("{cron} has another form"));
    };
    let minutes = match expected["minutes"]["spread"].as_u64() {
        None => expected["minutes"].clone(),
        Some(spread) => {
            let first = spread_number(id) % spread;
            let step = expected["minutes"]["every"].as_u64().unwrap_or(60);
            json!((first..60).step_by(step as usize).collect::<Vec<_>>())
        }
    };
    let found = [values(minute, 59), values(hour, 23), values(weekday, 6)];
    let wanted = [&minutes, &expected["hours"], &expected["weekdays"]];
    let differs = found.iter().zip(wanted).find(|(found, wanted)| json!(found) != **wanted);
    differs.map(|(found, wanted)| format!("{found:?}, not {wanted} ({cron})"))
}

fn spread_number(id: &str) -> u64 {
    use sha2::Digest;
    let hash = sha2::Sha256::digest(id);
    hash[..4].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Returns the values of a field that counts from 0.
fn values(field: &str, max: u32) -> Vec<u32> {
    (0..=max).filter(|value| crate::oracle::matches(field, *value, 0)).collect()
}
