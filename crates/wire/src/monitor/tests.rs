//! Every bound of the bodies and queries of monitors.

#![expect(clippy::needless_pass_by_value, reason = "`json!` bodies are written in place")]

use serde_json::{Value, json};

use super::*;
use crate::query::QueryParams as _;

fn with(change: Value) -> Value {
    let mut body = json!({ "name": "n", "schedule": { "cron": "0 * * * *" }, "targets": [scrape()] });
    for (key, value) in change.as_object().unwrap() {
        body[key] = value.clone();
    }
    body
}

fn scrape() -> Value {
    json!({ "type": "scrape", "urls": ["https://a.test/"] })
}

fn search(change: Value) -> Value {
    let mut target = json!({ "type": "search", "queries": ["q"] });
    for (key, value) in change.as_object().unwrap() {
        target[key] = value.clone();
    }
    with(json!({ "goal": "g", "targets": [target] }))
}

fn accepted(body: Value) -> CreateMonitor {
    decode_create_monitor(body.clone()).unwrap_or_else(|invalid| panic!("{body}: {invalid}"))
}

fn refused(body: Value, message: &str) {
    match decode_create_monitor(body.clone()) {
        Err(invalid) => assert!(invalid.message.contains(message), "{body}: {invalid}"),
        Ok(monitor) => panic!("{body} gave {monitor:?}"),
    }
}

fn text(length: usize) -> String {
    "x".repeat(length)
}

#[test]
fn defaults_of_a_monitor() {
    let monitor =
        accepted(with(json!({ "origin": "python-sdk@4", "integration": "cli", "webhook": null, "goal": null })));
    assert_eq!((monitor.name.as_str(), monitor.goal, monitor.judge_enabled), ("n", None, None));
    assert_eq!((monitor.webhook, monitor.notification, monitor.retention_days), (None, None, 30));
    assert_eq!(monitor.schedule, MonitorSchedule { when: When::Cron("0 * * * *".into()), timezone: None });
    assert_eq!(monitor.attribution.origin.as_deref(), Some("python-sdk@4"));
    let TargetWork::Scrape(target) = &monitor.targets[0].work else { panic!() };
    assert_eq!(target.urls, ["https://a.test/"]);
}

#[test]
fn a_body_is_decoded_again_to_the_same_monitor() {
    let body = json!({
        "name": "n",
        "schedule": { "text": "hourly", "timezone": "Europe/Berlin" },
        "goal": "g",
        "judgeEnabled": true,
        "targets": [
            { "id": "00000000-0000-7000-8000-000000000000", "type": "scrape", "urls": ["https://a.test/"], "note": [1] },
            { "type": "crawl", "url": "https://a.test/", "crawlOptions": { "limit": 3 } },
            { "type": "search", "queries": ["q"] },
        ],
        "webhook": { "url": "https://hook.test/", "headers": { "A": "b" }, "metadata": { "a": 1 } },
        "notification": { "email": { "recipients": ["a@example.com"], "includeDiffs": true } },
        "retentionDays": 7,
        "origin": "o",
    });
    let monitor = accepted(body);
    assert_eq!(accepted(serde_json::to_value(&monitor).unwrap()), monitor);
    let update = json!({ "name": "m", "status": "paused", "goal": null, "webhook": null, "targets": [scrape()] });
    let update = decode_update_monitor(update).unwrap();
    assert_eq!(decode_update_monitor(serde_json::to_value(&update).unwrap()), Ok(update));
}

#[test]
fn every_fault_has_its_path() {
    let body = json!({
        "name": "", "schedule": {}, "retentionDays": 0,
        "targets": [scrape(), scrape(), scrape(), { "type": "scrape", "urls": ["nope"] }, { "type": "page" }],
        "colour": 1,
    });
    let invalid = decode_create_monitor(body).unwrap_err();
    let paths: Vec<&str> = invalid.fields.iter().map(|fault| fault.path.as_str()).collect();
    assert_eq!(paths, ["name", "schedule.cron", "targets[3].urls[0]", "targets[4].type", "retentionDays", "colour"]);
}

#[test]
fn names_goals_and_retention() {
    accepted(with(json!({ "name": text(256), "goal": text(2000), "retentionDays": 1 })));
    accepted(with(json!({ "retentionDays": 365 })));
    refused(with(json!({ "name": null })), "`name` is required");
    refused(with(json!({ "name": text(257) })), "`name` must have 1 to 256 characters, has 257");
    refused(with(json!({ "name": "" })), "`name` must have 1 to 256 characters");
    refused(with(json!({ "name": "  " })), "`name` must not be blank");
    refused(with(json!({ "name": "a\r\nBcc: x" })), "`name` must not contain control characters");
    refused(with(json!({ "goal": text(2001) })), "`goal` must have 0 to 2000 characters");
    assert_eq!(accepted(with(json!({ "goal": " \n" }))).goal, None);
    for days in [json!(0), json!(366), json!(1.5)] {
        refused(with(json!({ "retentionDays": days })), "`retentionDays` must be a whole number from 1 to 365");
    }
    refused(with(json!({ "judgeEnabled": 1 })), "`judgeEnabled` must be true or false");
}

#[test]
fn schedules() {
    let schedule = |value: Value| with(json!({ "schedule": value }));
    assert_eq!(accepted(schedule(json!({ "cron": "0 * * * *", "timezone": null }))).schedule.timezone, None);
    let phrase = accepted(schedule(json!({ "text": "daily at 9am", "timezone": "UTC" }))).schedule;
    let expect = MonitorSchedule { when: When::Text("daily at 9am".into()), timezone: Some("UTC".into()) };
    assert_eq!(phrase, expect);
    let blanks = accepted(schedule(json!({ "text": "EVERY  30\tMINUTES\n" }))).schedule;
    assert_eq!(blanks.when, When::Text("EVERY 30 MINUTES".into()));
    refused(with(json!({ "schedule": null })), "`schedule` is required");
    refused(schedule(json!("hourly")), "`schedule` must be an object");
    refused(schedule(json!({ "timezone": "UTC" })), "`schedule.cron` or `text` is required");
    refused(
        schedule(json!({ "cron": "0 * * * *", "text": "hourly" })),
        "`schedule.text` cannot be combined with `cron`",
    );
    refused(schedule(json!({ "cron": text(257) })), "`schedule.cron` must have 1 to 256 characters");
    refused(schedule(json!({ "text": "hourly", "timezone": text(65) })), "`schedule.timezone` must have 1 to 64");
    refused(schedule(json!({ "text": "hourly", "zone": "UTC" })), "`schedule.zone`");
}

#[test]
fn numbers_of_targets() {
    accepted(with(json!({ "targets": vec![scrape(); 50] })));
    refused(with(json!({ "targets": [] })), "`targets` must have 1 to 50 entries, has 0");
    refused(with(json!({ "targets": vec![scrape(); 51] })), "`targets` must have 1 to 50 entries, has 51");
    let urls =
        |count: usize| with(json!({ "targets": [{ "type": "scrape", "urls": vec!["https://a.test/"; count] }] }));
    accepted(urls(100));
    refused(urls(0), "`targets[0].urls` must have 1 to 100 entries");
    refused(urls(101), "`targets[0].urls` must have 1 to 100 entries, has 101");
    refused(with(json!({ "targets": [{ "type": "scrape" }] })), "`targets[0].urls` is required");
    refused(with(json!({ "targets": [{ "urls": ["https://a.test/"] }] })), "`targets[0].type` is required");
    refused(with(json!({ "targets": ["https://a.test/"] })), "`targets[0]` must be an object");
    let id = "00000000-0000-7000-8000-000000000001";
    let twice =
        json!([{ "id": id, "type": "scrape", "urls": ["a.test"] }, { "id": id, "type": "crawl", "url": "a.test" }]);
    refused(with(json!({ "targets": twice })), "`targets[1].id` repeats the id of an earlier target");
    let no_id = json!([{ "id": "1", "type": "scrape", "urls": ["a.test"] }]);
    refused(with(json!({ "targets": no_id })), "`targets[0].id` must be an id");
}

#[test]
fn unknown_keys_stay_on_targets_only() {
    let target = json!({ "type": "scrape", "urls": ["https://a.test/"], "label": "x", "none": null, "urlz": [] });
    let given = &accepted(with(json!({ "targets": [target] }))).targets[0].given;
    let expect = json!({ "type": "scrape", "urls": ["https://a.test/"], "label": "x", "urlz": [] });
    assert_eq!(Value::Object(given.clone()), expect);
    let large = json!({ "type": "scrape", "urls": ["https://a.test/"], "label": text(17_000) });
    refused(with(json!({ "targets": [large] })), "`targets[0].label` and further unknown keys must not have more than");
    let options = json!({ "type": "scrape", "urls": ["https://a.test/"], "scrapeOptions": { "mobil": true } });
    refused(with(json!({ "targets": [options] })), "`targets[0].scrapeOptions.mobil` (did you mean `mobile`?)");
    refused(with(json!({ "notification": { "sms": {} } })), "`notification.sms`");
    refused(with(json!({ "notification": { "email": { "to": [] } } })), "`notification.email.to`");
    refused(with(json!({ "webhook": { "url": "https://a.test/", "secret": "" } })), "`webhook.secret`");
    assert!(decode_update_monitor(json!({ "retention": 1 })).is_err());
}

#[test]
fn crawl_targets_take_the_options_of_crawls() {
    let crawl = |value: Value| with(json!({ "targets": [value] }));
    let whole = json!({
        "type": "crawl", "url": "https://a.test/docs",
        "crawlOptions": {
            "limit": 5, "includePaths": ["^/docs"], "ignoreRobotsTxt": false, "zeroDataRetention": false,
            "prompt": "only docs", "origin": "x", "deduplicateSimilarURLs": false,
        },
        "scrapeOptions": { "onlyMainContent": false, "formats": ["markdown", { "type": "changeTracking" }] },
    });
    let monitor = accepted(crawl(whole));
    let TargetWork::Crawl(request) = &monitor.targets[0].work else { panic!() };
    assert_eq!((request.options.limit, request.options.deduplicate_similar_urls), (5, false));
    assert!(!request.options.scrape_options.only_main_content);
    assert_eq!(request.prompt.as_deref(), Some("only docs"));
    let nested = json!({ "type": "crawl", "url": "a.test", "crawlOptions": { "scrapeOptions": { "mobile": true } } });
    let monitor = accepted(crawl(nested));
    let TargetWork::Crawl(request) = &monitor.targets[0].work else { panic!() };
    assert!(request.options.scrape_options.mobile && request.options.limit == crate::DEFAULT_CRAWL_LIMIT);
    refused(crawl(json!({ "type": "crawl" })), "`targets[0].url` is required");
    refused(
        crawl(json!({ "type": "crawl", "url": "ftp://a.test" })),
        "`targets[0].url` must be an absolute http or https",
    );
    let limit = json!({ "type": "crawl", "url": "a.test", "crawlOptions": { "limit": 0 } });
    refused(crawl(limit), "`targets[0].crawlOptions.limit` must be a whole number");
    let unknown = json!({ "type": "crawl", "url": "a.test", "crawlOptions": { "limits": 5 } });
    refused(crawl(unknown), "`targets[0].crawlOptions.limits` (did you mean `limit`?)");
    let private = json!({ "type": "crawl", "url": "a.test", "crawlOptions": { "zeroDataRetention": true } });
    refused(crawl(private), "`targets[0].crawlOptions.zeroDataRetention` must be false");
    let both = json!({
        "type": "crawl", "url": "a.test", "scrapeOptions": {}, "crawlOptions": { "scrapeOptions": { "mobile": true } },
    });
    refused(crawl(both), "`targets[0].crawlOptions.scrapeOptions` cannot be combined");
}

#[test]
fn search_targets() {
    let monitor = accepted(search(json!({ "queries": [" q "] })));
    let TargetWork::Search(target) = &monitor.targets[0].work else { panic!() };
    assert_eq!(
        (&target.queries[..], target.search_window, target.max_results),
        (&["q".to_owned()][..], SearchWindow::Day, 10)
    );
    assert_eq!(
        (&monitor.targets[0].given["searchWindow"], &monitor.targets[0].given["maxResults"]),
        (&json!("24h"), &json!(10))
    );
    for window in ["5m", "15m", "1h", "6h", "24h", "7d"] {
        accepted(search(json!({ "searchWindow": window })));
    }
    refused(search(json!({ "searchWindow": "2h" })), "must be `5m`, `15m`, `1h`, `6h`, `24h` or `7d`");
    accepted(search(json!({ "queries": vec![text(256); 12], "maxResults": 1 })));
    accepted(search(json!({ "maxResults": 50 })));
    refused(search(json!({ "queries": [] })), "`targets[0].queries` must have 1 to 12 entries");
    refused(search(json!({ "queries": vec!["q"; 13] })), "`targets[0].queries` must have 1 to 12 entries, has 13");
    refused(search(json!({ "queries": [text(257)] })), "`targets[0].queries[0]` must have 1 to 256 characters");
    refused(search(json!({ "queries": ["  "] })), "`targets[0].queries[0]` must not be blank");
    for results in [0, 51] {
        refused(
            search(json!({ "maxResults": results })),
            "`targets[0].maxResults` must be a whole number from 1 to 50",
        );
    }
    let hosts = |count: usize| -> Vec<String> { (0..count).map(|number| format!("h{number}.test")).collect() };
    accepted(search(json!({ "includeDomains": hosts(50), "excludeDomains": [] })));
    refused(search(json!({ "excludeDomains": hosts(51) })), "`targets[0].excludeDomains` must have 0 to 50 entries");
    refused(
        search(json!({ "includeDomains": ["https://a.test"] })),
        "`targets[0].includeDomains[0]` must be a host name",
    );
    let both = json!({ "includeDomains": ["a.test"], "excludeDomains": ["b.test"] });
    refused(search(both), "`targets[0].excludeDomains` cannot be combined with `includeDomains`");
}

#[test]
fn a_search_needs_a_goal_unless_nothing_is_judged() {
    let body = |goal: Value, judge: Value| {
        let search = json!({ "type": "search", "queries": ["q"] });
        with(json!({ "targets": [scrape(), search], "goal": goal, "judgeEnabled": judge }))
    };
    accepted(body(json!("g"), json!(null)));
    accepted(body(json!(null), json!(false)));
    for (goal, judge) in [(json!(null), json!(null)), (json!(" "), json!(null)), (json!(null), json!(true))] {
        refused(body(goal, judge), "`goal` is required for search targets, unless `judgeEnabled` is false");
    }
    let targets = accepted(body(json!("g"), json!(null))).targets;
    assert!(
        check_search_goal(&targets, None, Some(false)).is_ok() && check_search_goal(&targets, Some("g"), None).is_ok()
    );
    assert_eq!(check_search_goal(&targets, None, None).unwrap_err().fields[0].path, "goal");
    assert!(check_search_goal(&targets[..1], None, None).is_ok());
}

#[test]
fn notifications() {
    let mail = |value: Value| with(json!({ "notification": { "email": value } }));
    let read = |body: Value| accepted(body).notification.unwrap().email.unwrap();
    let expect = EmailNotification { enabled: true, recipients: None, include_diffs: false };
    assert_eq!(read(mail(json!({}))), expect);
    assert_eq!(accepted(with(json!({ "notification": {} }))).notification, Some(MonitorNotification { email: None }));
    let twice = json!({ "enabled": false, "recipients": ["a@example.com", "A@Example.com", "b@example.com"], "includeDiffs": true });
    assert_eq!(read(mail(twice)).recipients.unwrap(), ["a@example.com", "b@example.com"]);
    let many = |count: usize| -> Vec<String> { (0..count).map(|number| format!("a{number}@example.com")).collect() };
    accepted(mail(json!({ "recipients": many(25) })));
    refused(mail(json!({ "recipients": many(26) })), "`notification.email.recipients` must have 0 to 25 entries");
    refused(mail(json!({ "recipients": ["nope"] })), "`notification.email.recipients[0]` must be an e-mail address");
    let header = json!({ "recipients": ["a@example.com\nBcc: b@example.com"] });
    refused(mail(header), "`notification.email.recipients[0]` must be an e-mail address");
}

#[test]
fn webhooks_have_the_events_of_monitors() {
    let events = |value: Value| with(json!({ "webhook": { "url": "https://hook.test/", "events": value } }));
    let spelled = |body: Value| -> Vec<String> {
        accepted(body).webhook.unwrap().events.into_iter().map(crate::EventType::spelled).collect()
    };
    let all = ["monitor.page", "monitor.check.completed"];
    assert_eq!(spelled(with(json!({ "webhook": "https://hook.test/" }))), all);
    assert_eq!(spelled(events(json!(["monitor.check.completed", "monitor.page"]))), all);
    assert_eq!(spelled(events(json!(["monitor.page"]))), ["monitor.page"]);
    refused(events(json!(["crawl.page"])), "`webhook.events[0]` must be `monitor.page` or `monitor.check.completed`");
    refused(events(json!(["completed"])), "must be `monitor.page` or `monitor.check.completed`");
    assert_eq!(MonitorEvent::ALL.iter().map(|event| event.as_str()).collect::<Vec<_>>(), all);
}

#[test]
fn an_update_tells_null_from_absent() {
    let update = decode_update_monitor(json!({ "origin": "js" })).unwrap();
    assert_eq!((update.goal, update.webhook, update.notification), (None, None, None));
    let update = decode_update_monitor(json!({ "goal": null, "webhook": null, "notification": null, "name": null }));
    let update = update.unwrap();
    assert_eq!(
        (update.goal, update.webhook, update.notification, update.name),
        (Some(None), Some(None), Some(None), None)
    );
    let update = decode_update_monitor(json!({ "goal": "g", "status": "active" })).unwrap();
    assert_eq!((update.goal, update.status), (Some(Some("g".to_owned())), Some(MonitorStatus::Active)));
    let deleted = decode_update_monitor(json!({ "status": "deleted" })).unwrap_err();
    assert_eq!(deleted.message, "`status` must be `active` or `paused`");
    assert!(decode_update_monitor(json!({ "targets": [] })).is_err());
    assert!(decode_update_monitor(json!({ "targets": [{ "type": "search", "queries": ["q"] }] })).is_ok());
}

#[test]
fn a_run_needs_no_body() {
    assert!(decode_run_monitor(json!({ "origin": "js-sdk@4" })).is_ok());
    assert!(decode_run_monitor(json!({ "force": true })).is_err());
}

#[test]
fn stored_targets_are_read_again() {
    let body = search(json!({ "searchWindow": "1h", "label": "x" }));
    let target = accepted(body).targets.remove(0);
    assert_eq!(decode_monitor_target(Value::Object(target.given.clone())), Ok(target));
}

#[test]
fn queries() {
    let check = |query: &str, want: Result<(u32, u64, Option<CheckStatus>), &str>| {
        let got = ChecksQuery::decode(query).map(|query| (query.limit, query.skip, query.status));
        assert_eq!(got.map_err(|invalid| invalid.message), want.map_err(str::to_owned), "{query}");
    };
    check("", Ok((25, 0, None)));
    check("limit=100&skip=7&status=skipped_no_credits", Ok((100, 7, Some(CheckStatus::SkippedNoCredits))));
    check("offset=7", Ok((25, 7, None)));
    check("limit=&skip=&status=", Ok((25, 0, None)));
    check("limit=0", Err("`limit` must be a whole number from 1 to 100"));
    check("limit=101", Err("`limit` must be a whole number from 1 to 100"));
    check("skip=-1", Err("`skip` must be a whole number from 0 to 1000000000"));
    let words = "`status` must be `queued`, `running`, `completed`, `failed`, `partial`, `skipped_overlap` or \
                 `skipped_no_credits`";
    check("status=done", Err(words));
    assert_eq!(MonitorsQuery::decode("limit=3&offset=4"), Ok(MonitorsQuery { limit: 3, offset: 4 }));
    let pages = CheckQuery { limit: 1, skip: 2, status: Some(CheckPageStatus::Changed) };
    assert_eq!(CheckQuery::decode("limit=1&skip=2&status=changed"), Ok(pages));
    let faults = CheckQuery::decode("status=completed&limit=x").unwrap_err();
    assert_eq!(faults.fields.len(), 2);
}

#[test]
fn answers_have_what_clients_demand() {
    let now = base::Timestamp::UNIX_EPOCH;
    let id = uuid::Uuid::nil();
    let view = MonitorView {
        id,
        name: "n".into(),
        status: MonitorStatus::Active,
        schedule: ScheduleView { cron: "0 * * * *".into(), timezone: "UTC".into() },
        next_run_at: None,
        last_run_at: None,
        current_check_id: None,
        goal: None,
        judge_enabled: false,
        targets: Vec::new(),
        webhook: None,
        notification: None,
        email_recipient_subscriptions: Vec::new(),
        warning: None,
        retention_days: 30,
        estimated_credits_per_month: Some(720),
        last_check_summary: None,
        created_at: now,
        updated_at: now,
    };
    let json = serde_json::to_value(&view).unwrap();
    for key in ["nextRunAt", "lastRunAt", "currentCheckId", "goal", "webhook", "notification", "lastCheckSummary"] {
        assert_eq!(json.get(key), Some(&Value::Null), "{key}");
    }
    assert_eq!((&json["judgeEnabled"], &json["schedule"]["timezone"]), (&json!(false), &json!("UTC")));
    assert_eq!(json.get("emailRecipientSubscriptions"), None);
    assert_eq!(serde_json::from_value::<MonitorView>(json).unwrap(), view);
    let judgment = Judgment {
        meaningful: true,
        confidence: JudgmentConfidence::High,
        reason: "r".into(),
        meaningful_changes: vec![MeaningfulChange {
            kind: ChangeType::Added,
            before: None,
            after: Some("a".into()),
            reason: "r".into(),
        }],
        fields: Vec::new(),
    };
    let expect = json!({
        "meaningful": true, "confidence": "high", "reason": "r", "fields": [],
        "meaningfulChanges": [{ "type": "added", "before": null, "after": "a", "reason": "r" }],
    });
    assert_eq!(serde_json::to_value(judgment).unwrap(), expect);
}
