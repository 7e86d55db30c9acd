//! Comparison of a played scenario with its expectation.

use std::collections::BTreeMap;

use base::Timestamp;
use serde_json::{Value, json};
use testkit::TakenMail;

use super::{Player, at};

impl Player {
    /// Returns the events in the order of checks: those of pages by URL and status, then the end.
    fn events(&self) -> Vec<Value> {
        let base = self.world.site.url("/").to_string();
        let mut by_check: Vec<(String, Vec<Value>)> = Vec::new();
        for seen in self.world.site.requests().iter().filter(|seen| seen.path == "/hook") {
            let body: Value = serde_json::from_slice(&seen.body).unwrap();
            let id = body["id"].as_str().unwrap().to_owned();
            let data = &body["data"][0];
            let url = data["url"].as_str().map(|url| url.replacen(&base, "/", 1));
            let event = json!([body["type"], url, data["status"]]);
            match by_check.iter_mut().find(|(check, _)| *check == id) {
                Some((_, events)) => events.push(event),
                None => by_check.push((id, vec![event])),
            }
        }
        by_check.sort_by(|(one, _), (other, _)| one.cmp(other));
        by_check.into_iter().flat_map(|(_, events)| sorted(events)).collect()
    }

    /// Returns the number of requests by path.
    fn requests(&self) -> BTreeMap<String, u64> {
        let mut requests = BTreeMap::new();
        for seen in self.world.site.requests() {
            if !["/hook", "/robots.txt", "/sitemap.xml"].contains(&seen.path.as_str()) {
                *requests.entry(seen.path.clone()).or_default() += 1;
            }
        }
        requests
    }

    /// Returns what differs from the expectation.
    pub(super) async fn faults(&self, expect: &Value) -> Vec<String> {
        let mut faults = Vec::new();
        let mut differ = |what: &str, got: Value, want: &Value| {
            if got != *want {
                faults.push(format!("{what}: got {got}, want {want}"));
            }
        };
        let checks: Vec<&Value> = self.checks.values().collect();
        if let Some(wanted) = expect["checks"].as_array() {
            differ("number of checks", checks.len().into(), &wanted.len().into());
            for (number, (got, want)) in checks.iter().zip(wanted).enumerate() {
                for key in want.as_object().unwrap().keys() {
                    differ(&format!("checks[{number}].{key}"), shown(key, got), &shown(key, want));
                }
            }
        }
        let balance = self.world.balance(&self.caller).await;
        differ("charged", balance.spent.into(), &expect["charged"]);
        if let Some(left) = expect.get("balance") {
            differ("balance", balance.available.into(), left);
        }
        differ("reserved", balance.reserved.into(), &0.into());
        differ("looks", self.looks.clone().into(), &expect["looks"]);
        if let Some(events) = expect.get("webhooks").and_then(Value::as_array) {
            let by_check = events.split_inclusive(|event| event[0] == "monitor.check.completed");
            let events: Vec<Value> = by_check.flat_map(|events| sorted(events.to_vec())).collect();
            differ("events", self.events().into(), &events.into());
        }
        let mut mails: Vec<Value> = expect["mails"].as_array().cloned().unwrap_or_default();
        mails.iter_mut().for_each(|mail| mail[0] = minute(at(&mail[0])).into());
        mails.sort_by_key(Value::to_string);
        differ("mails", self.mails().into(), &mails.into());
        if let Some(subscriptions) = expect.get("subscriptions") {
            differ("subscriptions", self.subscriptions().await, subscriptions);
        }
        let mut requests = json!(self.requests());
        // Pages that refuse are left out.
        requests.as_object_mut().unwrap().retain(|path, _| expect["requests"].get(path).is_some());
        differ("requests", requests, &expect["requests"]);
        faults
    }
}

/// Returns time, recipient and kind of a mail.
pub(super) fn shown_mail(mail: &TakenMail) -> Value {
    let date = chrono::DateTime::parse_from_rfc2822(&mail.headers("date")[0]).unwrap();
    let asks = mail.headers("subject")[0].starts_with("Confirm ");
    json!([minute(date.to_utc()), mail.to[0], if asks { "confirmation" } else { "summary" }])
}

/// Returns a member of a check in the form in which it is compared.
fn shown(key: &str, check: &Value) -> Value {
    let value = &check[key];
    match key {
        "error" => (!value.is_null() && *value != json!(false)).into(),
        "scheduledFor" | "startedAt" | "finishedAt" => match value.as_str() {
            Some(time) => minute(time.parse().unwrap()).into(),
            None => Value::Null,
        },
        "pages" => value
            .as_array()
            .unwrap()
            .iter()
            .map(|page| {
                let judgment = page.get("judgment").map(|judgment| judgment["meaningful"].clone());
                json!([
                    page["url"],
                    page["status"],
                    page["creditsUsed"],
                    page["statusCode"],
                    page.get("visibility"),
                    judgment
                ])
            })
            .collect(),
        _ => value.clone(),
    }
}

/// Returns a time as scenarios write it.
pub(super) fn second(time: Timestamp) -> String {
    time.format("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Returns a time without its seconds, which waiting for hosts may take.
fn minute(time: Timestamp) -> String {
    second(time).chars().take(16).collect()
}

fn sorted(mut events: Vec<Value>) -> Vec<Value> {
    events.sort_by_key(|event| (event[0] == "monitor.check.completed", event.to_string()));
    events
}
