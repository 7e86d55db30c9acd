//! Parts of a monitor as requests give them, made into what is stored: schedule, targets and webhook, without secrets.

use base::new_id;
use kernel::AppError;
use kernel::auth::Caller;
use monitor_scheduler::Schedule;
use serde_json::{Map, Value};
use store::monitors::{MonitorSecret, OF_THE_WEBHOOK, Target};
use wire::event::MONITOR;
use wire::{HiddenValues, Invalid, MonitorSchedule, MonitorTarget, WebhookConfig, When};

use crate::{MonitorsError, secrets};

/// Refuses teams whose pages leave no trace: a monitor keeps what it compares.
///
/// # Errors
/// [`AppError::Forbidden`].
pub(crate) fn check_team(caller: &Caller) -> Result<(), MonitorsError> {
    if caller.team.zero_data_retention && caller.team.id != kernel::DEFAULT_TEAM {
        return Err(AppError::Forbidden("monitors keep what they compare; this team has zero data retention").into());
    }
    Ok(())
}

/// Whether changes are judged, as answers say it.
pub(crate) fn is_judged(judge_enabled: Option<bool>, goal: Option<&str>) -> bool {
    judge_enabled.unwrap_or(goal.is_some())
}

/// Reads the schedule of a request. What a text leaves open is chosen by the id of the monitor.
///
/// # Errors
/// [`Invalid`] at the member at fault.
pub(crate) fn schedule(given: &MonitorSchedule, monitor: &str) -> Result<Schedule, Invalid> {
    let zone = given.timezone.as_deref().unwrap_or("UTC");
    let read = match &given.when {
        When::Cron(cron) => Schedule::cron(cron, zone),
        When::Text(text) => Schedule::text(text, monitor, zone),
    };
    read.map_err(|error| Invalid::at(format!("schedule.{}", error.member()), error.to_string()))
}

/// Targets and secrets as they are stored.
#[derive(Default)]
pub(crate) struct Stored {
    pub(crate) targets: Vec<Target>,
    pub(crate) secrets: Vec<MonitorSecret>,
    /// Targets as they were read, with their secrets.
    pub(crate) read: Vec<MonitorTarget>,
}

/// Target before an update.
pub(crate) struct Before {
    pub(crate) row: Target,
    pub(crate) hidden: HiddenValues,
}

/// Makes the targets of a request into rows. A target keeps the id of the one before that it names or equals, and masks
/// that are sent back keep their secrets.
///
/// # Errors
/// [`MonitorsError`] for a mask without a secret, and an id that the monitor does not have.
pub(crate) fn targets(
    monitor: &str,
    given: Vec<MonitorTarget>,
    mut before: Vec<Before>,
) -> Result<Stored, MonitorsError> {
    let mut stored = Stored::default();
    let named: Vec<Option<Before>> = given
        .iter()
        .map(|target| {
            let id = target.id?.to_string();
            let at = before.iter().position(|before| before.row.id == id)?;
            Some(before.swap_remove(at))
        })
        .collect();
    for (index, (target, named)) in given.into_iter().zip(named).enumerate() {
        if target.id.is_some() && named.is_none() {
            return Err(Invalid::at(format!("targets[{index}].id"), "is no target of this monitor").into());
        }
        let known = named.or_else(|| equal(&target, &mut before));
        let mut members = target.given;
        if let Some(known) = &known {
            wire::reveal(&mut members, &known.hidden);
        }
        if let Some(path) = wire::masked_path(&members) {
            let why = "is a mask without a known value; send the value itself";
            return Err(Invalid::at(format!("targets[{index}].{path}"), why).into());
        }
        let read = wire::decode_monitor_target(Value::Object(members.clone()))
            .map_err(|invalid| MonitorsError::from(invalid).below(&format!("targets[{index}]")))?;
        let hidden = wire::hide_target(&mut members);
        let id = known.map_or_else(|| new_id().to_string(), |known| known.row.id);
        stored.secrets.extend(secrets::row(&id, &hidden)?);
        stored.targets.push(Target {
            id,
            monitor_id: monitor.to_owned(),
            position: i32::try_from(index).unwrap_or(i32::MAX),
            kind: read.kind().as_str().to_owned(),
            spec: Value::Object(members).to_string(),
        });
        stored.read.push(read);
    }
    Ok(stored)
}

/// Takes the target before that equals this one, its secrets or their masks included.
fn equal(target: &MonitorTarget, before: &mut Vec<Before>) -> Option<Before> {
    let mut hidden = target.given.clone();
    let secrets = wire::hide_target(&mut hidden);
    let is_equal = |before: &Before| {
        let spec: Option<Map<String, Value>> = serde_json::from_str(&before.row.spec).ok();
        spec.as_ref() == Some(&hidden) && (secrets.is_empty() || secrets == before.hidden)
    };
    let at = before.iter().position(is_equal)?;
    Some(before.remove(at))
}

/// Makes the webhook of a request into what is stored. Masks that are sent back keep their secrets.
///
/// # Errors
/// [`MonitorsError`] for a mask without a secret, and a URL that cannot be called.
pub(crate) fn webhook(
    config: &WebhookConfig,
    before: &HiddenValues,
) -> Result<(String, Option<MonitorSecret>), MonitorsError> {
    let Value::Object(mut members) = serde_json::to_value(config).map_err(AppError::internal)? else {
        return Err(AppError::internal("a webhook that is no object").into());
    };
    wire::reveal(&mut members, before);
    if let Some(path) = wire::masked_path(&members) {
        let why = "is a mask without a known value; send the value itself";
        return Err(Invalid::at(format!("webhook.{path}"), why).into());
    }
    let whole = wire::decode_webhook(&MONITOR, Value::Object(members.clone()))?;
    ::runs::webhooks::Hook::check(Some(&whole), false)?;
    let hidden = wire::hide_webhook(&mut members);
    Ok((Value::Object(members).to_string(), secrets::row(OF_THE_WEBHOOK, &hidden)?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn target(value: Value) -> MonitorTarget {
        wire::decode_monitor_target(value).unwrap()
    }

    fn scrape(url: &str, cookie: &str) -> MonitorTarget {
        target(json!({ "type": "scrape", "urls": [url], "scrapeOptions": { "headers": { "Cookie": cookie } } }))
    }

    /// Returns the targets as an update finds them.
    fn before(stored: Stored) -> Vec<Before> {
        let Stored { targets, secrets, .. } = stored;
        let hidden = |row: &Target| crate::secrets::of(&secrets, &row.id).unwrap();
        targets.into_iter().map(|row| Before { hidden: hidden(&row), row }).collect()
    }

    #[test]
    fn secrets_are_kept_apart_and_come_back_by_their_masks() {
        let first = targets("m", vec![scrape("https://a.test/", "hush")], Vec::new()).unwrap();
        assert!(!first.targets[0].spec.contains("hush") && first.targets[0].spec.contains("***"));
        let id = first.targets[0].id.clone();
        let again = targets("m", vec![scrape("https://a.test/", "***")], before(first)).unwrap();
        assert_eq!(again.targets[0].id, id, "the same target");
        assert!(again.secrets[0].body.expose().contains("hush"));
        let lost = targets("m", vec![scrape("https://b.test/", "***")], before(again)).map(|_| ()).unwrap_err();
        assert!(lost.to_string().contains("targets[0].scrapeOptions.headers.Cookie"), "{lost}");
    }

    #[test]
    fn a_target_keeps_its_id_when_it_is_named_or_equal() {
        let two = vec![scrape("https://a.test/", "x"), scrape("https://b.test/", "x")];
        let first = targets("m", two, Vec::new()).unwrap();
        let ids: Vec<String> = first.targets.iter().map(|target| target.id.clone()).collect();
        let mut changed = scrape("https://a.test/new", "x");
        changed.id = Some(ids[0].parse().unwrap());
        let third = scrape("https://c.test/", "x");
        let after = targets("m", vec![scrape("https://b.test/", "x"), changed, third], before(first)).unwrap();
        assert_eq!((&after.targets[0].id, &after.targets[1].id), (&ids[1], &ids[0]));
        assert!(!ids.contains(&after.targets[2].id));
        let mut foreign = scrape("https://a.test/", "x");
        foreign.id = Some(base::new_id());
        assert!(targets("m", vec![foreign], before(after)).is_err());
    }

    #[test]
    fn faults_of_a_schedule_name_its_member() {
        let given = |when, zone: &str| MonitorSchedule { when, timezone: Some(zone.to_owned()) };
        let path = |given: &MonitorSchedule| schedule(given, "m").map(|_| ()).unwrap_err().fields[0].path.clone();
        assert_eq!(path(&given(When::Cron("x".to_owned()), "UTC")), "schedule.cron");
        assert_eq!(path(&given(When::Text("now and then".to_owned()), "UTC")), "schedule.text");
        assert_eq!(path(&given(When::Text("daily".to_owned()), "Mars/Olympus")), "schedule.timezone");
        assert_eq!(
            schedule(&given(When::Text("daily at 9am".to_owned()), "UTC"), "m").unwrap().expression(),
            "0 9 * * *"
        );
    }
}
